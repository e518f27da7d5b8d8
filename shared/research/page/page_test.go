package page

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"truecost.dev/shared/egress"
	"truecost.dev/shared/fault"
)

// Each file of testdata has a page as a server sends it and what is read of it.
func TestPages(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) < 5 {
		t.Fatalf("found %d pages, %v", len(names), err)
	}
	for _, name := range names {
		ar, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		part := map[string]string{}
		for _, f := range ar.Files {
			part[f.Name] = string(f.Data)
		}
		got, err := Read([]byte(part["page"]), strings.TrimSpace(part["type"]))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if text := got.Title + "\n---\n" + got.Text + "\n"; text != part["want"] {
			t.Errorf("%s: got\n%s\nwant\n%s", name, text, part["want"])
		}
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ body, media string }{
		{"%PDF-1.7", "application/pdf"},
		{"%PDF-1.7", ""},
		{`{"a":1}`, "application/json"},
		{"\x89PNG\r\n\x1a\n", ""},
		{"text", "text/html; charset"},
		{"text", ";;"},
		{strings.Repeat("<b><div>", 600), "text/html"}, // deeper than a parser should go
	}
	for _, tt := range tests {
		if p, err := Read([]byte(tt.body), tt.media); fault.KindOf(err) != fault.Invalid {
			t.Errorf("Read(%.20q, %q) = %v, %v; want fault.Invalid", tt.body, tt.media, p, err)
		}
	}
}

func TestCharacterSets(t *testing.T) {
	t.Parallel()
	tests := []struct{ body, media, want string }{
		{"K\xe4se und Brot", "text/plain; charset=iso-8859-1", "Käse und Brot"},
		{"<meta charset=windows-1252><p>K\xe4se \x80 5</p>", "text/html", "Käse € 5"},
		{"Käse", "text/plain; charset=utf-8", "Käse"},
	}
	for _, tt := range tests {
		if p, err := Read([]byte(tt.body), tt.media); err != nil || p.Text != tt.want {
			t.Errorf("Read(%q, %q) = %q, %v; want %q", tt.body, tt.media, p.Text, err, tt.want)
		}
	}
}

func server(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			io.WriteString(w, "<title>Bonds</title><p>A bid bond protects the owner.</p>")
		case "/moved":
			http.Redirect(w, r, "/page", http.StatusMovedPermanently)
		case "/inside":
			http.Redirect(w, r, "http://169.254.169.254/latest/", http.StatusFound)
		case "/long":
			w.Header().Set("Content-Type", "text/plain")
			io.WriteString(w, strings.Repeat("long ", 1000))
		case "/cut":
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, "cut")
		case "/busy":
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestFetch(t *testing.T) {
	t.Parallel()
	base := server(t)
	reader := Reader{HTTP: egress.New(egress.Options{Plain: true, Loopback: true, Redirects: 3, MaxBytes: 100, Timeout: 5 * time.Second})}
	tests := []struct {
		address, text string
		kind          fault.Kind
	}{
		{base + "/page", "A bid bond protects the owner.", ""},
		{base + "/moved", "A bid bond protects the owner.", ""},
		{base + "/long", strings.TrimSpace(strings.Repeat("long ", 20)), ""},
		{base + "/inside", "", fault.Invalid},
		{base + "/busy", "", fault.Unavailable},
		{base + "/absent", "", fault.NotFound},
		{"http://169.254.169.254/", "", fault.Invalid},
		{"file:///etc/passwd", "", fault.Invalid},
		{"corpus:/bonds", "", fault.Invalid},
		{"::", "", fault.Invalid},
	}
	for _, tt := range tests {
		got, err := reader.Fetch(t.Context(), tt.address)
		if fault.KindOf(err) != tt.kind || got.Text != tt.text {
			t.Errorf("Fetch(%s) = %q, %v; want %q and kind %q", tt.address, got.Text, err, tt.text, tt.kind)
		}
	}
	if _, err := reader.Fetch(t.Context(), base+"/cut"); err == nil {
		t.Error("a page that ends early was read")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := reader.Fetch(ctx, base+"/page"); !errors.Is(err, context.Canceled) {
		t.Errorf("Fetch, canceled = %v, want context.Canceled", err)
	}
}

func FuzzRead(f *testing.F) {
	names, _ := filepath.Glob("testdata/*.txtar")
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, "text/html")
	}
	f.Add([]byte("<table><tr><td>a<svg><p>b</svg><template><p>c"), "text/html; charset=utf-16")
	f.Add([]byte("<p style='display:none'>a<p hidden>b<p>c"), "")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		p, err := Read(body, contentType)
		if err != nil {
			if fault.KindOf(err) != fault.Invalid {
				t.Fatalf("Read = %v, want fault.Invalid", err)
			}
			return
		}
		if !utf8.ValidString(p.Text) || strings.Contains(p.Title, "\n") {
			t.Fatalf("Read = %q, %q", p.Title, p.Text)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	paragraph := "<p>" + strings.Repeat("A bid bond protects the owner when a bidder walks away. ", 8) + "</p>"
	for name, body := range map[string]string{
		"article": "<title>Bonds</title><body><article>" + strings.Repeat(paragraph, 60) + "</article>",
		"largest": "<body>" + strings.Repeat("<div><p>a, b</p></div>", 2<<20/22),
		"deep":    "<body>" + strings.Repeat(strings.Repeat("<div>", 400)+"text, text"+strings.Repeat("</div>", 400), 40),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, err := Read([]byte(body), "text/html"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
