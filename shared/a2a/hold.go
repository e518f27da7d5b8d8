package a2a

import (
	"context"
	"log/slog"
	"sync"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/fault"
)

// beatsPerLease is how often the lease of a task at work is renewed before it
// would run out: two renewals may be lost.
const beatsPerLease = 3

// hold renews the lease of a task until release is called, and cancels the
// returned context when that is refused: the task was canceled, or taken over
// by another instance. A call shorter than the first interval costs no write.
// release returns the record with its last version.
func (c *core) hold(ctx context.Context, tasks Tasks, r Record) (held context.Context, release func() Record) {
	ctx, cancel := context.WithCancelCause(ctx)
	var beats sync.WaitGroup
	beats.Go(func() {
		tick := time.NewTicker(max(c.lease/beatsPerLease, time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done(): // released, or the agent is over its time: then others may have the task
				return
			case <-tick.C:
			}
			if err := c.renew(ctx, tasks, &r); err != nil {
				cancel(err)
				return
			}
		}
	})
	return ctx, func() Record {
		cancel(nil)
		beats.Wait()
		return r
	}
}

// renew starts the lease anew. It returns why the task is no longer ours, and
// nil when it is or when the store does not say: the lease lasts a little
// longer.
func (c *core) renew(ctx context.Context, tasks Tasks, r *Record) error {
	beat, stop := context.WithTimeout(ctx, c.lease/beatsPerLease)
	defer stop()
	next := *r
	next.Beats++
	saved, err := tasks.Update(beat, next)
	if fault.KindOf(err) == fault.Conflict {
		stored, look := tasks.Get(beat, r.Agent, r.ID)
		if look == nil {
			if gone := stored.lost(*r); gone != nil {
				return gone
			}
			saved, err = stored, nil // a renewal of ours whose answer was lost
		} else {
			err = look
		}
	}
	switch {
	case err == nil:
		r.Version, r.Beats = saved.Version, saved.Beats
	case ctx.Err() != nil: // released meanwhile
	case fault.KindOf(err) == fault.NotFound:
		return errCanceled // removed: nobody can ask for it any more
	default:
		c.log.WarnContext(ctx, "lease not renewed", slog.String("agent", r.Agent), slog.String("task", string(r.ID)), slog.Any("error", err))
	}
	return nil
}

// forgetful is the store of an agent that keeps no tasks.
type forgetful struct{}

func (forgetful) Create(_ context.Context, r Record) (Record, error) { return r, nil }
func (forgetful) Update(_ context.Context, r Record) (Record, error) { return r, nil }

func (forgetful) Get(_ context.Context, agent string, _ sdk.TaskID) (Record, error) {
	return Record{}, fault.New(fault.NotFound, "%s keeps no tasks", agent)
}
