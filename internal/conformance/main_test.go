package main

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
)

// start serves an agent of its own and returns its address.
func start(t *testing.T, c config) string {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	c.mount = "/"
	s, err := newSystem(t.Context(), server.Listener.Addr().String(), c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = s.handler
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s.base
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-nonsense"}, {"more"}, {"-mount", "a2a"}} {
		var out bytes.Buffer
		if err := run(t.Context(), args, io.Discard, &out); !errors.Is(err, errUsage) || !strings.Contains(out.String(), "-addr") {
			t.Errorf("run(%q) = %v, %q; want the usage", args, err, out.String())
		}
	}
}
