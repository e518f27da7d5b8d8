package task_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
	"truecost.dev/shared/fault"
)

var errAway = fault.New(fault.Unavailable, "the store is away")

// crashes are what may happen to an instance at its write of a number.
var crashes = []struct {
	name string
	rig  func(s *tasktest.Flaky, at int64)
}{
	{"refused", func(s *tasktest.Flaky, at int64) {
		s.Before = func(n int64, _ task.Record) error {
			if n == at {
				return errAway
			}
			return nil
		}
	}},
	{"answer lost", func(s *tasktest.Flaky, at int64) {
		s.After = func(n int64) error {
			if n == at {
				return errAway
			}
			return nil
		}
	}},
	{"died before", func(s *tasktest.Flaky, at int64) {
		s.Before = func(n int64, _ task.Record) error {
			if n == at {
				s.Cut()
				return errAway
			}
			return nil
		}
	}},
	{"died after", func(s *tasktest.Flaky, at int64) {
		s.After = func(n int64) error {
			if n == at {
				s.Cut()
				return errAway
			}
			return nil
		}
	}},
	{"all lost from there on", func(s *tasktest.Flaky, at int64) {
		s.After = func(n int64) error {
			if n >= at {
				return errAway
			}
			return nil
		}
	}},
}

// Whatever happens to an instance at whichever of its writes, the task that it
// took in ends once, and everybody learns of the same.
func TestCrashesAtEveryWrite(t *testing.T) {
	t.Parallel()
	const script = "progress=10 make=x sleep=90ms more=y sleep=400ms more=z progress=60 sleep=90ms make.b=1 COMPLETED=done"
	ways := map[string]func(ctx context.Context, h *tasktest.House){
		"Send": func(ctx context.Context, h *tasktest.House) {
			_, _ = h.Instances[0].Send(ctx, message(tasktest.First, script))
		},
		"Submit": func(ctx context.Context, h *tasktest.House) {
			_, _ = h.Instances[0].Submit(ctx, message(tasktest.First, script))
			h.Deliver(ctx, 0)
		},
		"Stream": func(ctx context.Context, h *tasktest.House) {
			for range h.Instances[0].Stream(ctx, message(tasktest.First, script)) {
			}
		},
	}
	for name, way := range ways {
		for _, crash := range crashes {
			t.Run(name+" "+crash.name, func(t *testing.T) {
				t.Parallel()
				for at := int64(1); ; at++ {
					if writes := crashAt(t, at, way, crash.rig); writes < at { // it was through before
						if at < 5 {
							t.Errorf("%s makes %d writes, want at least 5", name, at-1)
						}
						return
					}
				}
			})
		}
	}
}

// crashAt has it happen at one write, and returns how many there were.
func crashAt(t *testing.T, at int64, way func(context.Context, *tasktest.House), rig func(*tasktest.Flaky, int64)) (writes int64) {
	synctest.Test(t, func(t *testing.T) {
		m := tasktest.NewMemory(time.Now) //nolint:forbidigo // the clock of a bubble
		h := tasktest.NewHouse(m, m)
		defer h.Close()
		rig(h.Instances[0].Store, at)
		way(t.Context(), h)
		writes = h.Instances[0].Store.Writes()
		r, err := h.Settle(t.Context(), 1, tasktest.FirstTask())
		if fault.KindOf(err) == fault.NotFound { // nobody was told that it was taken in
			if at > 1 {
				t.Errorf("at write %d: the task is gone", at)
			}
			return
		}
		if err != nil {
			t.Fatalf("at write %d: %v", at, err)
		}
		if err := h.Check(t.Context(), 1, r.ID, 1); err != nil {
			t.Errorf("at write %d: %v", at, err)
		}
		got := tasktest.Line(task.Frame{Event: r.Task})
		if want := "0 task completed (done) a=xyz b=1"; got != want {
			t.Errorf("at write %d: the task is %s, want %s", at, got, want)
		}
		if n := h.Runs.Load(); n > 2 {
			t.Errorf("at write %d: the agent ran %d times, want at most 2", at, n)
		}
		log := tasktest.Lines(h.Instances[1].Follow(t.Context(), task.Caller{}, r.ID, new(int64(0))))
		if n := strings.Count(log, "; ") + 1; int64(n) != r.Seq {
			t.Errorf("at write %d: Follow(0) = %s, want %d events", at, log, r.Seq)
		}
	})
	return writes
}

// A result that cannot be written is answered all the same, and so is a stream.
func TestResultsThatAreNotWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := tasktest.NewMemory(time.Now) //nolint:forbidigo // the clock of a bubble
		h := tasktest.NewHouse(m, m)
		defer h.Close()
		h.Instances[0].Store.Before = func(_ int64, r task.Record) error {
			if r.Seq > 0 {
				return errAway
			}
			return nil
		}
		res, err := h.Instances[0].Send(t.Context(), message(tasktest.First, "make=x COMPLETED"))
		if err != nil || tasktest.Line(task.Frame{Event: res}) != "0 task completed a=x" {
			t.Errorf("Send() = %v, %v, want the result", res, err)
		}
		got := tasktest.Lines(h.Instances[0].Stream(t.Context(), message("1", "make=x sleep=300ms COMPLETED")))
		if want := "0 task working; 1 a=x; 2 completed"; got != want {
			t.Errorf("Stream() = %s, want %s", got, want)
		}
		got = tasktest.Lines(h.Instances[0].Stream(t.Context(), message("2", "say=hello")))
		if want := "1 message hello"; got != want {
			t.Errorf("Stream() = %s, want %s", got, want)
		}
		if err := h.Instances[0].Work(t.Context(), task.Ref{Agent: tasktest.Name, ID: "unheard"}); err != nil {
			t.Errorf("Work(unheard) = %v, want no error", err)
		}
		sub, err := h.Instances[1].Submit(t.Context(), message("3", "COMPLETED"))
		if err != nil {
			t.Fatal(err)
		}
		err = h.Instances[0].Work(t.Context(), task.Ref{Agent: tasktest.Name, ID: sub.ID})
		if fault.KindOf(err) != fault.Unavailable {
			t.Errorf("Work() = %v, want another try", err)
		}
	})
}
