package task

import (
	"context"
	"errors"
	"time"

	"truecost.dev/shared/fault"
)

const (
	// A lease is looked at six times before it would run out, and renewed at
	// every other look: two renewals may be lost, and a cancellation elsewhere is
	// noticed after a sixth of the lease.
	looksPerLease = 6

	// linger is how long the first event waits for the next: an agent that says
	// all in one breath costs one write.
	linger = 20 * time.Millisecond
)

// keep writes what the agent says while it works, renews the lease, and ends the
// agent's context when the turn is not ours any more: the task was canceled, or
// taken over by another instance. It returns when ctx ends: released, or the
// agent is over its time, and then others may have the task. A turn shorter than
// the first interval costs no write.
func (a *attempt) keep(ctx context.Context) {
	look := time.NewTicker(max(a.desk.opt.Lease/looksPerLease, time.Millisecond))
	defer look.Stop()
	flush := time.NewTimer(time.Hour)
	defer flush.Stop()
	flush.Stop()
	waiting, last := false, time.Time{}
	for n := 1; ; {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-a.dirty:
			if !waiting {
				waiting = true
				flush.Reset(max(linger, a.desk.opt.Pace-a.desk.opt.Now().Sub(last)))
			}
			continue
		case <-flush.C:
			waiting, last = false, a.desk.opt.Now()
			err = a.renew(ctx, false)
		case <-look.C:
			if n++; n%2 == 0 {
				err = a.look(ctx)
			} else {
				err = a.renew(ctx, true)
			}
		}
		if err != nil {
			a.cancel(err)
			return
		}
	}
}

// renew writes, which starts the lease anew. It returns why the task is no
// longer ours, and nil when it is or when the store does not say: the lease
// lasts a little longer, and what the agent said is not forgotten.
func (a *attempt) renew(ctx context.Context, beat bool) error {
	// A write that is under way when the agent ends is not broken off: whether it
	// was done would have to be found out.
	write, stop := context.WithTimeout(context.WithoutCancel(ctx), a.desk.opt.Lease/looksPerLease)
	defer stop()
	stored, err := a.save(write, beat)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLost):
		return a.why(stored)
	}
	return a.gone(ctx, err)
}

// look asks the store whether the task is still ours.
func (a *attempt) look(ctx context.Context) error {
	read, stop := context.WithTimeout(ctx, a.desk.opt.Lease/looksPerLease)
	defer stop()
	stored, err := a.store.Get(read, a.desk.agent.Name, a.turn.TaskID)
	if err != nil {
		return a.gone(ctx, err)
	}
	return a.why(stored)
}

// why says why the stored record is not ours; nil when it is.
func (a *attempt) why(stored Record) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return stored.lost(a.r)
}

// gone says what an error of the store means for the turn: a task that was
// removed is not ours, and nobody can ask for it any more.
func (a *attempt) gone(ctx context.Context, err error) error {
	if ctx.Err() == nil && fault.KindOf(err) == fault.NotFound {
		return errCanceled
	}
	if ctx.Err() == nil { // else the agent has ended meanwhile
		a.desk.warn(ctx, "lease not renewed", Record{Agent: a.desk.agent.Name, ID: a.turn.TaskID}, err)
	}
	return nil
}
