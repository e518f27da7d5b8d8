package model

import (
	"time"

	"truecost.dev/shared/engine"
)

// Faults is how often each of them may happen.
type Faults struct {
	Crash   uint8 // a worker dies
	Expire  uint8 // a lease runs out
	Again   uint8 // a message is delivered and stays
	Lose    uint8 // a message is gone
	Sweep   uint8 // the sweeper comes
	Away    uint8 // a call fails in transport
	Unknown uint8 // a commit is applied and its answer lost
	Cancel  uint8 // the owner cancels
	Hold    uint8 // the owner holds the run
	Aged    uint8 // a stale message comes so late that the handler catches up
}

// counts lists the budgets.
func (f *Faults) counts() [10]*uint8 {
	return [10]*uint8{&f.Crash, &f.Expire, &f.Again, &f.Lose, &f.Sweep, &f.Away, &f.Unknown, &f.Cancel, &f.Hold, &f.Aged}
}

// Bound says how far a search goes.
type Bound int

// The bounds.
const (
	Quick   Bound = iota // seconds
	Full                 // a minute, more than a million states
	Nightly              // hours, 50 million states
)

// Scenario is a flow, how its agents answer, and which faults there may be.
type Scenario struct {
	Name   string
	Flow   engine.Flow
	Scores map[string][]int // by node and attempt
	Asks   map[string]bool  // steps whose agent asks a person
	Broken map[int]bool     // chunks that fail for good
	Fan    engine.Fan
	Faults [3]Faults // by bound
}

func node(name string, needs ...string) engine.Node {
	return engine.Node{
		Name: name, Agent: name, Needs: needs, Weight: 1, Timeout: time.Minute,
		Retry: engine.Retry{Tries: 3, Base: time.Second, Cap: time.Minute},
	}
}

func judged(n engine.Node, retries int) engine.Node {
	n.Gate = &engine.Gate{
		Scorer: n.Name + "_scorer", Critic: n.Name + "_critic", Threshold: 80, Retries: retries, Exhausted: engine.Fail,
	}
	return n
}

func flow(id string, nodes ...engine.Node) engine.Flow {
	return engine.Flow{ID: id, Engine: 1, Budget: time.Hour, Nodes: nodes}
}

// Scenarios lists what is searched: the shapes that a flow can have, each as
// small as it can be.
func Scenarios() []Scenario {
	paused, fanned := node("order", "plan"), node("price")
	paused.Pause = &engine.Pause{Prompt: "Order it?"}
	fanned.FanOut = &engine.FanOut{Over: "input.items", Chunk: 1, MaxParallel: 2, OnItemError: engine.Collect}
	return []Scenario{
		{
			Name: "one node, three attempts", Flow: flow("one", judged(node("a"), 2)),
			Scores: map[string][]int{"a": {50, 60, 55}},
			Faults: [3]Faults{
				{Crash: 1, Expire: 1},
				{Crash: 1, Expire: 1, Sweep: 1, Cancel: 1},
				{Crash: 2, Expire: 2, Sweep: 2, Lose: 1, Again: 1, Away: 1, Unknown: 1, Cancel: 1, Hold: 1, Aged: 1},
			},
		},
		{
			Name: "chain of two", Flow: flow("chain", judged(node("a"), 1), judged(node("b", "a"), 0)),
			Scores: map[string][]int{"a": {60, 90}, "b": {90}},
			Faults: [3]Faults{
				{Crash: 1, Cancel: 1},
				{Crash: 1, Expire: 1, Sweep: 1, Cancel: 1},
				{Crash: 2, Expire: 2, Sweep: 2, Lose: 1, Again: 1, Away: 1, Unknown: 1, Cancel: 1, Hold: 1, Aged: 1},
			},
		},
		{
			Name: "diamond", Flow: flow("diamond", node("a"), judged(node("b", "a"), 0), judged(node("c", "a"), 0), node("d", "b", "c")),
			Scores: map[string][]int{"b": {80}, "c": {95}},
			Faults: [3]Faults{
				{Crash: 1, Expire: 1},
				{Crash: 1, Expire: 1, Sweep: 1},
				{Crash: 2, Expire: 2, Sweep: 1, Again: 1, Lose: 1, Away: 1, Unknown: 1, Cancel: 1, Aged: 1},
			},
		},
		{
			Name: "fan-out, two shards at once", Flow: flow("fan", fanned),
			Fan: engine.Fan{Chunks: 4, Shards: 2, Active: 2}, Broken: map[int]bool{2: true},
			Faults: [3]Faults{
				{Crash: 1, Expire: 1},
				{Crash: 1, Expire: 1, Again: 1},
				{Crash: 2, Expire: 2, Sweep: 2, Again: 1, Lose: 1, Away: 1, Unknown: 1, Cancel: 1},
			},
		},
		{
			Name: "fan-out, one shard after the other", Flow: flow("fan", fanned),
			Fan: engine.Fan{Chunks: 4, Shards: 2, Active: 1}, Broken: map[int]bool{0: true},
			Faults: [3]Faults{
				{Crash: 1, Unknown: 1},
				{Crash: 1, Sweep: 1, Unknown: 1},
				{Crash: 2, Expire: 2, Sweep: 2, Again: 1, Lose: 1, Away: 1, Unknown: 1, Cancel: 1},
			},
		},
		{
			Name: "pause in a parallel branch", Flow: flow("pause", node("plan"), node("price", "plan"), paused, node("sum", "price", "order")),
			Asks: map[string]bool{"price.0.p": true},
			Faults: [3]Faults{
				{Crash: 1, Expire: 1},
				{Crash: 1, Expire: 1, Lose: 1, Hold: 1},
				{Crash: 2, Expire: 2, Sweep: 2, Again: 1, Lose: 1, Away: 1, Unknown: 1, Cancel: 1, Hold: 1},
			},
		},
	}
}

// Mutant names a handler that is wrong on purpose.
type Mutant string

// The mutants.
const (
	Sound          Mutant = ""
	NoClaim        Mutant = "no claim"
	NoPrecondition Mutant = "commit without precondition"
	PublishFirst   Mutant = "publish only before the commit"
	NoSweeper      Mutant = "no sweeper"
	NoExpiry       Mutant = "lease never expiring"
	TwoCommits     Mutant = "result and state in two commits"
	LateApplied    Mutant = "late result applied"
	NewCallID      Mutant = "take-over with a new call id"
	ShardBlind     Mutant = "shard without precondition"
	ViewApart      Mutant = "view written outside the commit"
)

// Breaks returns the invariants that a mutant breaks: which one is seen first
// depends on the scenario.
func (m Mutant) Breaks() []string {
	return map[Mutant][]string{
		NoClaim:        {"I6"},
		NoPrecondition: {"I1", "I2", "I3"},
		PublishFirst:   {"I22"},
		NoSweeper:      {"I10"},
		NoExpiry:       {"I10"},
		TwoCommits:     {"I12"},
		LateApplied:    {"I2"},
		NewCallID:      {"I6"},
		ShardBlind:     {"I15"},
		ViewApart:      {"I11"},
	}[m]
}

// Mutants lists them.
func Mutants() []Mutant {
	return []Mutant{
		NoClaim, NoPrecondition, PublishFirst, NoSweeper, NoExpiry, TwoCommits, LateApplied, NewCallID, ShardBlind, ViewApart,
	}
}
