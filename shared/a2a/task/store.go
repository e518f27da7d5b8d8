package task

import (
	"context"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
)

// Store keeps tasks and their events, so that any instance can answer for any
// other. It is a shelf and no more: what a message, a result or a cancellation
// may do with a stored record is decided in record.go, and made true by writes
// that are refused when the record changed meanwhile.
//
// Records are copies: a store keeps nothing that a caller could change later,
// and callers may change what they got. Every method may
// also fail with fault.Unavailable or fault.Timeout when the store cannot be
// reached.
type Store interface {
	// Create stores a record with its first events and returns it with its
	// Version; the task in it may be the one that was given. It returns fault.Conflict, and changes nothing, when
	// (r.Agent, r.ID) is stored already.
	Create(ctx context.Context, r Record, log ...Entry) (Record, error)

	// Get returns a record with Version, and Lapsed by the store's clock. It
	// returns fault.NotFound when there is none.
	Get(ctx context.Context, agent string, id sdk.TaskID) (Record, error)

	// Update replaces the record, starts its lease anew and appends to the log,
	// all at once; it returns what is stored with its Version, as Create. It returns
	// fault.Conflict, and changes nothing, when the stored record is no longer the
	// one of r.Version, and fault.Conflict or fault.NotFound when there is none.
	Update(ctx context.Context, r Record, log ...Entry) (Record, error)

	// Log returns the events of a task after the one of that number, in order and
	// without a gap; at most a few MiB of them at once, so that a reader asks
	// again from the last it got until it has that of Record.Seq.
	Log(ctx context.Context, agent string, id sdk.TaskID, after int64) ([]Entry, error)
}

// Finder finds tasks.
type Finder interface {
	// List returns one page of an owner's tasks with an agent, newest status first,
	// those of one instant by id; tasks that were answered by a message are not
	// among them.
	List(ctx context.Context, q Query) (Page, error)

	// Due returns up to limit tasks of any agent whose Wake is before the moment,
	// oldest first.
	Due(ctx context.Context, before time.Time, limit int) ([]Ref, error)
}

// Queue has work done by any instance, soon, at least once.
type Queue interface {
	// Work asks for Worker.Work on a task, Tell for Worker.Tell.
	Work(ctx context.Context, ref Ref) error
	Tell(ctx context.Context, ref Ref) error
}

// Ref names a task.
type Ref struct {
	Agent string     `json:"agent"`
	ID    sdk.TaskID `json:"task"`
}

// Entry is one event in the log of a task. Numbers begin with 1 and have no
// gaps; they are what the id of a frame on the wire says.
type Entry struct {
	Seq   int64
	Event sdk.Event // never a *sdk.Task; a *sdk.Message is the only event of its task
}

// Query selects the tasks of a list.
type Query struct {
	Agent, Owner string
	ContextID    string        // empty: any
	State        sdk.TaskState // empty: any
	After        time.Time     // of the status; zero: any
	Size         int           // of a page, 1 to 100
	From         string        // Page.Next of the page before; empty: the first. fault.Invalid when it is none
}

// Page is one page of a list.
type Page struct {
	Records []Record
	Total   int    // of all pages
	Next    string // empty: this was the last
}

// Record is a task with what is needed to run each of its turns once.
type Record struct {
	Agent string
	ID    sdk.TaskID // unique within the agent
	Owner string     // Caller.ID of who began it
	Turns []Turned   // messages of the task, oldest first; the last is the one at work or done

	// Lease is how long a worker may be silent. It is measured by the store's
	// clock from the last write on; clocks of instances play no part.
	Lease time.Duration
	Fence int64 // 1 for the first worker, one more for each that took over or took a turn
	Beats int   // renewals by the present worker: a write must change something to count

	// Retry says that the task failed in a way that may pass: a repetition of the
	// last message runs it again.
	Retry bool

	// Queued says that no worker has begun on the last turn: the queue brings one,
	// and no lease runs. Tries counts how often a worker began on the turn.
	Queued bool
	Tries  int

	Seq   int64     // number of the last event in the log; Task includes it
	Hooks []Hook    // who is told of events elsewhere; at most MaxHooks
	Wake  time.Time // when a sweep looks after the task; zero: never

	// Version is the store's own mark of the last write and Lapsed says that the
	// task is at work and its lease has run out. The store fills them in.
	Version time.Time
	Lapsed  bool

	// Task is what callers see; its history holds the messages only where the
	// dialect gives them back or the queue needs them. Reply is set instead of a
	// visible task when the agent answered with a message: Task then is internal.
	Task  *sdk.Task
	Reply *sdk.Message
}

// Turned is one message of a task: the first, or an answer to a question.
type Turned struct {
	ID   string `firestore:"id"`   // of the message; unique within the agent and its caller
	Hash string `firestore:"hash"` // of its content; the same id with another hash is another message
	Kept bool   `firestore:"kept"` // the last message of a person in the task's history is this one

	At time.Time `firestore:"at"` // when a front took it in
}

// MaxHooks is how many push configurations a task may have.
const MaxHooks = 10

// Hook is a push configuration and how far its receiver has been told.
type Hook struct {
	Config   sdk.PushConfig `json:"config"`
	Early    bool           `json:"early,omitempty"` // made in A2A 0.3: its receiver gets tasks, not events
	Sent     int64          `json:"sent"`            // number of the last event the receiver took, or that was given up
	Failures int            `json:"failures,omitempty"`
}
