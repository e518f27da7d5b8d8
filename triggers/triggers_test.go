package triggers

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
	"truecost.dev/shared/boot"
	"truecost.dev/shared/host"
)

// A tick whose sweep failed does not come back: the next tick sweeps.
func TestTicksAreTakenOnce(t *testing.T) {
	t.Parallel()
	s := boot.New(boot.Config{
		Project: "truecost", FirestoreHost: "127.0.0.1:1", PubSubHost: "127.0.0.1:1", PassScore: 80, MaxRetries: 2,
		AgentTime: time.Minute, RunTime: time.Hour, RetryPause: time.Second,
	}, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { _ = s.Close() }) // nothing was sent
	tasks := s.Env().TaskAgents([]task.Agent{new(tasktest.Actor).Agent("actor")})
	sweepers := 0
	for _, trigger := range Table(s, tasks) {
		if trigger.Name != "pipeline_sweep" && trigger.Name != "agent_sweep" {
			continue
		}
		sweepers++
		gone, cancel := context.WithCancel(t.Context()) // whatever asks the store fails at once
		cancel()
		for attempt, fails := range map[int]bool{0: true, 1: true, 2: false, 20: false} {
			if err := trigger.Handle(gone, host.Delivery{Attempt: attempt}); (err != nil) != fails {
				t.Errorf("%s, delivery %d of a tick: %v, want it to sweep, and so to fail: %t", trigger.Name, attempt, err, fails)
			}
		}
	}
	if sweepers != 2 {
		t.Fatalf("%d functions take ticks, want one for runs and one for tasks", sweepers)
	}
}
