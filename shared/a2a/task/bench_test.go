package task_test

import (
	"context"
	"iter"
	"log/slog"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
)

// BenchmarkSend is a message to an agent that does nothing, with all that keeps
// its task.
func BenchmarkSend(b *testing.B) {
	m := tasktest.NewMemory(time.Now) //nolint:forbidigo // a benchmark has the time it has
	d := task.NewDesk(task.Agent{
		Name: "idle", Skills: []task.Skill{{}}, InputModes: []string{"text/plain"}, OutputModes: []string{"text/plain"},
		Run: func(context.Context, task.Turn) iter.Seq2[sdk.Event, error] {
			return func(yield func(sdk.Event, error) bool) {
				yield(&sdk.TaskStatusUpdateEvent{Status: sdk.TaskStatus{State: sdk.TaskStateCompleted}}, nil)
			}
		},
	}, task.Options{
		Store: func() (task.Store, error) { return m, nil }, Now: time.Now, Log: slog.New(slog.DiscardHandler), //nolint:forbidigo // a benchmark has the time it has
	})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Send(b.Context(), message("1", "hello")); err != nil {
			b.Fatal(err)
		}
	}
}
