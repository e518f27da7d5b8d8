package main

import (
	"context"
	"fmt"
	"time"
)

// chainSteps are the calls of a run of the chain, as many as a floor's run has
// steps.
const chainSteps = 15

// side is the floor or the engine in all rounds.
type side struct {
	start  starter
	rate   series // steps/s, 50 runs in flight
	cpu    series // ms a step
	stores series // ms a step
	step   series // p50 of a step's latency in ms, one run at a time
	tail   series // p99 over p50 of a run, 50 in flight
	check  func(ids []string) error
}

// inTurn measures floor and engine, each after the other, so that whatever else
// the machine does meets both: T1, T2, the CPU of T3.
func inTurn(ctx context.Context, r *rig, n size, t *table) error {
	floor := &side{start: r.floorRun, check: func([]string) error { return nil }}
	engine := &side{start: r.flowRun(chainFlow, smallInput), check: func(ids []string) error { return r.right(ctx, ids, 1+chainSteps) }}
	sides := []*side{floor, engine}
	for _, s := range sides { // the window of pushes opens, connections are made
		if _, err := r.crowd(ctx, s.start, inFlight, inFlight); err != nil {
			return err
		}
	}
	for round := range n.rounds {
		for i := range sides {
			if err := r.round(ctx, sides[(i+round)%2], n); err != nil {
				return err
			}
		}
	}
	ratio, faster := over(engine.rate, floor.rate), over(engine.step, floor.step)
	t.add(row{"T1", fmt.Sprintf("steps/s, %d runs in flight", inFlight), floor.rate.text("%.0f"), engine.rate.text("%.0f"), ratio.text("%.2f"), "≥ 0.75", ""}, ratio.median() >= 0.75)
	t.add(row{"T2", "latency of a step, p50 ms, one run at a time", floor.step.text("%.1f"), engine.step.text("%.1f"), faster.text("%.2f"), "≤ 1.2", ""}, faster.median() <= 1.2)
	t.add(row{"T2", fmt.Sprintf("p99 / p50 of a run, %d in flight", inFlight), floor.tail.text("%.2f"), engine.tail.text("%.2f"), "", "≤ 1.5", ""}, engine.tail.median() <= 1.5)
	t.add(row{"T3", "CPU ms a step, engine + agents + load", floor.cpu.text("%.2f"), engine.cpu.text("%.2f"), over(engine.cpu, floor.cpu).text("%.2f"), "≤ 1.5 ms", ""}, engine.cpu.median() <= 1.5)
	if r.stores != nil {
		t.note(row{"", "CPU ms a step, the servers", floor.stores.text("%.2f"), engine.stores.text("%.2f"), over(engine.stores, floor.stores).text("%.2f"), "", ""})
	}
	return nil
}

func (r *rig) round(ctx context.Context, s *side, n size) error {
	many, err := r.crowd(ctx, s.start, n.runs, inFlight)
	if err != nil {
		return err
	}
	steps := float64(n.runs * chainSteps)
	s.rate = append(s.rate, steps/many.elapsed.Seconds())
	s.cpu = append(s.cpu, many.cpu.Seconds()*1000/steps)
	s.stores = append(s.stores, many.stores.Seconds()*1000/steps)
	runs := durations(many.runs)
	s.tail = append(s.tail, runs.at(0.99)/runs.median())
	single, err := r.crowd(ctx, s.start, n.singles, 1)
	if err != nil {
		return err
	}
	s.step = append(s.step, durations(single.Gaps).median())
	return s.check(append(many.ids, single.ids...))
}

// over is the ratio of each round.
func over(a, b series) series {
	s := make(series, len(a))
	for i := range a {
		s[i] = a[i] / b[i]
	}
	return s
}

// crowded measures the memory of the engine with 100 runs in flight: T3.
func crowded(ctx context.Context, r *rig, n size, t *table) error {
	const width = 2 * inFlight
	stop := r.sample()
	c, err := r.crowd(ctx, r.flowRun(chainFlow, smallInput), max(n.runs, 2*width), width)
	samples := stop()
	if err != nil {
		return err
	}
	var heap, rss float64
	for _, s := range samples {
		heap, rss = max(heap, float64(s.Heap)/(1<<20)), max(rss, float64(s.RSS)/(1<<20))
	}
	t.add(row{"T3", fmt.Sprintf("memory of the engine, %d runs in flight: RSS, heap, MB", width), "", fmt.Sprintf("%.0f, %.0f", rss, heap), "", "≤ 64", ""}, rss <= 64)
	return r.right(ctx, c.ids, 1+chainSteps)
}

// sample reads the usage of the engine ten times a second until stop is called.
func (r *rig) sample() (stop func() []usage) {
	done, samples := make(chan struct{}), make(chan []usage)
	go func() {
		var list []usage
		t := time.NewTicker(100 * time.Millisecond)
		defer t.Stop()
		for {
			var u usage
			if r.engine.ask("/usage", &u) == nil { // it may be dead on purpose
				list = append(list, u)
			}
			select {
			case <-done:
				samples <- list
				return
			case <-t.C:
			}
		}
	}()
	return func() []usage { close(done); return <-samples }
}
