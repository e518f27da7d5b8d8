package identity_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"truecost.dev/shared/callable"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/identity"
)

// provider is an OpenID Connect issuer.
type provider struct {
	*httptest.Server
	rsa   *rsa.PrivateKey
	short *rsa.PrivateKey
	ec    *ecdsa.PrivateKey

	mu      sync.Mutex
	away    bool
	names   [2]string // of the keys
	fetches int
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{names: [2]string{"k1", "k2"}}
	var err error
	if p.rsa, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	if p.short, err = rsa.GenerateKey(rand.Reader, 1024); err != nil {
		t.Fatal(err)
	}
	if p.ec, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fetches++
	switch {
	case p.away:
		w.WriteHeader(http.StatusBadGateway)
	case r.URL.Path == "/.well-known/openid-configuration":
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": p.URL, "jwks_uri": p.URL + "/keys"})
	default:
		b64 := base64.RawURLEncoding.EncodeToString
		point, _ := p.ec.PublicKey.Bytes()
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": []map[string]any{
			{"kty": "RSA", "kid": p.names[0], "use": "sig", "n": b64(p.rsa.N.Bytes()), "e": b64(big.NewInt(int64(p.rsa.E)).Bytes())},
			{"kty": "EC", "kid": p.names[1], "crv": "P-256", "x": b64(point[1:33]), "y": b64(point[33:])},
			{"kty": "RSA", "kid": "short", "n": b64(p.short.N.Bytes()), "e": "AQAB"},
			{"kty": "EC", "kid": "off the curve", "crv": "P-256", "x": b64(make([]byte, 32)), "y": b64(make([]byte, 32))},
			{"kty": "OKP", "kid": "unknown kind", "crv": "Ed448"},
			{"kty": "RSA", "kid": "to encrypt", "use": "enc", "n": b64(p.rsa.N.Bytes()), "e": "AQAB"},
		}})
	}
}

func (p *provider) set(change func(*provider)) (fetches int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if change != nil {
		change(p)
	}
	return p.fetches
}

func (p *provider) config(now func() time.Time) identity.Config {
	return identity.Config{
		Now: now, Issuers: []identity.Issuer{{URL: p.URL}}, Audiences: []string{"truecost"}, HTTP: p.Client(),
		Local: callable.UnsignedVerifier, // or the issuer would have to speak TLS
	}
}

func (p *provider) token(t *testing.T, change map[string]any) string {
	t.Helper()
	return "Bearer " + sign(t, jwt.SigningMethodRS256, p.rsa, with(p.URL, agent, change))
}

func TestIssuers(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	named := func(kid string, method jwt.SigningMethod, key any) string {
		token := jwt.NewWithClaims(method, jwt.MapClaims(with(p.URL, agent, nil)))
		token.Header["kid"] = kid
		signed, err := token.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return "Bearer " + signed
	}
	public, err := json.Marshal(p.rsa.N)
	if err != nil {
		t.Fatal(err)
	}
	a := open(t, p.config(clock))
	tests := []struct {
		name, token string
		kind        fault.Kind
	}{
		{"RS256", p.token(t, nil), ""},
		{"ES256", named("k2", jwt.SigningMethodES256, p.ec), ""},
		{"configured audience", p.token(t, map[string]any{"aud": []string{"x", "truecost"}}), ""},
		{"another agent", p.token(t, map[string]any{"aud": base + "/a2a_cost"}), fault.Unknown},
		{"no audience", p.token(t, map[string]any{"aud": nil}), fault.Unknown},
		{"expired", p.token(t, map[string]any{"exp": noon.Add(-time.Second).Unix()}), fault.Unknown},
		{"never expires", p.token(t, map[string]any{"exp": nil}), fault.Unknown},
		{"not yet", p.token(t, map[string]any{"nbf": noon.Add(time.Hour).Unix()}), fault.Unknown},
		{"nobody", p.token(t, map[string]any{"sub": nil}), fault.Unknown},
		{"another key", named("k1", jwt.SigningMethodRS256, stranger), fault.Unknown},
		{"an algorithm that is not on the list", named("k1", jwt.SigningMethodRS512, p.rsa), fault.Unknown},
		{"the public key as a secret", named("k1", jwt.SigningMethodHS256, public), fault.Unknown},
		{"no algorithm", named("k1", jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType), fault.Unknown},
		{"an unknown key", named("k9", jwt.SigningMethodRS256, p.rsa), fault.Unknown},
		{"a key that is too short", named("short", jwt.SigningMethodRS256, p.short), fault.Unknown},
		{"a key to encrypt with", named("to encrypt", jwt.SigningMethodRS256, p.rsa), fault.Unknown},
		{"a key of another kind", named("k2", jwt.SigningMethodRS256, p.rsa), fault.Unknown},
	}
	for _, tt := range tests {
		want := ""
		if tt.kind == "" {
			want = p.URL + "#web"
		}
		if got, kind := who(t, a, tt.token); got != want || kind != tt.kind {
			t.Errorf("%s: At() = %q, %q, want %q, %q", tt.name, got, kind, want, tt.kind)
		}
	}
	if n := p.set(nil); n != 2 {
		t.Errorf("the issuer was asked %d times, want once for its configuration and once for its keys", n)
	}
}

func TestSubjects(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	c := p.config(clock)
	c.Issuers[0].Subjects = []string{"web", "robot@example.com"}
	a := open(t, c)
	tests := []struct {
		name   string
		change map[string]any
		want   fault.Kind
	}{
		{"by subject", nil, ""},
		{"by address", map[string]any{"sub": "7", "email": "robot@example.com", "email_verified": true}, ""},
		{"address not verified", map[string]any{"sub": "7", "email": "robot@example.com"}, fault.Denied},
		{"another", map[string]any{"sub": "7", "email": "else@example.com", "email_verified": true}, fault.Denied},
	}
	for _, tt := range tests {
		if _, kind := who(t, a, p.token(t, tt.change)); kind != tt.want {
			t.Errorf("%s: At() = %q, want %q", tt.name, kind, tt.want)
		}
	}
}

// The account of the pipeline itself is the caller that it takes itself for, and
// nobody else becomes it.
func TestOwnAccount(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	c := p.config(clock)
	c.Issuers[0].Subjects, c.Issuers[0].Own = []string{"8"}, "steps@example.com"
	a := open(t, c)
	tests := []struct {
		name   string
		change map[string]any
		id     string
		kind   fault.Kind
	}{
		{"its account", map[string]any{"sub": "7", "email": "steps@example.com", "email_verified": true}, "", ""},
		{"an address that is not verified", map[string]any{"sub": "7", "email": "steps@example.com"}, "", fault.Denied},
		{"somebody who is let in", map[string]any{"sub": "8"}, p.URL + "#8", ""},
		{"somebody else", map[string]any{"sub": "9"}, "", fault.Denied},
	}
	for _, tt := range tests {
		if id, kind := who(t, a, p.token(t, tt.change)); id != tt.id || kind != tt.kind {
			t.Errorf("%s: At() = %q, %q; want %q, %q", tt.name, id, kind, tt.id, tt.kind)
		}
	}
}

// Keys that an issuer changes are found, an issuer that is away is told from a
// token that is wrong, and tokens cannot make us ask again and again.
func TestKeysChange(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	var mu sync.Mutex
	now := noon
	a := open(t, p.config(func() time.Time { mu.Lock(); defer mu.Unlock(); return now }))
	later := func(d time.Duration) { mu.Lock(); now = now.Add(d); mu.Unlock() }
	token := p.token(t, map[string]any{"exp": noon.Add(time.Hour).Unix()})
	expect := func(step string, want fault.Kind, fetches int) {
		t.Helper()
		if _, kind := who(t, a, token); kind != want {
			t.Errorf("%s: At() = %q, want %q", step, kind, want)
		}
		if n := p.set(nil); n != fetches {
			t.Errorf("%s: asked %d times by now, want %d", step, n, fetches)
		}
	}
	p.set(func(p *provider) { p.away = true })
	expect("away from the start", fault.Unavailable, 1)
	expect("not asked again at once", fault.Unavailable, 1)
	p.set(func(p *provider) { p.away, p.names[0] = false, "k7" })
	later(11 * time.Second)
	expect("back, with another key", fault.Unknown, 3)
	expect("not asked again for it", fault.Unknown, 3)
	p.set(func(p *provider) { p.names[0] = "k1" })
	later(11 * time.Second)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { _, _ = who(t, a, token) })
	}
	wg.Wait()
	expect("with our key", "", 4)
	p.set(func(p *provider) { p.away = true })
	later(11 * time.Second)
	expect("away, with our key known", "", 4)
}
