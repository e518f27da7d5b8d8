// Package runnertest holds what tests of the runner share: the suite that every
// runner.Store passes, a store in memory, and a world of scripted agents and a
// bus that repeats, delays and reorders.
package runnertest

import (
	"encoding/json"
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

// TestStore is the suite of runner.Store, and of runner.Finder where the store
// is one. open returns an empty store.
func TestStore(t *testing.T, open func(t *testing.T) runner.Store) {
	for _, tt := range []struct {
		name string
		test func(*testing.T, runner.Store)
	}{
		{"a run comes back as it was written", testRun},
		{"a run forgets what it no longer has", testRunForgets},
		{"a claim is created once", testClaim},
		{"a step comes back as it was written", testStep},
		{"one of ten claims wins", testClaimRace},
		{"one of ten commits wins", testCommitRace},
		{"an estimate is created once", testCreateOnce},
		{"a commit writes everything", testCommit},
		{"a commit is all or nothing", testAtomic},
		{"a touched claim moves", testTouch},
		{"an estimate that is gone is not found", testEstimateGone},
		{"another run keeps the estimate", testKeep},
		{"a payload has no size", testLarge},
		{"a payload has no depth", testDeep},
		{"a question and its answer come back", testInput},
		{"shards are created once", testShards},
		{"shards are created by many at once", testShardsTogether},
		{"shards are counted and found", testShardQueries},
		{"a flow comes back as it was written", testFlow},
		{"a key is used once", testIdempotency},
		{"due runs are found, page by page", testDue},
		{"runs are counted", testCensus},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, open(t)) })
	}
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

func same(t *testing.T, what string, written, read any) {
	t.Helper()
	if diff := cmp.Diff(written, read); diff != "" {
		t.Errorf("%s (-written +read):\n%.2000s", what, diff)
	}
}

func decoded(t *testing.T, raw json.RawMessage) any {
	t.Helper()
	var v any
	must(t, json.Unmarshal(raw, &v))
	return v
}

// begin is the commit that starts the first run of an estimate.
func begin(t *testing.T, estimate string) runner.Commit {
	t.Helper()
	f := Flow()
	s, _, verdict := engine.Next(f, engine.State{}, engine.Started{EstimateID: estimate, Owner: "anna", Project: "p1", N: 1, Input: "h"}, epoch)
	if verdict != engine.Applied {
		t.Fatalf("start is %s", verdict)
	}
	view := engine.Project(f, s)
	return runner.Commit{
		Run: &runner.Run{State: s}, EstimateID: estimate, View: &view,
		Start: &runner.NewEstimate{Clarification: json.RawMessage(`{"a":[1,2.5],"b":{"c":null}}`), Fields: map[string]any{"projectName": "Kitchen"}},
	}
}

// started begins a run and returns it as it is stored.
func started(t *testing.T, s runner.Store, estimate string) runner.Run {
	t.Helper()
	must(t, s.Commit(t.Context(), begin(t, estimate)))
	return loaded(t, s, estimate+"~1")
}

func loaded(t *testing.T, s runner.Store, id string) runner.Run {
	t.Helper()
	run, err := s.Run(t.Context(), id)
	must(t, err)
	if run.Version.IsZero() {
		t.Fatalf("run %s has no version", id)
	}
	return run
}

func claim(run string, id engine.StepID, owner string) runner.Step {
	return runner.Step{
		Run: run, ID: id, Status: runner.Claimed, Call: runner.CallID(run, id), Agent: "location",
		Try: 1, Fence: 1, Owner: owner, Lease: time.Minute, StartedAt: epoch,
	}
}

func step(t *testing.T, s runner.Store, run string, id engine.StepID) runner.Step {
	t.Helper()
	steps, err := s.Steps(t.Context(), run, id)
	must(t, err)
	if len(steps) != 1 {
		t.Fatalf("Steps(%s) = %d steps, want one", id, len(steps))
	}
	return steps[0]
}
