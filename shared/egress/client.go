package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"code.dny.dev/ssrf"

	"truecost.dev/shared/fault"
)

// Bounds that no option moves.
const (
	lookupTime = 2 * time.Second // of the resolver, in Allow
	dialTime   = 5 * time.Second
	maxHeader  = 64 << 10 // bytes of an answer's headers
)

// Options of a client. The zero value calls https addresses, follows no redirect,
// waits 10 s and reads 2 MiB.
type Options struct {
	Plain     bool          // http too
	Loopback  bool          // this machine too: for tests and the local system
	Redirects int           // followed at most; 0 hands the redirect out as the answer
	Timeout   time.Duration // from the dial to the last byte; 0 is 10 s
	MaxBytes  int64         // of an answer's body, decompressed; 0 is 2 MiB

	Resolver *net.Resolver // nil: the machine's
}

// Client calls addresses that come from outside. It is safe for use by several
// goroutines.
type Client struct {
	opt      Options
	guard    *ssrf.Guardian
	resolver *net.Resolver
	http     *http.Client
}

// denied adds to the special addresses of IANA's registries: a public address at
// which a cloud answers its own machines.
var denied = []netip.Prefix{netip.MustParsePrefix("168.63.129.16/32")}

// New returns a client.
func New(opt Options) *Client {
	if opt.Timeout <= 0 {
		opt.Timeout = 10 * time.Second
	}
	if opt.MaxBytes <= 0 {
		opt.MaxBytes = 2 << 20
	}
	c := &Client{opt: opt, resolver: opt.Resolver}
	if c.resolver == nil {
		c.resolver = net.DefaultResolver
	}
	guards := []ssrf.Option{ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(denied...)}
	if opt.Loopback {
		guards = append(guards, ssrf.WithAllowedV4Prefixes(netip.MustParsePrefix("127.0.0.0/8")), ssrf.WithAllowedV6Prefixes(netip.MustParsePrefix("::1/128")))
	}
	c.guard = ssrf.New(guards...)
	dialer := &net.Dialer{
		Timeout: dialTime, Resolver: opt.Resolver,
		Control: func(network, address string, _ syscall.RawConn) error { return c.dialed(network, address) },
	}
	c.http = &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, DisableKeepAlives: true,
			TLSHandshakeTimeout: dialTime, MaxResponseHeaderBytes: maxHeader,
		},
		CheckRedirect: c.redirect,
		Timeout:       opt.Timeout,
	}
	return c
}

// Do sends a request and returns its answer, whatever its status. The body ends
// with an error of kind fault.Exhausted after MaxBytes; the caller closes it.
//
// It returns fault.Invalid for an address that must not be called,
// fault.Timeout and fault.Canceled for what they say, and fault.Unavailable for
// everything else. No error repeats the path or the query of the address.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	if err := c.check(req.URL); err != nil {
		return nil, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.explain(req, err)
	}
	res.Body = &bounded{body: res.Body, left: c.opt.MaxBytes}
	return res, nil
}

// explain gives an error its kind, and takes the address out of it.
func (c *Client) explain(req *http.Request, err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if refused, ok := errors.AsType[*fault.Error](err); ok {
		return fmt.Errorf("call %s: %w", req.URL.Hostname(), refused)
	}
	if t, ok := errors.AsType[net.Error](err); ok && t.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		return fault.Wrap(fault.Timeout, err, "%s did not answer in time", req.URL.Hostname())
	}
	if errors.Is(err, context.Canceled) {
		return fault.Wrap(fault.Canceled, err, "the call was canceled")
	}
	return fault.Wrap(fault.Unavailable, err, "%s cannot be reached", req.URL.Hostname())
}

// kept are the headers that go along to another host.
var kept = []string{"Accept", "Accept-Language", "User-Agent"}

// redirect checks the next address as if it were the first.
func (c *Client) redirect(next *http.Request, via []*http.Request) error {
	if c.opt.Redirects == 0 {
		return http.ErrUseLastResponse
	}
	if len(via) > c.opt.Redirects {
		return fault.New(fault.Unavailable, "more than %d redirects", c.opt.Redirects)
	}
	if len(next.URL.String()) > maxURL {
		return fault.New(fault.Invalid, "url: wanted at most %d bytes", maxURL)
	}
	if err := c.check(next.URL); err != nil {
		return err
	}
	// Once away, what belonged to the first host stays behind, also on the way
	// back: the host in between chose that way.
	for _, r := range append([]*http.Request{next}, via...) {
		if r.URL.Scheme != via[0].URL.Scheme || r.URL.Host != via[0].URL.Host {
			strip(next)
			break
		}
	}
	return nil
}

func strip(req *http.Request) {
	bare := http.Header{}
	for _, name := range kept {
		if v, ok := req.Header[name]; ok {
			bare[name] = v
		}
	}
	req.Header = bare
	req.Host = ""
}

// bounded is a body that ends.
type bounded struct {
	body io.ReadCloser
	left int64
}

// errTooLong ends a body that is longer than MaxBytes.
var errTooLong = fault.New(fault.Exhausted, "the answer is too long")

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		// One byte more tells a body that ends here from one that goes on.
		if n, err := b.body.Read(make([]byte, 1)); n == 0 {
			return 0, err //nolint:wrapcheck // io.EOF must stay itself
		}
		return 0, errTooLong
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.body.Read(p)
	b.left -= int64(n)
	return n, err //nolint:wrapcheck // io.EOF must stay itself
}

func (b *bounded) Close() error { return b.body.Close() } //nolint:wrapcheck // as above
