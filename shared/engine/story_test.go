package engine_test

import (
	"context"
	"encoding/json"
	"maps"
	"testing"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
)

// A story makes a run of some shape with the real runner on a store in memory.
type story struct {
	name   string
	note   string
	flow   *engine.Flow
	script script
	input  string         // of the run; empty: {}
	tell   func(t *stage) // what happens to it; nil: it is delivered
	n      int            // the run that is recorded; 0 is 1
}

// script is what the agents of a story do; a missing score is 90.
type script struct {
	scores map[string][]int
	down   map[string]int
	busy   map[string]int
	broken map[string]bool
	asks   map[string]bool
	fails  map[int]bool
}

func (s script) agents() *runnertest.Agents {
	return &runnertest.Agents{
		Scores: s.scores, Down: maps.Clone(s.down), Busy: maps.Clone(s.busy), Broken: s.broken, Asks: s.asks, Fails: s.fails,
	}
}

// stage is where a story is played.
type stage struct {
	*testing.T
	*runner.Runner
	bus    *runnertest.Bus
	clock  *runnertest.Clock
	agents *runnertest.Agents
}

const first = "est-1~1"

func (s *story) run(t *testing.T) *recorded {
	t.Helper()
	clock, bus := runnertest.NewClock(), &runnertest.Bus{}
	agents := s.script.agents()
	agents.Before = func(string) { clock.Advance(700 * time.Millisecond) }
	r := runnertest.NewRunner(runnertest.NewMemory(clock.Now), bus, agents, clock)
	// Pauses that chance makes shorter are taken whole: a story has one end.
	r.Pace.QuickTries = 1
	r.Sleep = func(ctx context.Context, d time.Duration) error {
		clock.Advance(d.Truncate(time.Second) + time.Second)
		return ctx.Err()
	}
	r.Pipelines = []runner.Pipeline{{Flow: s.flow}}
	if err := s.flow.Check(); err != nil {
		t.Fatal(err)
	}
	req := runnertest.Start("est-1")
	if s.input != "" {
		req.Clarification = json.RawMessage(s.input)
	}
	st := &stage{t, r, bus, clock, agents}
	_, err := r.Start(t.Context(), req)
	st.must(err)
	if s.tell == nil {
		st.deliver()
	} else {
		s.tell(st)
	}
	return write(t, r, engine.RunID("est-1", max(s.n, 1)), s.note)
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *stage) deliver() {
	s.Helper()
	s.must(s.bus.Deliver(s.Context(), 1, 1, s.Runner))
}

// wait lets minutes pass, with a sweep in every one.
func (s *stage) wait(minutes int) {
	s.Helper()
	for range minutes {
		s.clock.Advance(time.Minute)
		s.must(s.Sweep(s.Context()))
		s.deliver()
	}
}

func (s *stage) answer(id string, decision engine.Decision, text string) {
	s.Helper()
	s.must(s.Answer(s.Context(), first, runner.AnswerRequest{InputID: id, By: "anna", Decision: decision, Answer: json.RawMessage(text)}))
	s.deliver()
}

// gated is the chain of two nodes with another policy at its first gate.
func gated(policy engine.Exhausted) *engine.Flow {
	f := runnertest.Flow()
	f.Nodes[0].Gate.Exhausted = policy
	return f
}

func paused() *engine.Flow {
	f := runnertest.Flow()
	f.Nodes[1].Pause = &engine.Pause{Prompt: "Go on?", Schema: json.RawMessage(`{"type":"object"}`)}
	return f
}

func node(name string, needs ...string) engine.Node {
	return engine.Node{
		Name: name, Agent: name, Needs: needs, Weight: 1, Timeout: 5 * time.Second,
		Retry: engine.Retry{Tries: 3, Base: time.Second, Cap: time.Minute},
	}
}

// diamond forks and joins; one branch depends on what the fork said.
func diamond() *engine.Flow {
	left, right := node("left", "fork"), node("right", "fork")
	right.When = []engine.Condition{{Fact: "fork.summary", Is: engine.Equal, Value: "more"}}
	return &engine.Flow{ID: "diamond", Engine: 1, Budget: time.Hour, MaxParallel: 2, Nodes: []engine.Node{
		node("fork"), left, right, node("merge", "left", "right"),
	}}
}

func fan(onError engine.ItemError) *engine.Flow {
	n := node("price")
	n.FanOut = &engine.FanOut{Over: "input.items", Chunk: 2, MaxParallel: 8, OnItemError: onError}
	return &engine.Flow{ID: "fan", Engine: 1, Budget: time.Hour, Nodes: []engine.Node{n, node("sum", "price")}}
}

const tenItems = `{"items":[0,1,2,3,4,5,6,7,8,9]}`

var stories = []story{
	{name: "chain", note: "two gated nodes pass at once", flow: runnertest.Flow(), script: script{}},
	{
		name: "quality-retries", note: "two attempts of the first node are weak", flow: runnertest.Flow(),
		script: script{scores: map[string][]int{"location": {60, 75, 85}}},
	},
	{
		name: "exhausted-fail", note: "no attempt is good enough; a tie keeps the earlier one", flow: runnertest.Flow(),
		script: script{scores: map[string][]int{"location": {60, 75, 75}}},
	},
	{
		name: "exhausted-degrade", note: "the run goes on with the best attempt", flow: gated(engine.Degrade),
		script: script{scores: map[string][]int{"location": {60, 75, 70}}},
	},
	{
		name: "exhausted-ask-accept", note: "a person takes the best attempt", flow: gated(engine.Ask),
		script: script{scores: map[string][]int{"location": {60, 75, 70}}},
		tell: func(s *stage) {
			s.deliver()
			s.clock.Advance(3 * time.Hour)
			s.answer("location.2.ask", engine.Accept, ``)
		},
	},
	{
		name: "exhausted-ask-give-up", note: "a person does not", flow: gated(engine.Ask),
		script: script{scores: map[string][]int{"location": {60, 75, 70}}},
		tell: func(s *stage) {
			s.deliver()
			s.answer("location.2.ask", engine.GiveUp, ``)
		},
	},
	{
		name: "critic-away", note: "the critic fails for good: the retry has the scorer's words", flow: runnertest.Flow(),
		script: script{scores: map[string][]int{"location": {60, 90}}, broken: map[string]bool{"location_critic": true}},
	},
	{
		name: "scorer-broken", note: "what nobody can judge does not pass", flow: runnertest.Flow(),
		script: script{broken: map[string]bool{"location_scorer": true}},
	},
	{
		name: "transport", note: "agents are away for a while, which costs no attempt", flow: runnertest.Flow(),
		script: script{down: map[string]int{"location": 2, "cost_scorer": 2}},
		tell:   func(s *stage) { s.deliver(); s.wait(20) },
	},
	{
		name: "transport-for-good", note: "an agent stays away until its tries are used up", flow: runnertest.Flow(),
		script: script{down: map[string]int{"cost": 1000}},
		tell:   func(s *stage) { s.deliver(); s.wait(20) },
	},
	{
		name: "working", note: "an agent stays at work and is asked again", flow: runnertest.Flow(),
		script: script{busy: map[string]int{"location": 12}},
	},
	{name: "diamond", note: "a branch is skipped", flow: diamond(), script: script{}},
	{name: "fan-out", note: "five chunks in two shards", flow: fan(engine.FailAll), script: script{}, input: tenItems},
	{
		name: "fan-out-collect", note: "a chunk fails and the run is partial", flow: fan(engine.Collect),
		script: script{fails: map[int]bool{4: true}}, input: tenItems,
	},
	{
		name: "fan-out-fail", note: "a chunk fails, and with it everything", flow: fan(engine.FailAll),
		script: script{fails: map[int]bool{4: true}}, input: tenItems,
	},
	{name: "fan-out-of-nothing", note: "the list is empty", flow: fan(engine.FailAll), script: script{}, input: `{"items":[]}`},
	{
		name: "question", note: "an agent asks a person", flow: runnertest.Flow(), script: script{asks: map[string]bool{"location": true}},
		tell: func(s *stage) {
			s.deliver()
			s.clock.Advance(26 * time.Hour)
			s.answer("location.0.p.1", engine.Answer, `{"which":"the first"}`)
		},
	},
	{
		name: "question-expired", note: "nobody answers", flow: runnertest.Flow(), script: script{asks: map[string]bool{"location": true}},
		tell: func(s *stage) {
			s.deliver()
			s.clock.Advance(8 * 24 * time.Hour)
			s.wait(1)
		},
	},
	{
		name: "pause", note: "the flow asks before the second node works", flow: paused(), script: script{},
		tell: func(s *stage) {
			s.deliver()
			s.clock.Advance(time.Hour)
			s.answer("cost.0.pause", engine.Answer, `{"ok":true}`)
		},
	},
	{
		name: "hold", note: "a person holds the run for five hours while an agent works", flow: runnertest.Flow(), script: script{},
		tell: func(s *stage) {
			s.agents.Before = func(string) {
				s.agents.Before = nil
				s.must(s.Hold(s.Context(), first, "anna", "the scope changes"))
			}
			s.deliver()
			s.clock.Advance(5 * time.Hour)
			s.must(s.Resume(s.Context(), first, "bert"))
			s.deliver()
		},
	},
	{
		name: "cancel", note: "a person ends the run while an agent works", flow: runnertest.Flow(), script: script{},
		tell: func(s *stage) {
			s.agents.Before = func(agent string) {
				if agent == "cost" {
					s.must(s.Cancel(s.Context(), first, "anna"))
				}
			}
			s.deliver()
		},
	},
	{
		name: "deadline", note: "the run is out of time", flow: runnertest.Flow(), script: script{down: map[string]int{"location": 1000}},
		tell: func(s *stage) {
			s.clock.Advance(61 * time.Minute)
			s.wait(1)
		},
	},
	{
		name: "manual-retry", note: "the second run of an estimate: its first node is carried over, an input of the other is edited", n: 2,
		flow: runnertest.Flow(), script: script{broken: map[string]bool{"cost": true}},
		tell: func(s *stage) {
			s.deliver()
			s.agents.Broken = nil
			_, err := s.Retry(s.Context(), runner.RetryRequest{Run: first, By: "anna", Edit: json.RawMessage(`{"clarification_output":{"scope":"less"}}`)})
			s.must(err)
			s.deliver()
		},
	},
}
