package task

import (
	"errors"
	"fmt"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/fault"
)

// at returns a record of n turns in a state, held with a fence.
func at(state sdk.TaskState, n int, fence int64) Record {
	r := Record{Agent: "cost", ID: "t", Fence: fence, Tries: 1, Task: &sdk.Task{ID: "t", ContextID: "e", Status: sdk.TaskStatus{State: state}}}
	for i := range n {
		r.Turns = append(r.Turns, Turned{ID: fmt.Sprint("m", i), Hash: fmt.Sprint("h", i)})
	}
	return r
}

// with returns r changed.
func with(r Record, change ...func(*Record)) Record {
	for _, c := range change {
		c(&r)
	}
	return r
}

func retry(r *Record)   { r.Retry = true }
func lapsed(r *Record)  { r.Lapsed = true }
func inQueue(r *Record) { r.Queued = true }

// sent is a message as a front hands it over.
func sent(id, hash, context string) draft {
	return draft{turn: Turned{ID: id, Hash: hash}, contextID: context, Send: Send{Message: &sdk.Message{ID: id, Role: sdk.MessageRoleUser}}}
}

const (
	atWork    = sdk.TaskStateWorking
	submitted = sdk.TaskStateSubmitted
	finished  = sdk.TaskStateCompleted
	broken    = sdk.TaskStateFailed
	stopped   = sdk.TaskStateCanceled
	refused   = sdk.TaskStateRejected
	asking    = sdk.TaskStateInputRequired
	signing   = sdk.TaskStateAuthRequired
)

func TestTake(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		stored Record
		m      draft
		polls  bool
		turns  int // of the next record; 0: not fresh
		events int
		kind   fault.Kind
	}{
		{"at work: the same again", at(atWork, 1, 1), sent("m0", "h0", "e"), true, 0, 0, ""},
		{"at work: the same id, another message", at(atWork, 1, 1), sent("m0", "hx", "e"), true, 0, 0, fault.Invalid},
		{"at work: another message", at(atWork, 1, 1), sent("m1", "h1", "e"), true, 0, 0, fault.Conflict},
		{"queued: the same again", with(at(submitted, 1, 0), inQueue), sent("m0", "h0", "e"), true, 0, 0, ""},
		{"queued: another message", with(at(submitted, 1, 0), inQueue), sent("m1", "h1", "e"), true, 0, 0, fault.Conflict},
		{"lapsed: the same again", with(at(atWork, 1, 1), lapsed), sent("m0", "h0", "e"), false, 1, 0, ""},
		{"lapsed: the same id, another message", with(at(atWork, 1, 1), lapsed), sent("m0", "hx", "e"), false, 0, 0, fault.Invalid},
		{"lapsed: a turn before the last", with(at(atWork, 2, 1), lapsed), sent("m0", "h0", "e"), true, 0, 0, ""},
		{"lapsed: another message", with(at(atWork, 1, 1), lapsed), sent("m1", "h1", "e"), false, 0, 0, fault.Conflict},
		{"completed: the same again", at(finished, 1, 1), sent("m0", "h0", ""), true, 0, 0, ""},
		{"completed: another message", at(finished, 1, 1), sent("m1", "h1", ""), true, 0, 0, fault.Conflict},
		{"canceled: the same again", at(stopped, 1, 1), sent("m0", "h0", ""), true, 0, 0, ""},
		{"failed for good: the same again", at(broken, 1, 1), sent("m0", "h0", ""), true, 0, 0, ""},
		{"failed, may pass: the same again", with(at(broken, 1, 1), retry), sent("m0", "h0", ""), false, 0, 0, ""},
		{"failed, may pass: the same again from who polls", with(at(broken, 1, 1), retry), sent("m0", "h0", ""), true, 1, 1, ""},
		{"failed, may pass: a turn before the last", with(at(broken, 2, 1), retry), sent("m0", "h0", ""), true, 0, 0, ""},
		{"failed, may pass: another message", with(at(broken, 1, 1), retry), sent("m1", "h1", ""), true, 0, 0, fault.Conflict},
		{"asking: the same again", at(asking, 1, 1), sent("m0", "h0", ""), true, 0, 0, ""},
		{"asking: an answer", at(asking, 1, 1), sent("m1", "h1", "e"), false, 2, 1, ""},
		{"asking: an answer without a context", at(asking, 1, 1), sent("m1", "h1", ""), false, 2, 1, ""},
		{"asking: an answer in another context", at(asking, 1, 1), sent("m1", "h1", "x"), false, 0, 0, fault.Invalid},
		{"asking for credentials: an answer", at(signing, 3, 1), sent("m3", "h3", ""), false, 4, 1, ""},
		{"asking: one answer too many", at(asking, maxTurns, 1), sent("mx", "hx", ""), false, 0, 0, fault.Conflict},
	}
	for _, tt := range tests {
		before := tt.stored.Fence
		next, log, fresh, err := tt.stored.take(tt.m, tt.polls, time.Unix(0, 0))
		if fault.KindOf(err) != tt.kind || fresh != (tt.turns > 0) {
			t.Errorf("%s: take() = fresh %t, %v, want %t and kind %q", tt.name, fresh, err, tt.turns > 0, tt.kind)
			continue
		}
		if !fresh {
			continue
		}
		if len(next.Turns) != tt.turns || next.Fence != before+1 || next.Retry || next.Lapsed || len(log) != tt.events || next.Seq != int64(tt.events) || !next.AtWork() {
			t.Errorf("%s: take() = %+v with %d events, want %d turns, fence %d, %d events, at work", tt.name, next, len(log), tt.turns, before+1, tt.events)
		}
	}
}

func TestYields(t *testing.T) {
	t.Parallel()
	reply := func(r *Record) { r.Reply = &sdk.Message{} }
	tests := []struct {
		name         string
		stored, mine Record
		want         bool
	}{
		{"a result, taken over", at(atWork, 1, 2), at(finished, 1, 1), true},
		{"a result, back in the queue", with(at(atWork, 1, 1), inQueue), at(finished, 1, 1), true},
		{"a refusal, taken over", at(atWork, 1, 2), at(refused, 1, 1), true},
		{"a failure that stands, taken over", at(atWork, 1, 2), at(broken, 1, 1), true},
		{"a failure that may pass, taken over", at(atWork, 1, 2), with(at(broken, 1, 1), retry), false},
		{"a question, taken over", at(atWork, 1, 2), at(asking, 1, 1), false},
		{"a message, taken over", at(atWork, 1, 2), with(at(finished, 1, 1), reply), false},
		{"work that goes on, taken over", at(atWork, 1, 2), at(atWork, 1, 1), false},
		{"a result after a result", at(finished, 1, 2), at(finished, 1, 1), false},
		{"a result after a cancellation", at(stopped, 1, 1), at(finished, 1, 1), false},
		{"a result after a failure that may pass", with(at(broken, 1, 1), retry), at(finished, 1, 1), false},
		{"a result after a question", at(asking, 1, 1), at(finished, 1, 1), false},
		{"a result of a turn before", at(atWork, 2, 2), at(finished, 1, 1), false},
	}
	for _, tt := range tests {
		if got := tt.stored.yields(tt.mine); got != tt.want {
			t.Errorf("%s: yields() = %t, want %t", tt.name, got, tt.want)
		}
	}
}

func TestLost(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		stored Record
		want   error
	}{
		{"ours", at(atWork, 1, 3), nil},
		{"taken over", at(atWork, 1, 4), errTakenOver},
		{"back in the queue", with(at(atWork, 1, 3), inQueue), errTakenOver},
		{"canceled", at(stopped, 1, 3), errCanceled},
		{"ended elsewhere", at(finished, 1, 3), errTakenOver},
	}
	for _, tt := range tests {
		if got := tt.stored.lost(at(atWork, 1, 3)); !errors.Is(got, tt.want) {
			t.Errorf("%s: lost() = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	leased := func(r *Record) { r.Lease = 30 * time.Second }
	behind := func(r *Record) { r.Seq, r.Hooks = 2, []Hook{{Sent: 2}, {Sent: 1}} }
	even := func(r *Record) { r.Seq, r.Hooks = 2, []Hook{{Sent: 2}} }
	tests := []struct {
		name string
		r    Record
		want time.Duration // 0: never
	}{
		{"at work", with(at(atWork, 1, 1), leased), time.Minute},
		{"at work on a long lease, hooks behind", with(at(atWork, 1, 1), leased, func(r *Record) { r.Lease = time.Hour }, behind), tellWait},
		{"queued", with(at(submitted, 1, 0), leased, inQueue), queueWait},
		{"queued, hooks behind", with(at(submitted, 1, 0), leased, inQueue, behind), tellWait},
		{"asking", with(at(asking, 1, 1), leased), 0},
		{"completed", with(at(finished, 1, 1), leased, even), 0},
		{"completed, hooks behind", with(at(finished, 1, 1), leased, behind), tellWait},
	}
	for _, tt := range tests {
		want := time.Time{}
		if tt.want > 0 {
			want = now.Add(tt.want)
		}
		if got := tt.r.due(now); !got.Equal(want) {
			t.Errorf("%s: due() = %s, want %s", tt.name, got, want)
		}
	}
}
