package a2a_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/fault"
)

// wired is a client on the transport of the standard library whose connections
// end in peer instead of a network.
func wired(dial func(context.Context) error, peer func(net.Conn)) *a2a.Client {
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		if err := dial(ctx); err != nil {
			return nil, err
		}
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			peer(far)
		}()
		return near, nil
	}}
	return &a2a.Client{HTTP: &http.Client{Transport: transport}, BaseURL: "http://agents"}
}

// reading takes a whole request in, then goes on with then.
func reading(then func(net.Conn)) func(net.Conn) {
	return func(c net.Conn) {
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		then(c)
	}
}

func TestAmbiguous(t *testing.T) {
	t.Parallel()
	reached := func(context.Context) error { return nil }
	refused := func(context.Context) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	nameless := func(context.Context) error { return &net.DNSError{Err: "no such host", IsNotFound: true} }
	hanging := func(context.Context) error { <-time.After(time.Minute); return errors.New("too late") }
	says := func(text string) func(net.Conn) { return func(c net.Conn) { _, _ = io.WriteString(c, text) } }
	tests := []struct {
		name string
		dial func(context.Context) error
		peer func(net.Conn)
		kind fault.Kind
		want bool
	}{
		{"refused", refused, nil, fault.Unavailable, false},
		{"no such name", nameless, nil, fault.Unavailable, false},
		{"no connection in time", hanging, nil, fault.Timeout, false},
		{"closed in the middle of the request", reached, func(c net.Conn) { _, _ = c.Read(make([]byte, 10)) }, fault.Unavailable, true},
		{"closed after the request", reached, reading(func(net.Conn) {}), fault.Unavailable, true},
		{"silent after the request", reached, reading(func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }), fault.Timeout, true},
		{"cut off in the answer", reached, reading(says("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"jsonrpc\"")), fault.Unavailable, true},
		{"502", reached, reading(says("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")), fault.Unavailable, true},
		{"504", reached, reading(says("HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 0\r\n\r\n")), fault.Timeout, true},
		{"503", reached, reading(says("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")), fault.Unavailable, false},
		{"429", reached, reading(says("HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n")), fault.Exhausted, false},
		{"nonsense", reached, reading(says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")), fault.Internal, false},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			_, err := wired(tt.dial, tt.peer).Call(ctx, "cost", callID, a2a.Request{EstimateID: "e"})
			time.Sleep(time.Minute) //nolint:forbidigo // in the bubble: until the dial that hangs has given up
			if fault.KindOf(err) != tt.kind || a2a.Ambiguous(err) != tt.want {
				t.Errorf("%s: Call() = %v of kind %q, ambiguous %t, want %q, %t", tt.name, err, fault.KindOf(err), a2a.Ambiguous(err), tt.kind, tt.want)
			}
		})
	}
}

// A transport that does not tell how far it came is believed only about
// connections that never were.
func TestAmbiguousOfOtherTransports(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name string
		over bool // the context, before the call
		http http.RoundTripper
		want bool
	}{
		{"refused", false, broken{syscall.ECONNREFUSED}, false},
		{"no such name", false, broken{&net.DNSError{Err: "no such host"}}, false},
		{"not dialed", false, broken{&net.OpError{Op: "dial", Err: errors.New("unreachable")}}, false},
		{"reset", false, broken{syscall.ECONNRESET}, true},
		{"timeout", false, broken{late{}}, true},
		{"over before it began", true, broken{errors.New("never asked")}, false},
	}
	for _, tt := range tests {
		client := a2a.Client{HTTP: &http.Client{Transport: tt.http}, BaseURL: "http://agents"}
		ctx := t.Context()
		if tt.over {
			ctx = over
		}
		if _, err := client.Call(ctx, "cost", callID, a2a.Request{}); err == nil || a2a.Ambiguous(err) != tt.want {
			t.Errorf("%s: Call() = %v, ambiguous %t, want %t", tt.name, err, a2a.Ambiguous(err), tt.want)
		}
	}
	if a2a.Ambiguous(nil) || a2a.Ambiguous(errors.New("x")) {
		t.Error("Ambiguous() of nil or of any error = true, want false")
	}
	gateway := answering(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "4")
		w.WriteHeader(http.StatusBadGateway)
	})
	_, err := gateway.Call(t.Context(), "cost", callID, a2a.Request{})
	if after, ok := a2a.RetryAfter(err); !ok || after != 4*time.Second || !strings.Contains(err.Error(), "HTTP 502") {
		t.Errorf("Call() = %v, retry after %s, want HTTP 502 and 4s", err, after)
	}
}
