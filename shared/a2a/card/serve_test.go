package card

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestServe(t *testing.T) {
	t.Parallel()
	cards, err := New(testAgent(), Options{URL: "https://agents.example/a2a_sums"})
	if err != nil {
		t.Fatal(err)
	}
	etag := cards.files[Path].etag
	tests := []struct {
		name, method, path, known string
		status                    int
		body                      bool
	}{
		{"a card", http.MethodGet, Path, "", 200, true},
		{"the early card", http.MethodGet, EarlyPath, "", 200, true},
		{"the head of a card", http.MethodHead, Path, "", 200, false},
		{"a card the caller has", http.MethodGet, Path, etag, 304, false},
		{"one of several", http.MethodGet, Path, `"x", W/` + etag, 304, false},
		{"any", http.MethodHead, Path, "*", 304, false},
		{"another card's tag", http.MethodGet, EarlyPath, etag, 200, true},
		{"preflight", http.MethodOptions, Path, "", 204, false},
		{"post", http.MethodPost, Path, "", 405, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, r := httptest.NewRecorder(), httptest.NewRequest(tt.method, tt.path, nil)
			r.Header.Set("Origin", "https://page.example")
			if tt.known != "" {
				r.Header.Set("If-None-Match", tt.known)
			}
			if cards.ServeHTTP(w, r); w.Code != tt.status || (w.Body.Len() > 0) != tt.body {
				t.Errorf("%s %s = %d with %d bytes, want %d", tt.method, tt.path, w.Code, w.Body.Len(), tt.status)
			}
			h := w.Header()
			if h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("headers = %v, want any origin, without credentials", h)
			}
			if tt.status <= 304 && tt.status != 204 && (h.Get("ETag") == "" || h.Get("Cache-Control") != "public, max-age=300") {
				t.Errorf("headers = %v, want ETag and five minutes", h)
			}
			if tt.body && h.Get("Content-Type") != "application/json" {
				t.Errorf("Content-Type = %q", h.Get("Content-Type"))
			}
			if tt.status == 405 && h.Get("Allow") != "GET, HEAD, OPTIONS" {
				t.Errorf("Allow = %q", h.Get("Allow"))
			}
		})
	}
	w := httptest.NewRecorder()
	if cards.ServeHTTP(w, httptest.NewRequest(http.MethodGet, KeysPath, nil)); w.Code != http.StatusNotFound || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("keys where there is no key = %d %s, want 404", w.Code, w.Body)
	}
}

func TestDirectory(t *testing.T) {
	t.Parallel()
	cards, err := New(testAgent(), Options{URL: "https://agents.example/a2a_sums"})
	if err != nil {
		t.Fatal(err)
	}
	for _, all := range [][]*Cards{nil, {cards, cards}} {
		h, err := NewDirectory(all...)
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, DirectoryPath, nil))
		var got Directory
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Agents == nil || len(got.Agents) != len(all) || w.Header().Get("ETag") == "" {
			t.Errorf("directory of %d = %s (%v)", len(all), w.Body, err)
		}
		for _, e := range got.Agents {
			if e.Name != "sums" || e.At != "https://agents.example/a2a_sums/.well-known/agent-card.json" || string(e.Card) != string(cards.Public()) {
				t.Errorf("entry = %+v", e)
			}
		}
	}
}
