package docstore_test

import (
	"encoding/json"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	fsemu "truecost.dev/emulator/firestore"
	"truecost.dev/emulator/firestore/firestoretest"
	"truecost.dev/shared/a2a"
	"truecost.dev/shared/a2a/a2atest"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/gcp/docstore"
	"truecost.dev/shared/runner"
)

// Two instances of an agent, each with a client of its own, on one Firestore.
func TestTaskInstances(t *testing.T) {
	t.Parallel()
	a2atest.TestInstances(t, func(t *testing.T) (a, b a2a.Tasks) {
		server, client := firestoretest.Server(t)
		return docstore.NewFormerTasks(client), docstore.NewFormerTasks(firestoretest.Connect(t, server))
	})
}

// Ids of tasks come from outside: what can be no name of a document names no
// task, and reaches none elsewhere.
func TestFormerTaskIDsFromOutside(t *testing.T) {
	t.Parallel()
	tasks := docstore.NewFormerTasks(firestoretest.Client(t))
	long := make([]byte, 2000)
	for _, id := range []string{"a/b", "a/b/c", "/", "..", string(long)} {
		if _, err := tasks.Get(t.Context(), "cost", sdk.TaskID(id)); fault.KindOf(err) != fault.NotFound {
			t.Errorf("Get(%.10q) = %v, want kind not_found", id, err)
		}
	}
}

// A result of any size is kept, and goes with the estimate it was made for.
func TestLargeTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fsemu.Options{})
	run := w.started("est-1")
	tasks := docstore.NewFormerTasks(w.client)
	call := runner.RepeatID(run.RunID(), "cost.0.p") // the harder one to find
	id, _ := a2a.TaskID("cost", call)
	large := lines(6000) // 3 MB that compress badly
	record, err := tasks.Create(t.Context(), a2a.Record{
		Agent: "cost", ID: id, Fence: 1, Lease: time.Minute,
		Task: &sdk.Task{ID: id, ContextID: "est-1", Status: sdk.TaskStatus{State: sdk.TaskStateWorking}},
	})
	w.must(err)
	record.Task.Status.State = sdk.TaskStateCompleted
	record.Task.Artifacts = []*sdk.Artifact{{ID: "result", Parts: sdk.ContentParts{sdk.NewDataPart(large)}}}
	_, err = tasks.Update(t.Context(), record)
	w.must(err)
	got, err := tasks.Get(t.Context(), "cost", id)
	w.must(err)
	data, _ := got.Task.Artifacts[0].Parts[0].Data().(json.RawMessage)
	if string(data) != string(large) {
		t.Errorf("the result has %d bytes, want the %d that were kept", len(data), len(large))
	}

	_, err = w.store.PutStep(t.Context(), runner.Step{Run: run.RunID(), ID: "cost.0.p", Status: runner.Done, Agent: "cost", Call: call, Result: large, Owner: "o"})
	w.must(err)
	w.must(w.store.Delete(t.Context(), "est-1"))
	for _, group := range []string{"tasks", "blobs"} {
		left, err := w.client.CollectionGroup(group).Documents(t.Context()).GetAll()
		w.must(err)
		if len(left) != 0 {
			t.Errorf("%d documents of %s are left", len(left), group)
		}
	}
}
