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
		{"create twice", createTwice},
		{"agents do not share ids", agentsApart},
		{"what was written is read, byte for byte", readBack},
		{"an update of what changed is refused", staleUpdate},
		{"a write that changes a beat alone counts", beat},
		{"a lease runs out while at work", lapse},
		{"a lease means nothing to who waits or has ended", noLapse},
		{"records are copies", copies},
		{"one of many creates", oneOfMany},
		{"one of many updates", oneUpdate},
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
		Agent: "location", ID: taskID, Turns: []a2a.Turn{{ID: string(taskID), Hash: "h1"}}, Lease: time.Hour, Fence: 1,
		Task: &sdk.Task{
			ID: taskID, ContextID: "est-1", Status: sdk.TaskStatus{State: sdk.TaskStateWorking},
			Metadata: map[string]any{"agent": "location"},
		},
	}
}

// in returns r in another state.
func in(r a2a.Record, state sdk.TaskState) a2a.Record {
	task := *r.Task
	task.Status.State = state
	r.Task = &task
	return r
}

func create(t *testing.T, s a2a.Tasks, r a2a.Record) a2a.Record {
	t.Helper()
	got, err := s.Create(t.Context(), r)
	if err != nil {
		t.Fatalf("Create(%s) = %v, want the record", r.ID, err)
	}
	return got
}

func update(t *testing.T, s a2a.Tasks, r a2a.Record) a2a.Record {
	t.Helper()
	got, err := s.Update(t.Context(), r)
	if err != nil {
		t.Fatalf("Update(%s) = %v, want the record", r.ID, err)
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

// wantRecord compares all of two records but their versions.
func wantRecord(t *testing.T, call string, got, want a2a.Record) {
	t.Helper()
	got.Version = want.Version
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", call, diff)
	}
}

func wantKind(t *testing.T, call string, err error, want ...fault.Kind) {
	t.Helper()
	for _, kind := range want {
		if fault.KindOf(err) == kind {
			return
		}
	}
	t.Errorf("%s = %v of kind %q, want one of %q", call, err, fault.KindOf(err), want)
}

func unknown(t *testing.T, s a2a.Tasks) {
	t.Helper()
	_, err := s.Get(t.Context(), "location", taskID)
	wantKind(t, "Get(unknown)", err, fault.NotFound)
	r := record()
	r.Version = time.Unix(1, 0)
	_, err = s.Update(t.Context(), r)
	wantKind(t, "Update(unknown)", err, fault.NotFound, fault.Conflict)
}

func createTwice(t *testing.T, s a2a.Tasks) {
	t.Helper()
	create(t, s, record())
	other := record()
	other.Task.ContextID = "est-2"
	_, err := s.Create(t.Context(), other)
	wantKind(t, "Create(again)", err, fault.Conflict)
	wantRecord(t, "Get()", get(t, s), record())
}

func agentsApart(t *testing.T, s a2a.Tasks) {
	t.Helper()
	create(t, s, record())
	other := record()
	other.Agent = "scope"
	create(t, s, other)
}

func readBack(t *testing.T, s a2a.Tasks) {
	t.Helper()
	const text = `{"z":1.10,"a":[9007199254740993,null],"s":"ü"}`
	r := in(create(t, s, record()), sdk.TaskStateCompleted)
	r.Turns = append(r.Turns, a2a.Turn{ID: "second", Hash: "h2"})
	r.Fence, r.Beats, r.Retry, r.Lease = 7, 3, true, 30*time.Second
	r.Task.Artifacts = []*sdk.Artifact{{ID: "result", Name: "result", Parts: sdk.ContentParts{sdk.NewDataPart(json.RawMessage(text))}}}
	r.Task.Status.Message = &sdk.Message{ID: "m", Role: sdk.MessageRoleAgent, Parts: sdk.ContentParts{sdk.NewTextPart("why"), sdk.NewDataPart(json.RawMessage(text))}}
	wantRecord(t, "Update()", update(t, s, r), r)
	got := get(t, s)
	wantRecord(t, "Get()", got, r)
	for _, p := range []*sdk.Part{got.Task.Artifacts[0].Parts[0], got.Task.Status.Message.Parts[1]} {
		if raw, ok := p.Data().(json.RawMessage); !ok || string(raw) != text {
			t.Errorf("Get() has the data %T %s, want the bytes %s (decode tasks with a2a.DecodeTask)", p.Data(), raw, text)
		}
	}
}

func staleUpdate(t *testing.T, s a2a.Tasks) {
	t.Helper()
	first := create(t, s, record())
	second := first
	second.Fence = 2
	second = update(t, s, second)
	first.Fence = 9
	_, err := s.Update(t.Context(), first)
	wantKind(t, "Update(of an old version)", err, fault.Conflict)
	if got := get(t, s); got.Fence != 2 || !got.Version.Equal(second.Version) {
		t.Errorf("Get() = fence %d, version %s, want 2 and %s, what Update returned", got.Fence, got.Version, second.Version)
	}
}

func beat(t *testing.T, s a2a.Tasks) {
	t.Helper()
	first := create(t, s, record())
	next := first
	next.Beats++
	if second := update(t, s, next); second.Version.Equal(first.Version) {
		t.Errorf("Update(a beat) left the version at %s, want a new one", first.Version)
	}
}

// settled reads until the lease of the record has run out by the clock of the
// store, which may be coarse.
func settled(t *testing.T, s a2a.Tasks) a2a.Record {
	t.Helper()
	for range 1000 {
		if r := get(t, s); r.Lapsed {
			return r
		}
	}
	return get(t, s)
}

func lapse(t *testing.T, s a2a.Tasks) {
	t.Helper()
	r := record()
	r.Lease = time.Nanosecond
	create(t, s, r)
	stored := settled(t, s)
	if !stored.Lapsed {
		t.Fatal("Get() says that a lease of 1 ns stands, want it lapsed")
	}
	stored.Lease = time.Hour
	update(t, s, stored)
	if get(t, s).Lapsed {
		t.Error("Get() after Update() is lapsed, want the lease to start anew")
	}
}

func noLapse(t *testing.T, s a2a.Tasks) {
	t.Helper()
	r := record()
	r.Lease = time.Nanosecond
	stored := create(t, s, r)
	for _, state := range []sdk.TaskState{sdk.TaskStateInputRequired, sdk.TaskStateAuthRequired, sdk.TaskStateCompleted, sdk.TaskStateCanceled} {
		stored = update(t, s, in(stored, state))
		if settled(t, s).Lapsed {
			t.Errorf("Get() of a task in %s is lapsed, want not", state)
		}
	}
}

func copies(t *testing.T, s a2a.Tasks) {
	t.Helper()
	mine := record()
	got := create(t, s, mine)
	mine.Task.ContextID, got.Task.ContextID = "changed", "changed too"
	got.Task.Metadata["agent"] = "changed"
	mine.Turns[0].Hash, got.Turns[0].Hash = "changed", "changed too"
	wantRecord(t, "Get() after changing what was given and got", get(t, s), record())
}

// one fails unless exactly one of eight concurrent writes is taken and the
// others see a conflict.
func one(t *testing.T, call string, write func() error) {
	t.Helper()
	var taken atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := write(); err == nil {
				taken.Add(1)
			} else {
				wantKind(t, call, err, fault.Conflict)
			}
		})
	}
	wg.Wait()
	if n := taken.Load(); n != 1 {
		t.Errorf("%d of 8 concurrent %s were taken, want 1", n, call)
	}
}

func oneOfMany(t *testing.T, s a2a.Tasks) {
	t.Helper()
	one(t, "Create()", func() error { _, err := s.Create(t.Context(), record()); return err })
}

func oneUpdate(t *testing.T, s a2a.Tasks) {
	t.Helper()
	r := create(t, s, record())
	r.Fence = 2
	one(t, "Update()", func() error { _, err := s.Update(t.Context(), r); return err })
}
