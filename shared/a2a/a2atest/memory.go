package a2atest

import (
	"context"
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

	mu      sync.Mutex // guards records
	records map[key]entry
}

type key struct {
	agent string
	id    sdk.TaskID
}

type entry struct {
	record a2a.Record // without Task
	task   []byte
	begun  time.Time
}

var _ a2a.Tasks = (*Memory)(nil)

// NewMemory returns an empty store that measures leases by now.
func NewMemory(now func() time.Time) *Memory {
	return &Memory{now: now, records: map[key]entry{}}
}

// Begin implements a2a.Tasks.
func (m *Memory) Begin(_ context.Context, r a2a.Record) (a2a.Record, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := key{r.Agent, r.ID}
	r.Fence, r.Retry = 1, false
	if old, ok := m.records[k]; ok {
		stored, err := m.open(old)
		switch {
		case err != nil:
			return a2a.Record{}, false, err
		case stored.RequestHash != r.RequestHash:
			return a2a.Record{}, false, fault.New(fault.Conflict, "task %s belongs to another request", r.ID)
		case !stored.Lapsed && !stored.Retry:
			return stored, false, nil
		}
		r.Fence = stored.Fence + 1
	}
	stored, err := m.put(k, r, m.now())
	return stored, true, err
}

// Finish implements a2a.Tasks.
func (m *Memory) Finish(_ context.Context, r a2a.Record) (a2a.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := key{r.Agent, r.ID}
	old, ok := m.records[k]
	if !ok {
		return a2a.Record{}, fault.New(fault.NotFound, "no such task")
	}
	stored, err := m.open(old)
	if err != nil || stored.Ended() || r.Retry && r.Fence < stored.Fence {
		return stored, err
	}
	r.Fence = stored.Fence
	return m.put(k, r, old.begun)
}

// Get implements a2a.Tasks.
func (m *Memory) Get(_ context.Context, agent string, id sdk.TaskID) (a2a.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.records[key{agent, id}]
	if !ok {
		return a2a.Record{}, fault.New(fault.NotFound, "no such task")
	}
	return m.open(e)
}

// put stores r and returns a copy of it. It is called with mu held.
func (m *Memory) put(k key, r a2a.Record, begun time.Time) (a2a.Record, error) {
	task, err := a2a.EncodeTask(r.Task)
	if err != nil {
		return a2a.Record{}, err
	}
	r.Task, r.Lapsed = nil, false
	m.records[k] = entry{record: r, task: task, begun: begun}
	return m.open(m.records[k])
}

func (m *Memory) open(e entry) (a2a.Record, error) {
	task, err := a2a.DecodeTask(e.task)
	if err != nil {
		return a2a.Record{}, err
	}
	r := e.record
	r.Task = task
	r.Lapsed = !task.Status.State.Terminal() && m.now().Sub(e.begun) > r.Lease
	return r, nil
}
