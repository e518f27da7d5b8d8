package task

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/uuid"

	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// ID returns the task that a message of a caller to an agent always has. Only a
// message whose id is a UUID has one: such ids are unique by construction, while
// careless callers send 1 again and again.
func ID(agent string, c Caller, messageID string) (id sdk.TaskID, ok bool) {
	key, err := uuid.Parse(messageID)
	if err != nil || len(messageID) != len(key.String()) {
		return "", false
	}
	name := "truecost task of " + agent
	if c.ID != "" {
		name += " for " + c.ID
	}
	return sdk.TaskID(uuid.NewSHA1(key, []byte(name)).String()), true
}

// way is how a message is to be worked on.
type way int

const (
	here   way = iota // by whoever takes it in
	again             // the same, also when the task failed in a way that may pass
	queued            // by the queue
)

// draft is a message before it has a task.
type draft struct {
	Send

	turn      Turned
	id        sdk.TaskID // of a new task
	contextID string     // that the caller named
	queued    bool
}

// message returns the message as a task keeps it and an agent gets it.
func (m draft) message(r Record) *sdk.Message {
	msg := *m.Message
	msg.TaskID, msg.ContextID = r.ID, r.Task.ContextID
	return &msg
}

// begin makes a message's turn ours, and returns the work on it or, when it was
// queued, none. A message that was seen before has no work either; r then is its
// task as it is. Of several callers at once one gets to work.
func (d *Desk) begin(ctx context.Context, s Send, w way) (a *attempt, r Record, err error) {
	if err := d.admit(ctx, s); err != nil {
		return nil, r, err
	}
	store, err := d.store()
	if err != nil {
		return nil, r, err
	}
	m, err := d.draft(s, w)
	if err != nil {
		return nil, r, err
	}
	r, fresh, err := d.enter(ctx, store, m, w)
	switch {
	case err != nil:
		return nil, r, err
	case m.queued && r.Queued: // before or just now: whoever stored it may have died before the queue had it
		d.enqueue(ctx, r)
		return nil, r, nil
	case !fresh:
		return nil, r, nil
	}
	return d.newAttempt(store, r, m.message(r)), r, nil
}

// admit refuses a message that the agent cannot take, whatever its task.
func (d *Desk) admit(ctx context.Context, s Send) error {
	if err := short(s.Message); err != nil {
		return err
	}
	if err := d.agent.modes(s); err != nil {
		return err
	}
	if s.Hook != nil {
		if err := d.admitHook(ctx, *s.Hook); err != nil {
			return err
		}
	}
	if d.agent.Check != nil {
		return d.agent.Check(s.Message)
	}
	return nil
}

func (d *Desk) store() (Store, error) {
	store, err := d.opt.Store()
	if err != nil {
		return nil, away(err, "open the task store")
	}
	return store, nil
}

// draft names a message: the same caller's message with the same UUID always has
// the same name, however the UUID is written.
func (d *Desk) draft(s Send, w way) (draft, error) {
	msg := *s.Message
	m := draft{Send: s, contextID: msg.ContextID, queued: w == queued}
	id, ok := ID(d.agent.Name, s.Caller, msg.ID)
	if !ok || d.agent.EveryMessage {
		id = sdk.TaskID(d.opt.NewID())
	}
	if msg.ID == "" {
		msg.ID = string(id)
	}
	m.Message, m.id = &msg, id
	named := msg
	named.ID = string(id)
	text, err := EncodeEvent(&named)
	if err != nil {
		return m, err
	}
	sum := sha256.Sum256(text)
	m.turn = Turned{ID: string(id), Hash: hex.EncodeToString(sum[:]), Kept: s.Keep || m.queued, At: d.now()}
	return m, nil
}

// record is the task of a new message before any work.
func (d *Desk) record(m draft) Record {
	now := d.now()
	state := sdk.TaskStateWorking
	if m.queued {
		state = sdk.TaskStateSubmitted
	}
	contextID := m.contextID
	if contextID == "" {
		contextID = d.opt.NewID()
	}
	r := Record{
		Agent: d.agent.Name, ID: m.id, Owner: m.Caller.ID, Turns: []Turned{m.turn}, Lease: d.opt.Lease, Fence: 1, Tries: 1,
		Task: &sdk.Task{
			ID: m.id, ContextID: contextID, Status: sdk.TaskStatus{State: state, Timestamp: &now},
			Metadata: map[string]any{wire.MetaAgent: d.agent.Name, wire.MetaDuration: 0, wire.MetaTokens: 0},
		},
	}
	if m.queued {
		r.Queued, r.Tries, r.Fence = true, 0, 0
		r.Task.Metadata[wire.MetaCreated] = now.Format(time.RFC3339Nano)
	}
	if m.turn.Kept {
		r.Task.History = []*sdk.Message{m.message(r)}
	}
	return r
}

// enter stores the turn of a message as ours, or finds that it is not.
func (d *Desk) enter(ctx context.Context, store Store, m draft, w way) (r Record, fresh bool, err error) {
	id := m.Message.TaskID
	if id == "" {
		id = m.id
		first := d.record(m)
		if err := d.hang(&first, m.Hook, 0); err != nil {
			return r, false, err
		}
		r, err := d.create(ctx, store, first)
		if err == nil {
			return r, true, nil
		} else if fault.KindOf(err) != fault.Conflict {
			return r, false, away(err, "begin task %s", id)
		}
	}
	for range raceTries {
		stored, err := d.load(ctx, store, m.Caller, id)
		if err != nil {
			return r, false, err
		}
		if m.Message.TaskID != "" && stored.Reply != nil {
			return r, false, errNone
		}
		told := stored.Seq
		next, log, fresh, err := stored.take(m, w == again, d.now())
		if err != nil || !fresh {
			return next, false, err
		}
		if err := d.hang(&next, m.Hook, told); err != nil {
			return r, false, err
		}
		r, err = d.update(ctx, store, next, log...)
		if err == nil {
			return r, true, nil
		} else if fault.KindOf(err) != fault.Conflict {
			return r, false, away(err, "take task %s", id)
		}
	}
	return r, false, errBusy
}

var errNone = fault.Wrap(fault.NotFound, sdk.ErrTaskNotFound, "no such task")

// load returns a record of the caller's. Another's is not found, in the same
// words.
func (d *Desk) load(ctx context.Context, store Store, c Caller, id sdk.TaskID) (Record, error) {
	r, err := store.Get(ctx, d.agent.Name, id)
	switch {
	case fault.KindOf(err) == fault.NotFound, err == nil && r.Owner != c.ID:
		return Record{}, errNone
	case err != nil:
		return Record{}, away(err, "get task %s", id)
	}
	return r, nil
}

// find is load for what callers can know of: not the record of a message that
// was answered without a task.
func (d *Desk) find(ctx context.Context, c Caller, id sdk.TaskID) (Store, Record, error) {
	store, err := d.store()
	if err != nil {
		return nil, Record{}, err
	}
	r, err := d.load(ctx, store, c, id)
	if err == nil && r.Reply != nil {
		err = errNone
	}
	return store, r, err
}

// change writes a task of the caller's as edit leaves it with the events that
// edit returns, unless edit returns errAsItIs.
func (d *Desk) change(ctx context.Context, c Caller, id sdk.TaskID, edit func(r *Record) ([]Entry, error)) (Record, error) {
	for range raceTries {
		store, r, err := d.find(ctx, c, id)
		if err != nil {
			return r, err
		}
		log, err := edit(&r)
		if err == errAsItIs { //nolint:errorlint // it is ours, and never wrapped
			return r, nil
		} else if err != nil {
			return r, err
		}
		r, err = d.update(ctx, store, r, log...)
		if fault.KindOf(err) != fault.Conflict {
			return r, away(err, "write task %s", id)
		}
	}
	return Record{}, errBusy
}

// create and update write a record so that a sweep finds it in time, tell who
// listens here, and have the queue tell who listens elsewhere.
func (d *Desk) create(ctx context.Context, store Store, r Record) (Record, error) {
	r.Wake = r.due(d.now())
	return store.Create(ctx, r) //nolint:wrapcheck // the caller says of what
}

func (d *Desk) update(ctx context.Context, store Store, r Record, log ...Entry) (Record, error) {
	r.Wake = r.due(d.now())
	r, err := store.Update(ctx, r, log...)
	if err != nil {
		return r, err //nolint:wrapcheck // the caller says of what
	}
	d.local.ring(r.ID)
	if len(log) > 0 && r.untold() {
		d.ask(ctx, r, "hooks not queued", Queue.Tell)
	}
	return r, nil
}

// enqueue has the queue bring a task to a worker.
func (d *Desk) enqueue(ctx context.Context, r Record) { d.ask(ctx, r, "task not queued", Queue.Work) }

// ask asks the queue for something. What it does not take now a sweep asks for
// again.
func (d *Desk) ask(ctx context.Context, r Record, failure string, do func(Queue, context.Context, Ref) error) {
	if d.opt.Queue == nil {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), saveTime) // it is stored already, whoever has left
	defer stop()
	queue, err := d.opt.Queue()
	if err == nil {
		err = do(queue, ctx, Ref{r.Agent, r.ID})
	}
	if err != nil {
		d.warn(ctx, failure, r, err)
	}
}

func (d *Desk) warn(ctx context.Context, what string, r Record, err error) {
	d.opt.Log.WarnContext(ctx, what, slog.String("agent", r.Agent), slog.String("task", string(r.ID)), slog.Any("error", err)) //nolint:sloglint // the callers' are constants
}

// told is a task as callers see it: one whose worker died has failed, and is to
// be sent again, unless the queue brings it to another worker.
func (d *Desk) told(r Record) *sdk.Task {
	if d.abandoned(r) {
		at := r.Task.Status.Timestamp
		e, _ := failed(errInterrupted)
		if _, err := apply(r.Task, e, r.Seq, d.now()); err == nil {
			r.Task.Status.Timestamp = at
		}
	}
	return r.Task
}

var errInterrupted = fault.New(fault.Unavailable, "%s", interruptedText)

// abandoned reports whether nobody works on a task and the queue cannot have it
// worked on.
func (d *Desk) abandoned(r Record) bool { return r.Lapsed && !d.resumes(r) }

// resumes reports whether the queue can bring the last turn to a worker.
func (d *Desk) resumes(r Record) bool {
	return d.opt.Queue != nil && r.last().Kept && r.Tries < maxTries
}

// result is what came of a message.
func (d *Desk) result(r Record) sdk.SendMessageResult {
	if r.Reply != nil {
		return r.Reply
	}
	return d.told(r)
}
