package task

import (
	"context"
	"fmt"
	"slices"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/fault"
)

const (
	maxFailures = 5  // how often a receiver may refuse an event before it is given up
	tellBatch   = 10 // events a receiver is told between two notes of how far it got
)

// Tell tells the hooks of a task what they have not been told, in order. An error
// of kind fault.Unavailable asks for another try later. An event that its
// receiver did not take for the fifth time, or never will, is given up.
func (w *Worker) Tell(ctx context.Context, ref Ref) error {
	d, store, err := w.desk(ref)
	if err != nil {
		return err
	}
	r, err := store.Get(ctx, ref.Agent, ref.ID)
	switch {
	case fault.KindOf(err) == fault.NotFound || w.Post == nil:
		return nil
	case err != nil:
		return fmt.Errorf("get task %s: %w", ref.ID, err)
	}
	again := false
	for _, h := range r.Hooks {
		for known := true; known && h.Sent < r.Seq; {
			from := h.Sent
			if h, err = w.post(ctx, store, r, h); err != nil {
				return err
			}
			if known, err = d.note(ctx, store, ref, from, h); err != nil {
				return err
			}
			if h.Failures > 0 {
				again = true
				break
			}
		}
	}
	if again {
		return fault.New(fault.Unavailable, "a hook of task %s was not told", ref.ID)
	}
	return nil
}

// post tells one hook a few events, and returns how far it has got.
func (w *Worker) post(ctx context.Context, store Store, r Record, h Hook) (Hook, error) {
	log, err := store.Log(ctx, r.Agent, r.ID, h.Sent)
	if err != nil {
		return h, fmt.Errorf("read the log of task %s: %w", r.ID, err)
	}
	if len(log) == 0 {
		return h, fault.New(fault.Internal, "the log of task %s ends with event %d, want %d", r.ID, h.Sent, r.Seq)
	}
	if h.Early { // gets the task as it is, whatever happened to it
		log = log[len(log)-1:]
	}
	for _, e := range log[:min(len(log), tellBatch)] {
		err := w.Post(ctx, h, e, snapshot(r.Task))
		switch {
		case err != nil && ctx.Err() != nil: // which says nothing of the receiver
			return h, fault.Wrap(fault.Unavailable, err, "a hook of task %s was not told in time", r.ID)
		case err != nil && fault.KindOf(err).Transient() && h.Failures+1 < maxFailures:
			h.Failures++
			return h, nil
		case err != nil:
			w.Desks[r.Agent].warn(ctx, "hook given up", r, err)
		}
		h.Sent, h.Failures = e.Seq, 0
	}
	return h, nil
}

// note writes down how far a hook was told after the event from, and reports
// whether it is to be told more: not when it is gone, or somebody else told it.
func (d *Desk) note(ctx context.Context, store Store, ref Ref, from int64, told Hook) (known bool, err error) {
	for range raceTries {
		r, err := store.Get(ctx, ref.Agent, ref.ID)
		if err != nil {
			return false, fmt.Errorf("get task %s: %w", ref.ID, err)
		}
		i := slices.IndexFunc(r.Hooks, func(h Hook) bool { return h.Sent == from && sameConfig(h.Config, told.Config) })
		if i < 0 {
			return false, nil
		}
		r.Hooks = slices.Clone(r.Hooks)
		r.Hooks[i].Sent, r.Hooks[i].Failures = told.Sent, told.Failures
		if _, err = d.update(ctx, store, r); fault.KindOf(err) != fault.Conflict {
			return err == nil, err
		}
	}
	return false, errBusy
}

// sameConfig reports whether two copies of a configuration say the same.
func sameConfig(a, b sdk.PushConfig) bool {
	if a.Auth != nil && b.Auth != nil && *a.Auth == *b.Auth {
		a.Auth, b.Auth = nil, nil
	}
	return a == b
}
