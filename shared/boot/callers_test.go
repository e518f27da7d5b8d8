package boot

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sethvargo/go-envconfig"

	"truecost.dev/shared/fault"
)

const strong = "kP7wq2ZfB9xLmT4vRc8sYh3nJd6gUe1A"

// oneClient is a client with the hash of its secret.
func oneClient() string {
	sum := sha256.Sum256([]byte("a secret that was made at random"))
	return "web=sha256:" + hex.EncodeToString(sum[:])
}

// A configuration that would let in whom nobody meant does not start.
func TestCallersAreRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"TRUECOST_TOKEN_SECRET": "changeme", "TRUECOST_CLIENTS": oneClient()}, "8 bytes"},
		{map[string]string{"TRUECOST_TOKEN_SECRET": strings.Repeat("ab", 20), "TRUECOST_CLIENTS": oneClient()}, "repeats itself"},
		{map[string]string{"TRUECOST_TOKEN_SECRET": strong}, "without a client"},
		{map[string]string{"TRUECOST_CLIENTS": oneClient()}, "without a secret"},
		{map[string]string{"TRUECOST_CLIENTS": "web=hunter2"}, "TRUECOST_CLIENTS"},
		{map[string]string{"TRUECOST_ISSUERS": "http://issuer.example"}, "https"},
		{map[string]string{"TRUECOST_ISSUERS": "https://accounts.google.com"}, "TRUECOST_SUBJECTS"},
	}
	for _, tt := range tests {
		_, err := Load(t.Context(), envconfig.MapLookuper(tt.env))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Load(%v) = %v, want an error with %q", tt.env, err, tt.want)
			continue
		}
		for _, secret := range []string{"changeme", strong, "hunter2"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error shows a secret: %v", err)
			}
		}
	}
}

func TestCallers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		env   map[string]string
		login bool   // there is one
		needs string // what the cards ask callers for
		local bool   // who says nothing is let in
	}{
		{"nothing configured", nil, false, "map[] []", false},
		{"own tokens", map[string]string{"TRUECOST_TOKEN_SECRET": strong, "TRUECOST_CLIENTS": oneClient()}, true, "bearer [map[bearer:[]]]", false},
		{
			"an issuer too",
			map[string]string{"TRUECOST_TOKEN_SECRET": strong, "TRUECOST_CLIENTS": oneClient(), "TRUECOST_ISSUERS": "https://accounts.google.com", "TRUECOST_SUBJECTS": "robot@acme.example"},
			true, "bearer issuer1 [map[bearer:[]] map[issuer1:[]]]", false,
		},
		{"local", map[string]string{"TRUECOST_LOCAL_AUTH": "true", "FIRESTORE_EMULATOR_HOST": "127.0.0.1:8080"}, false, "map[] []", true},
		{
			"local with tokens",
			map[string]string{"TRUECOST_LOCAL_AUTH": "true", "FIRESTORE_EMULATOR_HOST": "127.0.0.1:8080", "TRUECOST_TOKEN_SECRET": strong, "TRUECOST_CLIENTS": oneClient()},
			true, "bearer []", true,
		},
	}
	for _, tt := range tests {
		c, err := Load(t.Context(), envconfig.MapLookuper(tt.env))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		callers, err := New(c, nil).Callers()
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		_, err = callers.At(c.AgentsURL + "/a2a_cost")(httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody))
		if (err == nil) != tt.local || err != nil && fault.KindOf(err) != fault.Unknown {
			t.Errorf("%s: a caller who says nothing: %v", tt.name, err)
		}
		needs := "map[] []"
		auth := c.cardAuth()
		if auth != nil {
			var names []string
			for _, name := range []string{"bearer", "issuer1"} {
				for known := range auth.Schemes {
					if string(known) == name {
						names = append(names, name)
					}
				}
			}
			needs = fmt.Sprintf("%s %v", strings.Join(names, " "), auth.Requirements)
		}
		if callers.LogsIn() != tt.login || needs != tt.needs || auth != nil && auth.Login != tt.login {
			t.Errorf("%s: login %v, cards ask for %s, want %v and %s", tt.name, callers.LogsIn(), needs, tt.login, tt.needs)
		}
	}
}
