package a2a

import (
	"encoding/json"
	"slices"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/fault"
)

// maxTurns bounds how long a conversation about one task may be.
const maxTurns = 100

// Why the context of an agent at work is canceled: the causes of its end.
var (
	errCanceled  = fault.New(fault.Canceled, "the task was canceled")
	errTakenOver = fault.New(fault.Canceled, "another instance took the task over")
)

// waits reports whether the task waits for the answer of a person.
func (r Record) waits() bool {
	s := r.Task.Status.State
	return s == sdk.TaskStateInputRequired || s == sdk.TaskStateAuthRequired
}

// take decides what the message m, a record of one turn, may do with the stored
// record r. With fresh, next is to be stored in the place of r, and whoever
// stores it works on it. Without, r is the answer: the message was seen before.
//
// A message whose worker died or failed in a way that may pass is taken over; a
// new message of a task that waits for an answer is its next turn. It returns
// fault.Invalid when the id of the message was used for another one, and
// fault.Conflict when the task can take no message now.
func (r Record) take(m Record) (next Record, fresh bool, err error) {
	turn, turns := m.Turns[0], r.Turns
	switch i := slices.IndexFunc(r.Turns, func(t Turn) bool { return t.ID == turn.ID }); {
	case i >= 0 && r.Turns[i].Hash != turn.Hash:
		return r, false, fault.New(fault.Invalid, "id: it was used for another message already")
	case i >= 0 && (i < len(r.Turns)-1 || !r.Lapsed && !r.Retry):
		return r, false, nil
	case i < 0 && !r.waits():
		return r, false, fault.New(fault.Conflict, "params.message.taskId: the task is %s and takes no message", word(r.Task.Status.State))
	case i < 0 && len(r.Turns) >= maxTurns:
		return r, false, fault.New(fault.Conflict, "params.message.taskId: the task has had %d messages and takes no more", maxTurns)
	case i < 0 && m.Task.ContextID != "" && m.Task.ContextID != r.Task.ContextID:
		return r, false, fault.New(fault.Invalid, "params.message.contextId: it is not the context of the task")
	case i < 0:
		turns = append(slices.Clone(turns), turn)
	}
	next = m
	next.Turns, next.Fence, next.Version = turns, r.Fence+1, r.Version
	next.Task.ContextID = r.Task.ContextID
	return next, true, nil
}

// yields reports whether the stored record r gives way to mine, the same task
// as its worker leaves it: the first end of a turn wins. What is no result, a
// failure that may pass or a question, counts only from the worker that holds
// the task.
func (r Record) yields(mine Record) bool {
	switch {
	case r.Ended() || r.waits() || len(r.Turns) != len(mine.Turns):
		return false
	case mine.Retry || mine.waits():
		return r.Fence == mine.Fence
	}
	return true
}

// lost says why mine is no longer the worker's to renew, when the stored record
// is r; nil when it still is.
func (r Record) lost(mine Record) error {
	switch {
	case r.Fence == mine.Fence && r.AtWork():
		return nil
	case r.Task.Status.State == sdk.TaskStateCanceled:
		return errCanceled
	}
	return errTakenOver
}

// complete ends a task with the result of its agent.
func complete(t *sdk.Task, out json.RawMessage) {
	t.Status.State = sdk.TaskStateCompleted
	t.Artifacts = []*sdk.Artifact{{ID: resultName, Name: resultName, Parts: sdk.ContentParts{sdk.NewDataPart(out)}}}
}

// fail ends a task and reports whether the same message may succeed later. A
// request cut off by the end of the instance may.
func fail(t *sdk.Task, err error) (retryable bool) {
	kind, text := fault.KindOf(err), fault.Public(err)
	if kind == fault.Canceled {
		kind, text = fault.Unavailable, "the work was interrupted; send the message again"
	}
	end(t, sdk.TaskStateFailed, kind, text)
	return kind.Transient()
}

// abandon ends a task that nobody waits for any more.
func abandon(t *sdk.Task) {
	t.Artifacts = nil
	end(t, sdk.TaskStateCanceled, fault.Conflict, "the task was canceled")
}

func end(t *sdk.Task, state sdk.TaskState, kind fault.Kind, text string) {
	say(t, state, sdk.NewTextPart(text))
	t.SetMeta(metaErrorKind, string(kind))
	t.SetMeta(metaRetryable, kind.Transient())
}

// say sets a state and the agent's words to it.
func say(t *sdk.Task, state sdk.TaskState, parts ...*sdk.Part) {
	t.Status.State = state
	t.Status.Message = &sdk.Message{ID: string(t.ID), Role: sdk.MessageRoleAgent, Parts: parts}
}

// wait leaves a task to a person: the prompt as text, the schema as data.
func wait(t *sdk.Task, q Question) {
	parts := []*sdk.Part{sdk.NewTextPart(q.Prompt)}
	if q.Schema != nil {
		parts = append(parts, sdk.NewDataPart(q.Schema))
	}
	say(t, sdk.TaskStateInputRequired, parts...)
}

// questionOf returns the question a task waits with.
func questionOf(t *sdk.Task) Question {
	q := Question{Prompt: textOf(t.Status.Message)}
	if t.Status.Message != nil {
		for _, p := range t.Status.Message.Parts {
			if raw, ok := p.Data().(json.RawMessage); ok {
				q.Schema = raw
			}
		}
	}
	return q
}
