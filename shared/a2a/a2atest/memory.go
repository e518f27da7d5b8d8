package a2atest

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/fault"
)

// Memory keeps tasks in memory, encoded as a store would keep them. It is safe
// for concurrent use. Make one with NewMemory.
type Memory struct {
	now func() time.Time

	mu      sync.Mutex // guards what follows
	records map[key]entry
	writes  int64 // makes versions: no two writes share one, whatever the clock says
}

type key struct {
	agent string
	id    sdk.TaskID
}

type entry struct {
	record  a2a.Record // without Task
	task    []byte
	written time.Time
}

var _ a2a.Tasks = (*Memory)(nil)

// NewMemory returns an empty store that measures leases by now.
func NewMemory(now func() time.Time) *Memory {
	return &Memory{now: now, records: map[key]entry{}}
}

// Create implements a2a.Tasks.
func (m *Memory) Create(_ context.Context, r a2a.Record) (a2a.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.records[key{r.Agent, r.ID}]; ok {
		return a2a.Record{}, fault.New(fault.Conflict, "task %s exists", r.ID)
	}
	return m.put(r)
}

// Update implements a2a.Tasks.
func (m *Memory) Update(_ context.Context, r a2a.Record) (a2a.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.records[key{r.Agent, r.ID}]; !ok || !old.record.Version.Equal(r.Version) {
		return a2a.Record{}, fault.New(fault.Conflict, "task %s changed meanwhile", r.ID)
	}
	return m.put(r)
}

// Get implements a2a.Tasks.
func (m *Memory) Get(_ context.Context, agent string, id sdk.TaskID) (a2a.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.records[key{agent, id}]
	if !ok {
		return a2a.Record{}, fault.New(fault.NotFound, "no such task")
	}
	r, err := e.open()
	r.Lapsed = err == nil && r.AtWork() && m.now().Sub(e.written) > r.Lease
	return r, err
}

// put stores r and returns a copy of it. It is called with mu held.
func (m *Memory) put(r a2a.Record) (a2a.Record, error) {
	task, err := a2a.EncodeTask(r.Task)
	if err != nil {
		return a2a.Record{}, err
	}
	r.Task, r.Lapsed, r.Turns = nil, false, slices.Clone(r.Turns)
	k := key{r.Agent, r.ID}
	if old, ok := m.records[k]; ok && reflect.DeepEqual(old.record, r) && bytes.Equal(old.task, task) {
		return old.open() // as Firestore does: a write that changes nothing is none
	}
	m.writes++
	r.Version = time.Unix(0, m.writes)
	e := entry{record: r, task: task, written: m.now()}
	m.records[k] = e
	return e.open()
}

// open returns the record with a task of its own.
func (e entry) open() (a2a.Record, error) {
	task, err := a2a.DecodeTask(e.task)
	if err != nil {
		return a2a.Record{}, err
	}
	r := e.record
	r.Task, r.Turns = task, slices.Clone(r.Turns)
	return r, nil
}
