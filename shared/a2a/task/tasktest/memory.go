package tasktest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// StoreFinder is a store that finds what is in it.
type StoreFinder interface {
	task.Store
	task.Finder
}

// Memory keeps tasks in memory, encoded as a store would keep them. It is safe
// for concurrent use. Make one with NewMemory.
type Memory struct {
	now func() time.Time

	mu     sync.Mutex // guards what follows
	shelf  map[task.Ref]*item
	writes int64 // makes versions: no two writes share one, whatever the clock says
}

// item is a stored record.
type item struct {
	record  task.Record // without Task and Reply
	task    []byte
	reply   []byte
	log     [][]byte // event n is at n-1
	written time.Time

	// What a database would have an index for.
	state     sdk.TaskState
	contextID string
	at        time.Time // of the status
}

var _ StoreFinder = (*Memory)(nil)

// NewMemory returns an empty store that measures leases by now.
func NewMemory(now func() time.Time) *Memory {
	return &Memory{now: now, shelf: map[task.Ref]*item{}}
}

// Create implements task.Store.
func (m *Memory) Create(_ context.Context, r task.Record, log ...task.Entry) (task.Record, error) {
	next, err := pack(r, nil, log)
	if err != nil {
		return task.Record{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k := task.Ref{Agent: r.Agent, ID: r.ID}
	if _, ok := m.shelf[k]; ok {
		return task.Record{}, fault.New(fault.Conflict, "task %s exists", r.ID)
	}
	return m.put(k, next, r), nil
}

// Update implements task.Store.
func (m *Memory) Update(_ context.Context, r task.Record, log ...task.Entry) (task.Record, error) {
	k := task.Ref{Agent: r.Agent, ID: r.ID}
	m.mu.Lock()
	old := m.shelf[k]
	m.mu.Unlock()
	if old == nil || !old.record.Version.Equal(r.Version) {
		return task.Record{}, fault.New(fault.Conflict, "task %s changed meanwhile", r.ID)
	}
	next, err := pack(r, old.log, log)
	if err != nil {
		return task.Record{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.shelf[k] != old {
		return task.Record{}, fault.New(fault.Conflict, "task %s changed meanwhile", r.ID)
	}
	if len(log) == 0 && same(old, next) {
		r.Lapsed = false
		return r, nil // as Firestore does: a write that changes nothing is none
	}
	return m.put(k, next, r), nil
}

// put stores an item and returns its record. It is called with mu held.
func (m *Memory) put(k task.Ref, next *item, r task.Record) task.Record {
	m.writes++
	next.record.Version, next.written = time.Unix(0, m.writes), m.now()
	m.shelf[k] = next
	r.Version, r.Lapsed = next.record.Version, false
	return r
}

// pack encodes a record with its events behind those before.
func pack(r task.Record, before [][]byte, log []task.Entry) (*item, error) {
	text, err := task.EncodeTask(r.Task)
	if err != nil {
		return nil, err
	}
	next := &item{task: text, log: slices.Clip(before), state: r.Task.Status.State, contextID: r.Task.ContextID}
	if r.Task.Status.Timestamp != nil {
		next.at = *r.Task.Status.Timestamp
	}
	if r.Reply != nil {
		if next.reply, err = task.EncodeEvent(r.Reply); err != nil {
			return nil, err
		}
	}
	for _, e := range log {
		if e.Seq != int64(len(next.log))+1 {
			return nil, fault.New(fault.Internal, "event %d of task %s follows event %d", e.Seq, r.ID, len(next.log))
		}
		b, err := task.EncodeEvent(e.Event)
		if err != nil {
			return nil, err
		}
		next.log = append(next.log, b)
	}
	if r.Seq != int64(len(next.log)) {
		return nil, fault.New(fault.Internal, "task %s counts %d events, the log has %d", r.ID, r.Seq, len(next.log))
	}
	r.Task, r.Reply, r.Lapsed = nil, nil, false
	r.Turns, r.Hooks = slices.Clone(r.Turns), cloneHooks(r.Hooks)
	next.record = r
	return next, nil
}

func cloneHooks(hooks []task.Hook) []task.Hook {
	own := slices.Clone(hooks)
	for i := range own {
		if auth := own[i].Config.Auth; auth != nil {
			own[i].Config.Auth = new(*auth)
		}
	}
	return own
}

func same(a, b *item) bool {
	return bytes.Equal(a.task, b.task) && bytes.Equal(a.reply, b.reply) && reflect.DeepEqual(a.record, b.record)
}

// Get implements task.Store.
func (m *Memory) Get(_ context.Context, agent string, id sdk.TaskID) (task.Record, error) {
	m.mu.Lock()
	it := m.shelf[task.Ref{Agent: agent, ID: id}]
	m.mu.Unlock()
	if it == nil {
		return task.Record{}, fault.New(fault.NotFound, "no such task")
	}
	return m.open(it)
}

// open returns the record with a task of its own.
func (m *Memory) open(it *item) (r task.Record, err error) {
	r = it.record
	r.Turns, r.Hooks = slices.Clone(r.Turns), cloneHooks(r.Hooks)
	if r.Task, err = task.DecodeTask(it.task); err != nil {
		return r, err
	}
	if it.reply != nil {
		e, err := task.DecodeEvent(it.reply)
		if err != nil {
			return r, err
		}
		r.Reply, _ = e.(*sdk.Message)
	}
	r.Lapsed = r.AtWork() && m.now().Sub(it.written) > r.Lease
	return r, nil
}

// pageBytes is how much of a log is read at once: little, so that tests read on.
const pageBytes = 64 << 10

// Log implements task.Store.
func (m *Memory) Log(_ context.Context, agent string, id sdk.TaskID, after int64) ([]task.Entry, error) {
	m.mu.Lock()
	it := m.shelf[task.Ref{Agent: agent, ID: id}]
	m.mu.Unlock()
	if it == nil || after >= int64(len(it.log)) {
		return nil, nil
	}
	var log []task.Entry
	size := 0
	for i, b := range it.log[after:] {
		if size += len(b); size > pageBytes && i > 0 {
			break
		}
		e, err := task.DecodeEvent(b)
		if err != nil {
			return nil, err
		}
		log = append(log, task.Entry{Seq: after + int64(i) + 1, Event: e})
	}
	return log, nil
}

// cursor is where a page ends: behind the task of this id with this time.
type cursor struct {
	At time.Time  `json:"at"`
	ID sdk.TaskID `json:"id"`
}

// List implements task.Finder.
func (m *Memory) List(_ context.Context, q task.Query) (page task.Page, err error) {
	var from cursor
	if q.From != "" {
		b, err := base64.RawURLEncoding.DecodeString(q.From)
		if err == nil {
			err = json.Unmarshal(b, &from)
		}
		if err != nil || from.ID == "" {
			return page, fault.Wrap(fault.Invalid, err, "pageToken: it is no token of a page")
		}
	}
	items := m.find(q)
	page.Total = len(items)
	if q.From != "" {
		end := &item{record: task.Record{ID: from.ID}, at: from.At}
		items = items[sortedAfter(items, end):]
	}
	for i, it := range items {
		if i == q.Size {
			last := items[i-1]
			b, err := json.Marshal(cursor{last.at, last.record.ID})
			if err != nil {
				return page, fault.Wrap(fault.Internal, err, "encode a token")
			}
			page.Next = base64.RawURLEncoding.EncodeToString(b)
			break
		}
		r, err := m.open(it)
		if err != nil {
			return page, err
		}
		page.Records = append(page.Records, r)
	}
	return page, nil
}

// find returns what a query selects, in the order of lists.
func (m *Memory) find(q task.Query) []*item {
	m.mu.Lock()
	defer m.mu.Unlock()
	var items []*item
	for k, it := range m.shelf {
		if k.Agent == q.Agent && it.record.Owner == q.Owner && it.reply == nil &&
			(q.ContextID == "" || it.contextID == q.ContextID) && (q.State == "" || it.state == q.State) && !it.at.Before(q.After) {
			items = append(items, it)
		}
	}
	slices.SortFunc(items, newestFirst)
	return items
}

func newestFirst(a, b *item) int {
	return cmp.Or(b.at.Compare(a.at), strings.Compare(string(a.record.ID), string(b.record.ID)))
}

// sortedAfter returns how many items are not behind end.
func sortedAfter(items []*item, end *item) int {
	n, found := slices.BinarySearchFunc(items, end, newestFirst)
	if found {
		n++
	}
	return n
}

// Due implements task.Finder.
func (m *Memory) Due(_ context.Context, before time.Time, limit int) ([]task.Ref, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var items []*item
	for _, it := range m.shelf {
		if wake := it.record.Wake; !wake.IsZero() && wake.Before(before) {
			items = append(items, it)
		}
	}
	slices.SortFunc(items, func(a, b *item) int {
		return cmp.Or(a.record.Wake.Compare(b.record.Wake), strings.Compare(string(a.record.ID), string(b.record.ID)))
	})
	refs := make([]task.Ref, min(limit, len(items)))
	for i := range refs {
		refs[i] = task.Ref{Agent: items[i].record.Agent, ID: items[i].record.ID}
	}
	return refs, nil
}
