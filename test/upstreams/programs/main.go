// A net/http server that records what reached which of its handlers.
package main

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
)

type entry struct {
	Handler string     `json:"handler"`
	Method  string     `json:"method"`
	Path    string     `json:"path"`
	Headers [][]string `json:"headers"`
	Root    string     `json:"root"`
	User    string     `json:"user"`
	Address string     `json:"address"`
	Scheme  string     `json:"scheme"`
	Body    string     `json:"body"`
}

func main() {
	record, err := os.OpenFile(os.Getenv("UPSTREAM_RECORD"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		panic(err)
	}
	serve := func(handler string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			var body []byte
			if !strings.HasSuffix(r.URL.Path, "/unread") {
				body, _ = io.ReadAll(r.Body)
			}
			headers := [][]string{{"Host", r.Host}}
			for name, values := range r.Header {
				for _, value := range values {
					headers = append(headers, []string{name, value})
				}
			}
			address, _, _ := net.SplitHostPort(r.RemoteAddr)
			line, _ := json.Marshal(entry{handler, r.Method, r.URL.Path, headers, "", "", address, "http", string(body[:min(len(body), 200)])})
			record.Write(append(line, '\n'))
			io.WriteString(w, "ok\n")
		}
	}
	var handlers []string
	if err := json.Unmarshal([]byte(os.Getenv("UPSTREAM_HANDLERS")), &handlers); err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	for _, path := range handlers {
		exact, isExact := strings.CutSuffix(path, "$")
		mux.HandleFunc(exact, serve(exact))
		if isExact {
			mux.HandleFunc(exact+"/{$}", serve(exact))
		} else {
			mux.HandleFunc(exact+"/", serve(exact))
		}
	}
	mux.HandleFunc("/", serve(""))
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("UPSTREAM_PORT"), mux))
}
