package front

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
)

// Who goes on after an event that the task never had hears what somebody hears
// who comes for the first time.
func TestFiveStepResumesFromNowhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now //nolint:forbidigo // of the bubble
		store := tasktest.NewMemory(now)
		a := newInstance(t, specialist(time.Second), store, now, slog.New(slog.DiscardHandler))
		a.queue.Store(false)
		id := a.submit(t, "prices")
		listen := func(headers ...string) <-chan []string {
			got := make(chan []string, 1)
			go func() { got <- frames(t, a.ask(t, "GET", "/task_updates/"+id, "", headers...).Body.String()) }()
			return got
		}
		first, lost := listen(), []<-chan []string{
			listen("Last-Event-ID", "99"), listen("Last-Event-ID", "9223372036854775807"),
		}
		synctest.Wait()
		if err := a.worker.Work(t.Context(), task.Ref{Agent: "research", ID: sdk.TaskID(id)}); err != nil {
			t.Fatal(err)
		}
		want := <-first
		for _, l := range lost {
			if diff := cmp.Diff(want, <-l); diff != "" {
				t.Errorf("resumed from nowhere (-want +got):\n%s", diff)
			}
		}
	})
}
