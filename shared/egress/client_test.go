package egress

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"truecost.dev/shared/fault"
)

// desk is a client that may call the servers of a test.
func desk(opt Options) *Client {
	opt.Plain, opt.Loopback = true, true
	return New(opt)
}

// get returns the status of an answer, what could be read of its body, and the
// error of either.
func get(t *testing.T, c *Client, address string) (int, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, string(body), err
}

// A name that was public when it was looked at and is private when it is called
// reaches nobody.
func TestRebinding(t *testing.T) {
	t.Parallel()
	called := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	t.Cleanup(server.Close)
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	c := New(Options{Plain: true, Resolver: resolver(t, zone{"rebind.example.": {{"93.184.216.34"}, {"127.0.0.1"}}})})
	if err := c.Allow(t.Context(), "http://rebind.example"+port); err != nil {
		t.Fatalf("Allow = %v, want nil: the name is public now", err)
	}
	_, _, err := get(t, c, "http://rebind.example"+port)
	if fault.KindOf(err) != fault.Invalid || called {
		t.Errorf("Do = %v, called: %v; want fault.Invalid and no call", err, called)
	}
	if err != nil && strings.Contains(fault.Public(err), "127") {
		t.Errorf("the error says where the name leads: %v", err)
	}
}

func TestDoRefuses(t *testing.T) {
	t.Parallel()
	c := New(Options{})
	for _, address := range []string{"http://example.com/", "https://127.0.0.1/", "https://[::1]/", "https://localhost/", "https://u:p@example.com/", "ftp://example.com/"} {
		if _, _, err := get(t, c, address); fault.KindOf(err) != fault.Invalid {
			t.Errorf("Do(%s) = %v, want fault.Invalid", address, err)
		}
	}
}

// hops is a server whose /hop/n leads to /hop/n-1, and /to to what it is told.
func hops(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/hop/{n}", func(w http.ResponseWriter, r *http.Request) {
		var n int
		fmt.Sscan(r.PathValue("n"), &n)
		if n == 0 {
			fmt.Fprint(w, r.Header.Get("Authorization"), r.Header.Get("X-Token"), r.Header.Get("Cookie"))
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: "yes", Path: "/"})
		http.Redirect(w, r, fmt.Sprintf("/hop/%d", n-1), http.StatusFound)
	})
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.FormValue("url"), http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/headers", func(w http.ResponseWriter, r *http.Request) { _ = r.Header.Write(w) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	server := hops(t)
	tests := []struct {
		max, hops int
		status    int
		kind      fault.Kind
	}{
		{0, 0, 200, ""},
		{0, 1, 302, ""},
		{3, 3, 200, ""},
		{3, 4, 0, fault.Unavailable},
	}
	for _, tt := range tests {
		status, _, err := get(t, desk(Options{Redirects: tt.max}), fmt.Sprintf("%s/hop/%d", server.URL, tt.hops))
		if fault.KindOf(err) != tt.kind || status != tt.status {
			t.Errorf("%d hops of at most %d: %v, want status %d and kind %q", tt.hops, tt.max, err, tt.status, tt.kind)
		}
	}
}

// Every hop is checked as the first was: one that leads inside ends the call.
func TestRedirectsLeadNowhereInside(t *testing.T) {
	t.Parallel()
	server := hops(t)
	c := desk(Options{Redirects: 3})
	for _, to := range []string{
		"http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "http://[fd00:ec2::254]/", "http://0.0.0.0:9/",
		"file:///etc/passwd", "gopher://example.com/", "http://u:p@example.com/", "http://example.com:25/", "http://metadata.google.internal/",
		"//169.254.169.254/", "http://0xa9fea9fe/",
	} {
		if _, _, err := get(t, c, server.URL+"/to?url="+url.QueryEscape(to)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("redirect to %s = %v, want fault.Invalid", to, err)
		}
	}
}

// What belongs to one host does not go to another, and not back from there.
func TestCredentialsStay(t *testing.T) {
	t.Parallel()
	first, second := hops(t), hops(t)
	tests := []struct {
		name, path string
		keeps      bool
	}{
		{"same host", "/to?url=/headers", true},
		{"another port", "/to?url=" + url.QueryEscape(second.URL+"/headers"), false},
		{"there and back", "/to?url=" + url.QueryEscape(second.URL+"/to?url="+url.QueryEscape(first.URL+"/headers")), false},
	}
	for _, tt := range tests {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, first.URL+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		secrets := []string{"Authorization", "X-A2a-Notification-Token", "Proxy-Authorization", "Cookie"}
		for _, h := range secrets {
			req.Header.Set(h, "s3cret")
		}
		req.Header.Set("Accept", "text/html")
		res, err := desk(Options{Redirects: 3}).Do(req)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if got := strings.Contains(string(body), "s3cret"); got != tt.keeps {
			t.Errorf("%s: the headers arrive: %v, want %v:\n%s", tt.name, got, tt.keeps, body)
		}
		if !tt.keeps && strings.Contains(string(body), "Referer") {
			t.Errorf("%s: the first address is told:\n%s", tt.name, body)
		}
		if !strings.Contains(string(body), "Accept: text/html") {
			t.Errorf("%s: Accept is lost:\n%s", tt.name, body)
		}
	}
}

func TestNoCookies(t *testing.T) {
	t.Parallel()
	status, body, err := get(t, desk(Options{Redirects: 3}), hops(t).URL+"/hop/2")
	if err != nil || status != http.StatusOK || body != "" {
		t.Errorf("after a cookie was set: %d, %v, the server got %q; want 200 and nothing", status, err, body)
	}
}

func TestBoundedAnswers(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/fits":
			io.WriteString(w, strings.Repeat("x", 1000))
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat("x", 1000)); err != nil {
					return
				}
			}
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			z.Write(make([]byte, 10<<20))
			z.Close()
		case "/headers":
			for i := range 100 {
				w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("x", 4<<10))
			}
		}
	}))
	t.Cleanup(server.Close)
	c := desk(Options{MaxBytes: 1000})
	for path, kind := range map[string]fault.Kind{"/fits": "", "/endless": fault.Exhausted, "/bomb": fault.Exhausted} {
		_, body, err := get(t, c, server.URL+path)
		if fault.KindOf(err) != kind || len(body) != 1000 {
			t.Errorf("%s: %d bytes, %v; want 1000 and kind %q", path, len(body), err, kind)
		}
	}
	if _, _, err := get(t, c, server.URL+"/headers"); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("endless headers: %v, want fault.Unavailable", err)
	}
}

func TestSlowAnswers(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			io.WriteString(w, "first")
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	c := desk(Options{Timeout: 50 * time.Millisecond})
	_, _, err := get(t, c, server.URL+"/silent?token=s3cret")
	if fault.KindOf(err) != fault.Timeout {
		t.Errorf("a silent server: %v, want fault.Timeout", err)
	}
	if strings.Contains(fmt.Sprint(err), "s3cret") {
		t.Errorf("the error repeats the query: %v", err)
	}
	if status, _, err := get(t, c, server.URL+"/body"); status != http.StatusOK || err == nil {
		t.Errorf("a body without end: %d, %v; want 200 and an error", status, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	if _, err := c.Do(req); fault.KindOf(err) != fault.Canceled { //nolint:bodyclose // there is none
		t.Errorf("a canceled call: %v, want fault.Canceled", err)
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	c := New(Options{Resolver: resolver(t, nil)})
	_, _, err := get(t, c, "https://absent.example/?token=s3cret")
	if fault.KindOf(err) != fault.Unavailable || strings.Contains(fmt.Sprint(err), "s3cret") {
		t.Errorf("Do = %v, want fault.Unavailable without the query", err)
	}
}
