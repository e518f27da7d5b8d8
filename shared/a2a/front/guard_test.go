package front

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/GoogleCloudPlatform/functions-framework-go/funcframework"
)

// spaces are n bytes of blank JSON, made as they are read.
func spaces(n int64) io.Reader { return io.LimitReader(endless{}, n) }

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// A body of 40 MB is refused before its memory is spent, whether its length is
// said or not. This test runs alone: it looks at the memory of the process.
func TestLargeBodies(t *testing.T) { //nolint:paralleltest // see above
	server := httptest.NewServer(newScripted(t, Options{}))
	defer server.Close()
	for _, said := range []bool{true, false} {
		debug.FreeOSMemory()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/message:send", spaces(40<<20))
		if err != nil {
			t.Fatal(err)
		}
		if said {
			r.ContentLength = 40 << 20
		}
		response, err := server.Client().Do(r)
		if err != nil {
			t.Fatalf("POST 40 MB, length said %t: %v", said, err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode != http.StatusRequestEntityTooLarge || !bytes.Contains(body, []byte("larger")) {
			t.Errorf("POST 40 MB, length said %t = HTTP %d, %s (%v), want 413", said, response.StatusCode, body, err)
		}
		runtime.ReadMemStats(&after)
		grown, spent := int64(after.Sys-before.Sys)>>20, int64(after.TotalAlloc-before.TotalAlloc)>>20
		t.Logf("length said %t: the process grew by %d MB, %d MB were allocated", said, grown, spent)
		if grown >= 32 {
			t.Errorf("POST 40 MB, length said %t: the process grew by %d MB, want less than 32", said, grown)
		}
	}
}

// Bodies that stop, or never end, are answered and their connection is closed.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, head string
		more       io.Reader
		want       string
	}{
		{"stops", "Content-Length: 100\r\n\r\n{\"a\":", nil, "did not arrive in time"},
		{"stops at once", "Content-Length: 100\r\n\r\n", nil, "did not arrive in time"},
		{"stops within a chunk", "Transfer-Encoding: chunked\r\n\r\nff\r\n{", nil, "did not arrive in time"},
		{"drips", "Content-Length: 100000\r\n\r\n", iotest.OneByteReader(endless{}), "did not arrive in time"},
		{"never ends", "Transfer-Encoding: chunked\r\n\r\n", chunks{}, "larger"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(newScripted(t, Options{BodyTime: 50 * time.Millisecond, MaxBody: 1 << 20}))
			defer server.Close()
			if tt.want == "larger" { // there is time for that
				server.Config.Handler = newScripted(t, Options{MaxBody: 1 << 20})
			}
			var dialer net.Dialer
			conn, err := dialer.DialContext(t.Context(), "tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\n"+tt.head); err != nil {
				t.Fatal(err)
			}
			if tt.more != nil {
				go slowly(conn, tt.more, tt.name == "drips")
			}
			answer, _ := io.ReadAll(conn) // to its close; a reset says so too
			if !bytes.Contains(answer, []byte(tt.want)) || !bytes.Contains(answer, []byte("Connection: close")) {
				t.Errorf("answer %s, want one about %q and the end of the connection", answer, tt.want)
			}
		})
	}
}

// slowly sends until the other side is gone.
func slowly(conn net.Conn, body io.Reader, drip bool) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	buf := make([]byte, 32<<10)
	for {
		n, err := body.Read(buf)
		if _, failed := conn.Write(buf[:n]); err != nil || failed != nil {
			return
		}
		if drip {
			<-tick.C
		}
	}
}

// chunks is a chunked body without end.
type chunks struct{}

func (chunks) Read(p []byte) (int, error) {
	return copy(p, "400\r\n"+strings.Repeat(" ", 1024)+"\r\n"), nil
}

// deadlines is a writer with a socket whose deadlines are watched.
type deadlines struct {
	*httptest.ResponseRecorder
	read, write []time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.read = append(d.read, at)
	return nil
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.write = append(d.write, at)
	return nil
}

// No deadline of one request reaches into the next one of its connection.
func TestDeadlinesEnd(t *testing.T) {
	t.Parallel()
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	newScripted(t, Options{}).ServeHTTP(w, streamCall(t.Context(), "chunks"))
	if len(w.read) != 2 || w.read[0].IsZero() || !w.read[1].IsZero() {
		t.Errorf("read deadlines %v, want one and its end", w.read)
	}
	if n := len(w.write); n != 6 || w.write[0].IsZero() || !w.write[n-1].IsZero() {
		t.Errorf("write deadlines %v, want one for each of 5 frames and their end", w.write)
	}
}

// Through the functions framework a frame arrives when it is sent, while the
// agent still works.
func TestFunctionsFramework(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	h, _ := newFront(t, gated(gate), Options{})
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	path := "/test" + port // of this run alone: the framework forgets no function
	if err := funcframework.RegisterHTTPFunctionContext(t.Context(), path+"/", http.StripPrefix(path, h).ServeHTTP); err != nil {
		t.Fatal(err)
	}
	go func() { _ = funcframework.StartHostPort(host, port) }() // it has no way to stop

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	url := "http://" + net.JoinHostPort(host, port) + path + "/message:stream"
	response := postUntilServed(ctx, t, url, `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}`)
	defer response.Body.Close()
	in := bufio.NewReader(response.Body)
	for _, want := range []string{`{"task":`, `{"statusUpdate":`} {
		frame, err := readFrame(in)
		if err != nil || !strings.Contains(frame, want) {
			t.Fatalf("frame %q (%v), want %s while the agent works", frame, err, want)
		}
	}
	close(gate)
	rest, err := io.ReadAll(in)
	if err != nil || !bytes.Contains(rest, []byte(ended)) {
		t.Errorf("the rest is %q (%v), want the end", rest, err)
	}
}

// postUntilServed sends a request until somebody listens.
func postUntilServed(ctx context.Context, t *testing.T, url, body string) *http.Response {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultTransport.RoundTrip(r)
		if err == nil {
			return response
		}
		select {
		case <-ctx.Done():
			t.Fatalf("nobody listens: %v", err)
		case <-tick.C:
		}
	}
}
