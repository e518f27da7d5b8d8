package main

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// A span is a range of pauses.
type span [2]time.Duration

func (s span) draw(r *rand.Rand) time.Duration {
	return s[0] + time.Duration(r.Int64N(int64(s[1]-s[0])))
}

// How often what happens to whom.
var (
	engineDies  = span{200 * time.Millisecond, 800 * time.Millisecond}
	agentsDie   = span{5 * time.Second, 10 * time.Second}
	storeDies   = span{8 * time.Second, 16 * time.Second}
	engineStops = span{time.Second, 3 * time.Second}
	stopLasts   = span{500 * time.Millisecond, 3 * time.Second}
)

// torment kills and stops processes until ctx ends. Nothing is stopped when it
// returns.
func (w *world) torment(ctx context.Context) {
	var all sync.WaitGroup
	often := func(stream uint64, every span, act func(r *rand.Rand)) {
		r := rand.New(rand.NewPCG(w.seed, stream)) //nolint:gosec // G404: a seed's kills are to be drawn alike
		all.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-time.After(every.draw(r)):
					act(r)
				}
			}
		})
	}
	anyEngine := func(r *rand.Rand) *process { return w.engines[r.IntN(len(w.engines))] }
	often(1, engineDies, func(r *rand.Rand) { anyEngine(r).kill() })
	if w.killAgents {
		often(2, agentsDie, func(*rand.Rand) { w.agents.kill() })
	}
	if w.killStore {
		often(3, storeDies, func(*rand.Rand) { w.store.kill() })
	}
	if w.stop {
		often(4, engineStops, func(r *rand.Rand) { anyEngine(r).freeze(ctx, stopLasts.draw(r)) })
	}
	all.Wait()
}
