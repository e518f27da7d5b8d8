package task_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
)

// Tasks of agents that are no more, however many, do not keep a sweep from those
// it can help.
func TestSweepBehindStrangers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := tasktest.NewMemory(live().Now)
		h := tasktest.NewHouse(m)
		long := time.Now().Add(-time.Hour).UTC() //nolint:forbidigo // the clock of a bubble
		for n := range 250 {
			id := sdk.TaskID(fmt.Sprint(n))
			if _, err := m.Create(t.Context(), task.Record{
				Agent: "gone", ID: id, Turns: []task.Turned{{ID: "m"}}, Lease: tasktest.Lease, Wake: long,
				Task: &sdk.Task{ID: id, ContextID: "c", Status: sdk.TaskStatus{State: sdk.TaskStateWorking, Timestamp: &long}},
			}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := h.Instances[0].Submit(t.Context(), message(firstID, "COMPLETED")); err != nil {
			t.Fatal(err)
		}
		h.Next() // is lost
		<-time.After(5 * time.Minute)
		for range 2 {
			if err := h.Instances[0].Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if _, ok := h.Next(); !ok {
			t.Error("the task of an agent that is here was not queued again")
		}
		if due, err := m.Due(t.Context(), long.Add(2*time.Hour), 300); err != nil || len(due) != 1 {
			t.Errorf("%d tasks are due within the hour, %v, want the one that is queued", len(due), err)
		}
	})
}
