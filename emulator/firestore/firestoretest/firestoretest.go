// Package firestoretest starts an embedded Firestore for a test and gives it
// the official client.
package firestoretest

import (
	"testing"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/option"

	fsemu "truecost.dev/emulator/firestore"
)

// Project is the project of the clients.
const Project = "truecost"

// Client returns the official client on a server of its own, in process. Both
// are closed when the test ends.
func Client(tb testing.TB) *firestore.Client {
	tb.Helper()
	_, client := Server(tb)
	return client
}

// Server is Client with the server in hand, for its faults and counts.
func Server(tb testing.TB) (*fsemu.Server, *firestore.Client) {
	tb.Helper()
	return With(tb, fsemu.Options{})
}

// With is Server with options.
func With(tb testing.TB, o fsemu.Options) (*fsemu.Server, *firestore.Client) {
	tb.Helper()
	server := fsemu.New(o)
	tb.Cleanup(func() {
		if err := server.Close(); err != nil {
			tb.Errorf("close the firestore server: %v", err)
		}
	})
	return server, Connect(tb, server)
}

// Connect returns one more client on a server, closed when the test ends.
func Connect(tb testing.TB, server *fsemu.Server) *firestore.Client {
	tb.Helper()
	conn, err := server.Dial(tb.Context())
	if err != nil {
		tb.Fatalf("dial the firestore server: %v", err)
	}
	client, err := firestore.NewClient(tb.Context(), Project, option.WithGRPCConn(conn))
	if err != nil {
		tb.Fatalf("make a firestore client: %v", err)
	}
	tb.Cleanup(func() {
		if err := client.Close(); err != nil {
			tb.Errorf("close the firestore client: %v", err)
		}
	})
	return client
}
