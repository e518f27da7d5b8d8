package docstore

import (
	"context"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/firestore"
	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/fault"
)

// FormerTasks keeps the tasks of agents: a task that any instance began, any other
// can answer for.
type FormerTasks struct {
	client *firestore.Client
}

var _ a2a.Tasks = (*FormerTasks)(nil)

// NewFormerTasks returns a task store on client, which stays the caller's to close.
func NewFormerTasks(client *firestore.Client) *FormerTasks { return &FormerTasks{client} }

// keep is how long a task stands after its last change; a TTL policy on
// expireAt removes it.
const keep = 90 * 24 * time.Hour

// formerDoc is the document of a task.
type formerDoc struct {
	Agent    string     `firestore:"agent"`
	Turns    []a2a.Turn `firestore:"turns"`
	LeaseMS  int64      `firestore:"leaseMs"`
	Fence    int64      `firestore:"fence"`
	Beats    int        `firestore:"beats"`
	Retry    bool       `firestore:"retry"`
	State    string     `firestore:"state"`
	Task     []byte     `firestore:"task"`
	Encoding string     `firestore:"taskEncoding"`
	Blob     *blobRef   `firestore:"taskBlob"`
	ExpireAt time.Time  `firestore:"expireAt"`
}

// taskFields returns the fields of a task's document, and the task in JSON. What
// does not fit into the document is written beside it first.
func (t *FormerTasks) taskFields(ctx context.Context, r a2a.Record) (fields map[string]any, text []byte, err error) {
	text, err = a2a.EncodeTask(r.Task)
	if err != nil {
		return nil, nil, err
	}
	held, beside, err := hold(taskRef(t.client, r.Agent, r.ID), taskBlob, text, maxPayload)
	if err != nil {
		return nil, nil, err
	}
	var expire time.Time
	if ts := r.Task.Status.Timestamp; ts != nil {
		expire = ts.Add(keep)
	}
	if beside != nil {
		beside.expire = &expire
		if err := New(t.client).putBlob(ctx, beside); err != nil {
			return nil, nil, err
		}
	}
	return map[string]any{
		"agent": r.Agent, "turns": r.Turns, "leaseMs": r.Lease.Milliseconds(), "fence": r.Fence, "beats": r.Beats,
		"retry": r.Retry, "state": r.Task.Status.State.String(), "task": held.Bytes, "taskEncoding": held.Encoding, "taskBlob": held.Blob, "expireAt": expire,
	}, text, nil
}

func (t *FormerTasks) load(ctx context.Context, doc *firestore.DocumentSnapshot, agent string, id sdk.TaskID) (a2a.Record, error) {
	var d formerDoc
	if err := doc.DataTo(&d); err != nil {
		return a2a.Record{}, fault.Wrap(fault.Internal, err, "task %s", id)
	}
	b, err := New(t.client).payload(ctx, doc.Ref, taskBlob, payload{d.Task, d.Encoding, d.Blob})
	if err != nil {
		return a2a.Record{}, err
	}
	task, err := a2a.DecodeTask(b)
	if err != nil {
		return a2a.Record{}, err
	}
	r := a2a.Record{
		Agent: agent, ID: id, Turns: d.Turns, Lease: time.Duration(d.LeaseMS) * time.Millisecond,
		Fence: d.Fence, Beats: d.Beats, Retry: d.Retry, Version: doc.UpdateTime, Task: task,
	}
	r.Lapsed = r.AtWork() && doc.ReadTime.Sub(doc.UpdateTime) > r.Lease
	return r, nil
}

// Create implements a2a.Tasks.
func (t *FormerTasks) Create(ctx context.Context, r a2a.Record) (a2a.Record, error) {
	fields, text, err := t.taskFields(ctx, r)
	if err != nil {
		return a2a.Record{}, err
	}
	result, err := taskRef(t.client, r.Agent, r.ID).Create(ctx, fields)
	if err != nil {
		return a2a.Record{}, rpcFault(err, "create task %s", r.ID)
	}
	return written(r, text, result.UpdateTime)
}

// Update implements a2a.Tasks.
func (t *FormerTasks) Update(ctx context.Context, r a2a.Record) (a2a.Record, error) {
	fields, text, err := t.taskFields(ctx, r)
	if err != nil {
		return a2a.Record{}, err
	}
	result, err := taskRef(t.client, r.Agent, r.ID).Update(ctx, updates(fields), firestore.LastUpdateTime(r.Version))
	if err != nil {
		return a2a.Record{}, rpcFault(err, "update task %s", r.ID)
	}
	return written(r, text, result.UpdateTime)
}

// written returns what a reader of r would get now: a copy.
func written(r a2a.Record, text []byte, version time.Time) (a2a.Record, error) {
	task, err := a2a.DecodeTask(text)
	r.Turns, r.Task, r.Version, r.Lapsed = slices.Clone(r.Turns), task, version, false
	return r, err
}

// Get implements a2a.Tasks.
func (t *FormerTasks) Get(ctx context.Context, agent string, id sdk.TaskID) (a2a.Record, error) {
	if strings.Contains(string(id), "/") || len(id) > maxTaskID {
		return a2a.Record{}, fault.New(fault.NotFound, "task: no document can have that name")
	}
	doc, err := taskRef(t.client, agent, id).Get(ctx)
	if err != nil {
		return a2a.Record{}, rpcFault(err, "task %s", id)
	}
	return t.load(ctx, doc, agent, id)
}
