package docstore_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"cloud.google.com/go/firestore"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"truecost.dev/emulator/firestore/firestoretest"
	"truecost.dev/internal/official"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
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
	tasktest.TestStore(t, func(t *testing.T) task.Store { return docstore.NewTasks(firestoretest.Client(t)) })
}

// Three instances of an agent, each with a client of its own, on one Firestore.
// Leases run out by a clock that waits for everybody.
func TestInstances(t *testing.T) {
	t.Parallel()
	for _, c := range tasktest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server, first := firestoretest.Server(t)
				h := tasktest.NewHouse(docstore.NewTasks(first),
					docstore.NewTasks(firestoretest.Connect(t, server)), docstore.NewTasks(firestoretest.Connect(t, server)))
				defer h.Close()
				c.Run(t, h)
			})
		})
	}
}

func TestFinder(t *testing.T) {
	t.Parallel()
	tasktest.TestFinder(t, func(t *testing.T) tasktest.StoreFinder { return docstore.NewTasks(firestoretest.Client(t)) })
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
	t.Run("finder", func(t *testing.T) {
		tasktest.TestFinder(t, func(t *testing.T) tasktest.StoreFinder { return docstore.NewTasks(open(t)) })
	})
	t.Run("tasks", func(t *testing.T) {
		tasktest.TestStore(t, func(t *testing.T) task.Store { return docstore.NewTasks(open(t)) })
	})
}
