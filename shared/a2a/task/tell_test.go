package task_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
	"truecost.dev/shared/fault"
)

// told is a task of 31 events with a hook, on two instances of one house.
func told(t *testing.T) (*tasktest.House, task.Ref) {
	t.Helper()
	m := tasktest.NewMemory(live().Now)
	h := tasktest.NewHouse(m, m)
	s := message(firstID, strings.Repeat("progress=1 ", 30)+"COMPLETED")
	s.Hook = new(hookTo("", "h", "https://example.com/"))
	if _, err := h.Instances[0].Send(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return h, task.Ref{Agent: tasktest.Name, ID: tasktest.FirstTask()}
}

// Who dies while telling has not told in vain: the next goes on not far from
// there.
func TestTellerDies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, ref := told(t)
		posts := 0
		h.Refuse = func(task.Hook, task.Entry) error {
			if posts++; posts == 25 {
				h.Kill(0)
			}
			return nil
		}
		if err := h.Instances[0].Tell(t.Context(), ref); err == nil {
			t.Error("Tell() of a dead instance = nil, want an error")
		}
		if err := h.Instances[1].Tell(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		for _, p := range h.Posts() {
			seen[p]++
		}
		if len(h.Posts()) > 31+10 {
			t.Errorf("the hook was told %d events of 31, want at most 10 again", len(h.Posts()))
		}
		for n := range 31 {
			if p := fmt.Sprintf("h %d working 1%%", n+1); n < 30 && seen[p] == 0 {
				t.Errorf("the hook was not told %q", p)
			}
		}
	})
}

// An event that was not told because the teller had no more time is not given up.
func TestTellerIsStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, ref := told(t)
		ctx, stop := context.WithCancel(t.Context())
		w := *h.Instances[0].Worker
		tell := w.Post
		w.Post = func(ctx context.Context, hook task.Hook, e task.Entry, t *sdk.Task) error {
			if e.Seq == 5 {
				stop()
				return fault.Wrap(fault.Canceled, ctx.Err(), "the call was canceled")
			}
			return tell(ctx, hook, e, t)
		}
		if err := w.Tell(ctx, ref); err == nil {
			t.Error("Tell(stopped) = nil, want an error that asks for another")
		}
		if err := h.Instances[1].Tell(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(h.Posts(), "; "); !strings.Contains(all, "h 4 working 1%; h 5 working 1%; h 6") && !strings.Contains(all, "h 1 working 1%; h 2 working 1%; h 3 working 1%; h 4 working 1%; h 5") {
			t.Errorf("the hook was told %s, want event 5 among them", all)
		}
	})
}

// A hook that is dropped while it is told hears no more.
func TestHookIsDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, ref := told(t)
		h.Refuse = func(_ task.Hook, e task.Entry) error {
			if e.Seq == 3 {
				return h.Instances[1].DropHook(t.Context(), task.Caller{}, ref.ID, "h")
			}
			return nil
		}
		if err := h.Instances[0].Tell(t.Context(), ref); err != nil || len(h.Posts()) > 10 {
			t.Errorf("Tell() = %v after %d events, want no error and few", err, len(h.Posts()))
		}
	})
}

// Of two that begin to tell a hook at once, one goes on.
func TestTellersAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, ref := told(t)
		var posts atomic.Int64
		var telling sync.WaitGroup
		for _, in := range h.Instances {
			w := *in.Worker
			w.Post = func(context.Context, task.Hook, task.Entry, *sdk.Task) error {
				posts.Add(1)
				<-time.After(time.Second)
				return nil
			}
			telling.Go(func() {
				if err := w.Tell(t.Context(), ref); err != nil {
					t.Error(err)
				}
			})
		}
		telling.Wait()
		if n := posts.Load(); n < 31 || n > 31+10 {
			t.Errorf("the hook was told %d events of 31, want at most 10 twice", n)
		}
	})
}
