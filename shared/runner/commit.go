package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

// commit puts everything that follows from an answer into one write.
func (r *Runner) commit(ctx context.Context, p *Pipeline, run *Run, state engine.State, effects engine.Effects, a answer) (Commit, error) {
	recorded := a.Step
	_, again := state.Open[a.ID]
	switch {
	case a.retry != nil && again:
		// The claim is given back: a lease of nothing has run out at once.
		recorded.Lease, recorded.Failure, recorded.DoneAt = 0, nil, nil
	case a.retry != nil: // that was the last try
		recorded.Status, recorded.RevAt = StepFailed, state.Rev
	default:
		recorded.RevAt = state.Rev
	}
	c := Commit{Run: Run{State: state, Version: run.Version}, Step: &recorded}
	if effects.View {
		view := engine.Project(p.Flow, state)
		c.View = &view
	}
	var err error
	if len(effects.Cancel) > 0 {
		if c.Touch, err = r.Store.Steps(ctx, a.Run, effects.Cancel...); err != nil {
			return c, fmt.Errorf("load claims of %s: %w", a.Run, err)
		}
	}
	if a.bare {
		return c, nil
	}
	if w := a.work; w != nil && w.feedback != nil && effects.View {
		c.Feedback = map[string]json.RawMessage{w.node.Name: w.feedback}
	}
	for _, o := range effects.Outputs {
		if err := r.settled(ctx, p, a, state, o, &c); err != nil {
			return c, err
		}
	}
	return c, nil
}

// settled adds the output of a node that settled, and what it means to readers.
func (r *Runner) settled(ctx context.Context, p *Pipeline, a answer, state engine.State, o engine.Output, c *Commit) error {
	source, err := r.source(ctx, a, o.Step)
	if err != nil {
		return err
	}
	progress := state.Nodes[o.Node]
	out := Output{
		Node: o.Node, Agent: source.Agent, Phase: o.Phase, Attempt: progress.Best, Data: source.Result,
		Tokens: source.Tokens, Duration: source.Duration, StartedAt: source.StartedAt, DoneAt: state.UpdatedAt,
	}
	if len(progress.Scores) > progress.Best {
		out.Score = progress.Scores[progress.Best]
	}
	c.Outputs = append(c.Outputs, out)
	if p.Documents == nil || o.Phase == engine.NodeFailed {
		return nil
	}
	inputs, err := r.inputs(ctx, p, a, state.EstimateID, o.Node)
	if err != nil {
		return err
	}
	inputs[o.Node+"_output"] = source.Result
	if c.Documents, err = p.Documents(o.Node, inputs); err != nil {
		return fault.Wrap(fault.Invalid, err, "documents of %s", o.Node) // the output is not what it is to be
	}
	return nil
}

// source returns the step whose result is a node's output: the one at hand, the
// one it judged, or one of an earlier attempt.
func (r *Runner) source(ctx context.Context, a answer, id engine.StepID) (*Step, error) {
	switch {
	case a.ID == id:
		return &a.Step, nil
	case a.work != nil && a.work.primary != nil && a.work.primary.ID == id:
		return a.work.primary, nil
	}
	steps, err := r.Store.Steps(ctx, a.Run, id)
	if err == nil && len(steps) == 0 {
		err = errors.New("the step is gone")
	}
	if err != nil {
		return nil, fmt.Errorf("load output %s: %w", id, err)
	}
	return &steps[0], nil
}

// inputs returns what a node was given, from the work at hand where possible.
func (r *Runner) inputs(ctx context.Context, p *Pipeline, a answer, estimate, node string) (map[string]json.RawMessage, error) {
	if a.work != nil && a.work.node.Name == node {
		return maps.Clone(a.work.inputs), nil
	}
	inputs, err := r.Store.Inputs(ctx, estimate, p.Flow.Node(node).Needs)
	if err != nil {
		return nil, fmt.Errorf("load inputs of %s: %w", node, err)
	}
	return inputs, nil
}
