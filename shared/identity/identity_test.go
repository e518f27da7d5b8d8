package identity_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"truecost.dev/shared/fault"
	"truecost.dev/shared/identity"
)

const (
	base   = "https://agents.example"
	agent  = base + "/a2a_browse_extract"
	key    = "kP7wq2ZfB9xLmT4vRc8sYh3nJd6gUe1A"
	secret = "b1f0-a secret of a client, made at random"
)

// noon is when the tests take place.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return noon }

func ours() identity.Config {
	return identity.Config{
		URL: base, Secret: key, Now: clock,
		Clients: []identity.Client{{ID: "web", Hash: sha256.Sum256([]byte(secret))}},
	}
}

func open(t *testing.T, c identity.Config) *identity.Authority {
	t.Helper()
	a, err := identity.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func request(t *testing.T, authorization ...string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/submit_task", http.NoBody)
	for _, v := range authorization {
		r.Header.Add("Authorization", v)
	}
	return r
}

// who asks an authority who sent a token.
func who(t *testing.T, a *identity.Authority, authorization ...string) (string, fault.Kind) {
	t.Helper()
	caller, err := a.At(agent)(request(t, authorization...))
	for _, v := range authorization {
		if _, token, _ := strings.Cut(v, " "); err != nil && len(token) > 20 && strings.Contains(fmt.Sprintf("%v %#v", err, err), token) {
			t.Errorf("the error tells the token: %v", err)
		}
	}
	if err != nil && caller.ID != "" {
		t.Errorf("At() = %v with an error", caller)
	}
	return caller.ID, fault.KindOf(err)
}

func sign(t *testing.T, method jwt.SigningMethod, key any, claims map[string]any) string {
	t.Helper()
	token := jwt.NewWithClaims(method, jwt.MapClaims(claims))
	token.Header["kid"] = "k1"
	signed, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// with returns claims of a good token with some of them changed; nil takes one
// away.
func with(iss, aud string, change map[string]any) map[string]any {
	claims := map[string]any{"iss": iss, "sub": "web", "aud": aud, "exp": noon.Add(time.Minute).Unix()}
	for name, v := range change {
		if claims[name] = v; v == nil {
			delete(claims, name)
		}
	}
	return claims
}

func TestOwnTokens(t *testing.T) {
	t.Parallel()
	a := open(t, ours())
	good := with(base, base, nil)
	tests := []struct {
		name, token string
		want        string
		kind        fault.Kind
	}{
		{"good", sign(t, jwt.SigningMethodHS256, []byte(key), good), "web", ""},
		{"another algorithm of the same secret", sign(t, jwt.SigningMethodHS512, []byte(key), good), "", fault.Unknown},
		{"no algorithm", sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, good), "", fault.Unknown},
		{"another secret", sign(t, jwt.SigningMethodHS256, []byte(key+"x"), good), "", fault.Unknown},
		{"another issuer", sign(t, jwt.SigningMethodHS256, []byte(key), with("https://elsewhere.example", base, nil)), "", fault.Unknown},
		{"another audience", sign(t, jwt.SigningMethodHS256, []byte(key), with(base, "https://elsewhere.example", nil)), "", fault.Unknown},
		{"no audience", sign(t, jwt.SigningMethodHS256, []byte(key), with(base, "", map[string]any{"aud": nil})), "", fault.Unknown},
		{"expired", sign(t, jwt.SigningMethodHS256, []byte(key), with(base, base, map[string]any{"exp": noon.Unix()})), "", fault.Unknown},
		{"never expires", sign(t, jwt.SigningMethodHS256, []byte(key), with(base, base, map[string]any{"exp": nil})), "", fault.Unknown},
		{"not yet", sign(t, jwt.SigningMethodHS256, []byte(key), with(base, base, map[string]any{"nbf": noon.Add(time.Second).Unix()})), "", fault.Unknown},
		{"of a client that is no more", sign(t, jwt.SigningMethodHS256, []byte(key), with(base, base, map[string]any{"sub": "gone"})), "", fault.Unknown},
		{"no token", "nonsense", "", fault.Unknown},
		{"too long", strings.Repeat("x", 9000), "", fault.Unknown},
	}
	for _, tt := range tests {
		if got, kind := who(t, a, "Bearer "+tt.token); got != tt.want || kind != tt.kind {
			t.Errorf("%s: At() = %q, %q, want %q, %q", tt.name, got, kind, tt.want, tt.kind)
		}
	}
}

func TestAuthorization(t *testing.T) {
	t.Parallel()
	a := open(t, ours())
	token := sign(t, jwt.SigningMethodHS256, []byte(key), with(base, base, nil))
	tests := []struct {
		headers []string
		want    fault.Kind
	}{
		{[]string{"Bearer " + token}, ""},
		{[]string{"bearer  " + token}, ""},
		{nil, fault.Unknown},
		{[]string{""}, fault.Unknown},
		{[]string{token}, fault.Unknown},
		{[]string{"Bearer"}, fault.Unknown},
		{[]string{"Basic " + token}, fault.Unknown},
		{[]string{"Token " + token}, fault.Unknown},
		{[]string{"Bearer " + token, "Bearer " + token}, fault.Unknown},
		{[]string{"Bearer " + token + " more"}, fault.Unknown},
	}
	for _, tt := range tests {
		if _, kind := who(t, a, tt.headers...); kind != tt.want {
			t.Errorf("At(%.20q) = %q, want %q", tt.headers, kind, tt.want)
		}
	}
}

// Only the local system lets callers be nobody, or be who an unsigned token says.
func TestLocal(t *testing.T) {
	t.Parallel()
	c := ours()
	c.Local = func(context.Context, string) (string, error) { return "somebody", nil }
	local, strict := open(t, c), open(t, ours())
	unsigned := "Bearer " + sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, with("https://auth.local", "x", nil))
	forged := "Bearer " + sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, with(base, base, nil))
	if got, kind := who(t, local); got != "" || kind != "" || local.Required() {
		t.Errorf("locally, nobody is %q, %q, required: %v, want nobody", got, kind, local.Required())
	}
	if _, kind := who(t, strict); kind != fault.Unknown || !strict.Required() {
		t.Errorf("elsewhere, nobody is %q, required: %v, want %q", kind, strict.Required(), fault.Unknown)
	}
	if got, kind := who(t, local, unsigned); got != "somebody" || kind != "" {
		t.Errorf("locally, an unsigned token = %q, %q", got, kind)
	}
	signed := "Bearer " + sign(t, jwt.SigningMethodHS256, []byte(key), with("https://auth.local", "x", nil))
	for _, token := range []string{forged, signed, "Bearer nonsense", "Basic d2ViOng="} {
		if _, kind := who(t, local, token); kind != fault.Unknown {
			t.Errorf("locally, %.20q = %q, want %q", token, kind, fault.Unknown)
		}
	}
	if _, kind := who(t, strict, unsigned); kind != fault.Unknown {
		t.Errorf("elsewhere, an unsigned token = %q, want %q", kind, fault.Unknown)
	}
	nobody := open(t, identity.Config{Now: clock})
	if _, kind := who(t, nobody, unsigned); kind != fault.Unknown {
		t.Errorf("the zero configuration believes %q", kind)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*identity.Config)
		want   string // empty: no error
	}{
		{"good", func(*identity.Config) {}, ""},
		{"hexadecimal", func(c *identity.Config) {
			c.Secret = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
		}, ""},
		{"short", func(c *identity.Config) { c.Secret = key[:31] }, "31 bytes"},
		{"one letter", func(c *identity.Config) { c.Secret = strings.Repeat("x", 40) }, "repeats itself"},
		{"twice the same", func(c *identity.Config) { c.Secret = key[:16] + key[:16] }, "repeats itself"},
		{"of a manual", func(c *identity.Config) { c.Secret = "a-string-secret-at-least-256-bits-long" }, "examples"},
		{"default", func(c *identity.Config) { c.Secret = "ChangeMe-ChangeMe-please-ChangeMe1234" }, "examples"},
		{"nobody to use it", func(c *identity.Config) { c.Clients = nil }, "without a client"},
		{"nothing to sign with", func(c *identity.Config) { c.Secret = "" }, "without a secret"},
		{"no address", func(c *identity.Config) { c.URL = "" }, "base address"},
		{"twice", func(c *identity.Config) { c.Clients = append(c.Clients, c.Clients[0]) }, "twice"},
		{"odd client", func(c *identity.Config) { c.Clients[0].ID = "https://a#b" }, "letters"},
		{"issuer without TLS", func(c *identity.Config) { c.Issuers = []identity.Issuer{{URL: "http://issuer.example"}} }, "https"},
		{"issuer twice", func(c *identity.Config) {
			c.Issuers = []identity.Issuer{{URL: "https://issuer.example"}, {URL: "https://issuer.example"}}
		}, "twice"},
	}
	for _, tt := range tests {
		c := ours()
		tt.change(&c)
		_, err := identity.New(c)
		if got := fmt.Sprint(err); (err == nil) != (tt.want == "") || !strings.Contains(got, tt.want) && tt.want != "" {
			t.Errorf("%s: New() = %v, want %q", tt.name, err, tt.want)
		} else if err != nil && c.Secret != "" && strings.Contains(got, c.Secret) {
			t.Errorf("%s: the error shows the secret: %v", tt.name, err)
		}
	}
}

func TestParseClients(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("0a", 32)
	got, err := identity.ParseClients(" web=sha256:" + hash + ", batch.night=sha256:" + hash + ",")
	if err != nil || len(got) != 2 || got[0].ID != "web" || got[1].ID != "batch.night" || got[1].Hash[0] != 10 {
		t.Errorf("ParseClients() = %v, %v, want web and batch.night", got, err)
	}
	for _, text := range []string{"web", "web=" + hash, "web=sha256:0a", "=sha256:" + hash, "a b=sha256:" + hash, "web=sha256:" + hash + "00", "web=hunter2-hunter2"} {
		if got, err := identity.ParseClients(text); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("ParseClients(%q) = %v, %v, want an error that shows nothing", text, got, err)
		}
	}
}

func login(t *testing.T, a *identity.Authority, body string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	a.Login(nil).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/login", strings.NewReader(body)))
	return w
}

func TestLogin(t *testing.T) {
	t.Parallel()
	a := open(t, ours())
	weak := ours()
	weak.Clients[0].Hash = sha256.Sum256([]byte("password"))
	if w := login(t, open(t, weak), `{"client_id":"web","client_secret":"password"}`); w.Code != 401 {
		t.Errorf("a secret that anybody guesses logs in: %d", w.Code)
	}
	served := false
	h := a.Login(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served = true }))
	basic := func(id, secret string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
	}
	tests := []struct {
		name, method, authorization, body string
		status                            int
	}{
		{"basic", "POST", basic("web", secret), "", 200},
		{"JSON", "POST", "", `{"client_id":"web","client_secret":"` + secret + `"}`, 200},
		{"wrong secret", "POST", basic("web", secret+"x"), "", 401},
		{"no such client", "POST", basic("bew", secret), "", 401},
		{"nobody", "POST", "", `{}`, 401},
		{"anything", "POST", "", `please`, 400},
		{"nothing", "POST", "", ``, 400},
		{"too much", "POST", "", `{"client_id":"` + strings.Repeat("x", 5000) + `"}`, 400},
		{"GET", "GET", basic("web", secret), "", 405},
	}
	for _, tt := range tests {
		r := httptest.NewRequestWithContext(t.Context(), tt.method, "/a2a_browse_extract/login", strings.NewReader(tt.body))
		if tt.authorization != "" {
			r.Header.Set("Authorization", tt.authorization)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tt.status || w.Header().Get("Cache-Control") != "no-store" || strings.Contains(w.Body.String(), secret) {
			t.Errorf("%s: %d %v %s, want %d, kept by nobody", tt.name, w.Code, w.Header(), w.Body, tt.status)
		}
		if (w.Code == 401) != (w.Header().Get("WWW-Authenticate") != "") {
			t.Errorf("%s: WWW-Authenticate %q with %d", tt.name, w.Header().Get("WWW-Authenticate"), w.Code)
		}
		if w.Code != 200 {
			continue
		}
		var got struct {
			Token   string `json:"token"`
			Type    string `json:"token_type"`
			Expires int    `json:"expires_in"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Type != "Bearer" || got.Expires != 3600 {
			t.Errorf("%s: %s, %v, want a Bearer token of an hour", tt.name, w.Body, err)
		}
		if id, kind := who(t, a, "Bearer "+got.Token); id != "web" {
			t.Errorf("%s: the token is that of %q, %q, want web", tt.name, id, kind)
		}
	}
	h.ServeHTTP(httptest.NewRecorder(), request(t))
	if !served {
		t.Error("other paths are not served")
	}
	next := http.NotFoundHandler()
	w := httptest.NewRecorder()
	open(t, identity.Config{Now: clock}).Login(next).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", "/login", http.NoBody))
	if w.Code != 404 {
		t.Errorf("POST /login without tokens of our own = %d, want 404", w.Code)
	}
}

// Nobody who does not know a secret is believed, whatever they write.
func FuzzAuthorization(f *testing.F) {
	for _, seed := range []string{"", "Bearer x", "Bearer eyJhbGciOiJub25lIn0.e30.", "Basic d2ViOng=", "Bearer a.b.c.d"} {
		f.Add(seed)
	}
	a, err := identity.New(ours())
	if err != nil {
		f.Fatal(err)
	}
	at := a.At(agent)
	f.Fuzz(func(t *testing.T, header string) {
		r := &http.Request{Header: http.Header{"Authorization": {header}}}
		if caller, err := at(r.WithContext(t.Context())); fault.KindOf(err) != fault.Unknown {
			t.Errorf("At(%q) = %v, %v, want %s", header, caller, err, fault.Unknown)
		}
	})
}
