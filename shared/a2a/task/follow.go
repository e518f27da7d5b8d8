package task

import (
	"context"
	"fmt"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/fault"
)

const (
	firstWait  = time.Second // for the first event of an agent: it may be a message
	blindLooks = 10          // in a row at a store that does not answer, before a listener is told
)

// listener is who wants the events of a task.
type listener struct {
	yield  func(Frame, error) bool
	pauses bool           // it is done when the task waits for a person, not only at its end
	done   <-chan outcome // of the attempt in this process that works on the task; nil: none
}

// ends reports whether a state is the last that the listener waits for.
func (l listener) ends(s sdk.TaskState) bool { return s.Terminal() || l.pauses && interrupted(s) }

// perform has a turn worked on and yields what happens. It returns when the work is
// done.
func (d *Desk) perform(ctx context.Context, a *attempt, yield func(Frame, error) bool) {
	begun := a.r
	begun.Task = snapshot(begun.Task)
	done, finished := make(chan outcome, 1), make(chan struct{})
	go func() {
		defer close(finished)
		done <- a.run(ctx)
	}()
	defer func() { <-finished }()

	wait := time.NewTimer(firstWait)
	defer wait.Stop()
	select {
	case <-a.first:
	case <-wait.C:
	}
	if !a.show() {
		if r := (<-done).record; r.Reply != nil {
			yield(Frame{Seq: r.Seq, Event: r.Reply}, nil)
		} else { // canceled or taken over before the message was written down
			d.listen(ctx, a.store, r, nil, listener{yield: yield, pauses: true})
		}
		return
	}
	d.listen(ctx, a.store, begun, nil, listener{yield: yield, pauses: true, done: done})
}

// attend yields a task that was begun elsewhere to the end of its turn.
func (d *Desk) attend(ctx context.Context, r Record, yield func(Frame, error) bool) {
	store, err := d.store()
	if err != nil {
		yield(Frame{}, err)
		return
	}
	d.listen(ctx, store, r, nil, listener{yield: yield, pauses: true})
}

// listen yields the task r as it is, or with after what followed that event, and
// then what happens to it.
func (d *Desk) listen(ctx context.Context, store Store, r Record, after *int64, l listener) {
	w := watch{desk: d, store: store, r: r, seen: r.Seq, listener: l}
	if after != nil && 0 <= *after && *after <= r.Seq {
		w.seen = *after
	} else if !l.yield(Frame{Seq: r.Seq, Event: d.told(r)}, nil) || d.abandoned(r) {
		return
	}
	w.run(ctx)
}

// watch is one listener's way along the log of a task. It reads what the store
// has; a bell in this process only says when to look.
type watch struct {
	listener

	desk  *Desk
	store Store
	r     Record // as it was at the last look
	seen  int64  // number of the last event that was yielded
	blind int    // looks in a row without an answer
}

func (w *watch) run(ctx context.Context) {
	bell, stop := w.desk.local.hear(w.r.ID)
	defer stop()
	for over := w.over(); !over; {
		rung := bell()
		var err error
		if over, err = w.look(ctx); over {
			return
		}
		if w.blind++; err == nil {
			w.blind = 0
		} else if ctx.Err() == nil && (w.blind > blindLooks || !fault.KindOf(err).Transient()) {
			w.yield(Frame{}, unfollowed(err))
			return
		}
		over = w.wait(ctx, rung)
	}
}

// over reports whether everything was yielded that the listener waits for.
func (w *watch) over() bool { return w.seen == w.r.Seq && w.ends(w.r.Task.Status.State) }

// look yields what is new, and reports whether the listener is done.
func (w *watch) look(ctx context.Context) (over bool, err error) {
	r, err := w.store.Get(ctx, w.r.Agent, w.r.ID)
	if err != nil {
		return false, fmt.Errorf("follow task %s: %w", w.r.ID, err)
	}
	for w.r = r; w.seen < r.Seq; {
		log, err := w.store.Log(ctx, r.Agent, r.ID, w.seen)
		if err != nil {
			return false, fmt.Errorf("read the log of task %s: %w", r.ID, err)
		}
		if len(log) == 0 {
			return false, fault.New(fault.Internal, "the log of task %s ends with event %d, want %d", r.ID, w.seen, r.Seq)
		}
		if over, err := w.pass(log); over || err != nil {
			return over, err
		}
	}
	return w.over(), nil
}

// pass yields events, and reports whether the listener is done: one of a turn at
// its first end, whatever followed; one of a task only at an end that is the last.
func (w *watch) pass(log []Entry) (over bool, err error) {
	for _, e := range log {
		if e.Seq != w.seen+1 {
			return false, fault.New(fault.Internal, "the log of task %s has event %d after %d", w.r.ID, e.Seq, w.seen)
		}
		w.seen = e.Seq
		if !w.yield(e, nil) {
			return true, nil
		}
		if s, ok := e.Event.(*sdk.TaskStatusUpdateEvent); ok && (w.pauses || e.Seq >= w.r.Seq) && w.ends(s.Status.State) {
			return true, nil
		}
	}
	return false, nil
}

// wait returns when it is time for the next look, and reports whether there is
// to be none.
func (w *watch) wait(ctx context.Context, rung <-chan struct{}) (over bool) {
	poll := time.NewTimer(w.desk.opt.Poll)
	defer poll.Stop()
	select {
	case <-ctx.Done():
		return true
	case out := <-w.done:
		w.done = nil
		if over = len(out.unsaved) > 0; over {
			w.rest(ctx, out)
		}
		return over
	case <-rung:
	case <-poll.C:
	}
	return false
}

// rest yields what the store did not take: the listener is the only one to learn
// of it.
func (w *watch) rest(ctx context.Context, out outcome) {
	first := out.unsaved[0].Seq
	if w.seen < first-1 {
		if over, _ := w.look(ctx); over {
			return
		}
	}
	if w.seen != first-1 {
		w.yield(Frame{}, fault.New(fault.Unavailable, "the task store is away; ask for the task again"))
		return
	}
	_, _ = w.pass(out.unsaved)
}

// await returns what came of a message when nobody works on it any more, or the
// task as it is when ctx ends before.
func (d *Desk) await(ctx context.Context, r Record) (sdk.SendMessageResult, error) {
	if r.over() {
		return d.result(r), nil
	}
	store, err := d.store()
	if err != nil {
		return nil, err
	}
	bell, stop := d.local.hear(r.ID)
	defer stop()
	for blind := 0; !r.over() && !d.abandoned(r); {
		poll, rung := time.NewTimer(d.opt.Poll), bell()
		fresh, err := store.Get(ctx, r.Agent, r.ID)
		if err == nil {
			r, blind = fresh, 0
			if r.over() {
				break
			}
		} else if blind++; ctx.Err() == nil && blind > blindLooks {
			return nil, away(err, "wait for task %s", r.ID)
		}
		select {
		case <-ctx.Done():
			return d.result(r), nil
		case <-rung:
		case <-poll.C:
		}
	}
	return d.result(r), nil
}
