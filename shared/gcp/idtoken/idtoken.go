// Package idtoken says who we are to our other functions: it puts an ID token of
// this process's own service account on every request to them, for the address of
// the function that is called, as the platform and package identity want it.
//
// It is not for requests to anybody else: those go without.
package idtoken

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"golang.org/x/oauth2"
	"google.golang.org/api/idtoken"
)

// Transport returns next with a token on every request to a function below base.
// A token that cannot be had fails the request.
func Transport(next http.RoundTripper, base string) http.RoundTripper {
	return newTransport(next, base, func(ctx context.Context, audience string) (oauth2.TokenSource, error) {
		return idtoken.NewTokenSource(ctx, audience)
	})
}

type transport struct {
	next http.RoundTripper
	base string // with a slash at its end
	open func(ctx context.Context, audience string) (oauth2.TokenSource, error)

	mu      sync.Mutex
	sources map[string]oauth2.TokenSource // by audience; each keeps its token while it is good
}

func newTransport(next http.RoundTripper, base string, open func(context.Context, string) (oauth2.TokenSource, error)) *transport {
	return &transport{next: next, base: strings.TrimSuffix(base, "/") + "/", open: open, sources: map[string]oauth2.TokenSource{}}
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	audience, ok := t.audience(r.URL.Scheme + "://" + r.URL.Host + r.URL.Path)
	if !ok {
		return t.next.RoundTrip(r) //nolint:wrapcheck // a transport passes errors on
	}
	source, err := t.source(r.Context(), audience)
	if err != nil {
		return nil, err
	}
	token, err := source.Token()
	if err != nil {
		return nil, fmt.Errorf("get an ID token for %s: %w", audience, err)
	}
	r = r.Clone(r.Context())
	token.SetAuthHeader(r)
	return t.next.RoundTrip(r) //nolint:wrapcheck // a transport passes errors on
}

// audience returns the address of the function that a request goes to.
func (t *transport) audience(address string) (string, bool) {
	path, ours := strings.CutPrefix(address, t.base)
	name, _, _ := strings.Cut(path, "/")
	return t.base + name, ours && name != ""
}

// source returns the tokens for an audience.
func (t *transport) source(ctx context.Context, audience string) (oauth2.TokenSource, error) {
	t.mu.Lock()
	source := t.sources[audience]
	t.mu.Unlock()
	if source != nil {
		return source, nil
	}
	source, err := t.open(context.WithoutCancel(ctx), audience) // it outlives the request
	if err != nil {
		return nil, fmt.Errorf("open ID tokens for %s: %w", audience, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sources[audience] = source // of two that were opened at once either will do
	return source, nil
}
