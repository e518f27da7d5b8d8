package task

import (
	"context"
	"fmt"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/fault"
)

// A Worker does the queue's work for all agents of a process.
type Worker struct {
	Desks map[string]*Desk // by the agent's name

	// Finder finds what Sweep looks after. Nil: the Finder of any desk that has one.
	Finder func() (Finder, error)

	// Post tells one webhook; nil: no task has hooks.
	Post func(ctx context.Context, h Hook, e Entry, t *sdk.Task) error
}

// Work runs the turn that a queued task waits with. A task that another worker
// holds, or that has ended, is no error, and neither is one that is gone. It
// returns when the work is done, whether ctx ends or not.
func (w *Worker) Work(ctx context.Context, ref Ref) error {
	d, store, err := w.desk(ref)
	if err != nil {
		return err
	}
	for range raceTries {
		r, err := store.Get(ctx, ref.Agent, ref.ID)
		switch {
		case fault.KindOf(err) == fault.NotFound:
			return nil
		case err != nil:
			return fmt.Errorf("get task %s: %w", ref.ID, err)
		case !r.Queued && (!r.Lapsed || !d.resumes(r)):
			return nil
		}
		r, log, err := r.begun(false, d.now())
		if err != nil {
			return err
		}
		at := lastOf(r.Task.History, sdk.MessageRoleUser)
		if at < 0 {
			return fault.New(fault.Internal, "task %s was queued without its message", ref.ID)
		}
		r, err = d.update(ctx, store, r, log...)
		if err == nil {
			return w.run(ctx, d.newAttempt(store, r, r.Task.History[at]))
		} else if fault.KindOf(err) != fault.Conflict {
			return fmt.Errorf("take task %s: %w", ref.ID, err)
		}
	}
	return errBusy
}

// run does the work; its result is lost if it cannot be stored.
func (w *Worker) run(ctx context.Context, a *attempt) error {
	if out := a.run(ctx); out.unsaved != nil {
		return fault.New(fault.Unavailable, "the end of task %s was not stored", out.record.ID)
	}
	return nil
}

// desk returns the desk of a task's agent and its store.
func (w *Worker) desk(ref Ref) (*Desk, Store, error) {
	d := w.Desks[ref.Agent]
	if d == nil {
		return nil, nil, fault.New(fault.NotFound, "there is no agent %q here", ref.Agent)
	}
	store, err := d.store()
	return d, store, err
}
