package docstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cloud.google.com/go/firestore"
	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// Tasks keeps the tasks of agents and the events in them: a task that any
// instance began, any other can answer for.
type Tasks struct {
	store *Store
	all   *firestore.CollectionRef
}

var (
	_ task.Store  = (*Tasks)(nil)
	_ task.Finder = (*Tasks)(nil)
)

// NewTasks returns a task store on client, which stays the caller's to close.
func NewTasks(client *firestore.Client) *Tasks {
	return &Tasks{New(client), client.Collection("tasks")}
}

// How long tasks stand after their last change, and events after they happened.
// Events go first, by more than a TTL policy may be late: a message that is sent
// again when its task is gone begins it anew, and finds no events of the old one.
const (
	taskKept  = 90 * 24 * time.Hour
	eventKept = taskKept - 10*24*time.Hour
)

// maxTaskID is how long the id of a task may be, in bytes. Ids come from outside;
// ours are UUIDs, and a document's name has 1,500 bytes at most.
const maxTaskID = 1000

func (t *Tasks) ref(agent string, id sdk.TaskID) *firestore.DocumentRef {
	return t.all.Doc(agent + "~" + string(id))
}

// taskDoc is the document of a task. A document of before tasks had logs has
// neither owner nor what follows Retry but for State and the task itself.
type taskDoc struct {
	Turns    []task.Turned `firestore:"turns"`
	LeaseMS  int64         `firestore:"leaseMs"`
	Fence    int64         `firestore:"fence"`
	Beats    int           `firestore:"beats"`
	Retry    bool          `firestore:"retry"`
	Owner    string        `firestore:"owner"`
	Queued   bool          `firestore:"queued"`
	Tries    int           `firestore:"tries"`
	Seq      int64         `firestore:"seq"`
	Hooks    []byte        `firestore:"hooks"`
	Wake     time.Time     `firestore:"wake"`
	Reply    []byte        `firestore:"reply"`
	Task     []byte        `firestore:"task"`
	Encoding string        `firestore:"taskEncoding"`
	Blob     *blobRef      `firestore:"taskBlob"`
}

// taskBlob names the parts of a task that does not fit into its document.
const taskBlob = "task"

// taskWrite is a record on its way into the store.
type taskWrite struct {
	ref    *firestore.DocumentRef
	fields map[string]any
	gone   []string // fields that the document is not to have
	blobs  []*blob  // to be written before the commit
	events *eventsDoc
	first  int64 // number of the first event in events
	copy   task.Record
}

// write prepares the commit of a record with its new events.
func (t *Tasks) write(r *task.Record, log []task.Entry) (*taskWrite, error) {
	text, err := task.EncodeTask(r.Task)
	if err != nil {
		return nil, err
	}
	w := &taskWrite{ref: t.ref(r.Agent, r.ID)}
	held, err := w.hold(taskBlob, text, expiryOf(r, taskKept))
	if err != nil {
		return nil, err
	}
	w.fields = map[string]any{
		"agent": r.Agent, "turns": r.Turns, "leaseMs": r.Lease.Milliseconds(), "fence": r.Fence, "beats": r.Beats, "retry": r.Retry,
		"owner": r.Owner, "contextId": r.Task.ContextID, "state": r.Task.Status.State.String(), "queued": r.Queued, "tries": r.Tries, "seq": r.Seq,
		"task": held.Bytes, "taskEncoding": held.Encoding, "taskBlob": held.Blob, "expireAt": expiryOf(r, taskKept),
	}
	if w.copy, err = copyOf(r, text); err != nil {
		return nil, err
	}
	if err := w.optional(r); err != nil {
		return nil, err
	}
	return w, w.log(r, log)
}

// optional adds the fields that only some tasks have: one without a wake is not
// due, and one without a status time is not listed.
func (w *taskWrite) optional(r *task.Record) error {
	put := func(name string, value any, there bool) {
		if there {
			w.fields[name] = value
		} else {
			w.gone = append(w.gone, name)
		}
	}
	hooks, err := json.Marshal(r.Hooks)
	if err != nil {
		return fmt.Errorf("encode the hooks of task %s: %w", r.ID, err)
	}
	put("hooks", hooks, len(r.Hooks) > 0)
	put("wake", r.Wake, !r.Wake.IsZero())
	at := r.Task.Status.Timestamp
	put("statusTime", at, at != nil && r.Reply == nil)
	if r.Reply == nil {
		w.gone = append(w.gone, "reply")
		return nil
	}
	reply, err := task.EncodeEvent(r.Reply)
	if err != nil {
		return err
	}
	if len(reply) > maxReply {
		return fault.New(fault.Invalid, "the agent's message is too large to store: %d bytes, %d at most", len(reply), maxReply)
	}
	w.fields["reply"] = reply
	return nil
}

// Firestore takes 1 MiB a document. A message in the place of a task is small
// talk; the task beside it is small then.
const (
	maxReply = 400 << 10
	maxHeld  = 500 << 10 // packed, of the task, and of the events of one commit
)

// hold prepares a payload for a document of the task.
func (w *taskWrite) hold(name string, data []byte, expire *time.Time) (payload, error) {
	held, beside, err := hold(w.ref, name, data, maxHeld)
	if err != nil {
		return payload{}, err
	}
	if beside != nil {
		beside.expire = expire
		w.blobs = append(w.blobs, beside)
	}
	return held, nil
}

// expiryOf returns when a TTL policy removes what is kept so long of a record;
// nil, never, of what has no time.
func expiryOf(r *task.Record, kept time.Duration) *time.Time {
	if r.Task.Status.Timestamp == nil {
		return nil
	}
	return new(r.Task.Status.Timestamp.Add(kept))
}

// commit writes everything; with a version, in the place of the record of that
// version. What does not fit into a document is written beside it first.
func (t *Tasks) commit(ctx context.Context, w *taskWrite, version time.Time) (task.Record, error) {
	for _, b := range w.blobs {
		if err := t.store.putBlob(ctx, b); err != nil {
			return task.Record{}, err
		}
	}
	writes := t.store.client.Batch() //nolint:staticcheck // see batch
	if version.IsZero() {
		writes.Create(w.ref, w.fields)
	} else {
		for _, name := range w.gone {
			w.fields[name] = firestore.Delete
		}
		writes.Update(w.ref, updates(w.fields), firestore.LastUpdateTime(version))
	}
	if w.events != nil {
		writes.Create(eventsRef(w.ref, w.first), w.events)
	}
	results, err := writes.Commit(ctx)
	if err != nil {
		return task.Record{}, rpcFault(err, "write task %s", w.ref.ID)
	}
	w.copy.Version = results[0].UpdateTime
	return w.copy, nil
}

// Create implements task.Store. One write, one more with events.
func (t *Tasks) Create(ctx context.Context, r task.Record, log ...task.Entry) (task.Record, error) {
	w, err := t.write(&r, log)
	if err != nil {
		return task.Record{}, err
	}
	return t.commit(ctx, w, time.Time{})
}

// Update implements task.Store. One write, one more with events.
func (t *Tasks) Update(ctx context.Context, r task.Record, log ...task.Entry) (task.Record, error) {
	if r.Version.IsZero() {
		return task.Record{}, fault.New(fault.Conflict, "task %s was not read before", r.ID)
	}
	w, err := t.write(&r, log)
	if err != nil {
		return task.Record{}, err
	}
	return t.commit(ctx, w, r.Version)
}

// copyOf returns what a reader of r would get, but for the version.
func copyOf(r *task.Record, text []byte) (task.Record, error) {
	c := *r
	c.Turns, c.Hooks, c.Lapsed, c.Version = slices.Clone(r.Turns), nil, false, time.Time{}
	var err error
	if c.Task, err = task.DecodeTask(text); err != nil {
		return c, err
	}
	if len(r.Hooks) > 0 {
		if err := reencode(r.Hooks, &c.Hooks); err != nil {
			return c, fmt.Errorf("hooks of task %s: %w", r.ID, err)
		}
	}
	if r.Reply != nil {
		c.Reply, err = replyOf(task.EncodeEvent(r.Reply))
	}
	return c, err
}

func reencode(from, to any) error {
	b, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	return err //nolint:wrapcheck // the caller says of what
}

func replyOf(b []byte, err error) (*sdk.Message, error) {
	if err != nil {
		return nil, err
	}
	e, err := task.DecodeEvent(b)
	m, ok := e.(*sdk.Message)
	if err == nil && !ok {
		err = fault.New(fault.Internal, "the reply of a task is %T", e)
	}
	return m, err
}

// Get implements task.Store. One read, and one per part where the task does not
// fit into its document.
func (t *Tasks) Get(ctx context.Context, agent string, id sdk.TaskID) (task.Record, error) {
	if !nameable(id) {
		return task.Record{}, fault.New(fault.NotFound, "task: no document can have that name")
	}
	doc, err := t.ref(agent, id).Get(ctx)
	if err != nil {
		return task.Record{}, rpcFault(err, "task %s", id)
	}
	r, _, err := t.load(ctx, doc)
	return r, err
}

// nameable reports whether a document can have the id of a task in its name.
func nameable(id sdk.TaskID) bool {
	return !strings.Contains(string(id), "/") && len(id) <= maxTaskID && utf8.ValidString(string(id))
}

// load reads a document, whose name says which task of which agent it is, and how
// many bytes of JSON the task has.
func (t *Tasks) load(ctx context.Context, doc *firestore.DocumentSnapshot) (r task.Record, size int, err error) {
	var d taskDoc
	if err := doc.DataTo(&d); err != nil {
		return r, 0, fault.Wrap(fault.Internal, err, "task %s", doc.Ref.ID)
	}
	agent, id, _ := strings.Cut(doc.Ref.ID, "~")
	r = task.Record{
		Agent: agent, ID: sdk.TaskID(id), Owner: d.Owner, Turns: d.Turns, Lease: time.Duration(d.LeaseMS) * time.Millisecond,
		Fence: d.Fence, Beats: d.Beats, Retry: d.Retry, Queued: d.Queued, Tries: d.Tries, Seq: d.Seq, Wake: d.Wake, Version: doc.UpdateTime,
	}
	b, err := t.store.payload(ctx, doc.Ref, taskBlob, payload{d.Task, d.Encoding, d.Blob})
	if err != nil {
		return r, 0, err
	}
	if r.Task, err = task.DecodeTask(b); err != nil {
		return r, 0, err
	}
	if len(d.Reply) > 0 {
		if r.Reply, err = replyOf(d.Reply, nil); err != nil {
			return r, 0, err
		}
	}
	if len(d.Hooks) > 0 {
		if err := json.Unmarshal(d.Hooks, &r.Hooks); err != nil {
			return r, 0, fault.Wrap(fault.Internal, err, "hooks of task %s", doc.Ref.ID)
		}
	}
	r.Lapsed = r.AtWork() && doc.ReadTime.Sub(doc.UpdateTime) > r.Lease
	return r, len(b), nil
}
