package a2a

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/fault"
)

const (
	resultName = "result" // the artifact that carries what an agent returned

	metaAgent     = "agent"
	metaDuration  = "duration_ms"
	metaTokens    = "tokens_used"
	metaCost      = "cost_usd"
	metaErrorKind = "error_kind"
	metaRetryable = "retryable"
	metaContext   = "context_id"
	metaQuestion  = "question"

	saveTime  = 10 * time.Second // for writing a result down
	raceTries = 10               // looks at a record that others keep changing
)

// core runs an agent on messages of any dialect and keeps its tasks.
type core struct {
	agent    Agent
	tasks    func() (Tasks, error)
	now      func() time.Time
	newID    func() string
	deadline time.Duration
	lease    time.Duration
	log      *slog.Logger
}

// get returns a stored task. A task whose worker died is told as failed, and
// to be sent again, since nobody will ever finish it otherwise.
func (c *core) get(ctx context.Context, id sdk.TaskID) (*sdk.Task, error) {
	tasks, err := c.tasks()
	if err != nil {
		return nil, fmt.Errorf("open the task store: %w", err)
	}
	r, err := c.find(ctx, tasks, id)
	if err != nil {
		return nil, err
	}
	if r.Lapsed {
		fail(r.Task, fault.New(fault.Unavailable, "the work was interrupted; send the message again"))
	}
	return r.Task, nil
}

func (c *core) find(ctx context.Context, tasks Tasks, id sdk.TaskID) (Record, error) {
	r, err := tasks.Get(ctx, c.agent.Name, id)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return Record{}, fault.Wrap(fault.NotFound, err, "no such task")
	case err != nil:
		return Record{}, fmt.Errorf("get task %s: %w", id, err)
	}
	return r, nil
}

// cancel ends a task that has not ended, wherever it is worked on, and returns
// it as it is then. The worker notices at its next renewal.
func (c *core) cancel(ctx context.Context, id sdk.TaskID) (*sdk.Task, error) {
	tasks, err := c.tasks()
	if err != nil {
		return nil, fmt.Errorf("open the task store: %w", err)
	}
	for range raceTries {
		r, err := c.find(ctx, tasks, id)
		if err != nil || r.Ended() {
			return r.Task, err
		}
		now := c.now()
		abandon(r.Task)
		r.Task.Status.Timestamp, r.Retry = &now, false
		r, err = tasks.Update(ctx, r)
		switch {
		case err == nil:
			return r.Task, nil
		case fault.KindOf(err) != fault.Conflict:
			return nil, fmt.Errorf("cancel task %s: %w", id, err)
		}
	}
	return nil, fault.New(fault.Unavailable, "the task is busy")
}

// send runs the agent on a message, unless the message was seen before.
func (c *core) send(ctx context.Context, msg *sdk.Message) (*sdk.Task, error) {
	req, err := requestOf(msg)
	if err != nil {
		return nil, err
	}
	if msg.ContextID == "" && msg.TaskID == "" {
		msg.ContextID = req.EstimateID
	}
	r, err := c.record(msg)
	if err != nil {
		return nil, err
	}
	tasks, err := c.tasks()
	if err != nil {
		return nil, fmt.Errorf("open the task store: %w", err)
	}
	r, fresh, err := c.begin(ctx, tasks, r, msg.TaskID != "")
	if err != nil || !fresh {
		return r.Task, err
	}
	req.ReceivedAt, req.TaskID, req.ContextID = c.now(), string(msg.TaskID), r.Task.ContextID
	return c.run(ctx, tasks, r, req), nil
}

// record is the task of a message before any work. A message whose id is a
// UUID always has the same task: such ids are unique by construction, while
// careless callers send 1 again and again.
func (c *core) record(msg *sdk.Message) (Record, error) {
	turn, ok := TaskID(c.agent.Name, msg.ID)
	if !ok {
		turn = sdk.TaskID(c.newID())
	}
	msg.ID = string(turn) // however the UUID was written, the message is the same
	text, err := json.Marshal(msg)
	if err != nil {
		return Record{}, fmt.Errorf("encode message %s: %w", msg.ID, err)
	}
	id := turn
	if msg.TaskID != "" {
		id = msg.TaskID
	}
	sum := sha256.Sum256(text)
	now := c.now()
	return Record{
		Agent: c.agent.Name, ID: id, Lease: c.lease, Fence: 1,
		Turns: []Turn{{ID: msg.ID, Hash: hex.EncodeToString(sum[:])}},
		Task: &sdk.Task{
			ID: id, ContextID: msg.ContextID,
			Status:   sdk.TaskStatus{State: sdk.TaskStateWorking, Timestamp: &now},
			Metadata: map[string]any{metaAgent: c.agent.Name, metaDuration: 0, metaTokens: 0},
		},
	}, nil
}

// begin makes a message's turn ours, or returns what the task is otherwise. Of
// several callers at once one gets fresh.
func (c *core) begin(ctx context.Context, tasks Tasks, m Record, followUp bool) (r Record, fresh bool, err error) {
	if !followUp {
		r, err = tasks.Create(ctx, m)
		if err == nil {
			return r, true, nil
		} else if fault.KindOf(err) != fault.Conflict {
			return r, false, fmt.Errorf("begin task %s: %w", m.ID, err)
		}
	}
	for range raceTries {
		stored, err := c.find(ctx, tasks, m.ID)
		if err != nil {
			return Record{}, false, err
		}
		next, fresh, err := stored.take(m)
		if err != nil || !fresh {
			return next, false, err
		}
		r, err = tasks.Update(ctx, next)
		if err == nil {
			return r, true, nil
		} else if fault.KindOf(err) != fault.Conflict {
			return r, false, fmt.Errorf("take task %s: %w", m.ID, err)
		}
	}
	return Record{}, false, fault.New(fault.Unavailable, "the task is busy")
}

// run does the work of a turn that is ours and writes its end down, also when
// the caller has gone: it may have paid for the result, and asks again. A
// result that cannot be written down is answered all the same: the caller has
// it, and whoever asks again has it computed again.
func (c *core) run(ctx context.Context, tasks Tasks, r Record, req Request) *sdk.Task {
	ctx = context.WithoutCancel(ctx)
	start := c.now()
	out, err := c.work(ctx, tasks, &r, req)
	end := c.now()
	switch q, ok, bad := questionIn(err); {
	case err == nil:
		complete(r.Task, out)
	case ok && bad == nil:
		wait(r.Task, q)
	default:
		if ok {
			err = bad
		}
		r.Retry = fail(r.Task, err)
		c.log.WarnContext(ctx, "agent failed", slog.String("agent", r.Agent), slog.String("task", string(r.ID)),
			slog.String("kind", string(fault.KindOf(err))), slog.Any("error", err))
	}
	r.Task.SetMeta(metaDuration, end.Sub(start).Milliseconds())
	r.Task.Status.Timestamp = &end

	ctx, stop := context.WithTimeoutCause(ctx, saveTime, errors.New("time to save a task is up"))
	defer stop()
	stored, err := c.finish(ctx, tasks, r)
	if err != nil {
		c.log.ErrorContext(ctx, "task not saved", slog.String("agent", r.Agent), slog.String("task", string(r.ID)), slog.Any("error", err))
		return r.Task
	}
	return stored.Task
}

// finish stores the end of a turn and returns what is stored then: the first
// end wins.
func (c *core) finish(ctx context.Context, tasks Tasks, r Record) (Record, error) {
	for range raceTries {
		saved, err := tasks.Update(ctx, r)
		if fault.KindOf(err) != fault.Conflict {
			return saved, err
		}
		stored, err := tasks.Get(ctx, r.Agent, r.ID)
		if err != nil || !stored.yields(r) {
			return stored, err
		}
		r.Fence, r.Version = stored.Fence, stored.Version
	}
	return Record{}, fault.New(fault.Unavailable, "the task is busy")
}

// work calls the agent with its deadline, holds the task meanwhile, and leaves
// the last version of its record in r.
func (c *core) work(ctx context.Context, tasks Tasks, r *Record, req Request) (json.RawMessage, error) {
	ctx, stop := context.WithTimeoutCause(ctx, c.deadline, fault.New(fault.Timeout, "the agent ran out of time"))
	defer stop()
	ctx, release := c.hold(ctx, tasks, *r)
	out, err := c.serve(ctx, req)
	*r = release()
	return out, err
}

// serve calls the agent and turns a panic and a result that is no object into
// errors.
func (c *core) serve(ctx context.Context, req Request) (out json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.log.ErrorContext(ctx, "agent panicked", slog.String("agent", c.agent.Name), slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
			err = fault.New(fault.Internal, "panic in agent %s", c.agent.Name)
		}
	}()
	if out, err = c.agent.Serve(ctx, req); err != nil {
		return nil, err
	}
	// As the encoder of the store will write it, so that the first answer and
	// every later one are the same bytes.
	if out, err = json.Marshal(out); err != nil || first(out) != '{' {
		return nil, fault.Wrap(fault.Internal, err, "agent %s returned no JSON object", c.agent.Name)
	}
	return out, nil
}
