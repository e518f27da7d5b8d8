package task

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/uuid"

	"truecost.dev/shared/fault"
)

// A Desk takes messages for one agent, has them worked on, and answers for its
// tasks, whichever instance began them.
type Desk struct {
	agent Agent
	opt   Options
	local local
}

// Options of a desk. Store, Now and Log are required.
type Options struct {
	// Store opens the store of tasks and Finder what finds in it; each is asked at
	// every request and is expected to open once. Without Finder nothing is listed.
	Store  func() (Store, error)
	Finder func() (Finder, error)
	Queue  func() (Queue, error) // nil: nothing is queued, Submit works before it answers, and no hook is told

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
func NewDesk(agent Agent, opt Options) *Desk {
	switch {
	case agent.Name == "", agent.Run == nil, len(agent.Skills) == 0:
		panic(fmt.Sprintf("task: agent %q has no name, no skill or no Run", agent.Name))
	case opt.Store == nil, opt.Now == nil, opt.Log == nil:
		panic("task: the desk of " + agent.Name + " has no store, no clock or no log")
	}
	if opt.NewID == nil {
		opt.NewID = uuid.NewString
	}
	if opt.Allow == nil {
		opt.Allow = public
	}
	or := func(d *time.Duration, usual time.Duration) {
		if *d <= 0 {
			*d = usual
		}
	}
	or(&opt.Deadline, 300*time.Second)
	if agent.Deadline > 0 {
		opt.Deadline = agent.Deadline
	}
	or(&opt.Lease, 30*time.Second)
	or(&opt.Poll, 300*time.Millisecond)
	or(&opt.Pace, 500*time.Millisecond)
	return &Desk{agent: agent, opt: opt}
}

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
	Tasks []*sdk.Task // with history and artifacts; a front leaves out what was not asked for
	Size  int         // of a page
	Total int         // of all pages
	Next  string      // token of the next page
}

// A Frame is one event of a stream: the task as it is (*sdk.Task, Seq is the last
// event in it), or the event of that number.
type Frame = Entry

// Send works on a message and returns the task as it is then, ended or waiting
// for a person, or the agent's message. A message that was seen before (same
// caller, same id, a UUID) is not worked on again: Send waits for its end, and
// returns the task as it is when ctx ends before.
func (d *Desk) Send(ctx context.Context, s Send) (sdk.SendMessageResult, error) {
	a, r, err := d.begin(ctx, s, here)
	if err != nil {
		return nil, err
	}
	if a != nil {
		r = a.run(ctx).record
	}
	return d.await(ctx, r)
}

// Call is Send for callers that poll: a message that was seen before is answered
// at once with the task as it is. If the task failed in a way that may pass, the
// message is worked on again.
func (d *Desk) Call(ctx context.Context, s Send) (sdk.SendMessageResult, error) {
	a, r, err := d.begin(ctx, s, again)
	if err != nil {
		return nil, err
	}
	if a != nil {
		r = a.run(ctx).record
	}
	return d.result(r), nil
}

// Submit takes a message, has the queue work on it, and returns the task at once.
func (d *Desk) Submit(ctx context.Context, s Send) (*sdk.Task, error) {
	if d.opt.Queue == nil {
		a, r, err := d.begin(ctx, s, here)
		if err != nil {
			return nil, err
		}
		if a != nil {
			a.show()
			r = a.run(ctx).record
		}
		return d.told(r), nil
	}
	_, r, err := d.begin(ctx, s, queued)
	if err != nil {
		return nil, err
	}
	return d.told(r), nil
}

// Stream works on a message and yields what happens: the task first, then each
// event to the end of the turn; or the agent's message alone. The first pair
// carries the error if there is one before anything happened. Stream returns
// when the work is done, also when the caller has stopped listening.
func (d *Desk) Stream(ctx context.Context, s Send) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		a, r, err := d.begin(ctx, s, here)
		switch {
		case err != nil:
			yield(Frame{}, err)
		case a != nil:
			d.perform(ctx, a, yield)
		case r.Reply != nil:
			yield(Frame{Seq: r.Seq, Event: r.Reply}, nil)
		default:
			d.attend(ctx, r, yield)
		}
	}
}

// Follow yields the events of a task, whoever works on it, to its end. Without
// after, the task comes first, then what follows it; with after, what follows
// the event of that number. A task that has ended yields itself (or its last
// events) alone. A number that the log does not have counts as none.
func (d *Desk) Follow(ctx context.Context, c Caller, id sdk.TaskID, after *int64) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		store, r, err := d.find(ctx, c, id)
		if err != nil {
			yield(Frame{}, err)
			return
		}
		d.listen(ctx, store, r, after, listener{yield: yield})
	}
}

// Get returns a task with the number of its last event. A task whose worker died
// is told as failed, and to be sent again, unless the queue has its message and
// will bring it to another worker.
func (d *Desk) Get(ctx context.Context, c Caller, id sdk.TaskID) (*sdk.Task, int64, error) {
	_, r, err := d.find(ctx, c, id)
	if err != nil {
		return nil, 0, err
	}
	return d.told(r), r.Seq, nil
}

// List returns a page of the caller's tasks. Owner and Agent of q are filled in
// here; a Size of 0 is 50.
func (d *Desk) List(ctx context.Context, c Caller, q Query) (Listing, error) {
	if d.opt.Finder == nil {
		return Listing{}, fault.Wrap(fault.Invalid, sdk.ErrUnsupportedOperation, "tasks are not listed here")
	}
	finder, err := d.opt.Finder()
	if err != nil {
		return Listing{}, away(err, "open the finder of tasks")
	}
	q.Agent, q.Owner = d.agent.Name, c.ID
	if q.Size == 0 {
		q.Size = 50
	}
	if q.Size < 1 || q.Size > 100 {
		return Listing{}, fault.New(fault.Invalid, "params.pageSize: want 1 to 100")
	}
	page, err := finder.List(ctx, q)
	if fault.KindOf(err) == fault.Invalid && q.From != "" {
		return Listing{}, fmt.Errorf("list the tasks of %s: %w", d.agent.Name, err)
	} else if err != nil {
		return Listing{}, away(err, "list the tasks of %s", d.agent.Name)
	}
	out := Listing{Tasks: make([]*sdk.Task, len(page.Records)), Size: q.Size, Total: page.Total, Next: page.Next}
	for i, r := range page.Records {
		out.Tasks[i] = d.told(r)
	}
	return out, nil
}

// Cancel ends a task that has not ended, wherever it is worked on, and returns it
// as it is then: canceled, or as it had ended before. A worker in this process is
// told at once, another one notices at its next look. A task that had failed in
// a way that may pass stays so, and is not worked on again.
func (d *Desk) Cancel(ctx context.Context, c Caller, id sdk.TaskID) (*sdk.Task, error) {
	r, err := d.change(ctx, c, id, func(r *Record) ([]Entry, error) {
		if r.Task.Status.State.Terminal() {
			if !r.Retry {
				return nil, errAsItIs
			}
			r.Retry = false
			return nil, nil
		}
		r.Queued, r.Retry = false, false
		return r.say(canceled(), d.now())
	})
	if err != nil {
		return nil, fmt.Errorf("cancel task %s: %w", id, err)
	}
	if r.Task.Status.State == sdk.TaskStateCanceled {
		d.local.stop(id, errCanceled)
	}
	return d.told(r), nil
}

// now is the time that is written down: in UTC, to the millisecond.
func (d *Desk) now() time.Time { return d.opt.Now().UTC().Truncate(time.Millisecond) }
