package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

// sweepBatch is how many runs the sweeper asks for at once.
const sweepBatch = 200

// Sweep finds runs that nobody works on, because a message was lost, a worker
// died or a pause is over, and sends what is due again. It applies deadlines
// that have passed, and writes nothing when all is well. It goes on until every
// due run was looked at or its time is up; two sweeps at once are harmless.
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
	if e, passed := r.passed(&run); passed {
		_, _, err := r.control(ctx, p, run, e)
		return err
	}
	return r.resend(ctx, p, run, r.due(&run.State, 0))
}

// passed returns a deadline of the run or of a question that has passed.
func (r *Runner) passed(run *Run) (engine.Event, bool) {
	now := r.Now()
	if run.WaitSince == nil && !now.Before(run.DeadlineAt) {
		return engine.DeadlinePassed{}, true
	}
	for _, p := range run.Nodes {
		if p.Ask != nil && !now.Before(p.Ask.ExpiresAt) {
			return engine.DeadlinePassed{Input: p.Ask.ID}, true
		}
	}
	return nil, false
}

// resend publishes those of the steps that nobody works on, and what the
// fan-outs of the run wait for. A call that outlived its time is taken for a
// failed try.
func (r *Runner) resend(ctx context.Context, p *Pipeline, run Run, ids []engine.StepID) error {
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
		if err := r.resendChunks(ctx, p, run, n.Name); err != nil {
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
			e := engine.DeadlinePassed{Step: step.ID, Since: step.StartedAt}
			if _, verdict, err := r.control(ctx, p, run, e); err != nil || verdict == engine.Applied {
				return true, err
			}
		}
	}
	return false, nil
}

// atWork reports whether somebody holds the step. A step that does not exist is
// nil.
func (s *Step) atWork() bool { return s != nil && !s.Finished() && !s.Expired() }
