package main

import (
	"context"
	"fmt"
	"testing"
	"text/tabwriter"
	"time"

	core "truecost.dev/shared/engine"
	"truecost.dev/shared/flows"
)

// engine plays whole runs of the estimate flow, every agent content.
func engine(_ context.Context, t *tabwriter.Writer) error {
	p, err := flows.Estimate(flows.Options{PassScore: 80, MaxRetries: 2, AgentTime: time.Minute, RunTime: time.Hour, RetryPause: time.Second})
	if err != nil {
		return err
	}
	now := time.Unix(1e9, 0)
	started, _, _ := core.Next(p.Flow, core.State{}, core.Started{EstimateID: "e", Owner: "o", N: 1}, now)
	steps := 0
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		s := started
		for b.Loop() {
			for id := range s.Open {
				s, _, _ = core.Next(p.Flow, s, core.Finished{Step: id, Score: 90}, now)
			}
			if s.Status.Ended() {
				s = started
			}
		}
		steps = b.N
	})
	if steps == 0 {
		return fmt.Errorf("the engine was not measured")
	}
	fmt.Fprintf(t, "engine.Next, six nodes\t%.2f µs a step, %d allocations\taim 5 µs, 20\t%.2f, %.2f\n",
		float64(result.NsPerOp())/1000, result.AllocsPerOp(), float64(result.NsPerOp())/5000, float64(result.AllocsPerOp())/20)
	fmt.Fprintf(t, "engine steps per second\t%.0f\t\t\n", 1e9/float64(result.NsPerOp()))
	return nil
}
