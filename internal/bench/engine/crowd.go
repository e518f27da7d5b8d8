package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

// starter begins a run.
type starter func(ctx context.Context, id string) error

func (r *rig) floorRun(ctx context.Context, id string) error {
	return r.floor.publish(ctx, floorMessage{Run: id})
}

// flowRun begins runs of a flow.
func (r *rig) flowRun(flow string, input json.RawMessage) starter {
	s := r.starters[flow]
	return func(ctx context.Context, id string) error {
		_, err := s.Start(ctx, startOf(id, input))
		return err
	}
}

// chainRun begins a run of the chain in the engine's own process, which then
// knows the input and does not read it.
func (r *rig) chainRun(ctx context.Context, id string) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, r.engine.Control+"/start/"+id, http.NoBody)
	if err != nil {
		return err
	}
	answer, err := control.Do(q)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("HTTP %d", answer.StatusCode)
	}
	return nil
}

func startOf(id string, input json.RawMessage) runner.StartRequest {
	return runner.StartRequest{EstimateID: id, Owner: "bench", Input: "bench", Clarification: input}
}

var smallInput = json.RawMessage(`{"project":"bench"}`)

// crowd is what came of many runs.
type crowd struct {
	ids     []string
	elapsed time.Duration
	runs    []time.Duration // how long each took, from its start to its end
	cpu     time.Duration   // of the engine's process and of this one, which has agents and load
	stores  time.Duration   // CPU of the embedded servers
	sight
}

// crowd keeps width runs at work until total have ended.
func (r *rig) crowd(ctx context.Context, start starter, total, width int) (c crowd, err error) {
	before, stores, err := r.cpu()
	if err != nil {
		return c, err
	}
	if err := r.engine.ask("/seen", &c.sight); err != nil {
		return c, err
	}
	c.ids, c.runs = make([]string, total), make([]time.Duration, total)
	batch := r.ids.Add(1)
	errs := make([]error, width)
	var next atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for w := range width {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < total && errs[w] == nil; i = int(next.Add(1)) - 1 {
				c.ids[i] = fmt.Sprintf("b%d-%d", batch, i)
				c.runs[i], errs[w] = r.one(ctx, start, c.ids[i])
			}
		})
	}
	all.Wait()
	c.elapsed = time.Since(began)
	if err := errors.Join(errs...); err != nil {
		return c, err
	}
	after, storesAfter, err := r.cpu()
	c.cpu, c.stores = after-before, storesAfter-stores
	c.sight = sight{}
	return c, errors.Join(err, r.engine.ask("/seen", &c.sight))
}

func (r *rig) one(ctx context.Context, start starter, id string) (time.Duration, error) {
	began := time.Now()
	if err := start(ctx, id); err != nil {
		return 0, fmt.Errorf("start %s: %w", id, err)
	}
	err := r.wait(ctx, id)
	return time.Since(began), err
}

// cpu is what engine, agents and load have used together, and the stores.
func (r *rig) cpu() (all, stores time.Duration, err error) {
	var engine, servers usage
	if err := r.engine.ask("/usage", &engine); err != nil {
		return 0, 0, err
	}
	if r.stores != nil {
		if err := r.stores.ask("/usage", &servers); err != nil {
			return 0, 0, err
		}
	}
	return engine.CPU + used().CPU, servers.CPU, nil
}

// ended proves that runs came to what they should: every node passed, after so
// many applied events.
func (r *rig) right(ctx context.Context, ids []string, rev int) error {
	for _, id := range ids {
		run, err := r.store.Run(ctx, engine.RunID(id, 1))
		if err != nil {
			return err
		}
		if run.Status != engine.Completed || run.Rev != rev || len(run.Open) > 0 {
			return fmt.Errorf("run %s ended wrongly: %s at rev %d with %d open steps, wanted completed at rev %d: %v",
				id, run.Status, run.Rev, len(run.Open), rev, run.Error)
		}
		for name, p := range run.Nodes {
			if p.Phase != engine.Passed {
				return fmt.Errorf("run %s ended wrongly: node %s is %s", id, name, p.Phase)
			}
		}
	}
	return nil
}
