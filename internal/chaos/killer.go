package main

import (
	"context"
	"math/rand/v2"
	"time"

	"truecost.dev/internal/chaos/supervise"
)

// How often what happens to whom.
var (
	engineDies  = supervise.Span{200 * time.Millisecond, 800 * time.Millisecond}
	agentsDie   = supervise.Span{5 * time.Second, 10 * time.Second}
	storeDies   = supervise.Span{8 * time.Second, 16 * time.Second}
	engineStops = supervise.Span{time.Second, 3 * time.Second}
	stopLasts   = supervise.Span{500 * time.Millisecond, 3 * time.Second}
)

// torment kills and stops processes until ctx ends. Nothing is stopped when it
// returns.
func (w *world) torment(ctx context.Context) {
	var t supervise.Torment
	anyEngine := func(r *rand.Rand) *supervise.Process { return w.engines[r.IntN(len(w.engines))] }
	t.Often(ctx, w.seed, 1, engineDies, func(r *rand.Rand) { anyEngine(r).Kill() })
	if w.killAgents {
		t.Often(ctx, w.seed, 2, agentsDie, func(*rand.Rand) { w.agents.Kill() })
	}
	if w.killStore {
		t.Often(ctx, w.seed, 3, storeDies, func(*rand.Rand) { w.store.Kill() })
	}
	if w.stop {
		t.Often(ctx, w.seed, 4, engineStops, func(r *rand.Rand) { anyEngine(r).Freeze(ctx, stopLasts.Draw(r)) })
	}
	t.Wait()
}
