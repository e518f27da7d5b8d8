package triggers

import (
	"context"
	"log/slog"
	"testing"
	"time"

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
	for _, trigger := range Table(s, nil) {
		if trigger.Name != "pipeline_sweep" {
			continue
		}
		gone, cancel := context.WithCancel(t.Context()) // whatever asks the store fails at once
		cancel()
		for attempt, fails := range map[int]bool{0: true, 1: true, 2: false, 20: false} {
			if err := trigger.Handle(gone, host.Delivery{Attempt: attempt}); (err != nil) != fails {
				t.Errorf("delivery %d of a tick: %v, want it to sweep, and so to fail: %t", attempt, err, fails)
			}
		}
		return
	}
	t.Fatal("no function takes ticks")
}
