package runnertest

import (
	"encoding/json"
	"testing"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

func testCreateOnce(t *testing.T, s runner.Store) {
	must(t, s.Commit(t.Context(), begin(t, "est-1")))
	kind(t, "second start", s.Commit(t.Context(), begin(t, "est-1")), fault.Conflict)
	_, err := s.Input(t.Context(), "est-2")
	kind(t, "input of no estimate", err, fault.NotFound)
}

var fan = runner.FanID{Run: "est-1~1", Node: "cost", Attempt: 0}

// scene is a store with one document of every kind, and a commit that changes
// each of them and creates one more.
func scene(t *testing.T, s runner.Store) runner.Commit {
	t.Helper()
	run := started(t, s, "est-1")
	must(t, s.CreateShards(t.Context(), fan, cut(10)))
	held, err := s.PutStep(t.Context(), claim("est-1~1", "location.0.p", "one"))
	must(t, err)
	touched, err := s.PutStep(t.Context(), claim("est-1~1", "location.0.s", "one"))
	must(t, err)
	must(t, s.Commit(t.Context(), runner.Commit{Inputs: []runner.Input{{Run: "est-1~1", ID: "ask", Node: "cost", AskedAt: epoch}}}))
	inputs, err := s.Inputs(t.Context(), "est-1~1", "ask")
	must(t, err)
	shards, err := s.Shards(t.Context(), fan, 0)
	must(t, err)

	next, _, verdict := engine.Next(Flow(), run.State, engine.Finished{Step: "location.0.p"}, epoch.Add(time.Second))
	if verdict != engine.Applied {
		t.Fatalf("the event is %s", verdict)
	}
	view := engine.Project(Flow(), next)
	held.Status, held.Result = runner.Done, json.RawMessage(`{"n":1}`)
	shards[0].Complete = true
	inputs[0].Decision = engine.GiveUp
	return runner.Commit{
		Run: &runner.Run{State: next, Version: run.Version}, Steps: []runner.Step{held, claim("est-1~1", "cost.0.k0", "one")},
		Touch: []runner.Step{touched}, Fan: fan, Shards: shards,
		Inputs:      []runner.Input{inputs[0], {Run: "est-1~1", ID: "ask-2", Node: "cost", AskedAt: epoch}},
		Idempotency: &runner.Idempotency{Owner: "anna", Key: "k", EstimateID: "est-1", Input: "h", CreatedAt: epoch},
		EstimateID:  "est-1", View: &view, Project: "p1",
		Feedback: map[string]json.RawMessage{"location": json.RawMessage(`{"reason":"r"}`)},
		Chunks:   map[string]runner.ChunkProgress{"cost": {Done: 1, Of: 10}},
		Outputs: []runner.Output{
			{Node: "location", Agent: "location", Phase: engine.Waiting, Data: json.RawMessage(`{"n":1}`), StartedAt: epoch, DoneAt: epoch},
		},
		Documents: runner.Documents{
			Root: map[string]any{"address": "1 Main St"}, Items: []runner.Document{{Collection: "costItems", ID: "a", Fields: map[string]any{"i": 1}}},
		},
	}
}

func testCommit(t *testing.T, s runner.Store) {
	c := scene(t, s)
	before := step(t, s, "est-1~1", c.Touch[0].ID)
	must(t, s.Commit(t.Context(), c))
	same(t, "run", c.Run.State, loaded(t, s, "est-1~1").State)
	for _, want := range c.Steps {
		got := step(t, s, "est-1~1", want.ID)
		want.Version, want.ReadAt = got.Version, got.ReadAt
		same(t, "step", want, got)
	}
	if after := step(t, s, "est-1~1", c.Touch[0].ID); !after.Version.After(before.Version) {
		t.Error("the touched claim has not moved")
	}
	shards, err := s.Shards(t.Context(), fan, 0)
	must(t, err)
	if len(shards) != 1 || !shards[0].Complete {
		t.Errorf("shards = %+v, want the first one, complete", shards)
	}
	inputs, err := s.Inputs(t.Context(), "est-1~1", "ask", "ask-2")
	must(t, err)
	if len(inputs) != 2 || inputs[0].Decision != engine.GiveUp {
		t.Errorf("inputs = %+v, want two, the first given up", inputs)
	}
	if _, err := s.Started(t.Context(), "anna", "k"); err != nil {
		t.Errorf("the key is not there: %v", err)
	}
	kind(t, "the same commit again", s.Commit(t.Context(), c), fault.Conflict)
}

func testAtomic(t *testing.T, s runner.Store) {
	good := scene(t, s)
	started(t, s, "est-2")
	used := runner.Idempotency{Owner: "anna", Key: "used", EstimateID: "est-2", CreatedAt: epoch}
	must(t, s.Commit(t.Context(), runner.Commit{Idempotency: &used}))
	for name, spoil := range map[string]func(c *runner.Commit){
		"on an old run":             func(c *runner.Commit) { c.Run.Version = older(c.Run.Version) },
		"on a run that is there":    func(c *runner.Commit) { c.Run.Version = time.Time{} },
		"on an old step":            func(c *runner.Commit) { c.Steps[0].Version = older(c.Steps[0].Version) },
		"on a step that is there":   func(c *runner.Commit) { c.Steps[0].Version = time.Time{} },
		"on an old shard":           func(c *runner.Commit) { c.Shards[0].Version = older(c.Shards[0].Version) },
		"on an old input":           func(c *runner.Commit) { c.Inputs[0].Version = older(c.Inputs[0].Version) },
		"on an input that is there": func(c *runner.Commit) { c.Inputs[0].Version = time.Time{} },
		"with a key that is used":   func(c *runner.Commit) { c.Idempotency = &used },
		"on an estimate that is there": func(c *runner.Commit) {
			c.Start = &runner.NewEstimate{Clarification: json.RawMessage(`{}`)}
		},
	} {
		bad := copied(good)
		spoil(&bad)
		kind(t, "commit "+name, s.Commit(t.Context(), bad), fault.Conflict)
		untouched(t, s, name, good)
	}
	must(t, s.Commit(t.Context(), good))
}

func older(version time.Time) time.Time { return version.Add(-time.Second) }

// copied returns a commit whose members can be changed.
func copied(c runner.Commit) runner.Commit {
	run := *c.Run
	c.Run = &run
	c.Steps = append([]runner.Step(nil), c.Steps...)
	c.Shards = append([]runner.Shard(nil), c.Shards...)
	c.Inputs = append([]runner.Input(nil), c.Inputs...)
	return c
}

// untouched reports what a refused commit has changed.
func untouched(t *testing.T, s runner.Store, name string, c runner.Commit) {
	t.Helper()
	if run := loaded(t, s, "est-1~1"); !run.Version.Equal(c.Run.Version) {
		t.Errorf("a commit %s moved the run", name)
	}
	steps, err := s.Steps(t.Context(), "est-1~1", c.Steps[0].ID, c.Steps[1].ID, c.Touch[0].ID)
	must(t, err)
	if len(steps) != 2 || !steps[0].Version.Equal(c.Steps[0].Version) || !steps[1].Version.Equal(c.Touch[0].Version) {
		t.Errorf("a commit %s moved a step", name)
	}
	shards, err := s.Shards(t.Context(), fan, 0)
	must(t, err)
	if len(shards) != 1 || !shards[0].Version.Equal(c.Shards[0].Version) {
		t.Errorf("a commit %s moved a shard", name)
	}
	inputs, err := s.Inputs(t.Context(), "est-1~1", c.Inputs[0].ID, c.Inputs[1].ID)
	must(t, err)
	if len(inputs) != 1 || !inputs[0].Version.Equal(c.Inputs[0].Version) {
		t.Errorf("a commit %s moved an input", name)
	}
	_, err = s.Started(t.Context(), "anna", "k")
	kind(t, "the key after a commit "+name, err, fault.NotFound)
}

func testTouch(t *testing.T, s runner.Store) {
	started(t, s, "est-1")
	held, err := s.PutStep(t.Context(), claim("est-1~1", "location.0.p", "one"))
	must(t, err)
	must(t, s.Commit(t.Context(), runner.Commit{Touch: []runner.Step{held}}))
	got := step(t, s, "est-1~1", held.ID)
	if got.Owner != "one" || got.Status != runner.Claimed {
		t.Errorf("the touched claim is %+v, want it as it was", got)
	}
	held.Beats++
	_, err = s.PutStep(t.Context(), held)
	kind(t, "a heartbeat after the touch", err, fault.Conflict)
}

func testEstimateGone(t *testing.T, s runner.Store) {
	run := begin(t, "est-1").Run
	must(t, s.Commit(t.Context(), runner.Commit{Run: run}))
	stored := loaded(t, s, "est-1~1")
	view := engine.Project(Flow(), stored.State)
	for name, c := range map[string]runner.Commit{
		"the view":  {View: &view},
		"a chunk":   {Chunks: map[string]runner.ChunkProgress{"cost": {Done: 1, Of: 2}}},
		"feedback":  {Feedback: map[string]json.RawMessage{"cost": json.RawMessage(`{}`)}},
		"another n": {View: &view, Start: &runner.NewEstimate{Keep: true}},
		"a field":   {Documents: runner.Documents{Root: map[string]any{"a": 1}}},
		"an output": {Outputs: []runner.Output{{Node: "cost", Phase: engine.Passed, Data: json.RawMessage(`{}`), StartedAt: epoch, DoneAt: epoch}}},
	} {
		c.Run, c.EstimateID = &stored, "est-1"
		kind(t, name, s.Commit(t.Context(), c), fault.NotFound)
	}
	if after := loaded(t, s, "est-1~1"); !after.Version.Equal(stored.Version) {
		t.Error("a refused commit moved the run")
	}
	must(t, s.Commit(t.Context(), runner.Commit{Run: &stored}))
}

func testKeep(t *testing.T, s runner.Store) {
	started(t, s, "est-1")
	again, _, verdict := engine.Next(Flow(), engine.State{}, engine.Started{EstimateID: "est-1", Owner: "anna", N: 2, Input: "h", Parent: "est-1~1"}, epoch)
	if verdict != engine.Applied {
		t.Fatalf("start is %s", verdict)
	}
	view := engine.Project(Flow(), again)
	c := runner.Commit{Run: &runner.Run{State: again}, EstimateID: "est-1", View: &view, Start: &runner.NewEstimate{Keep: true}}
	must(t, s.Commit(t.Context(), c))
	same(t, "run", again, loaded(t, s, "est-1~2").State)
	input, err := s.Input(t.Context(), "est-1")
	must(t, err)
	same(t, "input", decoded(t, begin(t, "est-1").Start.Clarification), decoded(t, input))
	kind(t, "the same commit again", s.Commit(t.Context(), c), fault.Conflict)
}

func testIdempotency(t *testing.T, s runner.Store) {
	_, err := s.Started(t.Context(), "anna", "k")
	kind(t, "a key that was not used", err, fault.NotFound)
	for _, i := range []runner.Idempotency{
		{Owner: "anna", Key: "k", EstimateID: "est-1", Input: "h1", CreatedAt: epoch},
		{Owner: "anna", Key: "schedule/2026-03-02 ~ü", EstimateID: "est-2", Input: "h2", CreatedAt: epoch},
		{Owner: "anna~k", Key: "x", EstimateID: "est-3", Input: "h3", CreatedAt: epoch},
		{Owner: "anna", Key: "k~x", EstimateID: "est-4", Input: "h4", CreatedAt: epoch},
		{Owner: "..", Key: "__k__", EstimateID: "est-5", Input: "h5", CreatedAt: epoch},
	} {
		c := begin(t, i.EstimateID)
		c.Run.CreatedAt, c.Idempotency = epoch, &i
		must(t, s.Commit(t.Context(), c))
		got, err := s.Started(t.Context(), i.Owner, i.Key)
		must(t, err)
		same(t, "key", i, got)
	}
	c := begin(t, "est-6")
	c.Idempotency = &runner.Idempotency{Owner: "anna", Key: "k", EstimateID: "est-6", CreatedAt: epoch}
	kind(t, "a key that was used", s.Commit(t.Context(), c), fault.Conflict)
	_, err = s.Run(t.Context(), "est-6~1")
	kind(t, "the run of a refused start", err, fault.NotFound)
	got, err := s.Started(t.Context(), "anna", "k")
	must(t, err)
	if got.EstimateID != "est-1" {
		t.Errorf("the key has started %s, want est-1", got.EstimateID)
	}
}
