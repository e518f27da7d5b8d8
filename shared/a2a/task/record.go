package task

import (
	"errors"
	"slices"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

const (
	maxTurns   = 100 // messages about one task
	maxTries   = 3   // runs of one turn that the queue brings
	maxHistory = 200 // messages in a task
	raceTries  = 10  // looks at a record that others keep changing
)

// Why the context of an agent at work is canceled: the causes of its end.
var (
	errCanceled  = fault.New(fault.Canceled, "the task was canceled")
	errTakenOver = fault.New(fault.Canceled, "another instance took the task over")
	errLate      = fault.New(fault.Timeout, "the agent ran out of time")
)

var errBusy = fault.New(fault.Unavailable, "the task is busy; try again")

// errAsItIs ends a change that is none.
var errAsItIs = errors.New("task: nothing to change")

// AtWork reports whether a worker holds the task, or did until its lease ran
// out: only then does a lease mean anything.
func (r Record) AtWork() bool {
	return !r.Queued && !r.Task.Status.State.Terminal() && !r.waits()
}

// waits reports whether the task waits for a person.
func (r Record) waits() bool { return interrupted(r.Task.Status.State) }

func interrupted(s sdk.TaskState) bool {
	return s == sdk.TaskStateInputRequired || s == sdk.TaskStateAuthRequired
}

// over reports whether nobody is to work on the last turn.
func (r Record) over() bool { return r.Task.Status.State.Terminal() || r.waits() }

// last is the turn at work or done.
func (r Record) last() Turned { return r.Turns[len(r.Turns)-1] }

// say makes an event part of the task and returns it for the log.
func (r *Record) say(ev sdk.Event, now time.Time) ([]Entry, error) {
	ev, err := apply(r.Task, ev, r.Seq+1, now)
	if err != nil {
		return nil, err
	}
	r.Seq++
	return []Entry{{Seq: r.Seq, Event: ev}}, nil
}

// take decides what the message m, a record of one turn, may do with the stored
// record r. With fresh, next is to be stored in the place of r with the events of
// log, and whoever stores it works on it, or has it queued. Without, r is the
// answer: the message was seen before.
//
// A message whose worker died is taken over, and with retry also one that failed
// in a way that may pass. A new message of a task that waits for an answer is its
// next turn. It returns fault.Invalid when the id of the message was used for
// another one, and fault.Conflict when the task can take no message now.
func (r Record) take(m draft, retry bool, now time.Time) (next Record, log []Entry, fresh bool, err error) {
	i := slices.IndexFunc(r.Turns, func(t Turned) bool { return t.ID == m.turn.ID })
	switch {
	case i >= 0 && r.Turns[i].Hash != m.turn.Hash:
		return r, nil, false, fault.New(fault.Invalid, "params.message.messageId: it was used for another message already")
	case i >= 0 && (i < len(r.Turns)-1 || !r.Lapsed && (!r.Retry || !retry)):
		return r, nil, false, nil
	case i >= 0:
		next, log, err = r.begun(m.queued, now)
		if err == nil && m.turn.Kept && !r.last().Kept {
			next.keep(m)
		}
		return next, log, true, err
	}
	if err := r.refuses(m); err != nil {
		return r, nil, false, err
	}
	r.Turns, r.Tries = append(slices.Clone(r.Turns), m.turn), 0
	next, log, err = r.begun(m.queued, now)
	if err == nil && m.turn.Kept {
		next.Task.History = remember(next.Task.History, m.message(next))
	}
	return next, log, true, err
}

// refuses says why the task takes no new message now; nil when it does.
func (r Record) refuses(m draft) error {
	switch {
	case r.Task.Status.State.Terminal():
		return fault.New(fault.Conflict, "params.message.taskId: the task is %s and takes no message", wire.Word(r.Task.Status.State))
	case !r.waits():
		return fault.New(fault.Conflict, "params.message.taskId: the task is being worked on and takes no message now")
	case m.contextID != "" && m.contextID != r.Task.ContextID:
		return fault.New(fault.Invalid, "params.message.contextId: it is not the context of the task")
	case len(r.Turns) >= maxTurns:
		return fault.New(fault.Conflict, "params.message.taskId: the task has had %d messages and takes no more", maxTurns)
	}
	return nil
}

// keep adds the message of the last turn, which was begun without.
func (r *Record) keep(m draft) {
	r.Turns = slices.Clone(r.Turns)
	r.Turns[len(r.Turns)-1].Kept = true
	r.Task.History = remember(r.Task.History, m.message(*r))
}

// begun returns the record with its last turn begun once more, by a worker or in
// the queue, and what the log says of that.
func (r Record) begun(queue bool, now time.Time) (Record, []Entry, error) {
	state := sdk.TaskStateWorking
	r.Fence, r.Beats, r.Retry, r.Queued, r.Lapsed = r.Fence+1, 0, false, queue, false
	if queue {
		state = sdk.TaskStateSubmitted
	} else {
		r.Tries++
	}
	if r.Task.Status.State == state {
		return r, nil, nil
	}
	log, err := r.say(&sdk.TaskStatusUpdateEvent{Status: sdk.TaskStatus{State: state}}, now)
	return r, log, err
}

// lost says why mine is no longer the worker's to go on with, when the stored
// record is r; nil when it still is.
func (r Record) lost(mine Record) error {
	switch {
	case r.Task.Status.State == sdk.TaskStateCanceled:
		return errCanceled
	case r.Fence == mine.Fence && r.AtWork():
		return nil
	}
	return errTakenOver
}

// yields reports whether the stored record r gives way to mine, the same turn as
// a worker that lost it leaves it: the first end of a turn wins, whoever reached
// it. What is no result, a failure that may pass, a question or a message,
// counts only from the worker that holds the task.
func (r Record) yields(mine Record) bool {
	return !r.over() && len(r.Turns) == len(mine.Turns) &&
		mine.Task.Status.State.Terminal() && !mine.Retry && mine.Reply == nil
}

// due is when a sweep is to look after a record that is written now: when its
// lease has surely run out, when a queue should have brought it, or when its
// hooks should have been told.
func (r Record) due(now time.Time) time.Time {
	var wake time.Time
	sooner := func(d time.Duration) {
		if at := now.Add(d); wake.IsZero() || at.Before(wake) {
			wake = at
		}
	}
	if r.Queued {
		sooner(queueWait)
	}
	if r.AtWork() {
		sooner(2 * r.Lease)
	}
	if r.untold() {
		sooner(tellWait)
	}
	return wake
}

// untold reports whether a hook is behind the log.
func (r Record) untold() bool {
	return slices.ContainsFunc(r.Hooks, func(h Hook) bool { return h.Sent < r.Seq })
}

// How long a sweep leaves to the queue what the queue should have done.
const (
	queueWait = 2 * time.Minute
	tellWait  = time.Minute
)
