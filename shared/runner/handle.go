package runner

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

const (
	commitTries = 20
	commitPause = 50 * time.Millisecond
	recordTime  = 30 * time.Second
)

// Handle takes one message. It returns nil for everything that need not come
// again: done, stale, duplicate, meant for a run that is gone. An error asks
// for redelivery and is returned only while nothing was paid.
func (r *Runner) Handle(ctx context.Context, m Message) error {
	run, p, err := r.load(ctx, m.Run)
	if fault.KindOf(err) == fault.NotFound {
		return nil // deleted meanwhile
	}
	if err != nil {
		return err
	}
	open, due := run.Open[m.Step]
	if run.Status.Ended() || !due {
		return r.catchUp(ctx, p.Flow, &run.State)
	}
	if open.NotBefore != nil {
		wait := open.NotBefore.Sub(r.Now())
		if wait > r.Pace.WaitAtMost {
			return nil // the sweeper comes back
		}
		if err := r.Sleep(ctx, wait); err != nil {
			return fmt.Errorf("wait for %s: %w", m.Step, err)
		}
	}
	step, mine, err := r.claim(ctx, p, m)
	if err != nil || !mine {
		return err
	}
	a := answer{Step: step}
	if !step.Finished() {
		if a, mine = r.execute(ctx, p, &run, step); !mine {
			return nil
		}
	}
	// What was paid for is recorded even when the caller has hung up.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	return r.record(ctx, p, run, a)
}

// load returns a run with its pipeline; fault.NotFound when there is none. A run
// that newer code wrote is left to newer code: what this code does not know of
// it, it would lose.
func (r *Runner) load(ctx context.Context, id string) (Run, *Pipeline, error) {
	run, err := r.Store.Run(ctx, id)
	if err != nil {
		return run, nil, fmt.Errorf("load run %s: %w", id, err)
	}
	if run.Schema > engine.Schema {
		return run, nil, fault.New(fault.Unavailable, "run %s has schema %d, newer than this code", id, run.Schema)
	}
	p, err := r.pipeline(run.Flow)
	return run, p, err
}

// claim takes the step. mine is false when somebody else holds it; a step that
// already has its result is returned as it stands.
func (r *Runner) claim(ctx context.Context, p *Pipeline, m Message) (step Step, mine bool, err error) {
	fresh := Step{
		Run: m.Run, ID: m.Step, Status: Claimed, Call: CallID(m.Run, m.Step), Agent: p.Flow.AgentOf(m.Step),
		Try: 1, Fence: 1, Owner: r.Owner(), Lease: r.Pace.Lease, StartedAt: r.Now(),
	}
	step, err = r.Store.PutStep(ctx, fresh)
	if fault.KindOf(err) != fault.Conflict {
		return step, err == nil, err
	}
	stored, err := r.Store.Steps(ctx, m.Run, m.Step)
	if err != nil || len(stored) == 0 {
		return Step{}, false, err
	}
	step = stored[0]
	switch {
	case step.Finished():
		return step, true, nil
	case !step.Expired():
		return Step{}, false, nil // a live claim; the sweeper is the guarantee from here
	}
	step.Fence++
	step.Try++
	step.Owner, step.Lease = fresh.Owner, fresh.Lease
	step, err = r.Store.PutStep(ctx, step)
	if fault.KindOf(err) == fault.Conflict {
		return Step{}, false, nil // lost the race for an expired claim
	}
	return step, err == nil, err
}

// record applies an answer to the run, however often others move the run
// meanwhile, and publishes what follows.
func (r *Runner) record(ctx context.Context, p *Pipeline, run Run, a answer) error {
	for try := range commitTries {
		if try > 0 {
			if err := r.Sleep(ctx, jitter(commitPause)); err != nil {
				return fmt.Errorf("record %s: %w", a.ID, err)
			}
			found, err := r.reload(ctx, &run, &a.Step)
			switch {
			case err != nil:
				r.warn(ctx, "reload", &a.Step, err)
				continue
			case found == elsewhere:
				return nil
			case found == here:
				// The commit was applied although its answer was lost. Which of the
				// open steps it opened is not known any more: a duplicate costs a read.
				return r.publish(ctx, p.Flow, &run.State, keys(run.Open))
			}
		}
		state, effects, verdict := engine.Next(p.Flow, run.State, a.event(), r.Now())
		switch verdict {
		case engine.Invalid:
			r.Log.ErrorContext(ctx, "the engine refused an event", slog.String("run", a.Run), slog.String("step", string(a.ID)))
			return nil
		case engine.Stale:
			return r.late(ctx, a)
		case engine.Applied:
		}
		commit, err := r.commit(ctx, p, &run, state, effects, a)
		if err == nil {
			err = r.Store.Commit(ctx, commit)
		}
		if err == nil {
			r.logStep(ctx, &state, &a)
			return r.publish(ctx, p.Flow, &state, effects.Publish)
		}
		if fault.KindOf(err) != fault.Conflict {
			r.warn(ctx, "commit", &a.Step, err)
		}
		a.refused(err)
	}
	return fault.New(fault.Unavailable, "step %s could not be recorded", a.ID)
}

// whereabouts of a step's result, after a commit that did not go through.
type whereabouts int

const (
	nowhere   whereabouts = iota // not recorded: try again
	here                         // recorded by this very commit
	elsewhere                    // recorded by another worker, or gone
)

// reload reads run and step again and says where the result is.
func (r *Runner) reload(ctx context.Context, run *Run, step *Step) (whereabouts, error) {
	fresh, err := r.Store.Run(ctx, step.Run)
	if fault.KindOf(err) == fault.NotFound {
		return elsewhere, nil
	}
	if err != nil {
		return nowhere, err
	}
	steps, err := r.Store.Steps(ctx, step.Run, step.ID)
	if err != nil {
		return nowhere, err
	}
	if len(steps) == 0 {
		return elsewhere, nil
	}
	*run = fresh
	stored := steps[0]
	switch {
	case stored.RevAt > 0 && stored.Owner == step.Owner:
		return here, nil
	case stored.RevAt > 0:
		return elsewhere, nil
	case stored.Owner == step.Owner && stored.Lease == 0:
		return here, nil // given back, to be tried again
	}
	// Taken over while this call was out, perhaps. The result at hand is good and
	// first: it is recorded under the version found, and the other worker's
	// commit will be refused.
	step.Fence, step.Version = stored.Fence, stored.Version
	return nowhere, nil
}

// late keeps the result of a step that nobody needs any more.
func (r *Runner) late(ctx context.Context, a answer) error {
	if a.retry != nil || a.RevAt > 0 || a.Late {
		return nil
	}
	a.Late = true
	if _, err := r.Store.PutStep(ctx, a.Step); err != nil && fault.KindOf(err) != fault.Conflict {
		r.warn(ctx, "keep late result", &a.Step, err)
	}
	return nil
}

func (r *Runner) warn(ctx context.Context, what string, step *Step, err error) {
	r.Log.LogAttrs(ctx, slog.LevelWarn, "step goes on without", slog.String("what", what),
		slog.String("run", step.Run), slog.String("step", string(step.ID)), slog.Any("error", err))
}

func (r *Runner) logStep(ctx context.Context, s *engine.State, a *answer) {
	attrs := []slog.Attr{
		slog.String("run", a.Run), slog.String("step", string(a.ID)), slog.String("agent", a.Agent),
		slog.Int("rev", s.Rev), slog.Int64("ms", a.Duration.Milliseconds()), slog.String("status", string(a.Status)),
	}
	if a.Failure != nil {
		attrs = append(attrs, slog.String("code", a.Failure.Code))
	}
	r.Log.LogAttrs(ctx, slog.LevelInfo, "step", attrs...)
}

func keys(open map[engine.StepID]engine.OpenStep) []engine.StepID {
	return slices.Sorted(maps.Keys(open))
}

// jitter returns a random pause of up to d: contenders must not meet again.
func jitter(d time.Duration) time.Duration {
	return time.Duration(rand.Int64N(int64(d))) //nolint:gosec // spreads retries, guards nothing
}
