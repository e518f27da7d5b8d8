package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

// change is the part of a commit that follows from a transition alone: the run,
// its views and the questions it asks. The version is that of the run before.
func (r *Runner) change(p *Pipeline, run Run, effects engine.Effects) Commit {
	s := &run.State
	c := Commit{Run: &run, EstimateID: s.EstimateID}
	if effects.View {
		view := engine.Project(p.Flow, *s)
		c.View = &view
		if len(effects.Outputs) > 0 || s.Status.Ended() || s.Rev == 1 {
			c.Project = s.Project
		}
	}
	for _, q := range effects.Ask {
		c.Inputs = append(c.Inputs, Input{
			Run: s.RunID(), ID: q.ID, Node: q.Node, Kind: string(q.Kind), Prompt: q.Prompt, Schema: q.Schema,
			AskedAt: s.UpdatedAt, ExpiresAt: q.ExpiresAt,
		})
	}
	return c
}

// moment is the time of an event, as the store keeps times: what is recorded of
// the event is then all of it.
func (r *Runner) moment() time.Time { return r.Now().UTC().Truncate(time.Microsecond) }

// control commits an event that no step brought: a cancel, a hold, a deadline,
// the end of a fan-out. The claims of calls that nobody waits for any more are
// touched, so their next heartbeat is refused. It returns the run after, and
// the verdict; errMoved when the run changed meanwhile.
func (r *Runner) control(ctx context.Context, p *Pipeline, run Run, e engine.Event) (Run, engine.Verdict, error) {
	state, effects, verdict := engine.Next(p.Flow, run.State, e, r.moment())
	if verdict != engine.Applied {
		return run, verdict, nil
	}
	c := r.change(p, Run{State: state, Journal: run.after(e, &state), Shown: run.Shown, Version: run.Version}, effects)
	for _, o := range effects.Outputs {
		if err := r.settled(ctx, p, answer{Step: Step{Run: run.RunID()}}, state, o, &c); err != nil {
			return run, verdict, err
		}
	}
	if err := r.touch(ctx, p, &run.State, effects.Cancel, &c); err != nil {
		return run, verdict, err
	}
	err := r.Store.Commit(ctx, c)
	if fault.KindOf(err) == fault.NotFound {
		// The estimate was taken away by somebody else: at most its project is there to
		// be shown the end, and without one the run would be swept for ever.
		c.EstimateID, c.Outputs, c.Documents = "", nil, Documents{}
		err = r.Store.Commit(ctx, c)
	}
	if err != nil {
		return run, verdict, movedBy(err, "commit %T to %s", e, run.RunID())
	}
	r.tell(ctx, c.Touch)
	return Run{State: state}, verdict, r.publish(ctx, p.Flow, &state, effects.Publish)
}

// touch adds the claims of calls that nobody waits for any more: the chunks of a
// fan-out that was given up are among them, also when the run goes on.
func (r *Runner) touch(ctx context.Context, p *Pipeline, before *engine.State, cancel []engine.StepID, c *Commit) error {
	chunks, err := r.chunksInFlight(ctx, p, before, func(node string) bool {
		phase := c.Run.Nodes[node].Phase
		return c.Run.Status.Ended() || phase != engine.Fanning && phase != engine.Joining
	})
	if err != nil {
		return err
	}
	cancel = append(slices.Clone(cancel), chunks...)
	claims, err := r.Store.Steps(ctx, before.RunID(), cancel...)
	if err != nil {
		return fmt.Errorf("load claims of %s: %w", before.RunID(), err)
	}
	for _, claim := range claims {
		if !claim.Finished() {
			c.Touch = append(c.Touch, claim)
		}
	}
	return nil
}

// tellTime is how long agents are told to stop.
const tellTime = 10 * time.Second

// tell asks the agents to stop. It is a courtesy, and nobody waits long for it:
// what they answer is late in any case, and a worker whose heartbeat is refused
// tells its agent as well.
func (r *Runner) tell(ctx context.Context, claims []Step) {
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	for _, claim := range claims {
		if ctx.Err() != nil {
			return
		}
		task := claim.Task
		if task == "" {
			id, ok := a2a.TaskID(claim.Agent, claim.Call)
			if !ok || claim.Agent == "" {
				continue
			}
			task = string(id)
		}
		if err := r.Caller.Cancel(ctx, claim.Agent, task); err != nil {
			r.warn(ctx, "cancel at the agent", &claim, err)
		}
	}
}

// settled adds the output of a node that settled, and what it means to readers.
func (r *Runner) settled(ctx context.Context, p *Pipeline, a answer, state engine.State, o engine.Output, c *Commit) error {
	source, err := r.source(ctx, a, &state, o)
	if err != nil {
		return err
	}
	progress := state.Nodes[o.Node]
	out := Output{
		Node: o.Node, Agent: p.Flow.Node(o.Node).Agent, Phase: o.Phase, Attempt: progress.Best, Data: source.Result,
		Tokens: source.Tokens, Duration: source.Duration, StartedAt: source.StartedAt, DoneAt: state.UpdatedAt,
	}
	if len(progress.Scores) > progress.Best {
		out.Score = progress.Scores[progress.Best]
	}
	c.Outputs = append(c.Outputs, out)
	if p.Documents == nil || o.Phase == engine.NodeFailed || o.Phase == engine.Waiting {
		return nil
	}
	outputs, err := r.outputs(ctx, p, &state, o.Node)
	if err != nil {
		return err
	}
	outputs[o.Node+"_output"] = source.Result
	if c.Documents, err = p.Documents(o.Node, outputs); err != nil {
		return fault.Wrap(fault.Invalid, err, "documents of %s", o.Node) // the output is not what it is to be
	}
	return nil
}

// source returns the step whose result is a node's output: the one at hand, or
// one that was recorded before.
func (r *Runner) source(ctx context.Context, a answer, s *engine.State, o engine.Output) (*Step, error) {
	if a.ID == o.Step {
		return &a.Step, nil
	}
	run := s.RunID()
	if from := s.Nodes[o.Node].From; from != "" {
		run = from
	}
	steps, err := r.steps(ctx, s, run, o.Step)
	if err == nil && len(steps) == 0 {
		err = errors.New("the step is gone")
	}
	if err != nil {
		return nil, fmt.Errorf("load output %s: %w", o.Step, err)
	}
	return &steps[0], nil
}

// outputs returns the run's input and the outputs of everything a node needs,
// by member name.
func (r *Runner) outputs(ctx context.Context, p *Pipeline, s *engine.State, node string) (map[string]json.RawMessage, error) {
	input, err := r.input(ctx, s)
	if err != nil {
		return nil, err
	}
	all := map[string]json.RawMessage{p.Flow.InputName(): input}
	for _, need := range p.Flow.Node(node).Needs {
		out, err := r.output(ctx, s, need)
		if err != nil {
			return nil, err
		}
		if out != nil {
			all[need+"_output"] = out
		}
	}
	return all, nil
}
