package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"truecost.dev/shared/engine"
)

// items is the input of a fan-out over so many numbers.
func items(n int) json.RawMessage {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	b, _ := json.Marshal(map[string]any{"items": list}) // plain data
	return b
}

// joined proves that the output of a fan-out has every chunk's result once, in
// order.
func (r *rig) joined(ctx context.Context, estimate string, chunks int) error {
	run, err := r.store.Run(ctx, engine.RunID(estimate, 1))
	if err != nil {
		return err
	}
	if run.Status != engine.Completed {
		return fmt.Errorf("the fan-out ended as %s: %v", run.Status, run.Error)
	}
	raw, err := r.store.Output(ctx, estimate, "n1")
	if err != nil {
		return err
	}
	var out struct {
		Results []struct{ Items []int }
		Failed  []int
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return err
	}
	if len(out.Results) != chunks || len(out.Failed) > 0 {
		return fmt.Errorf("the fan-out joined %d results and %d failures, wanted %d and 0", len(out.Results), len(out.Failed), chunks)
	}
	for i, result := range out.Results {
		if len(result.Items) != 1 || result.Items[0] != i {
			return fmt.Errorf("the fan-out joined %v at place %d", result.Items, i)
		}
	}
	return nil
}

// fanned measures one wide fan-out beside the floor: T6.
func fanned(ctx context.Context, r *rig, n size, t *table) error {
	floor, err := r.crowd(ctx, r.floorRun, n.runs, inFlight)
	if err != nil {
		return err
	}
	var before, after counts
	if r.stores != nil {
		if before, err = r.counts(); err != nil {
			return err
		}
	}
	stop := r.sample()
	c, err := r.crowd(ctx, r.flowRun(fanFlow, items(n.chunks)), 1, 1)
	samples := stop()
	if err != nil {
		return err
	}
	chunks := float64(n.chunks)
	if r.stores != nil {
		if after, err = r.counts(); err != nil {
			return err
		}
		d := after.minus(before)
		writes, reads, messages := float64(d.Writes)/chunks, float64(d.Reads)/chunks, float64(c.Messages+1)/chunks
		t.add(row{
			"T6", fmt.Sprintf("fan-out of %d: writes, reads, messages a chunk", n.chunks), "", fmt.Sprintf("%.3f, %.3f, %.3f", writes, reads, messages),
			"", "≤ 3.1, 3.1, 1.05", "",
		}, writes <= 3.1 && reads <= 3.1 && messages <= 1.05)
	}
	slow, fast := chunks/c.elapsed.Seconds(), float64(n.runs*floorRun)/floor.elapsed.Seconds()
	t.add(row{"T6", fmt.Sprintf("chunks/s of %d, %d in flight", n.chunks, inFlight), fmt.Sprintf("%.0f", fast), fmt.Sprintf("%.0f", slow), fmt.Sprintf("%.2f", slow/fast), "≥ 0.6", ""}, slow/fast >= 0.6)
	heap := func(part []usage) float64 {
		var s series
		for _, u := range part {
			s = append(s, float64(u.Heap)/(1<<20))
		}
		return s.median()
	}
	third := len(samples) / 3
	first, middle, last := heap(samples[:third]), heap(samples[third:2*third]), heap(samples[2*third:])
	t.add(row{"T6", "heap of the engine by thirds of the fan-out, MB", "", fmt.Sprintf("%.0f, %.0f, %.0f", first, middle, last), fmt.Sprintf("%.2f", last/first), "flat: ≤ 1.5", ""}, last <= 1.5*first)
	return r.joined(ctx, c.ids[0], n.chunks)
}

// killed does the same with an engine that is killed half way; another one goes
// on: T6. Leases and sweeps are those of a desk, so that it does not take
// minutes to notice.
func killed(ctx context.Context, r *rig, n size, t *table) error {
	role := r.role()
	role.Lease, role.Sweep = 2*time.Second, time.Second
	if err := r.replaceEngine(role); err != nil {
		return err
	}
	calls := r.agents.chunks.Load()
	id := fmt.Sprintf("killed-%d", r.ids.Add(1))
	began := time.Now()
	if err := r.flowRun(killedFlow, items(n.chunks))(ctx, id); err != nil {
		return err
	}
	for r.agents.chunks.Load()-calls < int64(n.chunks/2) {
		if time.Since(began) > patience {
			return fmt.Errorf("the fan-out came to %d chunks in %v; the engine says:\n%s", r.agents.chunks.Load()-calls, patience, r.engine.tail())
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.engine.kill()
	if err := r.replaceEngine(role); err != nil {
		return err
	}
	if err := r.wait(ctx, id); err != nil {
		return err
	}
	took, again := time.Since(began), r.agents.chunks.Load()-calls-int64(n.chunks)
	if err := r.joined(ctx, id, n.chunks); err != nil {
		return err
	}
	t.add(row{"T6", fmt.Sprintf("fan-out of %d, killed half way: joined in order", n.chunks), "", fmt.Sprintf("yes, %.1f s, %d calls twice", took.Seconds(), again), "", fmt.Sprintf("yes, ≤ %d twice", inFlight), ""}, again <= inFlight)
	return r.replaceEngine(r.role())
}
