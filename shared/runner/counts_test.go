package runner_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"truecost.dev/emulator/firestore/firestoretest"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/gcp/docstore"
	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
)

// chain is a flow of n gated nodes, each needing all before it.
func chain(n int) *engine.Flow {
	f := &engine.Flow{ID: "chain", Engine: 1, Budget: time.Hour}
	var needs []string
	for i := range n {
		node := runnertest.Flow().Nodes[0]
		node.Name = fmt.Sprintf("n%d", i)
		node.Agent, node.Needs = node.Name, needs
		node.Gate.Scorer, node.Gate.Critic = node.Name+"_scorer", node.Name+"_critic"
		f.Nodes = append(f.Nodes, node)
		needs = append(slices.Clip(needs), node.Name)
	}
	return f
}

// A fault-free run costs exactly what it must. For C calls of which K are
// critics, P nodes and H heartbeats: 2 + 3C + (C-K) + P + H writes (the start
// writes run and estimate; a call writes claim, result and run; what the reader
// sees is written with primaries and scorers; an output with its node), C reads
// and C publishes, in 1 + 2C commits beside the heartbeats.
func TestCountsOfAFaultFreeRun(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                  string
		scores                map[string][]int
		nodes, calls, critics int
		beats                 int
	}{
		{name: "six nodes pass at once", nodes: 6, calls: 12},
		{name: "one node needs one retry", nodes: 6, calls: 15, critics: 1, scores: map[string][]int{"n2": {60, 90}}},
		{name: "seven nodes", nodes: 7, calls: 14},
		{name: "a call of three heartbeats", nodes: 6, calls: 12, beats: 3},
		{
			name: "every node uses all retries", nodes: 6, calls: 48, critics: 12,
			scores: map[string][]int{"n0": {1, 2, 80}, "n1": {1, 2, 80}, "n2": {1, 2, 80}, "n3": {1, 2, 80}, "n4": {1, 2, 80}, "n5": {1, 2, 80}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server, client := firestoretest.Server(t)
			bus, clock := &runnertest.Bus{}, runnertest.NewClock()
			agents := &runnertest.Agents{Scores: tt.scores, Before: func(string) { clock.Advance(2 * time.Second) }}
			r := runnertest.NewRunner(docstore.New(client), bus, agents, clock)
			r.Pipelines = []runner.Pipeline{{Flow: chain(tt.nodes)}}
			var beaten atomic.Int64
			if tt.beats > 0 {
				r.Pace.Beat = time.Millisecond
				r.Store = counting{r.Store, &beaten}
				agents.Stay = func(ctx context.Context, agent string) {
					for agent == "n0" && int(beaten.Load()) < tt.beats {
						<-time.After(time.Millisecond)
					}
				}
			}
			must(t, r.Deploy(t.Context()))
			before := server.Counts()
			if _, err := r.Start(t.Context(), runnertest.Start("est-1")); err != nil {
				t.Fatal(err)
			}
			must(t, bus.Deliver(t.Context(), 1, 1, r))
			n := server.Counts()
			writes := n.Writes - before.Writes
			heartbeats := writes - (2 + 3*tt.calls + (tt.calls - tt.critics) + tt.nodes)
			equal(t, "heartbeats", heartbeats, int(beaten.Load()))
			equal(t, "as many as were waited for", heartbeats >= tt.beats, true)
			equal(t, "commits", n.ByMethod["Commit"].Calls-before.ByMethod["Commit"].Calls, 1+2*tt.calls+heartbeats)
			equal(t, "reads", n.Reads-before.Reads, tt.calls)
			equal(t, "publishes", bus.Messages, tt.calls)
		})
	}
}

// counting counts heartbeats.
type counting struct {
	runner.Store
	n *atomic.Int64
}

func (c counting) PutStep(ctx context.Context, s runner.Step) (runner.Step, error) {
	step, err := c.Store.PutStep(ctx, s)
	if s.Beats > 0 && err == nil {
		c.n.Add(1)
	}
	return step, err
}
