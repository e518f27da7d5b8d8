package egress

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// A proxy of the environment would dial in our place, past the guard.
func TestNoProxy(t *testing.T) { //nolint:paralleltest // it sets the environment
	proxied := false
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied = true }))
	t.Cleanup(proxy.Close)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	_, _, err := get(t, New(Options{Plain: true, Resolver: resolver(t, nil)}), "http://absent.example/")
	if err == nil || proxied {
		t.Errorf("Do = %v, by proxy: %v; want an error, and no proxy", err, proxied)
	}
}
