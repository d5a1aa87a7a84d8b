// Runs the verifier for net/http, or golang-jwt by itself: each line of input is a case, each line of output its verdicts.
package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"postern.example/assertion"
)

type testCase struct {
	Issuer, Audience, Algorithm, Secret string
	Now                                 float64
	Jwks                                json.RawMessage
	Requests                            []struct {
		Method, Target string
		Headers        [][2]string
	}
}

func main() {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 64<<20)
	for input.Scan() {
		var c testCase
		if err := json.Unmarshal(input.Bytes(), &c); err != nil {
			log.Fatal(err)
		}
		verdict := c.byVerifier
		if os.Args[1] == "library" {
			verdict = c.byLibrary
		}
		printed, _ := json.Marshal(verdict())
		fmt.Println(string(printed))
	}
}

func (c testCase) byVerifier() (verdicts []bool) {
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(c.Jwks) }))
	defer keys.Close()
	now := time.UnixMilli(int64(c.Now * 1000))
	verifier := assertion.Verifier{Issuer: c.Issuer, Audience: c.Audience, Algorithm: c.Algorithm, Keys: keys.URL,
		Secret: []byte(c.Secret), Now: func() time.Time { return now }}
	for _, r := range c.Requests {
		// Read as net/http reads it from a connection: that is how names of headers get their spelling.
		text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: app\r\n", r.Method, r.Target)
		for _, header := range r.Headers {
			if header[0] != "Host" {
				text += fmt.Sprintf("%s: %s\r\n", header[0], header[1])
			}
		}
		request, err := http.ReadRequest(bufio.NewReaderSize(strings.NewReader(text+"\r\n"), 1<<16))
		if err != nil {
			log.Fatal(err)
		}
		_, ok := verifier.Verify(request)
		verdicts = append(verdicts, ok)
	}
	return verdicts
}

// The signature, aud, iss and the times, at the time of this machine.
func (c testCase) byLibrary() (verdicts []bool) {
	for _, r := range c.Requests {
		token := ""
		for _, header := range r.Headers {
			if header[0] == "X-Auth-Assertion" {
				token = header[1]
			}
		}
		_, err := jwt.Parse(token, c.key, jwt.WithValidMethods([]string{c.Algorithm}), jwt.WithAudience(c.Audience),
			jwt.WithIssuer(c.Issuer), jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(5*time.Second))
		verdicts = append(verdicts, err == nil)
	}
	return verdicts
}

func (c testCase) key(token *jwt.Token) (any, error) {
	if c.Algorithm == "HS256" {
		return []byte(c.Secret), nil
	}
	var set struct {
		Keys []struct{ Kid, Crv, X, Y string }
	}
	if err := json.Unmarshal(c.Jwks, &set); err != nil {
		return nil, err
	}
	for _, key := range set.Keys {
		x, _ := base64.RawURLEncoding.DecodeString(key.X)
		y, _ := base64.RawURLEncoding.DecodeString(key.Y)
		if key.Kid == token.Header["kid"] && key.Crv == "Ed25519" {
			return ed25519.PublicKey(x), nil
		}
		if key.Kid == token.Header["kid"] {
			return &ecdsa.PublicKey{Curve: elliptic.P256(), X: new(big.Int).SetBytes(x), Y: new(big.Int).SetBytes(y)}, nil
		}
	}
	return nil, errors.New("no such key")
}
