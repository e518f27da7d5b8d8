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
	metaErrorKind = "error_kind"
	metaRetryable = "retryable"

	leaseMargin = 10 * time.Second // beyond the deadline: time to write the result down
	saveTime    = 10 * time.Second // for writing a result down after the caller left
)

// core runs an agent on messages of any dialect and keeps its tasks.
type core struct {
	agent    Agent
	tasks    func() (Tasks, error)
	now      func() time.Time
	newID    func() string
	deadline time.Duration
	log      *slog.Logger
}

// get returns a stored task. A task whose worker died is told as failed, and
// to be sent again, since nobody will ever finish it otherwise.
func (c *core) get(ctx context.Context, id sdk.TaskID) (*sdk.Task, error) {
	tasks, err := c.tasks()
	if err != nil {
		return nil, fmt.Errorf("open the task store: %w", err)
	}
	r, err := tasks.Get(ctx, c.agent.Name, id)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return nil, fault.Wrap(fault.NotFound, err, "no such task")
	case err != nil:
		return nil, fmt.Errorf("get task %s: %w", id, err)
	case r.Lapsed:
		fail(r.Task, fault.New(fault.Unavailable, "the work was interrupted; send the message again"))
	}
	return r.Task, nil
}

// send runs the agent on a message, unless the message was seen before.
func (c *core) send(ctx context.Context, msg *sdk.Message) (*sdk.Task, error) {
	req, err := requestOf(msg)
	if err != nil {
		return nil, err
	}
	req.ReceivedAt = c.now()
	if msg.ContextID == "" {
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
	stored, fresh, err := tasks.Begin(ctx, r)
	switch {
	case fault.KindOf(err) == fault.Conflict:
		return nil, fault.Wrap(fault.Invalid, err, "id: it was used for another message already")
	case err != nil:
		return nil, fmt.Errorf("begin task %s: %w", r.ID, err)
	case !fresh:
		return stored.Task, nil
	}
	return c.run(ctx, tasks, stored, req), nil
}

// record is the task of a message before any work. A message whose id is a
// UUID always has the same task: such ids are unique by construction, while
// careless callers send 1 again and again.
func (c *core) record(msg *sdk.Message) (Record, error) {
	id, ok := TaskID(c.agent.Name, msg.ID)
	if !ok {
		id = sdk.TaskID(c.newID())
	}
	msg.ID = string(id) // however the UUID was written, the message is the same
	text, err := json.Marshal(msg)
	if err != nil {
		return Record{}, fmt.Errorf("encode message %s: %w", msg.ID, err)
	}
	sum := sha256.Sum256(text)
	now := c.now()
	return Record{
		Agent: c.agent.Name, ID: id, RequestHash: hex.EncodeToString(sum[:]),
		Lease: c.deadline + leaseMargin,
		Task: &sdk.Task{
			ID: id, ContextID: msg.ContextID,
			Status:   sdk.TaskStatus{State: sdk.TaskStateWorking, Timestamp: &now},
			Metadata: map[string]any{metaAgent: c.agent.Name, metaDuration: 0, metaTokens: 0},
		},
	}, nil
}

// run does the work of a task that is ours and writes its end down, also when
// the caller has gone. A result that cannot be written down is answered all the
// same: the caller has it, and whoever asks again has it computed again.
func (c *core) run(ctx context.Context, tasks Tasks, r Record, req Request) *sdk.Task {
	start := c.now()
	out, err := c.serve(ctx, req)
	end := c.now()
	r.Task.SetMeta(metaDuration, end.Sub(start).Milliseconds())
	r.Task.Status.Timestamp = &end
	if err == nil {
		r.Task.Status.State = sdk.TaskStateCompleted
		r.Task.Artifacts = []*sdk.Artifact{{ID: resultName, Name: resultName, Parts: sdk.ContentParts{sdk.NewDataPart(out)}}}
	} else {
		r.Retry = fail(r.Task, err)
		c.log.WarnContext(ctx, "agent failed", slog.String("agent", r.Agent), slog.String("task", string(r.ID)),
			slog.String("kind", string(fault.KindOf(err))), slog.Any("error", err))
	}

	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), saveTime, errors.New("time to save a task is up"))
	defer cancel()
	stored, err := tasks.Finish(ctx, r)
	if err != nil {
		c.log.ErrorContext(ctx, "task not saved", slog.String("agent", r.Agent), slog.String("task", string(r.ID)), slog.Any("error", err))
		return r.Task
	}
	return stored.Task
}

// serve calls the agent with its deadline and turns a panic and a result that
// is no object into errors.
func (c *core) serve(ctx context.Context, req Request) (out json.RawMessage, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.deadline, fault.New(fault.Timeout, "the agent ran out of time"))
	defer cancel()
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

// fail ends a task and reports whether the same message may succeed later. A
// request cut off by the caller or by the end of the instance may.
func fail(t *sdk.Task, err error) (retryable bool) {
	kind, text := fault.KindOf(err), fault.Public(err)
	if kind == fault.Canceled {
		kind, text = fault.Unavailable, "the work was interrupted; send the message again"
	}
	t.Status.State = sdk.TaskStateFailed
	t.Status.Message = &sdk.Message{ID: string(t.ID), Role: sdk.MessageRoleAgent, Parts: sdk.ContentParts{sdk.NewTextPart(text)}}
	t.SetMeta(metaErrorKind, string(kind))
	t.SetMeta(metaRetryable, kind.Transient())
	return kind.Transient()
}

// controls are the members of a data part that are not input of the agent.
var controls = []string{"estimate_id", "critic_feedback", "retry_attempt", "previous_agents"}

// requestOf reads the request from the first data part of a message. Without a
// member input, the input is the data less the control members.
func requestOf(msg *sdk.Message) (Request, error) {
	for i, p := range msg.Parts {
		raw, ok := p.Data().(json.RawMessage)
		if !ok {
			continue
		}
		path := fmt.Sprintf("params.message.parts[%d].data", i)
		var req Request
		if err := json.Unmarshal(raw, &req); err != nil {
			if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
				return Request{}, fault.Wrap(fault.Invalid, err, "%s.%s: want %s, got %s", path, wrong.Field, wrong.Type, wrong.Value)
			}
			return Request{}, fault.Wrap(fault.Invalid, err, "%s: want the members of a request", path)
		}
		switch {
		case req.EstimateID == "":
			return Request{}, fault.New(fault.Invalid, "%s.estimate_id: want a string that is not empty", path)
		case req.Attempt < 0:
			return Request{}, fault.New(fault.Invalid, "%s.retry_attempt: want 0 or more", path)
		}
		data, _ := object(raw)
		if data.has("input") {
			return req, nil
		}
		for _, name := range controls {
			delete(data, name)
		}
		delete(data, "input")
		var err error
		if req.Input, err = json.Marshal(data); err != nil {
			return Request{}, fmt.Errorf("encode the input: %w", err)
		}
		return req, nil
	}
	return Request{}, fault.New(fault.Invalid, "params.message.parts: want a part of type data")
}

// forgetful is the store of an agent that keeps no tasks.
type forgetful struct{}

func (forgetful) Begin(_ context.Context, r Record) (Record, bool, error) {
	r.Fence = 1
	return r, true, nil
}

func (forgetful) Finish(_ context.Context, r Record) (Record, error) { return r, nil }

func (forgetful) Get(_ context.Context, agent string, _ sdk.TaskID) (Record, error) {
	return Record{}, fault.New(fault.NotFound, "%s keeps no tasks", agent)
}
