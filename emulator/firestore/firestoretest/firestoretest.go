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
func Client(t testing.TB) *firestore.Client {
	t.Helper()
	_, client := Server(t)
	return client
}

// Server is Client with the server in hand, for its faults and counts.
func Server(t testing.TB) (*fsemu.Server, *firestore.Client) {
	t.Helper()
	return With(t, fsemu.Options{})
}

// With is Server with options.
func With(t testing.TB, o fsemu.Options) (*fsemu.Server, *firestore.Client) {
	t.Helper()
	server := fsemu.New(o)
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("close the firestore server: %v", err)
		}
	})
	return server, Connect(t, server)
}

// Connect returns one more client on a server, closed when the test ends.
func Connect(t testing.TB, server *fsemu.Server) *firestore.Client {
	t.Helper()
	conn, err := server.Dial(t.Context())
	if err != nil {
		t.Fatalf("dial the firestore server: %v", err)
	}
	client, err := firestore.NewClient(t.Context(), Project, option.WithGRPCConn(conn))
	if err != nil {
		t.Fatalf("make a firestore client: %v", err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("close the firestore client: %v", err)
		}
	})
	return client
}
