package task

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/fault"
)

// sweepPage is how many tasks one sweep looks at; those due the longest first.
const sweepPage = 200

// Sweep looks after tasks that are due: interrupted ones are queued again, at
// most thrice, or failed; hooks that were not told are told. It goes on when one
// of them cannot be helped, and returns what went wrong.
func (w *Worker) Sweep(ctx context.Context) error {
	finder, d, err := w.finder()
	if err != nil || finder == nil {
		return err
	}
	refs, err := finder.Due(ctx, d.opt.Now(), sweepPage)
	if err != nil {
		return fmt.Errorf("find tasks that are due: %w", err)
	}
	var wrong []error
	for _, ref := range refs {
		look := w.tend
		if w.Desks[ref.Agent] == nil {
			look = d.postpone
		}
		if err := look(ctx, ref); err != nil && fault.KindOf(err) != fault.NotFound {
			wrong = append(wrong, fmt.Errorf("look after task %s of %s: %w", ref.ID, ref.Agent, err))
		}
	}
	return errors.Join(wrong...)
}

// strangersWait is how long a sweep leaves tasks of agents that are not here: those
// of a version to come, or that are no more.
const strangersWait = time.Hour

// postpone puts a task off that nobody here can help, so that it does not stand
// before those who can be helped.
func (d *Desk) postpone(ctx context.Context, ref Ref) error {
	store, err := d.store()
	if err != nil {
		return err
	}
	r, err := store.Get(ctx, ref.Agent, ref.ID)
	if err != nil {
		return err //nolint:wrapcheck // the caller says of what
	}
	r.Wake = d.now().Add(strangersWait)
	if _, err = store.Update(ctx, r); fault.KindOf(err) == fault.Conflict {
		return nil // it has changed, and so has its time
	}
	return err //nolint:wrapcheck // the caller says of what
}

// finder returns what finds due tasks, and a desk for its clock; all desks of a
// process have the same.
func (w *Worker) finder() (Finder, *Desk, error) {
	for _, d := range w.Desks {
		open := w.Finder
		if open == nil {
			open = d.opt.Finder
		}
		if open == nil {
			continue
		}
		f, err := open()
		if err != nil {
			return nil, nil, fmt.Errorf("open the finder of tasks: %w", err)
		}
		return f, d, nil
	}
	return nil, nil, nil
}

// tend does for one task what is due.
func (w *Worker) tend(ctx context.Context, ref Ref) error {
	d, store, err := w.desk(ref)
	if err != nil {
		return err
	}
	for range raceTries {
		r, err := store.Get(ctx, ref.Agent, ref.ID)
		if err != nil {
			return err //nolint:wrapcheck // the caller says of what
		}
		if r.AtWork() && !r.Lapsed { // a write of ours would start its lease anew
			if r.untold() {
				d.ask(ctx, r, "hooks not queued", Queue.Tell)
			}
			return nil
		}
		log, err := d.revive(&r)
		if err != nil {
			return err
		}
		r, err = d.update(ctx, store, r, log...)
		if fault.KindOf(err) == fault.Conflict {
			continue
		} else if err != nil {
			return err
		}
		if r.Queued {
			d.enqueue(ctx, r)
		}
		if r.untold() && len(log) == 0 { // else it was asked for
			d.ask(ctx, r, "hooks not queued", Queue.Tell)
		}
		return nil
	}
	return errBusy
}

// revive leaves a record whose worker died to the queue, or fails it: so that
// whoever sent its message does so again, or for good when three have died at it.
func (d *Desk) revive(r *Record) ([]Entry, error) {
	if !r.Lapsed {
		return nil, nil
	}
	if d.resumes(*r) {
		r.Queued = true
		return nil, nil
	}
	e := end(sdk.TaskStateFailed, fault.Internal, "the work was interrupted")
	if r.Tries < maxTries {
		e, r.Retry = failed(errInterrupted)
	}
	return r.say(e, d.now())
}
