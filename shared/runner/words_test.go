package runner_test

import (
	"context"
	"strings"
	"testing"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner/runnertest"
)

// verbose fails for good, and says why at length.
type verbose struct {
	*runnertest.Agents
	agent, words string
}

func (v verbose) Call(ctx context.Context, agent, id string, req a2a.Request) (a2a.Result, error) {
	if agent == v.agent {
		return a2a.Result{}, fault.New(fault.Invalid, "%s", v.words)
	}
	return v.Agents.Call(ctx, agent, id, req)
}

// What an agent says of its failure has a length: the run keeps its beginning.
func TestALongFailureIsCut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.runner.Caller = verbose{w.agents, "cost", strings.Repeat("é", 1<<20)}
	w.start(t)
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "failed")
	run, err := w.store.Run(t.Context(), "est-1~1")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(run.Error.Message); n == 0 || n > 500 {
		t.Errorf("the run keeps %d bytes of the message, want 1 to 500", n)
	}
}
