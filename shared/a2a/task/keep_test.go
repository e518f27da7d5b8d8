package task_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
	"truecost.dev/shared/fault"
)

// stage plays a test on instances over one store, in the time of a bubble. The
// lease is 600 ms: looks every 100 ms, renewals every 200 ms, writes of what is
// said at most every 60 ms.
func stage(t *testing.T, instances int, play func(t *testing.T, h *tasktest.House)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := tasktest.NewMemory(time.Now) //nolint:forbidigo // the clock of a bubble
		h := tasktest.NewHouse()
		for range instances {
			h.Add(m)
		}
		defer h.Close()
		play(t, h)
	})
}

func wantSent(t *testing.T, h *tasktest.House, script, want string) {
	t.Helper()
	res, err := h.Instances[0].Send(t.Context(), message(tasktest.First, script))
	if got := tasktest.Line(task.Frame{Event: res}); err != nil || got != want {
		t.Errorf("Send(%s) = %s, %v, want %s", script, got, err, want)
	}
}

func wantCost(t *testing.T, h *tasktest.House, writes, reads int64) {
	t.Helper()
	if s := h.Instances[0].Store; s.Writes() != writes || s.Reads() != reads {
		t.Errorf("the store saw %d writes and %d reads, want %d and %d", s.Writes(), s.Reads(), writes, reads)
	}
}

func TestWorkInOneBreathCostsTwoWrites(t *testing.T) {
	stage(t, 1, func(t *testing.T, h *tasktest.House) {
		wantSent(t, h, "WORKING make=x more=y progress=50 COMPLETED", "0 task completed a=xy")
		wantCost(t, h, 2, 0)
	})
}

func TestSilentWorkIsHeld(t *testing.T) {
	stage(t, 1, func(t *testing.T, h *tasktest.House) {
		wantSent(t, h, "sleep=1050ms COMPLETED", "0 task completed")
		wantCost(t, h, 1+5+1, 5) // five renewals and five looks between begin and end
	})
}

func TestChatterIsPaced(t *testing.T) {
	stage(t, 1, func(t *testing.T, h *tasktest.House) {
		script := "make=0"
		for range 60 {
			script += " sleep=1ms more=1"
		}
		wantSent(t, h, script+" COMPLETED", "0 task completed a=0"+"111111111111111111111111111111111111111111111111111111111111")
		wantCost(t, h, 1+1+1, 0) // the first after 20 ms; the next would come at 80 ms
	})
}

// The first write waits for the rest of the breath, and no later one for more
// than the pace.
func TestWhatIsSaidIsWrittenSoon(t *testing.T) {
	stage(t, 1, func(t *testing.T, h *tasktest.House) {
		begun := time.Now() //nolint:forbidigo // the clock of a bubble
		for f, err := range h.Instances[0].Stream(t.Context(), message(tasktest.First, "make=x sleep=5ms more=y sleep=65ms more=z sleep=1h")) {
			if err != nil {
				t.Fatal(err)
			}
			after := time.Since(begun)
			switch f.Seq {
			case 0, 1, 2:
				if after > 25*time.Millisecond {
					t.Errorf("%s after %s, want at once", tasktest.Line(f), after)
				}
			case 3:
				if after > 150*time.Millisecond {
					t.Errorf("%s after %s, want within the pace", tasktest.Line(f), after)
				}
			}
		}
	})
}

func TestCancellationIsNoticed(t *testing.T) {
	for _, tt := range []struct {
		name     string
		instance int
		within   time.Duration
	}{
		{"here", 0, 0},
		{"elsewhere", 1, tasktest.Lease / 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stage(t, 2, func(t *testing.T, h *tasktest.House) {
				done := make(chan time.Time, 1)
				go func() {
					wantSent(t, h, "sleep=1h COMPLETED", "0 task canceled (the task was canceled)")
					done <- time.Now() //nolint:forbidigo // the clock of a bubble
				}()
				<-time.After(450 * time.Millisecond)
				from := time.Now() //nolint:forbidigo // the clock of a bubble
				if _, err := h.Instances[tt.instance].Cancel(t.Context(), task.Caller{}, tasktest.FirstTask()); err != nil {
					t.Fatal(err)
				}
				if took := (<-done).Sub(from); took > tt.within {
					t.Errorf("the worker noticed after %s, want %s", took, tt.within)
				}
				if got := h.Causes.Load(); got != "the task was canceled" {
					t.Errorf("the agent's context ended because %v, want that the task was canceled", got)
				}
			})
		})
	}
}

// A sweep that has hooks told leaves the lease of a worker as it is: it may be a
// dead one's.
func TestSweepRenewsNoLease(t *testing.T) {
	stage(t, 2, func(t *testing.T, h *tasktest.House) {
		h.Refuse = func(task.Hook, task.Entry) error { return fault.New(fault.Unavailable, "deaf") }
		s := message(tasktest.First, "WORKING hang=1 COMPLETED")
		s.Hook = &task.Hook{Config: sdk.PushConfig{URL: "https://example.com/"}}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = h.Instances[0].Send(t.Context(), s)
		}()
		<-time.After(50 * time.Millisecond)
		h.Kill(0)
		before, err := h.Instances[1].Store.Get(t.Context(), tasktest.Name, tasktest.FirstTask())
		if err != nil || before.Wake.IsZero() {
			t.Fatalf("Get() = wake %s, %v, want a time", before.Wake, err)
		}
		before.Wake = time.Now().Add(-time.Second) //nolint:forbidigo // by a clock that is ahead
		if before, err = h.Instances[1].Store.Update(t.Context(), before); err != nil {
			t.Fatal(err)
		}
		tend := func() task.Record {
			if err := h.Instances[1].Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			r, err := h.Instances[1].Store.Get(t.Context(), tasktest.Name, tasktest.FirstTask())
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		for range 5 {
			if r := tend(); !r.Version.Equal(before.Version) {
				t.Fatalf("the sweep wrote the task of a worker whose lease stands: %+v", r)
			}
			<-time.After(100 * time.Millisecond)
		}
		<-time.After(tasktest.Lease)
		if r := tend(); !r.Queued {
			t.Errorf("the sweep left %+v, want it queued", r)
		}
		h.Deliver(t.Context(), 1)
		<-done
	})
}

// Of two that tell a hook at the same time, the one that got less far does not
// take it back.
func TestHooksAreNotTakenBack(t *testing.T) {
	stage(t, 2, func(t *testing.T, h *tasktest.House) {
		s := message(tasktest.First, "WORKING make=x COMPLETED")
		s.Hook = &task.Hook{Config: sdk.PushConfig{URL: "https://example.com/"}}
		if _, err := h.Instances[0].Send(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		ref, nested := task.Ref{Agent: tasktest.Name, ID: tasktest.FirstTask()}, false
		slow := &task.Worker{Desks: h.Instances[1].Desks, Post: func(_ context.Context, _ task.Hook, e task.Entry, _ *sdk.Task) error {
			if !nested {
				nested = true
				if err := h.Instances[0].Tell(t.Context(), ref); err != nil {
					t.Error(err)
				}
			}
			return fault.New(fault.Unavailable, "event %d was lost", e.Seq)
		}}
		if err := slow.Tell(t.Context(), ref); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("Tell() = %v, want another try", err)
		}
		r, err := h.Instances[0].Store.Get(t.Context(), ref.Agent, ref.ID)
		if err != nil || r.Hooks[0].Sent != 3 || r.Hooks[0].Failures != 0 {
			t.Errorf("the hook is at %+v, %v, want event 3 and no failure", r.Hooks, err)
		}
	})
}
