package simulation

import (
	"encoding/json"
	"time"

	"truecost.dev/shared/engine"
)

// Plot is what a world is about: a flow, and how its agents and people are.
type Plot struct {
	Name      string
	Flow      *engine.Flow
	Instances int
	Items     int           // of the lists that agents make
	Breaks    float64       // share of calls that fail for good
	Asks      bool          // some agents ask a person
	Forgetful bool          // agents do not know repeated calls
	People    bool          // hold, resume, cancel, try again
	Patience  time.Duration // beyond the usual, within which a run must come to rest
	Ends      bool          // in the same way however it gets there
	Sloppy    string        // this agent's outputs break their schema now and then
	Deletes   bool          // somebody takes the estimate away
	Unswept   bool          // nobody sweeps
	Steady    time.Duration // every agent takes so long, at once and well; 0: as the seed has it
}

const day = 24 * time.Hour

// node returns a gated node with a budget for transport that faults do not use up.
func node(name string, needs ...string) engine.Node {
	return engine.Node{
		Name: name, Agent: name, Needs: needs, Weight: 1, Timeout: 5 * time.Minute,
		Retry: engine.Retry{Tries: 30, Base: 30 * time.Second, Cap: 5 * time.Minute},
		Gate:  &engine.Gate{Scorer: name + "_scorer", Critic: name + "_critic", Threshold: 80, Retries: 2, Exhausted: engine.Degrade},
	}
}

func plain(name string, needs ...string) engine.Node {
	n := node(name, needs...)
	n.Gate = nil
	return n
}

func flow(id string, nodes ...engine.Node) *engine.Flow {
	return &engine.Flow{ID: id, Engine: 1, Budget: day, Nodes: nodes}
}

// Plots returns every plot. A seed takes one after the other.
func Plots() []*Plot {
	return []*Plot{
		chain(), chainWithPeople(), diamond(), diamondThatFails(), fan(engine.Collect, 25), fan(engine.FailAll, 25),
		questions(), fanWithPeople(), budgets(), once(), deleted(), wide(),
	}
}

// PlotOf returns the plot of a seed. The slow ones come up less often.
func PlotOf(seed uint64) *Plot {
	all := Plots()
	fast := uint64(len(all) - 1)
	if seed%50 == 49 {
		return all[fast]
	}
	return all[seed%fast]
}

func chain() *Plot {
	a, b := node("first"), node("second", "first")
	a.Gate.Exhausted, b.Gate.Exhausted = engine.Fail, engine.Fail
	return &Plot{Name: "chain", Flow: flow("chain", a, b), Instances: 3, Breaks: 0.03, Ends: true}
}

func chainWithPeople() *Plot {
	p := chain()
	p.Name, p.People, p.Ends = "chain with people", true, false
	p.Flow.Nodes[1].Gate.Exhausted = engine.Ask
	return p
}

func diamond() *Plot {
	a, b, c, d := node("top"), node("left", "top"), node("right", "top"), node("bottom", "left", "right")
	c.When = []engine.Condition{{Fact: "top.level", Is: engine.Equal, Value: "high"}}
	d.Input = map[string]string{"l": "left", "r": "right.level", "in": "input"}
	b.Schema = json.RawMessage(`{"type":"object","required":["level"]}`)
	return &Plot{Name: "diamond", Flow: flow("diamond", a, b, c, d), Instances: 3, Sloppy: "left", Ends: true}
}

func diamondThatFails() *Plot {
	p := diamond()
	p.Name, p.Breaks, p.People, p.Ends = "diamond that fails", 0.1, true, false
	for i := range p.Flow.Nodes {
		g := *p.Flow.Nodes[i].Gate
		g.Exhausted = engine.Fail
		p.Flow.Nodes[i].Gate = &g
	}
	return p
}

func fan(onError engine.ItemError, items int) *Plot {
	list, each, end := plain("list"), node("each", "list"), plain("end", "each")
	each.FanOut = &engine.FanOut{Over: "list.items", Chunk: 2, MaxParallel: 9, OnItemError: onError}
	p := &Plot{Name: "fan " + string(onError), Flow: flow("fan", list, each, end), Instances: 3, Items: 2*items - 1}
	if onError == engine.Collect {
		p.Ends, p.Breaks = true, 0.02
	} else {
		p.Breaks = 0.01
	}
	return p
}

func fanWithPeople() *Plot {
	p := fan(engine.Collect, 25)
	p.Name, p.People, p.Ends = "fan with people", true, false
	return p
}

// wide is a fan-out whose shards are not all at work at once.
func wide() *Plot {
	p := fan(engine.Collect, 110)
	p.Name, p.Flow.Nodes[1].FanOut.MaxParallel, p.Breaks, p.Patience = "wide", 1, 0, 4*time.Hour
	return p
}

// questions has a pause, and agents that ask, in parallel branches.
func questions() *Plot {
	a, b, c, d := node("top"), node("left", "top"), node("right", "top"), node("bottom", "left", "right")
	b.Pause = &engine.Pause{Prompt: "Go on?", Schema: json.RawMessage(`{"type":"object"}`)}
	d.Gate = &engine.Gate{Scorer: "bottom_scorer", Critic: "bottom_critic", Threshold: 90, Retries: 1, Exhausted: engine.Ask}
	return &Plot{Name: "questions", Flow: flow("questions", a, b, c, d), Instances: 3, Asks: true, Patience: 2 * time.Hour}
}

// budgets has tries and time that faults do use up.
func budgets() *Plot {
	a, b, c := node("first"), node("second", "first"), node("third", "first")
	p := &Plot{Name: "budgets", Flow: flow("budgets", a, b, c), Instances: 2}
	p.Flow.Budget = 12 * time.Minute
	for i := range p.Flow.Nodes {
		p.Flow.Nodes[i].Retry.Tries = 2
		p.Flow.Nodes[i].Timeout = time.Minute
	}
	return p
}

// deleted loses its estimate in the middle.
func deleted() *Plot {
	p := fan(engine.Collect, 10)
	p.Name, p.Deletes, p.Ends = "deleted", true, false
	return p
}

// once has agents that work again whenever they are asked.
func once() *Plot {
	a, b := plain("first"), plain("second", "first")
	a.Ambiguous, b.Ambiguous = true, true
	return &Plot{Name: "once", Flow: flow("once", a, b), Instances: 3, Forgetful: true}
}

// single is one gated node whose agents work without trouble.
func single() *Plot {
	return &Plot{Name: "single", Flow: flow("single", node("only")), Instances: 3, Ends: true, Steady: 5 * time.Second}
}

// small is a fan-out of five chunks in two shards, without trouble.
func small() *Plot {
	p := fan(engine.FailAll, 0)
	p.Name, p.Items, p.Ends, p.Breaks, p.Steady = "small", 5, true, 0, 5*time.Second
	p.Flow.Nodes = p.Flow.Nodes[:2]
	p.Flow.Nodes[1].Gate = nil
	p.Flow.Nodes[1].FanOut.Chunk = 1
	return p
}
