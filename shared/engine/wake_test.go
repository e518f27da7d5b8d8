package engine_test

import (
	"fmt"
	"testing"
	"time"

	"truecost.dev/shared/engine"
)

// A step or a fan-out that nobody took is looked after in time, however often
// the branch beside it moves the run.
func TestBusyBranchPutsNoLookOff(t *testing.T) {
	t.Parallel()
	retry := engine.Retry{Tries: 3, Base: time.Second, Cap: time.Second}
	busy := engine.Node{Name: "busy", Agent: "busy", Timeout: time.Minute, Retry: retry}
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	next := func(f *engine.Flow, s engine.State, e engine.Event, now time.Time) engine.State {
		t.Helper()
		after, _, verdict := engine.Next(f, s, e, now)
		if verdict != engine.Applied {
			t.Fatalf("Next(%T) is %s", e, verdict)
		}
		return after
	}
	for _, fan := range []bool{false, true} {
		quiet := engine.Node{Name: "quiet", Agent: "quiet", Timeout: time.Minute, Retry: retry}
		if fan {
			quiet.FanOut = &engine.FanOut{Over: "input.list", Chunk: 1, MaxParallel: 4, OnItemError: engine.Collect}
		}
		f := &engine.Flow{ID: "two", Engine: 1, Budget: time.Hour, Nodes: []engine.Node{busy, quiet}}
		s := next(f, engine.State{}, engine.Started{EstimateID: "e", Owner: "u", N: 1}, begun)
		if fan {
			plan := quiet.FanOut.Fan(4)
			s = next(f, s, engine.Finished{Step: "quiet.0.x", Fan: &plan}, begun)
		}
		for at := begun.Add(5 * time.Second); at.Sub(begun) < 10*time.Minute; at = at.Add(5 * time.Second) {
			s = next(f, s, engine.Retryable{Step: "busy.0.p", Working: true, After: time.Hour}, at)
			if by := begun.Add(time.Minute); s.WakeAt == nil || s.WakeAt.After(by) {
				t.Fatalf("%s: after %v somebody looks at %v, want no later than %v",
					fmt.Sprintf("fan-out %t", fan), at.Sub(begun), s.WakeAt, by)
			}
		}
	}
}
