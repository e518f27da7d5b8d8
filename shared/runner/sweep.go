package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

// sweepBatch is how many runs one sweep looks at.
const sweepBatch = 200

// Sweep finds runs that nobody works on, because a message was lost, a worker
// died or a pause is over, and sends their open steps again. It ends runs whose
// deadline has passed, and writes nothing when all is well. Two sweeps at once
// are harmless.
func (r *Runner) Sweep(ctx context.Context, find Finder) error {
	ids, err := find.Due(ctx, r.Now(), sweepBatch)
	if err != nil {
		return fmt.Errorf("find due runs: %w", err)
	}
	var errs []error
	for _, id := range ids {
		if err := r.sweepRun(ctx, id); err != nil && fault.KindOf(err) != fault.Conflict {
			errs = append(errs, fmt.Errorf("sweep %s: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

func (r *Runner) sweepRun(ctx context.Context, id string) error {
	run, p, err := r.load(ctx, id)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err != nil || run.Status.Ended() {
		return err
	}
	now := r.Now()
	if !now.Before(run.DeadlineAt) {
		return r.control(ctx, p, run, engine.DeadlinePassed{})
	}
	steps, err := r.Store.Steps(ctx, id, keys(run.Open)...)
	if err != nil {
		return err
	}
	due := slices.DeleteFunc(keys(run.Open), func(step engine.StepID) bool {
		held := find(steps, step)
		working := held != nil && !held.Finished() && !held.Expired()
		return working || waits(run.Open[step], now)
	})
	return r.publish(ctx, p.Flow, &run.State, due)
}
