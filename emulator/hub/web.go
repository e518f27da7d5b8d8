package hub

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Limits of the HTTP servers. There is no write timeout: an agent may stream
// for as long as it works.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
)

// A webServer is an http.Server that stops at once when nothing is under way.
// The standard one waits seconds for connections that never sent a request,
// and browsers and Go's own client open such connections ahead of need.
type webServer struct {
	http.Server
	mu       sync.Mutex // guards the rest
	fresh    map[net.Conn]struct{}
	stopping bool
}

func newWebServer(handler http.Handler, log *slog.Logger) *webServer {
	s := &webServer{fresh: map[net.Conn]struct{}{}}
	s.Server = http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn), ConnState: s.track,
	}
	return s
}

func (s *webServer) track(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(s.fresh, c)
	case s.stopping:
		_ = c.Close() // accepted before the listener was closed
	default:
		s.fresh[c] = struct{}{}
	}
}

// stop takes no more requests and waits for those under way, until ctx ends;
// then it cuts them off and says so.
func (s *webServer) stop(ctx context.Context) error {
	s.mu.Lock()
	s.stopping = true
	for c := range s.fresh {
		_ = c.Close() // nothing was asked on it
	}
	s.mu.Unlock()
	if err := s.Shutdown(ctx); err != nil {
		_ = s.Close() // the error below says that work was lost
		return fmt.Errorf("wait for requests under way: %w", err)
	}
	return nil
}
