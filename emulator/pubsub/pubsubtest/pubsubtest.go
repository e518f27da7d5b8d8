// Package pubsubtest gives tests a Pub/Sub server of their own with the
// official client connected to it, in process and without a port.
package pubsubtest

import (
	"testing"

	client "cloud.google.com/go/pubsub/v2"
	"google.golang.org/api/option"

	"truecost.dev/emulator/pubsub"
)

// Project is the project of the clients.
const Project = "truecost"

// Client returns a client of a new server. Both end with the test.
func Client(tb testing.TB) *client.Client {
	tb.Helper()
	_, c := Start(tb, pubsub.Options{})
	return c
}

// Start returns a new server and a client of it. Both end with the test.
func Start(tb testing.TB, o pubsub.Options) (*pubsub.Server, *client.Client) {
	tb.Helper()
	s := pubsub.New(o)
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("close Pub/Sub: %v", err)
		}
	})
	conn, err := s.Dial(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	c, err := client.NewClient(tb.Context(), Project, option.WithGRPCConn(conn))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() }) // the connection may be closed by the server already
	return s, c
}
