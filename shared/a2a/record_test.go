package a2a

import (
	"errors"
	"fmt"
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/fault"
)

// at returns a record of n turns in a state, held with a fence.
func at(state sdk.TaskState, n int, fence int64) Record {
	r := Record{Agent: "cost", ID: "t", Fence: fence, Task: &sdk.Task{ID: "t", ContextID: "e", Status: sdk.TaskStatus{State: state}}}
	for i := range n {
		r.Turns = append(r.Turns, Turn{ID: fmt.Sprint("m", i), Hash: fmt.Sprint("h", i)})
	}
	return r
}

// with returns r changed.
func with(r Record, change func(*Record)) Record {
	change(&r)
	return r
}

func retry(r *Record)  { r.Retry = true }
func lapsed(r *Record) { r.Lapsed = true }

// message is a record of one turn, as a front makes it.
func message(id, hash, context string) Record {
	m := at(sdk.TaskStateWorking, 0, 1)
	m.Turns, m.Task.ContextID = []Turn{{ID: id, Hash: hash}}, context
	return m
}

const (
	atWork   = sdk.TaskStateWorking
	finished = sdk.TaskStateCompleted
	failed   = sdk.TaskStateFailed
	canceled = sdk.TaskStateCanceled
	asking   = sdk.TaskStateInputRequired
	signing  = sdk.TaskStateAuthRequired
)

func TestTake(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		stored Record
		m      Record
		turns  int // of the next record; 0: not fresh
		kind   fault.Kind
	}{
		{"at work: the same again", at(atWork, 1, 1), message("m0", "h0", "e"), 0, ""},
		{"at work: the same id, another message", at(atWork, 1, 1), message("m0", "hx", "e"), 0, fault.Invalid},
		{"at work: another message", at(atWork, 1, 1), message("m1", "h1", "e"), 0, fault.Conflict},
		{"lapsed: the same again", with(at(atWork, 1, 1), lapsed), message("m0", "h0", "e"), 1, ""},
		{"lapsed: the same id, another message", with(at(atWork, 1, 1), lapsed), message("m0", "hx", "e"), 0, fault.Invalid},
		{"lapsed: another message", with(at(atWork, 1, 1), lapsed), message("m1", "h1", "e"), 0, fault.Conflict},
		{"lapsed in the second turn: the first message", with(at(atWork, 2, 4), lapsed), message("m0", "h0", "e"), 0, ""},
		{"lapsed in the second turn: the second message", with(at(atWork, 2, 4), lapsed), message("m1", "h1", ""), 2, ""},
		{"failed, may pass: the same again", with(at(failed, 1, 1), retry), message("m0", "h0", "e"), 1, ""},
		{"failed, may pass: another message", with(at(failed, 1, 1), retry), message("m1", "h1", "e"), 0, fault.Conflict},
		{"failed for good: the same again", at(failed, 1, 1), message("m0", "h0", "e"), 0, ""},
		{"completed: the same again", at(finished, 1, 1), message("m0", "h0", "e"), 0, ""},
		{"completed: another message", at(finished, 1, 1), message("m1", "h1", "e"), 0, fault.Conflict},
		{"canceled: the same again", at(canceled, 1, 1), message("m0", "h0", "e"), 0, ""},
		{"canceled: another message", at(canceled, 1, 1), message("m1", "h1", "e"), 0, fault.Conflict},
		{"asking: the same again", at(asking, 1, 1), message("m0", "h0", "e"), 0, ""},
		{"asking: an answer", at(asking, 1, 1), message("m1", "h1", "e"), 2, ""},
		{"asking: an answer without a context", at(asking, 1, 1), message("m1", "h1", ""), 2, ""},
		{"asking: an answer in another context", at(asking, 1, 1), message("m1", "h1", "x"), 0, fault.Invalid},
		{"asking again: the answer before", at(asking, 2, 2), message("m1", "h1", "e"), 0, ""},
		{"asking to sign in: an answer", at(signing, 1, 1), message("m1", "h1", "e"), 2, ""},
		{"asking for the last time", at(asking, maxTurns, 7), message("x", "h", "e"), 0, fault.Conflict},
	}
	for _, tt := range tests {
		before := len(tt.stored.Turns)
		next, fresh, err := tt.stored.take(tt.m)
		if fault.KindOf(err) != tt.kind || fresh != (tt.turns > 0) {
			t.Errorf("%s: take() = fresh %t, %v, want %d turns, kind %q", tt.name, fresh, err, tt.turns, tt.kind)
			continue
		}
		if len(tt.stored.Turns) != before {
			t.Errorf("%s: take() changed the stored record", tt.name)
		}
		if !fresh {
			continue
		}
		if len(next.Turns) != tt.turns || next.Turns[tt.turns-1] != tt.m.Turns[0] || next.Fence != tt.stored.Fence+1 || next.Task.ContextID != "e" || !next.AtWork() || next.Retry {
			t.Errorf("%s: take() = %+v, want %d turns, at work, in the context and with the fence after the stored one", tt.name, next, tt.turns)
		}
	}
}

func TestYields(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		stored, mine Record
		want         bool
	}{
		{"a result of the worker", at(atWork, 1, 1), at(finished, 1, 1), true},
		{"a late result", at(atWork, 1, 2), at(finished, 1, 1), true},
		{"a late failure for good", at(atWork, 1, 2), at(failed, 1, 1), true},
		{"a failure that may pass", at(atWork, 1, 1), with(at(failed, 1, 1), retry), true},
		{"a late failure that may pass", at(atWork, 1, 2), with(at(failed, 1, 1), retry), false},
		{"a question", at(atWork, 1, 1), at(asking, 1, 1), true},
		{"a late question", at(atWork, 1, 2), at(asking, 1, 1), false},
		{"a result after a failure that may pass", with(at(failed, 1, 2), retry), at(finished, 1, 1), true},
		{"a result after a result", at(finished, 1, 1), at(finished, 1, 1), false},
		{"a result after the cancellation", at(canceled, 1, 1), at(finished, 1, 1), false},
		{"a result after a failure for good", at(failed, 1, 2), at(finished, 1, 1), false},
		{"a result after a question", at(asking, 1, 2), at(finished, 1, 1), false},
		{"a result of the turn before", at(atWork, 2, 3), at(finished, 1, 1), false},
	}
	for _, tt := range tests {
		if got := tt.stored.yields(tt.mine); got != tt.want {
			t.Errorf("%s: yields() = %t, want %t", tt.name, got, tt.want)
		}
	}
}

func TestLost(t *testing.T) {
	t.Parallel()
	mine := at(atWork, 1, 2)
	tests := []struct {
		name   string
		stored Record
		want   error
	}{
		{"mine", at(atWork, 1, 2), nil},
		{"mine, and late", with(at(atWork, 1, 2), lapsed), nil},
		{"canceled", at(canceled, 1, 2), errCanceled},
		{"taken over", at(atWork, 1, 3), errTakenOver},
		{"completed by another", at(finished, 1, 2), errTakenOver},
		{"in its next turn", at(atWork, 2, 4), errTakenOver},
	}
	for _, tt := range tests {
		if got := tt.stored.lost(mine); !errors.Is(got, tt.want) {
			t.Errorf("%s: lost() = %v, want %v", tt.name, got, tt.want)
		}
	}
}
