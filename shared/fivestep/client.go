package fivestep

import (
	"context"
	"net"
	"net/http"
	"time"
)

// Client asks specialists. The zero Client asks those that want nobody to log in.
// It is safe for concurrent use.
type Client struct {
	// ID is the name the requester gives itself; empty: truecost. It proves nothing.
	ID string

	// Who to log in as, where a specialist wants that.
	ClientID, ClientSecret string

	// Token is sent instead of logging in: of an issuer that the specialist believes.
	Token string

	// HTTP sends the requests; its timeout would cut streams, and its redirects
	// are never followed. Nil: one of the package's own.
	HTTP *http.Client

	// Sleep waits, or returns when ctx ends. Nil: by the clock.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Budgets.
const (
	discoverTime = 10 * time.Second // for a card
	requestTime  = 15 * time.Second // for one try of any other request that is answered at once
	quietTime    = 60 * time.Second // of a stream without a sign of life: they come every 15 s

	tries     = 5                      // of one request, and of a stream that brings nothing new
	firstWait = 500 * time.Millisecond // after the first try; doubles
	longWait  = 30 * time.Second       // the longest, also when a specialist asks for more
	pollWait  = 2 * time.Second        // between two looks at the status

	maxAnswer = 16 << 20 // bytes of an answer
	maxFrame  = 8 << 20  // bytes of a frame
)

// transport is that of clients without one of their own.
var transport = &http.Transport{
	Proxy:       http.ProxyFromEnvironment,
	DialContext: (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext, TLSHandshakeTimeout: 10 * time.Second,
	ForceAttemptHTTP2: true, IdleConnTimeout: 90 * time.Second,
}

// http returns the client to send requests with.
func (c *Client) http() *http.Client {
	own := http.Client{Transport: transport}
	if c.HTTP != nil {
		own = *c.HTTP
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

func (c *Client) sleep(ctx context.Context, d time.Duration) error {
	if c.Sleep != nil {
		return c.Sleep(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
