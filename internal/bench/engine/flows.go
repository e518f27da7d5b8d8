package main

import (
	"fmt"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

// Names of the flows.
const (
	chainFlow  = "chain"  // six nodes, one of which needs a second attempt: 15 calls
	sevenFlow  = "seven"  // a graph of seven nodes: 14 calls
	widthFlow  = "width"  // four nodes side by side between two: 12 calls
	fanFlow    = "fan"    // one fan-out
	killedFlow = "killed" // the same, for a process that dies: what is overdue is looked after at once
)

// What the agents are called; see agents.go.
const (
	agent       = "noop"
	scorer      = "noop_scorer"
	strict      = "noop_strict" // scores the first attempt 60
	critic      = "noop_critic"
	retriedNode = "n3"
)

// lengths of the chains that show how cost grows.
var lengths = []int{2, 4, 8, 16, 32, 64}

func linearFlow(nodes int) string { return fmt.Sprintf("linear_%d", nodes) }

// pipelines are all flows of a measurement.
func pipelines() []runner.Pipeline {
	list := []runner.Pipeline{
		{Flow: chain(chainFlow, 6, retriedNode)},
		{Flow: graph(sevenFlow, [][]string{{}, {"n1"}, {"n1"}, {"n2", "n3"}, {"n4"}, {"n4"}, {"n5", "n6"}})},
		{Flow: graph(widthFlow, [][]string{{}, {"n1"}, {"n1"}, {"n1"}, {"n1"}, {"n2", "n3", "n4", "n5"}})},
		{Flow: fan(fanFlow, 0)},
		{Flow: fan(killedFlow, time.Second)},
	}
	for _, n := range lengths {
		list = append(list, runner.Pipeline{Flow: chain(linearFlow(n), n, "")})
	}
	return list
}

func chain(id string, nodes int, retried string) *engine.Flow {
	needs := make([][]string, nodes)
	for i := 1; i < nodes; i++ {
		needs[i] = []string{fmt.Sprintf("n%d", i)}
	}
	f := graph(id, needs)
	if n := f.Node(retried); n != nil {
		n.Gate.Scorer = strict
	}
	return f
}

// graph returns a flow of gated nodes n1, n2, … by what each needs.
func graph(id string, needs [][]string) *engine.Flow {
	f := &engine.Flow{ID: id, Engine: 1, Budget: time.Hour}
	for i, need := range needs {
		n := node(fmt.Sprintf("n%d", i+1))
		n.Needs = need
		n.Gate = &engine.Gate{Scorer: scorer, Critic: critic, Threshold: 80, Retries: 2, Exhausted: engine.Fail}
		f.Nodes = append(f.Nodes, n)
	}
	return f
}

func fan(id string, overdue time.Duration) *engine.Flow {
	n := node("n1")
	n.FanOut = &engine.FanOut{Over: "input.items", Chunk: 1, MaxParallel: inFlight, OnItemError: engine.FailAll}
	return &engine.Flow{ID: id, Engine: 1, Budget: time.Hour, Overdue: overdue, Nodes: []engine.Node{n}}
}

func node(name string) engine.Node {
	return engine.Node{
		Name: name, Agent: agent, Weight: 10, Timeout: time.Minute,
		Retry: engine.Retry{Tries: 5, Base: time.Second, Cap: time.Minute},
	}
}
