package docstore_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"truecost.dev/emulator/firestore/firestoretest"
	"truecost.dev/internal/official"
	"truecost.dev/shared/a2a"
	"truecost.dev/shared/a2a/a2atest"
	"truecost.dev/shared/gcp/docstore"
	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	runnertest.TestStore(t, func(t *testing.T) runner.Store { return docstore.New(firestoretest.Client(t)) })
}

func TestTasks(t *testing.T) {
	t.Parallel()
	a2atest.TestTasks(t, func(t *testing.T) a2a.Tasks { return docstore.NewFormerTasks(firestoretest.Client(t)) })
}

// The same suites on the official emulator, each case in a project of its own.
func TestOnOfficialEmulator(t *testing.T) {
	t.Parallel()
	address := official.Firestore.Start(t)
	var projects atomic.Int64
	open := func(t *testing.T) *firestore.Client {
		t.Helper()
		conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		client, err := firestore.NewClient(t.Context(), fmt.Sprintf("suite-%d", projects.Add(1)), option.WithGRPCConn(conn))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		return client
	}
	t.Run("store", func(t *testing.T) {
		runnertest.TestStore(t, func(t *testing.T) runner.Store { return docstore.New(open(t)) })
	})
	t.Run("tasks", func(t *testing.T) {
		a2atest.TestTasks(t, func(t *testing.T) a2a.Tasks { return docstore.NewFormerTasks(open(t)) })
	})
}
