package task_test

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
)

const (
	firstID = "7d9f5b1e-0f64-4c2a-9a53-1f0a5e8f2b11"
)

// live returns options with the clock of a synctest bubble and a store of it.
func live() task.Options {
	opt := task.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)} //nolint:forbidigo // the clock of a bubble
	m := tasktest.NewMemory(opt.Now)
	opt.Store = func() (task.Store, error) { return m, nil }
	opt.Finder = func() (task.Finder, error) { return m, nil }
	return opt
}

func desk(opt task.Options) *task.Desk { return task.NewDesk(new(tasktest.Actor).Agent("actor"), opt) }

var message = tasktest.Message

func TestStreams(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, script, want string }{
		{"a message alone", "say=hello", "1 message hello"},
		{"a late message", "sleep=2s say=hello", "0 task working; 1 completed (hello)"},
		{"all in one breath", "WORKING make=a more=b COMPLETED", "0 task working; 1 working; 2 a=a; 3 a+=b; 4 completed"},
		{"progress does not fall", "progress=10 sleep=1s progress=70 sleep=1s progress=30 COMPLETED", "0 task working; 1 working 10%; 2 working 70%; 3 working 70%; 4 completed"},
		{"a question", "INPUT_REQUIRED=where?", "0 task working; 1 input_required (where?)"},
		{"an error", "WORKING=well fail=invalid", "0 task working; 1 working (well); 2 failed (it is invalid)"},
		{"a panic", "panic=why", "0 task working; 1 failed (internal error)"},
		{"no end", "WORKING", "0 task working; 1 working; 2 failed (invalid agent response)"},
		{"no event", "none", "0 task working; 1 failed (invalid agent response)"},
		{"more of nothing", "more=x", "0 task working; 1 failed (invalid agent response)"},
		{"a rejection", "REJECTED=no", "0 task working; 1 rejected (no)"},
		{"no time", "sleep=1h", "0 task working; 1 failed (the deadline passed)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				opt := live()
				got := tasktest.Lines(desk(opt).Stream(t.Context(), message(firstID, tt.script)))
				if got != tt.want {
					t.Errorf("Stream(%s) = %s, want %s", tt.script, got, tt.want)
				}
			})
		})
	}
}

func TestSendCallGetCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		opt := live()
		d := desk(opt)
		res, err := d.Send(t.Context(), message(firstID, "WORKING make=a COMPLETED=done"))
		if err != nil || tasktest.Line(task.Frame{Event: res}) != "0 task completed (done) a=a" {
			t.Fatalf("Send() = %v, %v", res, err)
		}
		id := res.(*sdk.Task).ID
		for range 2 {
			got, seq, err := d.Get(t.Context(), task.Caller{}, id)
			if err != nil || seq != 3 || tasktest.Line(task.Frame{Seq: seq, Event: got}) != "3 task completed (done) a=a" {
				t.Errorf("Get() = %v, %d, %v", got, seq, err)
			}
			if res, err = d.Call(t.Context(), message(firstID, "WORKING make=a COMPLETED=done")); err != nil || res.(*sdk.Task).ID != id {
				t.Errorf("Call(repeated) = %v, %v, want the task", res, err)
			}
			if got, err := d.Cancel(t.Context(), task.Caller{}, id); err != nil || got.Status.State != sdk.TaskStateCompleted {
				t.Errorf("Cancel(completed) = %v, %v, want it as it is", got, err)
			}
		}
		if got := tasktest.Lines(d.Follow(t.Context(), task.Caller{}, id, new(int64(0)))); got != "1 working; 2 a=a; 3 completed (done)" {
			t.Errorf("Follow(0) = %s", got)
		}
	})
}
