package idtoken

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"golang.org/x/oauth2"
)

// echo is a transport that answers with the request it was given.
type echo struct{}

func (echo) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.Header().Set("Was", r.Header.Get("Authorization"))
	return w.Result(), nil
}

func TestTransport(t *testing.T) {
	t.Parallel()
	opened, fail := 0, true
	tr := newTransport(echo{}, "https://agents.example/base", func(_ context.Context, audience string) (oauth2.TokenSource, error) {
		opened++
		if fail {
			return nil, errors.New("no metadata server")
		}
		return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "for " + audience}), nil
	})
	get := func(url string) (string, error) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		resp, err := tr.RoundTrip(r)
		if r.Header.Get("Authorization") != "" {
			t.Errorf("the request itself was changed: %v", r.Header)
		}
		if err != nil {
			return "", err
		}
		defer func() { _ = resp.Body.Close() }()
		return resp.Header.Get("Was"), nil
	}
	if got, err := get("https://agents.example/base/a2a_cost"); err == nil {
		t.Errorf("without tokens the request went out, with %q", got)
	}
	fail = false
	for _, tt := range []struct{ url, want string }{
		{"https://agents.example/base/a2a_cost", "Bearer for https://agents.example/base/a2a_cost"},
		{"https://agents.example/base/a2a_cost/rest/tasks?x=1", "Bearer for https://agents.example/base/a2a_cost"},
		{"https://agents.example/base/a2a_risk", "Bearer for https://agents.example/base/a2a_risk"},
		{"https://agents.example/base", ""},
		{"https://agents.example/other/a2a_cost", ""},
		{"https://agents.example.evil.example/base/a2a_cost", ""},
		{"http://agents.example/base/a2a_cost", ""},
	} {
		if got, err := get(tt.url); got != tt.want || err != nil {
			t.Errorf("GET %s had %q, %v, want %q", tt.url, got, err, tt.want)
		}
	}
	if opened != 3 {
		t.Errorf("tokens were opened %d times, want 3: once in vain, and once for each function", opened)
	}
}
