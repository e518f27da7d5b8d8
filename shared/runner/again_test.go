package runner_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
)

// An estimate that was deleted and started again with its id is worked on anew:
// an instance that remembers the first one does not mix them up.
func TestAnIdThatIsUsedAgain(t *testing.T) {
	t.Parallel()
	first := &runnertest.Agents{}
	w := newWorld(t, first)
	w.start(t)
	w.deliver(t)
	if err := w.store.Delete(t.Context(), "est-1"); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(time.Hour)
	w.agents = &runnertest.Agents{Big: map[string]json.RawMessage{"location": json.RawMessage(`"anew"`)}}
	w.runner.Caller = w.agents
	w.start(t)
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "complete")
	for _, a := range w.agents.Requests {
		if a.Agent == "cost" && !strings.Contains(string(a.Request.Input), "anew") {
			t.Error("cost works with the output of the run that was deleted")
		}
	}
}

// A call that was out while its estimate was deleted and started again does not
// bring its result to the new run.
func TestAResultForARunThatIsGone(t *testing.T) {
	t.Parallel()
	agents := &runnertest.Agents{}
	w := newWorld(t, agents)
	other := w.another()
	again := false
	agents.Stay = func(ctx context.Context, agent string) {
		if agent != "location" || again {
			return
		}
		again = true
		if err := w.store.Delete(ctx, "est-1"); err != nil {
			t.Error(err)
		}
		w.clock.Advance(time.Second)
		if _, err := other.Start(ctx, runnertest.Start("est-1")); err != nil {
			t.Error(err)
		}
		// The first call of the new run is claimed, and its worker is slow.
		run, _ := w.store.Run(ctx, "est-1~1")
		if _, err := w.store.PutStep(ctx, runner.Step{
			Run: run.RunID(), ID: "location.0.p", Status: runner.Claimed, Agent: "location", Try: 1, Fence: 1, Owner: "new",
			Lease: time.Minute, StartedAt: w.clock.Now(),
		}); err != nil {
			t.Error(err)
		}
	}
	w.start(t)
	if err := w.runner.Handle(t.Context(), runner.Message{V: 1, Run: "est-1~1", Step: "location.0.p"}); err != nil {
		t.Fatal(err)
	}
	steps, err := w.store.Steps(t.Context(), "est-1~1", "location.0.p")
	if err != nil || len(steps) != 1 {
		t.Fatalf("Steps = %v, %v", steps, err)
	}
	equal(t, "owner", steps[0].Owner, "new")
	equal(t, "status", steps[0].Status, runner.Claimed)
	run, err := w.store.Run(t.Context(), "est-1~1")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "rev", run.Rev, 1)
	equal(t, "open", len(run.Open), 1)
}
