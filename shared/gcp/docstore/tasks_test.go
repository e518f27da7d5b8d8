package docstore_test

import (
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/emulator/firestore/firestoretest"
	"truecost.dev/shared/a2a"
	"truecost.dev/shared/a2a/a2atest"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/gcp/docstore"
)

// Two instances of an agent, each with a client of its own, on one Firestore.
func TestTaskInstances(t *testing.T) {
	t.Parallel()
	a2atest.TestInstances(t, func(t *testing.T) (a, b a2a.Tasks) {
		server, client := firestoretest.Server(t)
		return docstore.NewTasks(client), docstore.NewTasks(firestoretest.Connect(t, server))
	})
}

// Ids of tasks come from outside: what can be no name of a document names no
// task, and reaches none elsewhere.
func TestTaskIDsFromOutside(t *testing.T) {
	t.Parallel()
	tasks := docstore.NewTasks(firestoretest.Client(t))
	long := make([]byte, 2000)
	for _, id := range []string{"a/b", "a/b/c", "/", "..", string(long)} {
		if _, err := tasks.Get(t.Context(), "cost", sdk.TaskID(id)); fault.KindOf(err) != fault.NotFound {
			t.Errorf("Get(%.10q) = %v, want kind not_found", id, err)
		}
	}
}
