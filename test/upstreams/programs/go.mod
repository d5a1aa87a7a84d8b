module upstream

go 1.22
