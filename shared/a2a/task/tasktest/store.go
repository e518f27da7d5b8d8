package tasktest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// TestStore holds an implementation to the contract of task.Store. open returns
// an empty store; it is called once for each case, and cases run in parallel.
func TestStore(t *testing.T, open func(t *testing.T) task.Store) {
	t.Helper()
	cases := []struct {
		name string
		run  func(t *testing.T, s task.Store)
	}{
		{"unknown", unknown},
		{"create twice", createTwice},
		{"agents do not share ids", agentsApart},
		{"what was written is read, byte for byte", readBack},
		{"a reply is read as it was", readReply},
		{"an update of what changed is refused, its events too", staleUpdate},
		{"a write that changes a beat alone counts", beat},
		{"a lease runs out while at work", lapse},
		{"a lease means nothing to who waits, is queued or has ended", noLapse},
		{"records are copies", copies},
		{"one of many creates", oneOfMany},
		{"one of many updates, and the log has its events", oneUpdate},
		{"a log has no gaps, wherever it is read from", wholeLog},
		{"a log of large events is read in pieces", largeLog},
		{"a record without hooks, reply and wake loses them", emptied},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, open(t))
		})
	}
}

const taskID = sdk.TaskID("0b5b7a52-3f0c-5c51-9b43-6a5c8a5e8d10")

// instant is a time that every store can keep.
var instant = time.Date(2026, 3, 2, 9, 0, 0, 123e6, time.UTC)

// record returns a working record whose lease outlives every test.
func record() task.Record {
	return task.Record{
		Agent: "location", ID: taskID, Turns: []task.Turned{{ID: string(taskID), Hash: "h1", Kept: true, At: instant}}, Lease: time.Hour, Fence: 1, Tries: 1,
		Task: &sdk.Task{
			ID: taskID, ContextID: "est-1", Status: sdk.TaskStatus{State: sdk.TaskStateWorking, Timestamp: new(instant)},
			Metadata: map[string]any{"agent": "location"},
		},
	}
}

// in returns r in another state.
func in(r task.Record, state sdk.TaskState) task.Record {
	one := *r.Task
	one.Status.State = state
	r.Task = &one
	return r
}

// event is a change of state with words that tell it from others.
func event(seq int64, words string) task.Entry {
	return task.Entry{Seq: seq, Event: &sdk.TaskStatusUpdateEvent{
		TaskID: taskID, ContextID: "est-1",
		Status: sdk.TaskStatus{
			State: sdk.TaskStateWorking, Timestamp: new(instant),
			Message: &sdk.Message{ID: fmt.Sprintf("m%d", seq), Role: sdk.MessageRoleAgent, Parts: sdk.ContentParts{sdk.NewTextPart(words)}},
		},
	}}
}

func create(t *testing.T, s task.Store, r task.Record, log ...task.Entry) task.Record {
	t.Helper()
	got, err := s.Create(t.Context(), r, log...)
	if err != nil {
		t.Fatalf("Create(%s) = %v, want the record", r.ID, err)
	}
	return got
}

func update(t *testing.T, s task.Store, r task.Record, log ...task.Entry) task.Record {
	t.Helper()
	got, err := s.Update(t.Context(), r, log...)
	if err != nil {
		t.Fatalf("Update(%s) = %v, want the record", r.ID, err)
	}
	return got
}

func get(t *testing.T, s task.Store) task.Record {
	t.Helper()
	got, err := s.Get(t.Context(), "location", taskID)
	if err != nil {
		t.Fatalf("Get(location, %s) = %v, want the record", taskID, err)
	}
	return got
}

// wantRecord compares all of two records but their versions.
func wantRecord(t *testing.T, call string, got, want task.Record) {
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

// wantLog fails unless the log behind an event has these events and no more.
func wantLog(t *testing.T, s task.Store, after int64, want ...task.Entry) {
	t.Helper()
	if diff := cmp.Diff(append([]task.Entry{}, want...), readLog(t, s, after, after+int64(len(want)))); diff != "" {
		t.Errorf("Log(after %d) (-want +got):\n%s", after, diff)
	}
	more, err := s.Log(t.Context(), "location", taskID, after+int64(len(want)))
	if err != nil || len(more) > 0 {
		t.Errorf("Log(after the last) = %v, %v, want nothing", more, err)
	}
}

// readLog reads a log as far as an event, in as many pieces as the store makes.
func readLog(t *testing.T, s task.Store, after, until int64) []task.Entry {
	t.Helper()
	log := []task.Entry{}
	for after < until {
		piece, err := s.Log(t.Context(), "location", taskID, after)
		if err != nil || len(piece) == 0 {
			t.Fatalf("Log(after %d) = %v, %v, want events up to %d", after, piece, err, until)
		}
		log = append(log, piece...)
		after = log[len(log)-1].Seq
	}
	return log
}

func unknown(t *testing.T, s task.Store) {
	t.Helper()
	_, err := s.Get(t.Context(), "location", taskID)
	wantKind(t, "Get(unknown)", err, fault.NotFound)
	for _, id := range []sdk.TaskID{"", "..", "a/b", "__x__", sdk.TaskID(strings.Repeat("x", 4000)), "\x00", "\xff"} {
		_, err := s.Get(t.Context(), "location", id)
		wantKind(t, fmt.Sprintf("Get(%.20q)", id), err, fault.NotFound)
	}
	r := record()
	r.Version = time.Unix(1, 0)
	_, err = s.Update(t.Context(), r)
	wantKind(t, "Update(unknown)", err, fault.NotFound, fault.Conflict)
}

func createTwice(t *testing.T, s task.Store) {
	t.Helper()
	create(t, s, record())
	other := record()
	other.Task.ContextID, other.Seq = "est-2", 1
	_, err := s.Create(t.Context(), other, event(1, "twice"))
	wantKind(t, "Create(again)", err, fault.Conflict)
	wantRecord(t, "Get()", get(t, s), record())
	wantLog(t, s, 0)
}

func agentsApart(t *testing.T, s task.Store) {
	t.Helper()
	mine := record()
	mine.Seq = 1
	create(t, s, mine, event(1, "mine"))
	other := record()
	other.Agent, other.Seq = "scope", 1
	create(t, s, other, event(1, "the other's"))
	wantLog(t, s, 0, event(1, "mine"))
}

func readBack(t *testing.T, s task.Store) {
	t.Helper()
	const text = `{"z":1.10,"a":[9007199254740993,null],"s":"ü"}`
	parts := sdk.ContentParts{sdk.NewTextPart("why"), sdk.NewDataPart(json.RawMessage(text)), sdk.NewDataPart(json.RawMessage("null")), sdk.NewRawPart([]byte{0, 255})}
	said := &sdk.Message{ID: "m", Role: sdk.MessageRoleAgent, Parts: parts}
	r := in(create(t, s, record()), sdk.TaskStateCompleted)
	r.Owner, r.Turns = "alice", append(r.Turns, task.Turned{ID: "second", Hash: "h2"})
	r.Fence, r.Beats, r.Retry, r.Lease, r.Tries, r.Seq = 7, 3, true, 30*time.Second, 2, 2
	r.Hooks = []task.Hook{{
		Config: sdk.PushConfig{TaskID: taskID, ID: "h", URL: "https://example.com/", Token: "t", Auth: &sdk.PushAuthInfo{Scheme: "Bearer", Credentials: "c"}},
		Early:  true, Sent: 1, Failures: 2,
	}}
	r.Wake = instant.Add(time.Minute)
	r.Task.Artifacts = []*sdk.Artifact{{ID: "result", Name: "result", Parts: parts}}
	r.Task.Status.Message, r.Task.History = said, []*sdk.Message{said, said}
	log := []task.Entry{
		{Seq: 1, Event: &sdk.TaskArtifactUpdateEvent{TaskID: taskID, ContextID: "est-1", Append: true, LastChunk: true, Artifact: r.Task.Artifacts[0]}},
		{Seq: 2, Event: &sdk.TaskStatusUpdateEvent{TaskID: taskID, ContextID: "est-1", Status: r.Task.Status, Metadata: map[string]any{"k": "v"}}},
	}
	wantRecord(t, "Update()", update(t, s, r, log...), r)
	wantRecord(t, "Get()", get(t, s), r)
	wantLog(t, s, 0, log...)
}

func readReply(t *testing.T, s task.Store) {
	t.Helper()
	r := in(create(t, s, record()), sdk.TaskStateCompleted)
	r.Seq = 1
	r.Reply = &sdk.Message{ID: "m", ContextID: "est-1", Role: sdk.MessageRoleAgent, Parts: sdk.ContentParts{sdk.NewTextPart("hello")}}
	log := task.Entry{Seq: 1, Event: r.Reply}
	wantRecord(t, "Update()", update(t, s, r, log), r)
	wantRecord(t, "Get()", get(t, s), r)
	wantLog(t, s, 0, log)
}

func staleUpdate(t *testing.T, s task.Store) {
	t.Helper()
	first := create(t, s, record())
	second := first
	second.Fence, second.Seq = 2, 1
	second = update(t, s, second, event(1, "second"))
	first.Fence, first.Seq = 9, 2
	_, err := s.Update(t.Context(), first, event(1, "stale"), event(2, "stale"))
	wantKind(t, "Update(of an old version)", err, fault.Conflict)
	if got := get(t, s); got.Fence != 2 || !got.Version.Equal(second.Version) {
		t.Errorf("Get() = fence %d, version %s, want 2 and %s, what Update returned", got.Fence, got.Version, second.Version)
	}
	wantLog(t, s, 0, event(1, "second"))
}

func beat(t *testing.T, s task.Store) {
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
func settled(t *testing.T, s task.Store) task.Record {
	t.Helper()
	for range 1000 {
		if r := get(t, s); r.Lapsed {
			return r
		}
	}
	return get(t, s)
}

func lapse(t *testing.T, s task.Store) {
	t.Helper()
	r := record()
	r.Lease = time.Millisecond
	create(t, s, r)
	stored := settled(t, s)
	if !stored.Lapsed {
		t.Fatal("Get() says that a lease of 1 ms stands, want it lapsed")
	}
	stored.Lease = time.Hour
	if update(t, s, stored).Lapsed || get(t, s).Lapsed {
		t.Error("the record is lapsed after Update(), want the lease to start anew")
	}
}

func noLapse(t *testing.T, s task.Store) {
	t.Helper()
	r := record()
	r.Lease = time.Millisecond
	r.Queued = true
	stored := create(t, s, in(r, sdk.TaskStateSubmitted))
	if settled(t, s).Lapsed {
		t.Error("Get() of a queued task is lapsed, want not")
	}
	stored.Queued = false
	for _, state := range []sdk.TaskState{sdk.TaskStateInputRequired, sdk.TaskStateAuthRequired, sdk.TaskStateCompleted, sdk.TaskStateCanceled} {
		stored = update(t, s, in(stored, state))
		if settled(t, s).Lapsed {
			t.Errorf("Get() of a task in %s is lapsed, want not", state)
		}
	}
}

func copies(t *testing.T, s task.Store) {
	t.Helper()
	mine, log := record(), event(1, "as it was")
	mine.Seq = 1
	mine.Hooks = []task.Hook{{Config: sdk.PushConfig{ID: "h", Auth: &sdk.PushAuthInfo{Scheme: "Bearer"}}}}
	want := record()
	want.Seq, want.Hooks = 1, []task.Hook{{Config: sdk.PushConfig{ID: "h", Auth: &sdk.PushAuthInfo{Scheme: "Bearer"}}}}
	spoil := func(r task.Record) {
		r.Task.ContextID, r.Task.Metadata["agent"], r.Task.Status.State = "changed", "changed", sdk.TaskStateFailed
		r.Turns[0].Hash, r.Hooks[0].Config.ID, r.Hooks[0].Config.Auth.Scheme = "changed", "changed", "changed"
	}
	got := create(t, s, mine, log)
	spoil(mine)
	spoil(got)
	log.Event.SetMeta("changed", true)
	spoil(get(t, s))
	readLog(t, s, 0, 1)[0].Event.SetMeta("changed", true)
	wantRecord(t, "Get() after changing what was given and got", get(t, s), want)
	wantLog(t, s, 0, event(1, "as it was"))
}

// one fails unless exactly one of eight concurrent writes is taken and the
// others see a conflict. It returns which.
func one(t *testing.T, call string, write func(i int) error) int {
	t.Helper()
	var taken, winner atomic.Int64
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if err := write(i); err == nil {
				taken.Add(1)
				winner.Store(int64(i))
			} else {
				wantKind(t, call, err, fault.Conflict)
			}
		})
	}
	wg.Wait()
	if n := taken.Load(); n != 1 {
		t.Errorf("%d of 8 concurrent %s were taken, want 1", n, call)
	}
	return int(winner.Load())
}

func oneOfMany(t *testing.T, s task.Store) {
	t.Helper()
	won := one(t, "Create()", func(i int) error {
		r := record()
		r.Owner, r.Seq = fmt.Sprint(i), 1
		_, err := s.Create(t.Context(), r, event(1, r.Owner))
		return err
	})
	if got := get(t, s).Owner; got != fmt.Sprint(won) {
		t.Errorf("Get() is what %s wrote, want %d, whose write was taken", got, won)
	}
	wantLog(t, s, 0, event(1, fmt.Sprint(won)))
}

// oneUpdate repeats: in each round one of many writes is taken, and its events
// are the ones in the log.
func oneUpdate(t *testing.T, s task.Store) {
	t.Helper()
	r := create(t, s, record())
	var want []task.Entry
	for range 4 {
		from := r
		won := one(t, "Update()", func(i int) error {
			mine := from
			mine.Fence, mine.Seq = int64(i), from.Seq+2
			_, err := s.Update(t.Context(), mine, event(from.Seq+1, fmt.Sprint(i)), event(from.Seq+2, fmt.Sprint(i)))
			return err
		})
		want = append(want, event(from.Seq+1, fmt.Sprint(won)), event(from.Seq+2, fmt.Sprint(won)))
		if r = get(t, s); r.Fence != int64(won) || r.Seq != from.Seq+2 {
			t.Errorf("Get() = fence %d, event %d, want %d, %d, of whose write was taken", r.Fence, r.Seq, won, from.Seq+2)
		}
	}
	wantLog(t, s, 0, want...)
}

func wholeLog(t *testing.T, s task.Store) {
	t.Helper()
	r := record()
	var want []task.Entry
	add := func(n int) []task.Entry {
		from := len(want)
		for range n {
			r.Seq++
			want = append(want, event(r.Seq, fmt.Sprint("event ", r.Seq)))
		}
		return want[from:]
	}
	r = create(t, s, r, add(3)...)
	for _, n := range []int{1, 0, 5, 20} {
		log := add(n)
		r.Beats++
		r = update(t, s, r, log...)
	}
	for after := range len(want) + 1 {
		wantLog(t, s, int64(after), want[after:]...)
	}
}

func largeLog(t *testing.T, s task.Store) {
	t.Helper()
	r := create(t, s, record())
	var want []task.Entry
	for i := range 12 { // 3 MB, of which little can be packed
		text := strings.Builder{}
		for k := 0; text.Len() < 250<<10; k++ {
			fmt.Fprintf(&text, "%x", (k+7)*(i+3)*2654435761)
		}
		r.Seq++
		log := event(r.Seq, text.String())
		want = append(want, log)
		r = update(t, s, r, log)
	}
	for _, after := range []int{0, 5, 11} {
		wantLog(t, s, int64(after), want[after:]...)
	}
}

func emptied(t *testing.T, s task.Store) {
	t.Helper()
	r := record()
	r.Wake, r.Hooks = instant, []task.Hook{{Config: sdk.PushConfig{ID: "h"}}}
	r.Task.Metadata, r.Owner, r.Queued = nil, "alice", true
	r = create(t, s, r)
	r.Wake, r.Hooks, r.Queued = time.Time{}, nil, false
	r = update(t, s, r)
	wantRecord(t, "Get()", get(t, s), r)
}
