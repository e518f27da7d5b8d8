package task_test

import (
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
	"truecost.dev/shared/fault"
)

// A listener bears it when the store does not answer for a little, and is told
// when it stays away.
func TestListenersOfAStoreThatIsAway(t *testing.T) {
	for _, tt := range []struct {
		name string
		away time.Duration
		want string
	}{
		{"for a little", 150 * time.Millisecond, "1 working; 2 a=x; 3 completed"},
		{"for long", time.Hour, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stage(t, 2, func(t *testing.T, h *tasktest.House) {
				done := make(chan struct{})
				go func() {
					defer close(done)
					wantSent(t, h, "WORKING sleep=300ms make=x COMPLETED", "0 task completed a=x")
				}()
				<-time.After(50 * time.Millisecond)
				from := time.Now() //nolint:forbidigo // the clock of a bubble
				h.Instances[1].Store.Read = func() error {
					if after := time.Since(from); after > 50*time.Millisecond && after < 50*time.Millisecond+tt.away {
						return fault.New(fault.Unavailable, "the store is away")
					}
					return nil
				}
				got := tasktest.Lines(h.Instances[1].Follow(t.Context(), task.Caller{}, tasktest.FirstTask(), new(int64(0))))
				want := tt.want
				if tt.away == time.Hour {
					want = "1 working; error the task store is away; try again: follow task " + string(tasktest.FirstTask()) + ": the store is away"
				}
				if got != want {
					t.Errorf("Follow() = %s, want %s", got, want)
				}
				<-done
			})
		})
	}
}

// A stream whose instance is cut off on the way has no gap: it either goes on
// with what was not stored, or says that it cannot.
func TestStreamsThatAreCutOff(t *testing.T) {
	for name, at := range map[string]int64{"after a write that was read": 2, "after a write that was not": 3} {
		t.Run(name, func(t *testing.T) {
			stage(t, 1, func(t *testing.T, h *tasktest.House) {
				store := h.Instances[0].Store
				store.Before = func(n int64, _ task.Record) error {
					if n > 3 {
						return errAway
					}
					return nil
				}
				store.Read = func() error {
					if store.Writes() > at-1 && at == 3 {
						return errAway
					}
					return nil
				}
				got := tasktest.Lines(h.Instances[0].Stream(t.Context(), message(tasktest.First, "make=x sleep=90ms more=y sleep=90ms COMPLETED")))
				want := map[int64]string{
					2: "0 task working; 1 a=x; 2 a+=y; 3 completed",
					3: "0 task working; 1 a=x; error the task store is away; ask for the task again",
				}[at]
				if got != want {
					t.Errorf("Stream() = %s, want %s", got, want)
				}
			})
		})
	}
}

// A message that nobody kept is kept when it is submitted again.
func TestSubmittedAfterItWasSent(t *testing.T) {
	stage(t, 2, func(t *testing.T, h *tasktest.House) {
		s := message(tasktest.First, "hang=1 make=x COMPLETED")
		s.Keep = false
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = h.Instances[0].Send(t.Context(), s)
		}()
		<-time.After(50 * time.Millisecond)
		h.Kill(0)
		<-time.After(2 * tasktest.Lease)
		got, err := h.Instances[1].Submit(t.Context(), s)
		if line := tasktest.Line(task.Frame{Event: got}); err != nil || line != "0 task submitted" {
			t.Fatalf("Submit() = %s, %v, want it queued", line, err)
		}
		h.Deliver(t.Context(), 1)
		got, _, err = h.Instances[1].Get(t.Context(), task.Caller{}, tasktest.FirstTask())
		if line := tasktest.Line(task.Frame{Event: got}); err != nil || line != "0 task completed a=x" || len(got.History) != 1 {
			t.Errorf("Get() = %s with %d messages, %v, want it completed with the one", line, len(got.History), err)
		}
		<-done
	})
}

// What a worker has no agent for, and what is not there any more.
func TestWorkersWithoutWork(t *testing.T) {
	stage(t, 1, func(t *testing.T, h *tasktest.House) {
		w := h.Instances[0].Worker
		for _, do := range []string{task.DoWork, task.DoTell} {
			if err := w.Do(t.Context(), task.Job{Do: do, Ref: task.Ref{Agent: "unheard", ID: "t"}}); fault.KindOf(err) != fault.NotFound {
				t.Errorf("Do(%s for an agent that is not here) = %v, want kind not_found", do, err)
			}
			if err := w.Do(t.Context(), task.Job{Do: do, Ref: task.Ref{Agent: tasktest.Name, ID: "gone"}}); err != nil {
				t.Errorf("Do(%s for a task that is gone) = %v, want no error", do, err)
			}
		}
		if err := (&task.Worker{}).Sweep(t.Context()); err != nil {
			t.Errorf("Sweep() without agents = %v, want no error", err)
		}
		if _, err := h.Instances[0].Submit(t.Context(), message(tasktest.First, "COMPLETED")); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour)
		h.Instances[0].Store.Before = func(int64, task.Record) error { return errAway }
		if err := w.Sweep(t.Context()); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("Sweep() of a store that takes nothing = %v, want kind unavailable", err)
		}
		if got, _, err := h.Instances[0].Get(t.Context(), task.Caller{}, tasktest.FirstTask()); err != nil || got.Status.State != sdk.TaskStateSubmitted {
			t.Errorf("Get() = %+v, %v, want it submitted still", got, err)
		}
	})
}
