package a2atest

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/fault"
)

// TestTasks holds an implementation to the contract of a2a.Tasks. open returns
// an empty store; it is called once for each case, and cases run in parallel.
func TestTasks(t *testing.T, open func(t *testing.T) a2a.Tasks) {
	t.Helper()
	cases := []struct {
		name string
		run  func(t *testing.T, s a2a.Tasks)
	}{
		{"unknown", unknown},
		{"begin twice", beginTwice},
		{"another request", anotherRequest},
		{"agents do not share ids", agentsApart},
		{"finish and read back", finish},
		{"the first result wins", firstWins},
		{"a lapsed lease is taken over", takeOver},
		{"a late result of the first worker counts", lateResult},
		{"a late failure of the first worker does not", lateFailure},
		{"a transient failure is run again", runAgain},
		{"records are copies", copies},
		{"one of many begins", oneOfMany},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, open(t))
		})
	}
}

const taskID = sdk.TaskID("0b5b7a52-3f0c-5c51-9b43-6a5c8a5e8d10")

// record returns a working record whose lease outlives every test.
func record() a2a.Record {
	return a2a.Record{
		Agent: "location", ID: taskID, RequestHash: "h1", Lease: time.Hour,
		Task: &sdk.Task{
			ID: taskID, ContextID: "est-1", Status: sdk.TaskStatus{State: sdk.TaskStateWorking},
			Metadata: map[string]any{"agent": "location"},
		},
	}
}

// short returns a record whose lease has run out at the next look.
func short() a2a.Record {
	r := record()
	r.Lease = time.Nanosecond
	return r
}

// done returns r completed with data.
func done(r a2a.Record, data string) a2a.Record {
	task := *r.Task
	task.Status.State = sdk.TaskStateCompleted
	task.Artifacts = []*sdk.Artifact{{ID: "result", Name: "result", Parts: sdk.ContentParts{sdk.NewDataPart(json.RawMessage(data))}}}
	r.Task = &task
	return r
}

// failed returns r failed in a way that may pass.
func failed(r a2a.Record) a2a.Record {
	task := *r.Task
	task.Status.State = sdk.TaskStateFailed
	r.Task, r.Retry = &task, true
	return r
}

func data(t *testing.T, r a2a.Record) string {
	t.Helper()
	if len(r.Task.Artifacts) != 1 || len(r.Task.Artifacts[0].Parts) != 1 {
		t.Fatalf("record %+v has no artifact", r)
	}
	raw, ok := r.Task.Artifacts[0].Parts[0].Data().(json.RawMessage)
	if !ok {
		t.Fatalf("artifact data is a %T, want json.RawMessage (decode tasks with a2a.DecodeTask)", r.Task.Artifacts[0].Parts[0].Data())
	}
	return string(raw)
}

func begin(t *testing.T, s a2a.Tasks, r a2a.Record, wantFresh bool, wantFence int64) a2a.Record {
	t.Helper()
	got, fresh, err := s.Begin(t.Context(), r)
	if err != nil || fresh != wantFresh || got.Fence != wantFence {
		t.Fatalf("Begin(%s) = fence %d, fresh %t, %v, want fence %d, fresh %t", r.ID, got.Fence, fresh, err, wantFence, wantFresh)
	}
	return got
}

// takenOver begins until the lease of the record before has run out by the
// clock of the store, which may be coarse.
func takenOver(t *testing.T, s a2a.Tasks, r a2a.Record) a2a.Record {
	t.Helper()
	for range 1000 {
		got, fresh, err := s.Begin(t.Context(), r)
		if err != nil {
			t.Fatalf("Begin(%s) = %v, want a take-over", r.ID, err)
		}
		if fresh {
			return got
		}
	}
	t.Fatalf("Begin(%s) took over nothing, want a take-over after %s", r.ID, r.Lease)
	return a2a.Record{}
}

func end(t *testing.T, s a2a.Tasks, r a2a.Record) a2a.Record {
	t.Helper()
	got, err := s.Finish(t.Context(), r)
	if err != nil {
		t.Fatalf("Finish(%s) = %v, want the record", r.ID, err)
	}
	return got
}

func get(t *testing.T, s a2a.Tasks) a2a.Record {
	t.Helper()
	got, err := s.Get(t.Context(), "location", taskID)
	if err != nil {
		t.Fatalf("Get(location, %s) = %v, want the record", taskID, err)
	}
	return got
}

func wantKind(t *testing.T, call string, err error, want fault.Kind) {
	t.Helper()
	if got := fault.KindOf(err); got != want {
		t.Errorf("%s = %v of kind %q, want kind %q", call, err, got, want)
	}
}

func unknown(t *testing.T, s a2a.Tasks) {
	t.Helper()
	_, err := s.Get(t.Context(), "location", taskID)
	wantKind(t, "Get(unknown)", err, fault.NotFound)
	_, err = s.Finish(t.Context(), done(record(), `{}`))
	wantKind(t, "Finish(unknown)", err, fault.NotFound)
}

func beginTwice(t *testing.T, s a2a.Tasks) {
	t.Helper()
	begin(t, s, record(), true, 1)
	got := begin(t, s, record(), false, 1)
	if got.Task.Status.State != sdk.TaskStateWorking || got.Task.ContextID != "est-1" || got.Task.Metadata["agent"] != "location" {
		t.Errorf("Begin(again) = task %+v, want the first one, working", got.Task)
	}
	if r := get(t, s); r.Lapsed || r.Retry || r.RequestHash != "h1" || r.Lease != time.Hour {
		t.Errorf("Get() = %+v, want what was begun, not lapsed", r)
	}
}

func anotherRequest(t *testing.T, s a2a.Tasks) {
	t.Helper()
	begin(t, s, short(), true, 1)
	other := record()
	other.RequestHash = "h2"
	_, _, err := s.Begin(t.Context(), other)
	wantKind(t, "Begin(other hash)", err, fault.Conflict)
	if got := get(t, s); got.RequestHash != "h1" || got.Fence != 1 {
		t.Errorf("Get() = hash %s fence %d, want h1, 1: a conflict changes nothing", got.RequestHash, got.Fence)
	}
}

func agentsApart(t *testing.T, s a2a.Tasks) {
	t.Helper()
	begin(t, s, record(), true, 1)
	other := record()
	other.Agent, other.RequestHash = "scope", "h2"
	begin(t, s, other, true, 1)
}

func finish(t *testing.T, s a2a.Tasks) {
	t.Helper()
	const text = `{"z":1.10,"a":[9007199254740993,null],"s":"ü"}`
	end(t, s, done(begin(t, s, record(), true, 1), text))
	for _, got := range []a2a.Record{get(t, s), begin(t, s, record(), false, 1)} {
		if d := data(t, got); d != text || !got.Ended() || got.Lapsed {
			t.Errorf("read back %s, ended %t, want %s, true", d, got.Ended(), text)
		}
	}
}

func firstWins(t *testing.T, s a2a.Tasks) {
	t.Helper()
	r := begin(t, s, record(), true, 1)
	end(t, s, done(r, `{"n":1}`))
	for _, late := range []a2a.Record{done(r, `{"n":2}`), failed(r)} {
		if got := data(t, end(t, s, late)); got != `{"n":1}` {
			t.Errorf("Finish(late) = %s, want the first result", got)
		}
	}
	if got := data(t, get(t, s)); got != `{"n":1}` {
		t.Errorf("Get() = %s, want the first result", got)
	}
}

func takeOver(t *testing.T, s a2a.Tasks) {
	t.Helper()
	begin(t, s, short(), true, 1)
	if got := takenOver(t, s, record()); got.Fence != 2 {
		t.Errorf("Begin(lapsed) = fence %d, want 2", got.Fence)
	}
	if r := get(t, s); r.Lapsed || r.Fence != 2 {
		t.Errorf("Get() = lapsed %t, fence %d, want the new lease", r.Lapsed, r.Fence)
	}
	begin(t, s, record(), false, 2)
}

func lateResult(t *testing.T, s a2a.Tasks) {
	t.Helper()
	first := begin(t, s, short(), true, 1)
	second := takenOver(t, s, record())
	end(t, s, done(first, `{"n":1}`))
	if got := data(t, end(t, s, done(second, `{"n":2}`))); got != `{"n":1}` {
		t.Errorf("Finish(second) = %s, want the result that came first", got)
	}
}

func lateFailure(t *testing.T, s a2a.Tasks) {
	t.Helper()
	first := begin(t, s, short(), true, 1)
	second := takenOver(t, s, record())
	end(t, s, failed(first))
	if r := get(t, s); r.Task.Status.State != sdk.TaskStateWorking || r.Retry {
		t.Errorf("Get() = %s, retry %t, want still working", r.Task.Status.State, r.Retry)
	}
	if got := data(t, end(t, s, done(second, `{"n":2}`))); got != `{"n":2}` {
		t.Errorf("Finish(second) = %s, want its result", got)
	}
}

func runAgain(t *testing.T, s a2a.Tasks) {
	t.Helper()
	end(t, s, failed(begin(t, s, record(), true, 1)))
	if r := get(t, s); r.Ended() || !r.Retry || r.Lapsed || r.Task.Status.State != sdk.TaskStateFailed {
		t.Errorf("Get() = %+v, want failed and to be run again", r)
	}
	second := begin(t, s, record(), true, 2)
	if second.Retry || second.Task.Status.State != sdk.TaskStateWorking {
		t.Errorf("Begin(again) = %+v, want a working record", second)
	}
	end(t, s, done(second, `{"n":2}`))
	begin(t, s, record(), false, 2)
}

func copies(t *testing.T, s a2a.Tasks) {
	t.Helper()
	mine := record()
	got := begin(t, s, mine, true, 1)
	mine.Task.ContextID, got.Task.ContextID = "changed", "changed too"
	got.Task.Metadata["agent"] = "changed"
	want := record()
	want.Fence = 1
	if diff := cmp.Diff(want, get(t, s)); diff != "" {
		t.Errorf("Get() after changing what was given and got (-want +got):\n%s", diff)
	}
}

func oneOfMany(t *testing.T, s a2a.Tasks) {
	t.Helper()
	var fresh atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, ok, err := s.Begin(t.Context(), record())
			if err != nil {
				t.Errorf("Begin() = %v, want no error", err)
			}
			if ok {
				fresh.Add(1)
			}
		})
	}
	wg.Wait()
	if n := fresh.Load(); n != 1 {
		t.Errorf("%d of 8 concurrent Begin() were fresh, want 1", n)
	}
}
