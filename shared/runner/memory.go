package runner

import (
	"container/list"
	"sync"
)

// memoryBytes bounds what an instance remembers of payloads.
const memoryBytes = 4 << 20

// memory remembers payloads that can never change: the input of a run and the
// results of finished steps. It saves reads and decides nothing: whatever it has
// forgotten, or a new instance never knew, is loaded again. Its zero value is
// ready.
type memory struct {
	mu    sync.Mutex // guards what follows
	bytes int
	order list.List // of *remembered, the latest used first
	byKey map[string]*list.Element
}

type remembered struct {
	key   string
	value any
	size  int
}

// get returns what is remembered under key.
func (m *memory) get(key string) (any, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.byKey[key]
	if e == nil {
		return nil, false
	}
	m.order.MoveToFront(e)
	return e.Value.(*remembered).value, true
}

// put remembers value, which takes about size bytes and is not changed any more.
// What was not used for longest is forgotten.
func (m *memory) put(key string, value any, size int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if size > memoryBytes/2 || m.byKey[key] != nil {
		return
	}
	if m.byKey == nil {
		m.byKey = map[string]*list.Element{}
	}
	m.byKey[key] = m.order.PushFront(&remembered{key, value, size})
	for m.bytes += size; m.bytes > memoryBytes; {
		oldest := m.order.Back()
		r := m.order.Remove(oldest).(*remembered)
		delete(m.byKey, r.key)
		m.bytes -= r.size
	}
}
