// The proxy one writes in half an hour: Go's reverse proxy, and keys in a map. PORT UPSTREAM-PORT KEYS-FILE
package main

import (
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
)

func main() {
	text, err := os.ReadFile(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	subjects := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		key, subject, _ := strings.Cut(line, " ")
		subjects[key] = subject
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "127.0.0.1:" + os.Args[2]})
	proxy.Transport = &http.Transport{MaxIdleConnsPerHost: 128}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		subject, known := subjects[r.Header.Get("X-API-Key")]
		if !known {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		r.Header.Del("X-API-Key")
		r.Header.Set("X-Auth-Subject", subject)
		proxy.ServeHTTP(w, r)
	})))
}
