module postern.example/assertion

go 1.22
