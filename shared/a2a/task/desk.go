package task

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
)

// A Desk takes messages for one agent, has them worked on, and answers for its
// tasks, whichever instance began them.
type Desk struct {
	agent Agent
	opt   Options
}

// Options of a desk. Store, Now and Log are required.
type Options struct {
	// Store opens the store of tasks and Finder what finds in it; each is asked at
	// every request and is expected to open once. Without Finder nothing is listed.
	Store  func() (Store, error)
	Finder func() (Finder, error)
	Queue  func() (Queue, error) // nil: nothing is queued, and Submit works before it answers

	Now   func() time.Time
	Log   *slog.Logger
	NewID func() string // names tasks and contexts; nil: random UUIDs

	Deadline time.Duration // of one turn; 0 is 300 s
	Lease    time.Duration // how long an instance at work may be silent; 0 is 30 s
	Poll     time.Duration // between two looks at a task that another instance works on; 0 is 300 ms
	Pace     time.Duration // at most one write of chunks and progress in this time; 0 is 500 ms

	Push  bool                                        // push configurations are taken
	Allow func(ctx context.Context, url string) error // whether a webhook may be at an address; nil: https at public addresses
}

// NewDesk returns the desk of an agent. It panics if the agent has no name, skill
// or Run, or if a required option is missing.
func NewDesk(agent Agent, opt Options) *Desk { return &Desk{agent: agent, opt: opt} }

// Agent returns whose desk it is.
func (d *Desk) Agent() Agent { return d.agent }

// Send is a message with what its caller wants of the answer.
type Send struct {
	Caller  Caller
	Message *sdk.Message // ID, Role and Parts set; TaskID and ContextID where the caller named them. Data is json.RawMessage
	Keep    bool         // keep the message in the task's history
	Modes   []string     // media types the caller can read; empty: all
	Hook    *Hook        // who is told elsewhere, from the first event on
}

// Listing is one page of tasks as callers see them.
type Listing struct {
	Tasks []*sdk.Task // with history, without artifacts unless they were asked for
	Size  int         // of a page
	Total int         // of all pages
	Next  string      // token of the next page
}

// A Frame is one event of a stream: the task as it is (*sdk.Task, Seq is the last
// event in it), or the event of that number.
type Frame = Entry

var errAbsent = errors.New("task: to be written")

// Send works on a message and returns the task as it is then, ended or waiting
// for a person, or the agent's message. A message that was seen before (same
// caller, same id, a UUID) is not worked on again: Send waits for its end, until
// ctx ends.
func (d *Desk) Send(ctx context.Context, s Send) (sdk.SendMessageResult, error) {
	return nil, errAbsent
}

// Call is Send for callers that poll: a message that was seen before is answered
// at once with the task as it is.
func (d *Desk) Call(ctx context.Context, s Send) (sdk.SendMessageResult, error) {
	return nil, errAbsent
}

// Submit takes a message, has the queue work on it, and returns the task at once.
func (d *Desk) Submit(ctx context.Context, s Send) (*sdk.Task, error) { return nil, errAbsent }

// Stream works on a message and yields what happens: the task first, then each
// event to the end of the turn; or the agent's message alone. The first pair
// carries the error if there is one before anything happened.
func (d *Desk) Stream(ctx context.Context, s Send) iter.Seq2[Frame, error] { return nil }

// Follow yields the events of a task, whoever works on it, to its end. Without
// after, the task comes first, then what follows it; with after, what follows
// the event of that number. A task that has ended yields itself (or its last
// events) alone.
func (d *Desk) Follow(ctx context.Context, c Caller, id sdk.TaskID, after *int64) iter.Seq2[Frame, error] {
	return nil
}

// Get returns a task with the number of its last event. A task whose worker died
// is told as failed, and to be sent again, since nobody will finish it otherwise.
func (d *Desk) Get(ctx context.Context, c Caller, id sdk.TaskID) (*sdk.Task, int64, error) {
	return nil, 0, errAbsent
}

// List returns a page of the caller's tasks. Owner and Agent of q are filled in here.
func (d *Desk) List(ctx context.Context, c Caller, q Query) (Listing, error) {
	return Listing{}, errAbsent
}

// Cancel ends a task that has not ended, wherever it is worked on, and returns it
// as it is then: canceled, or as it had ended before. The worker notices at its
// next renewal.
func (d *Desk) Cancel(ctx context.Context, c Caller, id sdk.TaskID) (*sdk.Task, error) {
	return nil, errAbsent
}

// PutHook keeps a push configuration of a task; one with the same id is replaced,
// one without gets an id.
func (d *Desk) PutHook(ctx context.Context, c Caller, h Hook) (*sdk.PushConfig, error) {
	return nil, errAbsent
}

// Hook returns a push configuration of a task, Hooks all of them.
func (d *Desk) Hook(ctx context.Context, c Caller, task sdk.TaskID, id string) (*sdk.PushConfig, error) {
	return nil, errAbsent
}

func (d *Desk) Hooks(ctx context.Context, c Caller, task sdk.TaskID) ([]*sdk.PushConfig, error) {
	return nil, errAbsent
}

// DropHook removes a push configuration; one that is not there is no error.
func (d *Desk) DropHook(ctx context.Context, c Caller, task sdk.TaskID, id string) error {
	return errAbsent
}

// A Worker does the queue's work for all agents of a process.
type Worker struct {
	Desks map[string]*Desk // by the agent's name

	// Post tells one webhook; nil: no task has hooks.
	Post func(ctx context.Context, h Hook, e Entry, t *sdk.Task) error
}

// Work runs the turn that a queued task waits with. A task that another worker
// holds, or that has ended, is no error.
func (w *Worker) Work(ctx context.Context, ref Ref) error { return errAbsent }

// Tell tells the hooks of a task what they have not been told, in order. An error
// of kind fault.Unavailable asks for another try later; after the fifth the
// event is given up.
func (w *Worker) Tell(ctx context.Context, ref Ref) error { return errAbsent }

// Sweep looks after tasks that are due: interrupted ones are queued again, at
// most thrice, or failed; hooks that were not told are told.
func (w *Worker) Sweep(ctx context.Context) error { return errAbsent }
