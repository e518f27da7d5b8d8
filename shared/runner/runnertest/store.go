// Package runnertest holds what tests of the runner share: the suite that every
// runner.Store passes, and a world of scripted agents and a bus that repeats,
// delays and reorders.
package runnertest

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// Flow is a chain of two gated nodes.
func Flow() *engine.Flow {
	node := func(name string, needs ...string) engine.Node {
		return engine.Node{
			Name: name, Agent: name, Needs: needs, Weight: 1, Timeout: 5 * time.Second,
			Retry: engine.Retry{Tries: 3, Base: time.Millisecond, Cap: time.Second},
			Gate:  &engine.Gate{Scorer: name + "_scorer", Critic: name + "_critic", Threshold: 80, Retries: 2, Exhausted: engine.Fail},
		}
	}
	return &engine.Flow{ID: "two", Engine: 1, Budget: time.Hour, Nodes: []engine.Node{node("location"), node("cost", "location")}}
}

var epoch = time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)

func begin(t *testing.T, estimate string) runner.Commit {
	t.Helper()
	f := Flow()
	s, _, verdict := engine.Next(f, engine.State{}, engine.Started{EstimateID: estimate, Owner: "anna", Project: "p1", N: 1, Input: "h"}, epoch)
	if verdict != engine.Applied {
		t.Fatalf("start is %s", verdict)
	}
	view := engine.Project(f, s)
	return runner.Commit{
		Run: runner.Run{State: s}, View: &view,
		Start: &runner.NewEstimate{Clarification: json.RawMessage(`{"a":[1,2.5],"b":{"c":null}}`), Fields: map[string]any{"projectName": "Kitchen"}},
	}
}

// TestStore is the suite of runner.Store.
func TestStore(t *testing.T, open func(t *testing.T) runner.Store) {
	t.Run("run comes back as it was written", func(t *testing.T) { testRun(t, open(t)) })
	t.Run("an estimate is created once", func(t *testing.T) { testCreateOnce(t, open(t)) })
	t.Run("a claim is created once", func(t *testing.T) { testClaim(t, open(t)) })
	t.Run("a commit is all or nothing", func(t *testing.T) { testAtomic(t, open(t)) })
	t.Run("outputs become inputs", func(t *testing.T) { testOutputs(t, open(t)) })
	t.Run("due runs are found", func(t *testing.T) { testDue(t, open(t)) })
}

func kind(t *testing.T, what string, err error, want fault.Kind) {
	t.Helper()
	if got := fault.KindOf(err); got != want {
		t.Errorf("%s: error of kind %q (%v), want %q", what, got, err, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func testRun(t *testing.T, s runner.Store) {
	c := begin(t, "est-1")
	_, err := s.Run(t.Context(), "est-1~1")
	kind(t, "load before create", err, fault.NotFound)
	must(t, s.Commit(t.Context(), c))
	got, err := s.Run(t.Context(), "est-1~1")
	must(t, err)
	if diff := cmp.Diff(c.Run.State, got.State); diff != "" {
		t.Errorf("run (-written +read):\n%s", diff)
	}
	if got.Version.IsZero() {
		t.Error("the run has no version")
	}
	inputs, err := s.Inputs(t.Context(), "est-1", nil)
	must(t, err)
	if diff := cmp.Diff(decoded(t, c.Start.Clarification), decoded(t, inputs["clarification_output"])); diff != "" {
		t.Errorf("clarification (-written +read):\n%s", diff)
	}
}

func decoded(t *testing.T, raw json.RawMessage) any {
	t.Helper()
	var v any
	must(t, json.Unmarshal(raw, &v))
	return v
}

func testCreateOnce(t *testing.T, s runner.Store) {
	must(t, s.Commit(t.Context(), begin(t, "est-1")))
	kind(t, "second start", s.Commit(t.Context(), begin(t, "est-1")), fault.Conflict)
	_, err := s.Inputs(t.Context(), "est-2", nil)
	kind(t, "inputs of no estimate", err, fault.NotFound)
}

func claim(id engine.StepID, owner string) runner.Step {
	return runner.Step{
		Run: "est-1~1", ID: id, Status: runner.Claimed, Call: runner.CallID("est-1~1", id), Agent: "location",
		Try: 1, Fence: 1, Owner: owner, Lease: time.Minute, StartedAt: epoch,
	}
}

func testClaim(t *testing.T, s runner.Store) {
	must(t, s.Commit(t.Context(), begin(t, "est-1")))
	first, err := s.PutStep(t.Context(), claim("location.0.p", "one"))
	must(t, err)
	_, err = s.PutStep(t.Context(), claim("location.0.p", "two"))
	kind(t, "second claim", err, fault.Conflict)
	steps, err := s.Steps(t.Context(), "est-1~1", "location.0.s", "location.0.p")
	must(t, err)
	if len(steps) != 1 || steps[0].Owner != "one" || !steps[0].Version.Equal(first.Version) {
		t.Fatalf("Steps = %+v, want the first claim alone", steps)
	}
	if steps[0].Expired() {
		t.Error("a fresh claim has expired")
	}
	beat := steps[0]
	beat.Beats = 1
	beat, err = s.PutStep(t.Context(), beat)
	must(t, err)
	first.Owner = "two"
	_, err = s.PutStep(t.Context(), first)
	kind(t, "take-over of a claim that was renewed", err, fault.Conflict)
	beat.Status, beat.Result, beat.Failure = runner.Done, json.RawMessage(`{"n":1}`), &engine.Error{Code: "C", Message: "m", Agent: "a"}
	_, err = s.PutStep(t.Context(), beat)
	must(t, err)
	steps, err = s.Steps(t.Context(), "est-1~1", "location.0.p")
	must(t, err)
	beat.Version, beat.ReadAt = steps[0].Version, steps[0].ReadAt
	if diff := cmp.Diff(beat, steps[0]); diff != "" {
		t.Errorf("step (-written +read):\n%s", diff)
	}
}

func testAtomic(t *testing.T, s runner.Store) {
	must(t, s.Commit(t.Context(), begin(t, "est-1")))
	run, err := s.Run(t.Context(), "est-1~1")
	must(t, err)
	step, err := s.PutStep(t.Context(), claim("location.0.p", "one"))
	must(t, err)
	next, _, _ := engine.Next(Flow(), run.State, engine.Finished{Step: "location.0.p"}, epoch.Add(time.Second))
	view := engine.Project(Flow(), next)
	step.Status, step.Result = runner.Done, json.RawMessage(`{"n":1}`)
	good := runner.Commit{Run: runner.Run{State: next, Version: run.Version}, Step: &step, View: &view}

	stale := good
	stale.Run.Version = run.Version.Add(-time.Second)
	kind(t, "commit on an old run", s.Commit(t.Context(), stale), fault.Conflict)
	old := step
	old.Version = step.Version.Add(-time.Second)
	stale = good
	stale.Step = &old
	kind(t, "commit on an old step", s.Commit(t.Context(), stale), fault.Conflict)
	after, err := s.Run(t.Context(), "est-1~1")
	must(t, err)
	if after.Rev != run.Rev {
		t.Fatalf("a refused commit moved the run to rev %d", after.Rev)
	}
	must(t, s.Commit(t.Context(), good))
	kind(t, "the same commit again", s.Commit(t.Context(), good), fault.Conflict)
	after, err = s.Run(t.Context(), "est-1~1")
	must(t, err)
	if after.Rev != next.Rev {
		t.Errorf("rev = %d, want %d", after.Rev, next.Rev)
	}
}

func testOutputs(t *testing.T, s runner.Store) {
	c := begin(t, "est-1")
	must(t, s.Commit(t.Context(), c))
	run, err := s.Run(t.Context(), "est-1~1")
	must(t, err)
	outputs := map[string]json.RawMessage{
		"plain":  json.RawMessage(`{"summary":"s","confidence":0.5,"list":[1,2.25,"x",null,true]}`),
		"nested": json.RawMessage(`{"matrix":[[1,2],[3]],"":"no name","__x__":1}`),
		"deep":   json.RawMessage(deep(30)),
		"large":  json.RawMessage(`{"text":"` + string(slices.Repeat([]byte("abcdefgh"), 60_000)) + `"}`),
	}
	next, _, _ := engine.Next(Flow(), run.State, engine.Finished{Step: "location.0.p"}, epoch)
	write := runner.Commit{Run: runner.Run{State: next, Version: run.Version}}
	var names []string
	for name, data := range outputs {
		write.Outputs = append(write.Outputs, runner.Output{Node: name, Phase: engine.Passed, Data: data, StartedAt: epoch, DoneAt: epoch})
		names = append(names, name)
	}
	for i := range 1000 { // more than fit into one commit
		write.Documents.Items = append(write.Documents.Items, runner.Document{Collection: "costItems", ID: runner.CallID("x", engine.Step("n", i, "p")), Fields: map[string]any{"i": i}})
	}
	must(t, s.Commit(t.Context(), write))
	inputs, err := s.Inputs(t.Context(), "est-1", append(names, "absent"))
	must(t, err)
	for name, data := range outputs {
		if diff := cmp.Diff(decoded(t, data), decoded(t, inputs[name+"_output"])); diff != "" {
			t.Errorf("output %s (-written +read):\n%.500s", name, diff)
		}
	}
	if _, there := inputs["absent_output"]; there {
		t.Error("an output that was never written is there")
	}
}

func deep(n int) string {
	if n == 0 {
		return "1"
	}
	return `{"d":` + deep(n-1) + `}`
}

func testDue(t *testing.T, s runner.Store) {
	find, ok := s.(runner.Finder)
	if !ok {
		t.Skip("the store finds no runs")
	}
	for _, id := range []string{"est-1", "est-2"} {
		must(t, s.Commit(t.Context(), begin(t, id)))
	}
	ids, err := find.Due(t.Context(), epoch, 10)
	must(t, err)
	if len(ids) != 0 {
		t.Errorf("Due at the start = %v, want none", ids)
	}
	run, err := s.Run(t.Context(), "est-1~1")
	must(t, err)
	ended, _, _ := engine.Next(Flow(), run.State, engine.CancelRequested{}, epoch)
	must(t, s.Commit(t.Context(), runner.Commit{Run: runner.Run{State: ended, Version: run.Version}}))
	ids, err = find.Due(t.Context(), epoch.Add(time.Hour), 10)
	must(t, err)
	if !slices.Equal(ids, []string{"est-2~1"}) {
		t.Errorf("Due after an hour = %v, want the run that has not ended", ids)
	}
}
