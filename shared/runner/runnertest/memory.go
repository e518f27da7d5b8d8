package runnertest

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// Memory keeps runs in memory, with what Firestore promises and what it forbids:
// versions are strictly growing times of its own clock, a commit is all or
// nothing under the versions that were read, and documents that production
// refuses (over 1 MiB, over 40,000 index entries, over 20 levels) are refused. It
// counts what would be billed and how often a document took more than one write a
// second. Documents are kept encoded: nobody shares memory with it.
type Memory struct {
	now func() time.Time

	// Watch, when set, is told every committed change, those of one commit
	// together, before the writer knows of it. It must not call the store.
	Watch func(changes []Revision)

	mu     sync.Mutex // guards what follows
	last   time.Time
	docs   map[string]Revision
	heats  map[string]*heat
	reads  map[string]int
	writes map[string]int
}

var (
	_ runner.Store  = (*Memory)(nil)
	_ runner.Finder = (*Memory)(nil)
)

// Revision is a document as it was committed. Fields must not be changed.
type Revision struct {
	Path    string
	Version time.Time
	Fields  json.RawMessage
}

// NewMemory returns an empty store whose server clock is now.
func NewMemory(now func() time.Time) *Memory {
	return &Memory{
		now: now, docs: map[string]Revision{}, heats: map[string]*heat{}, reads: map[string]int{}, writes: map[string]int{},
	}
}

// Documents lists the documents whose paths begin with prefix, by path.
func (m *Memory) Documents(prefix string) []Revision {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []Revision
	for _, path := range slices.Sorted(maps.Keys(m.docs)) {
		if strings.HasPrefix(path, prefix) {
			found = append(found, m.docs[path])
		}
	}
	return found
}

// Remove deletes the documents whose paths begin with prefix, as somebody does
// who is not the engine.
func (m *Memory) Remove(prefix string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.docs, func(path string, _ Revision) bool { return strings.HasPrefix(path, prefix) })
}

// Bill is how often documents were read and written, as billed: a document that
// was looked for and not found is a read, a refused commit costs nothing.
type Bill struct {
	Reads, Writes map[string]int // by path; queries stand under query/…
}

// Bill returns what has been billed so far.
func (m *Memory) Bill() Bill {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Bill{maps.Clone(m.reads), maps.Clone(m.writes)}
}

// Total returns the sums of a bill over all documents.
func (b Bill) Total() (reads, writes int) {
	for _, n := range b.Reads {
		reads += n
	}
	for _, n := range b.Writes {
		writes += n
	}
	return reads, writes
}

// Hot lists how many writes of each document came while it took more than one a
// second for ten seconds on end. Production slows such documents down.
func (m *Memory) Hot() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	hot := map[string]int{}
	for path, h := range m.heats {
		if h.excess > 0 {
			hot[path] = h.excess
		}
	}
	return hot
}

// serverTime is the time of the server's clock; commits never share one.
func (m *Memory) serverTime() time.Time {
	now := m.now().UTC().Truncate(time.Microsecond)
	if now.Before(m.last) {
		return m.last
	}
	return now
}

// get decodes a document into v. It returns when it was written and when it was
// read; there is false when it does not exist.
func (m *Memory) get(path string, v any) (version, readAt time.Time, there bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads[path]++
	d, there := m.docs[path]
	if there {
		decode(d.Fields, v)
	}
	return d.Version, m.serverTime(), there
}

// query returns the documents of a collection that keep holds for, by path.
func query[T any](m *Memory, collection string, keep func(Revision, *T) bool) []T {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []T
	for _, path := range slices.Sorted(maps.Keys(m.docs)) {
		name, ok := strings.CutPrefix(path, collection+"/")
		if !ok || strings.Contains(name, "/") {
			continue
		}
		var v T
		decode(m.docs[path].Fields, &v)
		if keep(m.docs[path], &v) {
			found = append(found, v)
		}
	}
	m.reads["query/"+collection] += max(1, len(found))
	return found
}

func decode(fields json.RawMessage, v any) {
	if err := json.Unmarshal(fields, v); err != nil {
		panic(err) // the store has encoded it itself
	}
}

// batch is a commit that is being prepared: nothing of it is seen before all of
// it is.
type batch struct {
	store  *Memory
	at     time.Time
	staged map[string]Revision
	order  []string
	err    error
}

// commit runs fill on an empty batch and applies it when nothing was refused. It
// returns the version of everything in it.
func (m *Memory) commit(ctx context.Context, fill func(*batch)) (time.Time, error) {
	if err := ctx.Err(); err != nil {
		return time.Time{}, fault.Wrap(fault.KindOf(err), err, "the write was given up")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b := &batch{store: m, at: m.serverTime(), staged: map[string]Revision{}}
	if !b.at.After(m.last) {
		b.at = m.last.Add(time.Microsecond)
	}
	fill(b)
	if b.err != nil {
		return time.Time{}, b.err
	}
	m.last = b.at
	changes := make([]Revision, len(b.order))
	for i, path := range b.order {
		changes[i] = b.staged[path]
		m.docs[path] = b.staged[path]
		m.writes[path]++
		if m.heats[path] == nil {
			m.heats[path] = &heat{}
		}
		m.heats[path].write(b.at)
	}
	if m.Watch != nil && len(changes) > 0 {
		m.Watch(changes)
	}
	return b.at, nil
}

func (b *batch) refuse(err error) {
	if b.err == nil {
		b.err = err
	}
}

// stored returns the document as this batch sees it.
func (b *batch) stored(path string) (Revision, bool) {
	if d, ok := b.staged[path]; ok {
		return d, true
	}
	d, ok := b.store.docs[path]
	return d, ok
}

// set writes a document whether it exists or not.
func (b *batch) set(path string, v any, size limits) {
	fields, err := json.Marshal(v)
	if err != nil {
		b.refuse(fault.Wrap(fault.Invalid, err, "encode %s", path))
		return
	}
	if err := size.check(path, fields); err != nil {
		b.refuse(err)
		return
	}
	if _, again := b.staged[path]; !again {
		b.order = append(b.order, path)
	}
	b.staged[path] = Revision{Path: path, Version: b.at, Fields: fields}
}

// put creates a document when version is zero and updates it otherwise, under
// that version.
func (b *batch) put(path string, version time.Time, v any, size limits) {
	d, there := b.stored(path)
	switch {
	case version.IsZero() && there:
		b.refuse(fault.New(fault.Conflict, "%s exists already", path))
	case version.IsZero():
		b.set(path, v, size)
	case !there:
		b.refuse(fault.New(fault.NotFound, "%s does not exist", path))
	case !d.Version.Equal(version):
		b.refuse(fault.New(fault.Conflict, "%s has changed meanwhile", path))
	default:
		b.set(path, v, size)
	}
}
