package boot

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sethvargo/go-envconfig"

	"truecost.dev/shared/research"
)

func servicesOf(t *testing.T, env map[string]string) *Services {
	t.Helper()
	c, err := Load(t.Context(), envconfig.MapLookuper(env))
	if err != nil {
		t.Fatal(err)
	}
	s := New(c, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Where research looks follows from the configuration.
func TestResearch(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "own.md"), []byte("A bid bond of our own."), 0o600); err != nil {
		t.Fatal(err)
	}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"results":[{"url":"https://a.example/%s"}]}`, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	}))
	t.Cleanup(api.Close)
	tests := []struct {
		name, provider, url string
		env                 map[string]string
	}{
		{"nothing", "corpus", "corpus:/bid-bond", nil},
		{"a folder", "corpus", "corpus:/own", map[string]string{"TRUECOST_CORPUS": folder}},
		{"a key", "tavily", "https://a.example/k1", map[string]string{"TAVILY_API_KEY": "k1", "TAVILY_API_URL": api.URL}},
	}
	for _, tt := range tests {
		s := servicesOf(t, tt.env)
		desk, err := s.Research()
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		hits, err := desk.Search.Search(t.Context(), research.Query{Text: "bid bond", Max: 1})
		if err != nil || desk.Search.Name() != tt.provider || len(hits) != 1 || hits[0].URL != tt.url {
			t.Errorf("with %s: %s found %v, %v; want %s by %s", tt.name, desk.Search.Name(), hits, err, tt.url, tt.provider)
		}
		again, err := s.Research()
		if err != nil || again.Search != desk.Search {
			t.Errorf("with %s: the second time is another desk, %v", tt.name, err)
		}
		if _, err := desk.Fetch.Fetch(t.Context(), api.URL); err == nil {
			t.Errorf("with %s: a page of this machine was read", tt.name)
		}
	}
	if _, err := servicesOf(t, map[string]string{"TRUECOST_CORPUS": filepath.Join(folder, "absent")}).Research(); err == nil || !strings.Contains(err.Error(), "TRUECOST_CORPUS") {
		t.Errorf("a folder that is not there: %v, want an error that names TRUECOST_CORPUS", err)
	}
}

// A key goes to the address that was configured, and not where that one points.
func TestKeyStays(t *testing.T) {
	t.Parallel()
	got := ""
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Authorization") }))
	t.Cleanup(elsewhere.Close)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(api.Close)
	desk, err := servicesOf(t, map[string]string{"TAVILY_API_KEY": "k1", "TAVILY_API_URL": api.URL}).Research()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := desk.Search.Search(t.Context(), research.Query{Text: "bid bond", Max: 1}); err == nil || got != "" {
		t.Errorf("Search = %v, and elsewhere got %q; want an error and nothing", err, got)
	}
}

// Only the local system calls webhooks on its own machine.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	local := map[string]string{"TRUECOST_LOCAL_AUTH": "true", "FIRESTORE_EMULATOR_HOST": "127.0.0.1:8080"}
	for _, tt := range []struct {
		env map[string]string
		ok  bool
	}{{local, true}, {nil, false}} {
		hooks := servicesOf(t, tt.env).Env().Webhooks
		for _, address := range []string{"http://127.0.0.1:9000/hook", "https://localhost:9000/hook"} {
			if err := hooks.Allow(t.Context(), address); (err == nil) != tt.ok {
				t.Errorf("with %v, Allow(%s) = %v, want allowed: %v", tt.env, address, err, tt.ok)
			}
		}
		if err := hooks.Allow(t.Context(), "https://10.0.0.1/hook"); err == nil {
			t.Errorf("with %v, a private address is allowed", tt.env)
		}
	}
}
