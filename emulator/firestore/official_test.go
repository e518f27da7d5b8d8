package firestore_test

import (
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	emulator "truecost.dev/internal/official"
)

// official starts the official emulator and connects to it. It skips the test
// where the emulator is not installed.
func official(t *testing.T) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(emulator.Firestore.Start(t), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}
