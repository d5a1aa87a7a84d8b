module go-proxy

go 1.22
