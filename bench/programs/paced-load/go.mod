module paced-load

go 1.22
