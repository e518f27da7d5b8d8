package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"truecost.dev/shared/engine"
)

// decided measures the pure core on a flow of seven nodes, half way through with
// two of them at work: T8.
func decided(_ context.Context, _ *rig, _ size, t *table) error {
	f := graph(sevenFlow, [][]string{{}, {"n1"}, {"n1"}, {"n2", "n3"}, {"n4"}, {"n4"}, {"n5", "n6"}})
	now := time.Unix(1e9, 0)
	s, _, _ := engine.Next(f, engine.State{}, engine.Started{EstimateID: "e", N: 1}, now)
	for _, e := range []engine.Event{engine.Finished{Step: "n1.0.p"}, engine.Finished{Step: "n1.0.s", Score: 90}} {
		s, _, _ = engine.Next(f, s, e, now)
	}
	scoring, _, _ := engine.Next(f, s, engine.Finished{Step: "n2.0.p"}, now)
	var slowest, most float64
	for _, b := range []struct {
		state engine.State
		event engine.Event
	}{
		{s, engine.Finished{Step: "n2.0.p"}},
		{scoring, engine.Finished{Step: "n2.0.s", Score: 90}},
		{scoring, engine.Finished{Step: "n2.0.s", Score: 50}},
		{s, engine.Retryable{Step: "n2.0.p"}},
	} {
		if _, _, v := engine.Next(f, b.state, b.event, now); v != engine.Applied {
			return fmt.Errorf("engine.Next(%T) is %s", b.event, v)
		}
		result := testing.Benchmark(func(tb *testing.B) {
			tb.ReportAllocs()
			for tb.Loop() {
				engine.Next(f, b.state, b.event, now)
			}
		})
		slowest, most = max(slowest, float64(result.NsPerOp())/1000), max(most, float64(result.AllocsPerOp()))
	}
	t.add(row{"T8", "engine.Next, seven nodes, the slowest of four events", "", fmt.Sprintf("%.2f µs, %.0f allocations", slowest, most), "", "≤ 5 µs, 20", ""}, slowest <= 5 && most <= 20)
	return nil
}

// fronted is T1 with agents behind the module's own front, which keeps every
// task, so that nobody pays for a call twice: what idempotency costs.
func fronted(ctx context.Context, r *rig, n size, t *table) error {
	role := r.role()
	role.Agents = r.agents.address + "/front"
	if err := r.replaceEngine(role); err != nil {
		return err
	}
	floor := &side{start: r.floorRun, check: func([]string) error { return nil }}
	ours := &side{start: r.flowRun(chainFlow, smallInput), check: func(ids []string) error { return r.right(ctx, ids, 1+chainSteps) }}
	for range 1 + n.rounds/3 {
		for _, s := range []*side{floor, ours} {
			if err := r.round(ctx, s, n); err != nil {
				return err
			}
		}
	}
	t.note(row{"", "steps/s, agents behind the module's front, tasks kept", floor.rate.text("%.0f"), ours.rate.text("%.0f"), over(ours.rate, floor.rate).text("%.2f"), "", ""})
	return r.replaceEngine(r.role())
}
