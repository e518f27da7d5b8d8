package runner_test

import (
	"context"
	"testing"
	"time"

	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
)

// awayFor is a store that takes no step that is done until somebody has waited
// for so long.
type awayFor struct {
	runner.Store
	left *time.Duration
}

func (s awayFor) Commit(ctx context.Context, c runner.Commit) error {
	if *s.left > 0 && len(c.Steps) > 0 {
		return fault.New(fault.Unavailable, "the store is away")
	}
	return s.Store.Commit(ctx, c)
}

// A result in hand outlives a store that is away for a while.
func TestAResultOutlivesAStoreThatIsAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.start(t)
	left := 10 * time.Second
	w.runner.Store = awayFor{w.store, &left}
	w.runner.Sleep = func(ctx context.Context, d time.Duration) error {
		left -= d
		return ctx.Err()
	}
	if err := w.runner.Handle(t.Context(), runner.Message{V: 1, Run: "est-1~1", Step: "location.0.p"}); err != nil {
		t.Fatalf("Handle = %v, want the result to be recorded once the store is back", err)
	}
	run := w.run(t, "est-1~1")
	equal(t, "rev", run.Rev, 2)
}
