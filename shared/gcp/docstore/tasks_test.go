package docstore_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/api/iterator"

	fsemu "truecost.dev/emulator/firestore"
	"truecost.dev/emulator/firestore/firestoretest"
	"truecost.dev/shared/a2a"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/gcp/docstore"
	"truecost.dev/shared/runner"
)

const someTask = sdk.TaskID("0b5b7a52-3f0c-5c51-9b43-6a5c8a5e8d10")

// working returns a record that has seen nothing.
func working(id sdk.TaskID) task.Record {
	return task.Record{
		Agent: "cost", ID: id, Owner: "anna", Turns: []task.Turned{{ID: "m", Hash: "h"}}, Lease: time.Minute, Fence: 1,
		Task: &sdk.Task{ID: id, ContextID: "c", Status: sdk.TaskStatus{State: sdk.TaskStateWorking, Timestamp: new(epoch)}},
	}
}

// chunk returns the event of that number, which carries text.
func chunk(seq int64, text string) task.Entry {
	return task.Entry{Seq: seq, Event: &sdk.TaskArtifactUpdateEvent{
		TaskID: someTask, ContextID: "c", Append: seq > 1,
		Artifact: &sdk.Artifact{ID: "a", Parts: sdk.ContentParts{sdk.NewTextPart(text)}},
	}}
}

// Ids of tasks come from outside: what can be no name of a document names no
// task, and reaches none elsewhere.
func TestTaskIDsFromOutside(t *testing.T) {
	t.Parallel()
	tasks := docstore.NewTasks(firestoretest.Client(t))
	for _, id := range []string{"a/b", "a/b/c", "/", "..", "\xff", strings.Repeat("a", 2000)} {
		if _, err := tasks.Get(t.Context(), "cost", sdk.TaskID(id)); fault.KindOf(err) != fault.NotFound {
			t.Errorf("Get(%.10q) = %v, want kind not_found", id, err)
		}
		if log, err := tasks.Log(t.Context(), "cost", sdk.TaskID(id), 0); err != nil || len(log) != 0 {
			t.Errorf("Log(%.10q) = %d events, %v, want none", id, len(log), err)
		}
	}
}

// A document of before tasks had owners and logs is a task without them.
func TestTasksOfBefore(t *testing.T) {
	t.Parallel()
	client := firestoretest.Client(t)
	tasks := docstore.NewTasks(client)
	text := `{"id":"` + string(someTask) + `","contextId":"est-1","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-02T03:04:05Z"},` +
		`"artifacts":[{"artifactId":"result","name":"result","parts":[{"data":{"total":1.10}}]}],"metadata":{"agent":"cost","duration_ms":7}}`
	_, err := client.Doc("tasks/cost~"+string(someTask)).Create(t.Context(), map[string]any{
		"agent": "cost", "turns": []map[string]any{{"id": "m", "hash": "h"}}, "leaseMs": 30000, "fence": 2, "beats": 3, "retry": false,
		"state": "TASK_STATE_COMPLETED", "task": []byte(text), "taskEncoding": "", "taskBlob": nil, "expireAt": epoch,
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := tasks.Get(t.Context(), "cost", someTask)
	if err != nil {
		t.Fatal(err)
	}
	want, err := task.DecodeTask([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(task.Record{
		Agent: "cost", ID: someTask, Turns: []task.Turned{{ID: "m", Hash: "h"}}, Lease: 30 * time.Second, Fence: 2, Beats: 3, Version: got.Version, Task: want,
	}, got); diff != "" {
		t.Errorf("Get() (-want +got):\n%s", diff)
	}
	if log, err := tasks.Log(t.Context(), "cost", someTask, 0); err != nil || len(log) != 0 {
		t.Errorf("Log() = %v, %v, want no events", log, err)
	}
	got.Retry = true
	if _, err := tasks.Update(t.Context(), got); err != nil {
		t.Errorf("Update() = %v, want it written", err)
	}
}

// A record and its events are one write: neither stands without the other.
func TestRecordAndLogTogether(t *testing.T) {
	t.Parallel()
	client := firestoretest.Client(t)
	tasks := docstore.NewTasks(client)
	r := working(someTask)
	r.Seq = 1
	r, err := tasks.Create(t.Context(), r, chunk(1, "one"))
	if err != nil {
		t.Fatal(err)
	}
	late := r
	r.Seq = 3
	if r, err = tasks.Update(t.Context(), r, chunk(2, "two"), chunk(3, "three")); err != nil {
		t.Fatal(err)
	}
	late.Seq = 2
	if _, err := tasks.Update(t.Context(), late, chunk(2, "another")); fault.KindOf(err) != fault.Conflict {
		t.Errorf("Update(of an old version) = %v, want kind conflict", err)
	}
	late.Seq, late.Beats = 1, 9 // what no event guards
	if _, err := tasks.Update(t.Context(), late); fault.KindOf(err) != fault.Conflict {
		t.Errorf("Update(of an old version, without events) = %v, want kind conflict", err)
	}
	again := working(someTask)
	again.Seq = 4
	if _, err := tasks.Create(t.Context(), again, chunk(4, "another")); fault.KindOf(err) != fault.Conflict {
		t.Errorf("Create(again) = %v, want kind conflict", err)
	}
	r.Seq = 5
	if _, err := tasks.Update(t.Context(), r, chunk(4, "four")); fault.KindOf(err) != fault.Internal {
		t.Errorf("Update(a log that ends before the record) = %v, want kind internal", err)
	}
	all := []task.Entry{chunk(1, "one"), chunk(2, "two"), chunk(3, "three")}
	for after := range int64(5) {
		log, err := tasks.Log(t.Context(), "cost", someTask, after)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(all[min(after, 3):], log, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("Log(after %d) (-want +got):\n%s", after, diff)
		}
	}
	names := []string{}
	for it := client.Doc("tasks/cost~" + string(someTask)).Collection("events").Documents(t.Context()); ; {
		doc, err := it.Next()
		if errors.Is(err, iterator.Done) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, doc.Ref.ID)
	}
	if want := []string{"000000000001", "000000000002"}; !slices.Equal(names, want) {
		t.Errorf("the log is in %v, want %v: one document a commit", names, want)
	}
}

// A log of any size is read whole, some of it at each look.
func TestLargeLog(t *testing.T) {
	t.Parallel()
	tasks := docstore.NewTasks(firestoretest.Client(t))
	r := working(someTask)
	text := func(seq int64) string { return string(lines(5000)) + fmt.Sprint(seq) } // 2.5 MB that compress badly
	r, err := tasks.Create(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	const commits = 4
	for i := range int64(commits) {
		r.Seq = 2*i + 2
		if r, err = tasks.Update(t.Context(), r, chunk(2*i+1, text(2*i+1)), chunk(2*i+2, "small")); err != nil {
			t.Fatal(err)
		}
	}
	var all []task.Entry
	looks := 0
	for after := int64(0); after < r.Seq; looks++ {
		log, err := tasks.Log(t.Context(), "cost", someTask, after)
		if err != nil || len(log) == 0 {
			t.Fatalf("Log(after %d) = %d events, %v", after, len(log), err)
		}
		all = append(all, log...)
		after = log[len(log)-1].Seq
	}
	if looks < 2 || len(all) != 2*commits {
		t.Errorf("%d events in %d looks, want %d in some", len(all), looks, 2*commits)
	}
	for i, e := range all {
		want := chunk(e.Seq, "small")
		if e.Seq%2 == 1 {
			want = chunk(e.Seq, text(e.Seq))
		}
		if e.Seq != int64(i)+1 || !cmp.Equal(want, e) {
			t.Errorf("event %d of the log is %d, or has other content", i+1, e.Seq)
		}
	}
}

// A gap in a log is told: whoever resumes behind it would never know.
func TestLogWithAGap(t *testing.T) {
	t.Parallel()
	client := firestoretest.Client(t)
	tasks := docstore.NewTasks(client)
	r := working(someTask)
	r.Seq = 1
	r, err := tasks.Create(t.Context(), r, chunk(1, "one"))
	if err != nil {
		t.Fatal(err)
	}
	r.Seq = 2
	if _, err := tasks.Update(t.Context(), r, chunk(2, "two")); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Doc("tasks/cost~" + string(someTask) + "/events/000000000001").Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := tasks.Log(t.Context(), "cost", someTask, 0); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Log(after 0) without event 1 = %v, want kind not_found", err)
	}
	if log, err := tasks.Log(t.Context(), "cost", someTask, 1); err != nil || len(log) != 1 {
		t.Errorf("Log(after 1) = %v, %v, want event 2", log, err)
	}
}

// Tokens of pages are positions in the caller's own list; what is none is
// refused by the name of the member that carries it.
func TestPageTokens(t *testing.T) {
	t.Parallel()
	client := firestoretest.Client(t)
	tasks := docstore.NewTasks(client)
	for _, r := range []task.Record{working("t1"), working("t2"), working("t3")} {
		if _, err := tasks.Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	page, err := tasks.List(t.Context(), task.Query{Agent: "cost", Owner: "anna", Size: 2})
	if err != nil || len(page.Records) != 2 || page.Total != 3 || page.Next == "" {
		t.Fatalf("List() = %d of %d, next %q, %v, want 2 of 3 and a token", len(page.Records), page.Total, page.Next, err)
	}
	other, err := tasks.List(t.Context(), task.Query{Agent: "cost", Owner: "bert", Size: 2, From: page.Next})
	if err != nil || len(other.Records) != 0 || other.Total != 0 {
		t.Errorf("List(of another, anna's token) = %d of %d, %v, want none", len(other.Records), other.Total, err)
	}
	forged := func(at, id string) string {
		return base64.RawURLEncoding.EncodeToString([]byte(`{"t":"` + at + `","i":"` + id + `"}`))
	}
	const day = "2026-01-02T03:04:05Z"
	for _, token := range []string{
		"?", "e30", page.Next[:5], forged(day, "cost~a/b"), forged(day, ".."), forged(day, "risk~t1"), forged(day, "cost~"+strings.Repeat("x", 1500)),
		forged("0000-06-01T00:00:00Z", "cost~t1"), forged("9999-12-31T23:59:59-01:00", "cost~t1"),
	} {
		_, err := tasks.List(t.Context(), task.Query{Agent: "cost", Owner: "anna", Size: 2, From: token})
		if fault.KindOf(err) != fault.Invalid || !strings.HasPrefix(fault.Public(err), "pageToken: ") {
			t.Errorf("List(from %q) = %v, want kind invalid, naming pageToken", token, err)
		}
	}
}

// A credential of a webhook is in the field of the hooks and nowhere else.
func TestCredentialsStayInHooks(t *testing.T) {
	t.Parallel()
	client := firestoretest.Client(t)
	tasks := docstore.NewTasks(client)
	r := working(someTask)
	r.Seq, r.Hooks = 1, []task.Hook{{Config: sdk.PushConfig{ID: "h", TaskID: someTask, URL: "https://example.com", Token: "s3cret"}, Early: true, Sent: 1, Failures: 2}}
	if _, err := tasks.Create(t.Context(), r, chunk(1, "one")); err != nil {
		t.Fatal(err)
	}
	for _, group := range []string{"tasks", "events", "blobs"} {
		docs, err := client.CollectionGroup(group).Documents(t.Context()).GetAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range docs {
			for name, value := range doc.Data() {
				if b, _ := value.([]byte); name != "hooks" && strings.Contains(string(b)+fmt.Sprint(value), "s3cret") {
					t.Errorf("%s has the credential in %s", doc.Ref.Path, name)
				}
			}
		}
	}
	got, err := tasks.Get(t.Context(), "cost", someTask)
	if err != nil || !cmp.Equal(got.Hooks, r.Hooks) {
		t.Errorf("Get().Hooks = %+v, %v, want %+v", got.Hooks, err, r.Hooks)
	}
}

// A result of any size is kept, and goes with the estimate it was made for.
func TestLargeTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fsemu.Options{})
	run := w.started("est-1")
	tasks := docstore.NewTasks(w.client)
	call := runner.RepeatID(run.RunID(), "cost.0.p") // the harder one to find
	id, _ := a2a.TaskID("cost", call)
	large := lines(6000) // 3 MB that compress badly
	record, err := tasks.Create(t.Context(), working(id))
	w.must(err)
	record.Task.Status.State = sdk.TaskStateCompleted
	record.Task.Artifacts = []*sdk.Artifact{{ID: "result", Parts: sdk.ContentParts{sdk.NewDataPart(large)}}}
	record.Seq = 1
	_, err = tasks.Update(t.Context(), record, task.Entry{Seq: 1, Event: &sdk.TaskArtifactUpdateEvent{TaskID: id, Artifact: record.Task.Artifacts[0]}})
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
	for _, group := range []string{"tasks", "events", "blobs"} {
		left, err := w.client.CollectionGroup(group).Documents(t.Context()).GetAll()
		w.must(err)
		if len(left) != 0 {
			t.Errorf("%d documents of %s are left", len(left), group)
		}
	}
}
