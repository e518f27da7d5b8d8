package docstore

import (
	"context"
	"time"

	"cloud.google.com/go/firestore"
	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/fault"
)

// Tasks keeps the tasks of agents: a task that any instance began, any other
// can answer for.
type Tasks struct {
	client *firestore.Client
}

var _ a2a.Tasks = (*Tasks)(nil)

// NewTasks returns a task store on client, which stays the caller's to close.
func NewTasks(client *firestore.Client) *Tasks { return &Tasks{client} }

// finishTries bounds how often Finish looks again after a lost race.
const finishTries = 10

// keep is how long a task stands after its last change; a TTL policy on
// expireAt removes it.
const keep = 90 * 24 * time.Hour

func taskRef(client *firestore.Client, agent string, id sdk.TaskID) *firestore.DocumentRef {
	return client.Collection("tasks").Doc(agent + "~" + string(id))
}

// taskDoc is the document of a task.
type taskDoc struct {
	Agent       string    `firestore:"agent"`
	RequestHash string    `firestore:"requestHash"`
	LeaseMS     int64     `firestore:"leaseMs"`
	Fence       int64     `firestore:"fence"`
	Retry       bool      `firestore:"retry"`
	State       string    `firestore:"state"`
	Task        []byte    `firestore:"task"`
	Encoding    string    `firestore:"taskEncoding"`
	ExpireAt    time.Time `firestore:"expireAt"`
}

func (t *Tasks) document(r a2a.Record) (*taskDoc, error) {
	b, err := a2a.EncodeTask(r.Task)
	if err != nil {
		return nil, err
	}
	packed, encoding, err := pack(b)
	if err != nil {
		return nil, err
	}
	d := &taskDoc{
		Agent: r.Agent, RequestHash: r.RequestHash, LeaseMS: r.Lease.Milliseconds(), Fence: r.Fence, Retry: r.Retry,
		State: r.Task.Status.State.String(), Task: packed, Encoding: encoding,
	}
	if ts := r.Task.Status.Timestamp; ts != nil {
		d.ExpireAt = ts.Add(keep)
	}
	return d, nil
}

func (d *taskDoc) fields() map[string]any {
	return map[string]any{
		"agent": d.Agent, "requestHash": d.RequestHash, "leaseMs": d.LeaseMS, "fence": d.Fence, "retry": d.Retry,
		"state": d.State, "task": d.Task, "taskEncoding": d.Encoding, "expireAt": d.ExpireAt,
	}
}

// get loads a record together with its version.
func (t *Tasks) get(ctx context.Context, agent string, id sdk.TaskID) (a2a.Record, time.Time, error) {
	doc, err := taskRef(t.client, agent, id).Get(ctx)
	if err != nil {
		return a2a.Record{}, time.Time{}, rpcFault(err, "task %s", id)
	}
	var d taskDoc
	if err := doc.DataTo(&d); err != nil {
		return a2a.Record{}, time.Time{}, fault.Wrap(fault.Internal, err, "task %s", id)
	}
	b, err := unpack(d.Task, d.Encoding)
	if err != nil {
		return a2a.Record{}, time.Time{}, err
	}
	task, err := a2a.DecodeTask(b)
	if err != nil {
		return a2a.Record{}, time.Time{}, err
	}
	r := a2a.Record{
		Agent: agent, ID: id, RequestHash: d.RequestHash, Lease: time.Duration(d.LeaseMS) * time.Millisecond,
		Fence: d.Fence, Retry: d.Retry, Task: task,
	}
	r.Lapsed = !task.Status.State.Terminal() && doc.ReadTime.Sub(doc.UpdateTime) > r.Lease
	return r, doc.UpdateTime, nil
}

// Begin implements a2a.Tasks.
func (t *Tasks) Begin(ctx context.Context, r a2a.Record) (a2a.Record, bool, error) {
	r.Fence, r.Retry, r.Lapsed = 1, false, false
	d, err := t.document(r)
	if err != nil {
		return a2a.Record{}, false, err
	}
	ref := taskRef(t.client, r.Agent, r.ID)
	if _, err := ref.Create(ctx, d.fields()); err == nil {
		return r, true, nil
	} else if err := rpcFault(err, "begin task %s", r.ID); fault.KindOf(err) != fault.Conflict {
		return a2a.Record{}, false, err
	}
	stored, version, err := t.get(ctx, r.Agent, r.ID)
	if err != nil {
		return a2a.Record{}, false, err
	}
	if stored.RequestHash != r.RequestHash {
		return a2a.Record{}, false, fault.New(fault.Conflict, "task %s belongs to another request", r.ID)
	}
	if !stored.Lapsed && !stored.Retry {
		return stored, false, nil
	}
	d.Fence = stored.Fence + 1
	if _, err := ref.Update(ctx, updates(d.fields()), firestore.LastUpdateTime(version)); err != nil {
		if err := rpcFault(err, "take over task %s", r.ID); fault.KindOf(err) != fault.Conflict {
			return a2a.Record{}, false, err
		}
		stored, _, err := t.get(ctx, r.Agent, r.ID) // another was faster
		return stored, false, err
	}
	r.Fence = d.Fence
	return r, true, nil
}

// Finish implements a2a.Tasks.
func (t *Tasks) Finish(ctx context.Context, r a2a.Record) (a2a.Record, error) {
	d, err := t.document(r)
	if err != nil {
		return a2a.Record{}, err
	}
	for range finishTries {
		stored, version, err := t.get(ctx, r.Agent, r.ID)
		if err != nil {
			return a2a.Record{}, err
		}
		if stored.Ended() || r.Retry && r.Fence < stored.Fence {
			return stored, nil
		}
		d.Fence = stored.Fence
		_, err = taskRef(t.client, r.Agent, r.ID).Update(ctx, updates(d.fields()), firestore.LastUpdateTime(version))
		if err == nil {
			r.Fence = d.Fence
			return r, nil
		}
		if err := rpcFault(err, "finish task %s", r.ID); fault.KindOf(err) != fault.Conflict {
			return a2a.Record{}, err
		}
	}
	return a2a.Record{}, fault.New(fault.Unavailable, "task %s is busy", r.ID)
}

// Get implements a2a.Tasks.
func (t *Tasks) Get(ctx context.Context, agent string, id sdk.TaskID) (a2a.Record, error) {
	r, _, err := t.get(ctx, agent, id)
	return r, err
}
