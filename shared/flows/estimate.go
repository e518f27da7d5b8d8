// Package flows defines the flows as data: which agents run, in which order,
// how they are judged, and what their outputs mean to readers.
package flows

import (
	"fmt"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

// Options are what an operator may change about a flow. A changed option is
// another flow: runs in flight keep the one they began with.
type Options struct {
	PassScore  int
	MaxRetries int
	AgentTime  time.Duration
	RunTime    time.Duration
	RetryPause time.Duration
	Overdue    time.Duration // how old an open step is when the sweeper looks after it; 0 is the engine's default
}

const (
	callTries = 5
	pauseCap  = 15 * time.Minute
)

// Estimate returns the pipeline of an estimate: six agents in a chain, each
// judged by its scorer. Weights are the shares of the progress bar.
func Estimate(o Options) (runner.Pipeline, error) {
	node := func(name string, weight int, needs ...string) engine.Node {
		return engine.Node{
			Name: name, Agent: name, Needs: needs, Weight: weight, Timeout: o.AgentTime,
			Retry: engine.Retry{Tries: callTries, Base: o.RetryPause, Cap: max(pauseCap, o.RetryPause)},
			Gate: &engine.Gate{
				Scorer: name + "_scorer", Critic: name + "_critic",
				Threshold: o.PassScore, Retries: o.MaxRetries, Exhausted: engine.Fail,
			},
		}
	}
	flow := &engine.Flow{
		ID: "truecost", Engine: 1, Budget: o.RunTime, Overdue: o.Overdue,
		Nodes: []engine.Node{
			node("location", 15),
			node("scope", 20, "location"),
			node("cost", 20, "location", "scope"),
			node("risk", 10, "location", "scope", "cost"),
			node("timeline", 15, "location", "scope", "cost", "risk"),
			node("final", 10, "location", "scope", "cost", "risk", "timeline"),
		},
	}
	if err := flow.Check(); err != nil {
		return runner.Pipeline{}, fmt.Errorf("flow %s: %w", flow.ID, err)
	}
	return runner.Pipeline{Flow: flow, Documents: estimateDocuments}, nil
}
