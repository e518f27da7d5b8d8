package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

// sweepBatch is how many runs the sweeper asks for at once.
const sweepBatch = 200

// Sweep finds runs that nobody works on, because a message was lost, a worker
// died or a pause is over, and sends what is due again. It applies deadlines
// that have passed, and writes nothing when all is well. It goes on until every
// due run was looked at, its time is up or ctx ends; two sweeps at once are
// harmless.
func (r *Runner) Sweep(ctx context.Context) error {
	begun := r.Now()
	var after Due
	var errs []error
	for {
		due, err := r.Find.Due(ctx, begun, after, sweepBatch)
		if err != nil {
			return errors.Join(append(errs, fmt.Errorf("find due runs: %w", err))...)
		}
		for _, d := range due {
			if err := r.sweepRun(ctx, d.Run); err != nil && !errors.Is(err, errMoved) {
				errs = append(errs, fmt.Errorf("sweep %s: %w", d.Run, err))
			}
			if ctx.Err() != nil { // the others would fail alike
				return errors.Join(errs...)
			}
			if r.Now().Sub(begun) >= r.Pace.SweepTime {
				r.Log.WarnContext(ctx, "sweep ran out of time", slog.Time("reached", d.WakeAt))
				return errors.Join(errs...)
			}
			after = d
		}
		if len(due) < sweepBatch {
			return errors.Join(errs...)
		}
	}
}

func (r *Runner) sweepRun(ctx context.Context, id string) error {
	run, p, err := r.load(ctx, id)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err != nil || run.Status.Ended() {
		return err
	}
	if e, passed := r.passed(p.Flow, &run); passed {
		_, _, err := r.control(ctx, p, run, e)
		return err
	}
	return r.resend(ctx, p, run, 0, p.Flow.LookAfter())
}

// passed returns a deadline of the run or, the first in flow order, of a question
// that has passed.
func (r *Runner) passed(f *engine.Flow, run *Run) (engine.Event, bool) {
	now := r.Now()
	if run.WaitSince == nil && !now.Before(run.DeadlineAt) {
		return engine.DeadlinePassed{}, true
	}
	for _, n := range f.Nodes {
		if p := run.Nodes[n.Name]; p.Ask != nil && !now.Before(p.Ask.ExpiresAt) {
			return engine.DeadlinePassed{Input: p.Ask.ID}, true
		}
	}
	return nil, false
}

// resend publishes the due steps of an age that nobody works on, and the chunks of
// another age. A call that outlived its time is
// taken for a failed try.
func (r *Runner) resend(ctx context.Context, p *Pipeline, run Run, age, chunks time.Duration) error {
	ids := r.due(&run.State, age)
	steps, err := r.Store.Steps(ctx, run.RunID(), ids...)
	if err != nil {
		return fmt.Errorf("load the open steps of %s: %w", run.RunID(), err)
	}
	if moved, err := r.overdue(ctx, p, run, steps); err != nil || moved {
		return err
	}
	ids = slices.DeleteFunc(ids, func(id engine.StepID) bool { return find(steps, id).atWork() })
	if err := r.publish(ctx, p.Flow, &run.State, ids); err != nil {
		return err
	}
	for _, n := range p.Flow.Nodes {
		if run.Hold != nil || run.Nodes[n.Name].Phase != engine.Fanning {
			continue
		}
		if err := r.resendChunks(ctx, p, run, n.Name, chunks); err != nil {
			return err
		}
	}
	return nil
}

// overdue ends the tries of steps that outlived their time; it reports whether
// the run moved by it.
func (r *Runner) overdue(ctx context.Context, p *Pipeline, run Run, steps []Step) (moved bool, err error) {
	for _, step := range steps {
		switch {
		case step.Finished() && step.RevAt > run.Rev: // recorded since the run was read
		case step.Finished():
			r.Log.ErrorContext(ctx, "a finished step is open", slog.String("run", step.Run), slog.String("step", string(step.ID)))
		case step.atWork():
			if moved, err := r.timedOut(ctx, p, run, step); err != nil || moved {
				return true, err
			}
		}
	}
	return false, nil
}

// timedOut takes a claim from an owner that outlived the time of its call: the
// try has failed, and is given back. The owner's next heartbeat is refused; a
// result that it brings in spite of all is welcome while the step is open.
func (r *Runner) timedOut(ctx context.Context, p *Pipeline, run Run, step Step) (moved bool, err error) {
	e := engine.DeadlinePassed{Step: step.ID, Since: step.StartedAt}
	state, effects, verdict := engine.Next(p.Flow, run.State, e, r.moment())
	if verdict != engine.Applied {
		return false, nil
	}
	step.Takeovers++
	step.Owner = r.Owner() // the old one must not take the claim that is given back for its own doing
	step.Failure = &engine.Error{Code: engine.CodeAgentTimeout, Message: "The call took longer than its time.", Agent: step.Agent}
	a := answer{Step: step, retry: &engine.Retryable{Step: step.ID, Failure: *step.Failure}}
	c, err := r.recording(ctx, p, &run, state, effects, a)
	if err != nil {
		return false, err
	}
	if err := r.Store.Commit(ctx, c); err != nil {
		return false, movedBy(err, "end the try of %s of %s", step.ID, run.RunID())
	}
	return true, r.recorded(ctx, p, state, effects, &c, &a)
}

// atWork reports whether somebody holds the step. A step that does not exist is
// nil.
func (s *Step) atWork() bool { return s != nil && !s.Finished() && !s.Expired() }
