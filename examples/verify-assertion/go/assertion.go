// Package assertion verifies that a request comes from Postern, and from whom: docs/upstreams.md.
package assertion

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Verifier of one upstream: Issuer is Postern's base_url, Audience the name of the upstream. HS256 takes Secret, the other
// algorithms Keys, the address of the JWK set, by a way on which no one can change it. Now is usually time.Now.
type Verifier struct {
	Issuer, Audience, Algorithm, Keys string
	Secret                            []byte
	Now                               func() time.Time
	mu                                sync.Mutex
	keys                              map[string]jwk
	loaded                            time.Time
	used                              sync.Map // of jti: known to this process alone
}

type jwk struct{ Kid, Alg, X, Y string }

const leeway = 5 // seconds
var base64url, client = base64.RawURLEncoding, http.Client{Timeout: 5 * time.Second}
var odd, emptyQuery = regexp.MustCompile("[^a-z0-9]"), regexp.MustCompile("^([^?]*)[?]$")
var claimOf = map[string]string{"X-Auth-Subject": "sub", "X-Auth-Username": "username", "X-Auth-Method": "method",
	"X-Auth-Scopes": "scope", "X-Auth-Session-Id": "sid", "X-Auth-Key-Id": "key_id", "X-Auth-Tenant": "tenant",
	"X-Auth-Client-Id": "client_id", "X-Auth-Issuer": "issuer", "X-Auth-Delegated": "delegated", "X-Auth-Assurance": "assurance"}

// Verify gives the claims of a request; false for one that Postern has not sent.
func (v *Verifier) Verify(r *http.Request) (claims map[string]any, ok bool) {
	parts, header := strings.Split(r.Header.Get("X-Auth-Assertion"), "."), struct{ Alg, Typ, Kid, Crit string }{}
	if len(parts) != 3 || json.Unmarshal(decode(parts[0]), &header) != nil || header.Alg != v.Algorithm ||
		header.Typ != "postern-assertion+jwt" || json.Unmarshal(decode(parts[1]), &claims) != nil ||
		!v.isSigned(header.Kid, []byte(parts[0]+"."+parts[1]), decode(parts[2])) {
		return nil, false
	}
	hash, now := sha256.Sum256([]byte(emptyQuery.ReplaceAllString(r.RequestURI, "$1"))), float64(v.Now().Unix())
	jti, _ := claims["jti"].(string)
	iat, _ := claims["iat"].(float64)
	exp, _ := claims["exp"].(float64)
	if claims["iss"] != v.Issuer || claims["aud"] != v.Audience || claims["htm"] != r.Method ||
		claims["htt"] != base64url.EncodeToString(hash[:]) || jti == "" || iat <= 0 || iat > now+leeway || now >= exp+leeway {
		return nil, false
	}
	for name, claim := range claimOf { // the last four come with a later Postern
		sent := r.Header.Get(name)
		value, isSigned := claims[claim] // of the tenant for callers without a credential, too, who have no headers
		isLost := isSigned && r.Header[name] == nil && claim != "scope"
		if (isLost || value != sent && (isSigned || sent != "")) && (claim != "tenant" || sent != "" || claims["sub"] != nil) {
			return nil, false
		}
	}
	for name, values := range r.Header { // each that any server could take for one of Postern's
		folded, isOurs := strings.CutPrefix(odd.ReplaceAllString(strings.ToLower(name), "-"), "x-auth-")
		isTaken := claimOf[name] != "" || name == "X-Auth-Assertion" || claims[strings.ReplaceAll(folded, "-", "_")] == values[0]
		if isOurs && (len(values) != 1 || !isTaken || name != http.CanonicalHeaderKey("X-Auth-"+folded)) {
			return nil, false
		}
	}
	if r.Method == "GET" || r.Method == "HEAD" || r.Method == "OPTIONS" {
		return claims, true
	}
	_, isUsed := v.used.LoadOrStore(jti, true)
	time.AfterFunc(time.Duration(exp+leeway-now)*time.Second, func() { v.used.Delete(jti) })
	return claims, !isUsed
}

func (v *Verifier) isSigned(kid string, text, signature []byte) bool {
	if v.Algorithm == "HS256" {
		mac := hmac.New(sha256.New, v.Secret)
		mac.Write(text)
		return hmac.Equal(signature, mac.Sum(nil))
	}
	key, hash := v.find(kid), sha256.Sum256(text)
	x, y := decode(key.X), decode(key.Y)
	if key.Alg != v.Algorithm || len(x) != 32 || len(signature) != 64 {
		return false
	} else if v.Algorithm == "EdDSA" {
		return ed25519.Verify(x, text, signature)
	}
	number := func(bytes []byte) *big.Int { return new(big.Int).SetBytes(bytes) }
	public := ecdsa.PublicKey{Curve: elliptic.P256(), X: number(x), Y: number(y)}
	return ecdsa.Verify(&public, hash[:], number(signature[:32]), number(signature[32:]))
}

// A copy of the published keys counts for five minutes; for an unknown kid they are read again.
func (v *Verifier) find(kid string) jwk {
	v.mu.Lock()
	defer v.mu.Unlock()
	age := v.Now().Sub(v.loaded)
	if _, known := v.keys[kid]; age >= 5*time.Minute || age >= 10*time.Second && !known {
		var set struct{ Keys []jwk }
		response, err := client.Get(v.Keys)
		if err != nil || response.StatusCode != 200 || json.NewDecoder(response.Body).Decode(&set) != nil {
			return jwk{}
		}
		response.Body.Close()
		v.keys, v.loaded = map[string]jwk{}, v.Now()
		for _, key := range set.Keys {
			v.keys[key.Kid] = key
		}
	}
	return v.keys[kid]
}

func decode(text string) []byte { bytes, _ := base64url.DecodeString(text); return bytes }
