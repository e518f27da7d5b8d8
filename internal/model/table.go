package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"truecost.dev/shared/engine"
)

// epoch is when everything happens: the model has no time.
var epoch = time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)

// table holds the states that the engine brought forth, each once, and what it
// decided in them. A world refers to them by number.
type table struct {
	scenario *Scenario
	flow     *engine.Flow
	ids      []engine.StepID
	numbers  map[engine.StepID]uint8
	runs     []*runState
	runKeys  map[string]uint16
	moves    map[moveKey]move
	shards   []engine.Shard // 0: there is none
	shardIDs map[string]uint16
	broken   string // an invariant that the engine broke by itself
}

// runState is a state of the run with what the search asks of it all the time.
type runState struct {
	engine.State
	open    uint32 // steps
	waiting uint32 // steps of nodes that wait for a person
	asks    []string
	fanning bool
	joined  bool   // a fan-out has joined, or is about to
	end     string // how the run ended, whatever the way; empty: it has not
}

type moveKey struct {
	run   uint16
	event event
}

// event is an engine.Event by number: what happened, and to which step or
// question.
type event struct {
	kind eventKind
	step uint8
}

type eventKind uint8

const (
	finished eventKind = iota
	retryable
	inputNeeded
	inputGiven // step: index of the question
	shardsDone
	canceled
	held
	resumed
)

// move is what the engine decided.
type move struct {
	verdict engine.Verdict
	next    uint16
	publish uint32
	touched uint32 // calls in flight that are to stop
	view    bool
	again   bool // the step stays open
}

func newTable(s *Scenario) *table {
	t := &table{
		scenario: s, flow: &s.Flow, numbers: map[engine.StepID]uint8{}, runKeys: map[string]uint16{},
		moves: map[moveKey]move{}, shards: make([]engine.Shard, 1), shardIDs: map[string]uint16{},
	}
	for i := range s.Flow.Nodes {
		t.name(&s.Flow.Nodes[i])
	}
	if len(t.ids) > maxSteps {
		panic(fmt.Sprintf("%s has %d steps, %d are the most", s.Name, len(t.ids), maxSteps))
	}
	t.runs = append(t.runs, nil)
	start, effects, verdict := engine.Next(t.flow, engine.State{}, engine.Started{EstimateID: "e", Owner: "o", N: 1}, epoch)
	t.moves[moveKey{}] = t.moved(start, effects, verdict)
	return t
}

// name numbers every step that a node may have: I7 holds when no other is opened.
func (t *table) name(n *engine.Node) {
	attempts := 1
	if n.Gate != nil {
		attempts += n.Gate.Retries
	}
	add := func(r engine.StepRef) {
		r.Node = n.Name
		t.numbers[r.ID()] = uint8(len(t.ids))
		t.ids = append(t.ids, r.ID())
	}
	for attempt := range attempts {
		if n.FanOut == nil {
			add(engine.StepRef{Attempt: attempt, Role: engine.RolePrimary})
			if t.scenario.Asks[string(engine.Step(n.Name, attempt, engine.RolePrimary))] {
				add(engine.StepRef{Attempt: attempt, Role: engine.RolePrimary, Turn: 1})
			}
		} else {
			add(engine.StepRef{Role: engine.RoleExpand})
			for i := range t.scenario.Fan.Chunks {
				add(engine.StepRef{Role: engine.RoleChunk, Index: i})
			}
			for i := range t.scenario.Fan.Shards {
				add(engine.StepRef{Role: engine.RoleShard, Index: i})
			}
			add(engine.StepRef{Role: engine.RoleJoin})
		}
		if n.Gate != nil {
			add(engine.StepRef{Attempt: attempt, Role: engine.RoleScorer})
			if attempt < n.Gate.Retries {
				add(engine.StepRef{Attempt: attempt, Role: engine.RoleCritic})
			}
		}
	}
}

// next asks the engine what follows from an event, once per state.
func (t *table) next(run uint16, e event) move {
	k := moveKey{run, e}
	if m, ok := t.moves[k]; ok {
		return m
	}
	before := t.runs[run]
	state, effects, verdict := engine.Next(t.flow, before.State, t.event(before, e), epoch)
	m := t.moved(state, effects, verdict)
	if verdict == engine.Applied && (e.kind == finished || e.kind == retryable) {
		_, m.again = state.Open[t.ids[e.step]]
	}
	t.moves[k] = m
	return m
}

func (t *table) moved(s engine.State, effects engine.Effects, verdict engine.Verdict) move {
	if verdict != engine.Applied {
		return move{verdict: verdict}
	}
	return move{verdict: verdict, next: t.intern(s), publish: t.mask(effects.Publish), touched: t.mask(effects.Cancel), view: effects.View}
}

func (t *table) mask(ids []engine.StepID) uint32 {
	var mask uint32
	for _, id := range ids {
		i, ok := t.numbers[id]
		if !ok {
			t.broken = fmt.Sprintf("I7: the step %s exists", id)
		}
		mask |= 1 << i
	}
	return mask
}

func (t *table) event(s *runState, e event) engine.Event {
	switch e.kind {
	case finished:
		return t.scenario.answer(t.ids[e.step])
	case retryable:
		return engine.Retryable{Step: t.ids[e.step], Failure: engine.Error{Code: engine.CodeAgentFailed, Message: "away"}}
	case inputNeeded:
		return engine.InputNeeded{Step: t.ids[e.step], Prompt: "Which one?"}
	case inputGiven:
		return engine.InputGiven{ID: s.asks[e.step], By: "o", Decision: engine.Answer}
	case shardsDone:
		r, _ := t.ids[e.step].Ref()
		return engine.ShardsDone{Node: r.Node, Attempt: r.Attempt, Failed: len(t.scenario.Broken)}
	case canceled:
		return engine.CancelRequested{By: "o"}
	case held:
		return engine.HoldRequested{By: "o"}
	default:
		return engine.ResumeRequested{By: "o"}
	}
}

// answer is what the agent of a step says, or the engine's own work comes to.
func (s *Scenario) answer(id engine.StepID) engine.Event {
	r, _ := id.Ref()
	e := engine.Finished{Step: id}
	switch r.Role {
	case engine.RoleScorer:
		e.Score = s.Scores[r.Node][r.Attempt]
	case engine.RoleExpand:
		e.Fan = &s.Fan
	default:
	}
	return e
}

// intern numbers a state, and checks what can be seen of it alone.
func (t *table) intern(s engine.State) uint16 {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a state is plain data
	}
	if i, ok := t.runKeys[string(b)]; ok {
		return i
	}
	r := &runState{State: s, open: t.mask(slices.Collect(maps.Keys(s.Open)))}
	if due := engine.Open(t.flow, s); !maps.Equal(due, s.Open) {
		t.broken = fmt.Sprintf("I4: open is %v, due is %v", s.Open, due)
	}
	for _, n := range t.flow.Nodes {
		p := s.Nodes[n.Name]
		r.fanning = r.fanning || p.Phase == engine.Fanning
		r.joined = r.joined || (p.Fan != nil && p.Phase != engine.Fanning)
		if p.Ask == nil || s.Status.Ended() {
			continue
		}
		r.asks = append(r.asks, p.Ask.ID)
		for i, id := range t.ids {
			if strings.HasPrefix(string(id), n.Name+".") {
				r.waiting |= 1 << i
			}
		}
	}
	if s.Status.Ended() {
		r.end = end(t.flow, &s)
	}
	i := uint16(len(t.runs))
	if i == 0 {
		panic("more states of a run than numbers")
	}
	t.runs = append(t.runs, r)
	t.runKeys[string(b)] = i
	return i
}

// end describes how a run ended, leaving out how it came to that.
func end(f *engine.Flow, s *engine.State) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v %v", s.Status, s.Error, slices.Sorted(slices.Values(s.Flags)))
	for _, n := range f.Nodes {
		p := s.Nodes[n.Name]
		fmt.Fprintf(&b, " %s:%s.%d%v best %d %s", n.Name, p.Phase, p.Attempt, p.Scores, p.Best, p.Out)
	}
	return b.String()
}

// shard numbers a state of a shard.
func (t *table) shard(s engine.Shard) uint16 {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a shard is plain data
	}
	i, ok := t.shardIDs[string(b)]
	if !ok {
		i = uint16(len(t.shards))
		t.shards = append(t.shards, s)
		t.shardIDs[string(b)] = i
	}
	return i
}

func (t *table) ref(step uint8) engine.StepRef {
	r, _ := t.ids[step].Ref()
	return r
}
