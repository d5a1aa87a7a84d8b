module postern.example/verify-assertions

go 1.22

require (
	github.com/golang-jwt/jwt/v5 v5.3.1
	postern.example/assertion v0.0.0
)

replace postern.example/assertion => ../../../../examples/verify-assertion/go
