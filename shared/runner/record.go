package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

const (
	commitTries = 20
	commitPause = 50 * time.Millisecond
	maxAway     = 7                // a pause is doubled so often at most
	recordTime  = 30 * time.Second // at least, for recording an answer
)

// recordWithin returns the context to record an answer in: what was paid for is
// recorded even when the caller has hung up, and there is as much time for it as
// is left of the delivery.
func recordWithin(ctx context.Context) (context.Context, context.CancelFunc) {
	left := recordTime
	if deadline, ok := ctx.Deadline(); ok {
		left = max(left, time.Until(deadline))
	}
	return context.WithTimeout(context.WithoutCancel(ctx), left)
}

// record applies an answer to the run, however often others move the run
// meanwhile, and publishes what follows.
func (r *Runner) record(ctx context.Context, p *Pipeline, run Run, a answer) error {
	for try := range commitTries {
		if try > 0 {
			found, err := r.lookAgain(ctx, try, &a, func() (whereabouts, error) { return r.reload(ctx, &run, &a.Step) })
			switch {
			case err != nil || found == elsewhere:
				return err
			case found == here:
				// The commit was applied although its answer was lost. Which of the
				// open steps it opened is not known any more: a duplicate costs a read.
				return r.publish(ctx, p.Flow, &run.State, r.due(&run.State, 0))
			case found == unknown:
				continue
			}
		}
		if done, err := r.apply(ctx, p, &run, &a); done {
			return err
		}
	}
	return fault.New(fault.Unavailable, "step %s could not be recorded", a.ID)
}

// apply commits what an answer makes of the run. done is false when that is to
// be tried again.
func (r *Runner) apply(ctx context.Context, p *Pipeline, run *Run, a *answer) (done bool, err error) {
	state, effects, verdict := engine.Next(p.Flow, run.State, a.event(p.Flow), r.moment())
	switch verdict {
	case engine.Invalid:
		if a.unasked() {
			return false, nil
		}
		r.Log.ErrorContext(ctx, "the engine refused an event", slog.String("run", a.Run), slog.String("step", string(a.ID)))
		return true, nil
	case engine.Stale:
		r.late(ctx, *a)
		return true, nil
	case engine.Applied:
	}
	commit, err := r.recording(ctx, p, run, state, effects, *a)
	if err == nil {
		err = r.Store.Commit(ctx, commit)
	}
	switch fault.KindOf(err) {
	case "":
		return true, r.recorded(ctx, p, state, effects, &commit, a)
	case fault.Conflict:
		a.away = 0
	case fault.NotFound:
		return true, nil // the estimate was taken away; its run ends at the deadline
	default:
		a.away++
		r.warn(ctx, "commit", &a.Step, err)
	}
	a.refused(err)
	return false, nil
}

// lookAgain pauses and reads what a commit that did not go through found. While
// the store is away the pauses double: what was paid for is not given up over a
// moment.
func (r *Runner) lookAgain(ctx context.Context, try int, a *answer, reload func() (whereabouts, error)) (whereabouts, error) {
	if err := r.Sleep(ctx, jitter(commitPause<<min(a.away, maxAway), a.Owner+string(a.ID), try)); err != nil {
		return unknown, fmt.Errorf("record %s: %w", a.ID, err)
	}
	found, err := reload()
	if err != nil {
		a.away++
		r.warn(ctx, "reload", &a.Step, err)
		return unknown, nil
	}
	return found, nil
}

// recorded does what follows a commit.
func (r *Runner) recorded(ctx context.Context, p *Pipeline, state engine.State, effects engine.Effects, c *Commit, a *answer) error {
	r.logStep(ctx, state.Rev, a)
	r.remember(&state, c.Steps[0])
	if state.Status.Ended() {
		r.tell(ctx, c.Touch)
	}
	publish := effects.Publish
	if open, again := state.Open[a.ID]; again && open.NotBefore != nil && open.NotBefore.Sub(r.Now()) <= r.Pace.WaitAtMost {
		publish = append(publish, a.ID) // the next delivery waits for it
	}
	return r.publish(ctx, p.Flow, &state, publish)
}

// recording puts everything that follows from an answer into one write.
func (r *Runner) recording(ctx context.Context, p *Pipeline, run *Run, state engine.State, effects engine.Effects, a answer) (Commit, error) {
	step, journal := a.kept(run.Journal, &state)
	c := r.change(p, Run{State: state, Journal: journal, Shown: run.Shown, Version: run.Version}, effects)
	c.Steps = []Step{step}
	for i := range c.Inputs {
		c.Inputs[i].Task, c.Inputs[i].Context = step.Task, step.Context
	}
	if err := r.touch(ctx, p, &run.State, effects.Cancel, &c); err != nil {
		return c, err
	}
	if a.bare {
		return c, nil
	}
	if w := a.work; w != nil && w.feedback != nil && w.ref.Role == engine.RolePrimary && a.retry == nil {
		c.Feedback = map[string]json.RawMessage{w.node.Name: w.feedback}
		if c.View == nil { // a critique is shown once, so it cannot be left out
			view := engine.Project(p.Flow, state)
			c.View = &view
		}
	}
	for _, o := range effects.Outputs {
		if err := r.settled(ctx, p, a, state, o, &c); err != nil {
			return c, err
		}
	}
	return c, nil
}

// kept returns the step and the journal as a transition leaves them.
func (a *answer) kept(before Journal, s *engine.State) (Step, Journal) {
	step := a.Step
	_, again := s.Open[a.ID]
	switch {
	case a.retry != nil && again:
		step.giveBack()
		return step, before.after(*a.retry, s)
	case a.retry != nil: // that was the last try
		step.Status = StepFailed
	}
	step.RevAt, step.DoneAt = s.Rev, new(s.UpdatedAt)
	return step, before
}

// unasked turns a question that the run cannot take into a failure; it is false
// when the answer is none.
func (a *answer) unasked() bool {
	if a.asks == nil {
		return false
	}
	a.asks, a.Result, a.Status = nil, nil, StepFailed
	a.Failure = &engine.Error{Code: engine.CodeAgentFailed, Message: "The agent asks a person, which this run cannot.", Agent: a.Agent}
	return true
}

// giveBack returns the claim: a lease of nothing has run out at once.
func (s *Step) giveBack() { s.Lease, s.Failure, s.DoneAt = 0, nil, nil }

// whereabouts of a step's result, after a commit that did not go through.
type whereabouts int

const (
	unknown   whereabouts = iota // the store did not say
	nowhere                      // not recorded: try again
	here                         // recorded by this very commit
	elsewhere                    // recorded by another worker, or gone
)

// reload reads run and step again and says where the result is. A run that was
// deleted and started again meanwhile is another one.
func (r *Runner) reload(ctx context.Context, run *Run, step *Step) (whereabouts, error) {
	fresh, err := r.Store.Run(ctx, step.Run)
	if fault.KindOf(err) == fault.NotFound || err == nil && life(&fresh.State) != life(&run.State) {
		return elsewhere, nil
	}
	if err != nil {
		return nowhere, err
	}
	*run = fresh
	return r.whereabouts(ctx, step)
}

func (r *Runner) whereabouts(ctx context.Context, step *Step) (whereabouts, error) {
	steps, err := r.Store.Steps(ctx, step.Run, step.ID)
	switch {
	case err != nil:
		return nowhere, err
	case len(steps) == 0 && step.Version.IsZero():
		return nowhere, nil // a step of the engine's own, which has no claim
	case len(steps) == 0:
		return elsewhere, nil
	}
	stored := steps[0]
	switch {
	case stored.RevAt > 0 && stored.Owner == step.Owner:
		return here, nil
	case stored.RevAt > 0, stored.Late:
		return elsewhere, nil
	case stored.Owner == step.Owner && stored.Lease == 0:
		return here, nil // given back, to be tried again
	case stored.Owner != step.Owner && step.Status == Claimed:
		return elsewhere, nil // a failed try is that of whoever holds the claim
	}
	// Taken over while this call was out, perhaps. The result at hand is good and
	// first: it is recorded under the version found, and the other worker's
	// commit will be refused.
	step.Fence, step.Version = stored.Fence, stored.Version
	return nowhere, nil
}

// late keeps the result of a step that nobody needs any more.
func (r *Runner) late(ctx context.Context, a answer) {
	if a.retry != nil || a.RevAt > 0 || a.Late || a.Version.IsZero() {
		return
	}
	a.Late = true
	if _, err := r.Store.PutStep(ctx, a.Step); err != nil && fault.KindOf(err) != fault.Conflict {
		r.warn(ctx, "keep late result", &a.Step, err)
	}
}
