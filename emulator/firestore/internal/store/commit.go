package store

import (
	"context"
	"strings"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"

	"truecost.dev/emulator/firestore/internal/value"
)

// Committed is what a commit did.
type Committed struct {
	Results []*pb.WriteResult // parallel to the writes
	At      int64             // commit time in microseconds
	Written int               // writes that set fields, also those that changed nothing
	Deleted int               // deletes, also those of missing documents
}

// Commit applies writes to the database with that root atomically. A transaction
// (nil for none) is over afterwards, whatever the outcome. It waits for
// transactions that have read what it writes and returns ABORTED when that takes
// too long or cannot end, and INTERNAL when the journal does not take it. Nobody
// sees a commit before it is in the journal.
func (s *Store) Commit(ctx context.Context, root string, writes []*pb.Write, transaction []byte) (*Committed, error) {
	batch, err := prepareAll(root, writes)
	s.mu.Lock()
	defer s.mu.Unlock()
	tx, txErr := s.end(transaction)
	if tx != nil {
		defer s.locks.release(tx)
	}
	if err != nil {
		return nil, err
	}
	if txErr != nil {
		return nil, txErr
	}
	if tx != nil && tx.readOnly && len(batch) > 0 {
		return nil, invalid("Cannot modify entities in a read-only transaction.")
	}
	if err := s.lockExclusive(ctx, tx, batch); err != nil {
		return nil, err
	}
	if tx != nil && len(batch) > 0 {
		if err := s.validate(tx); err != nil {
			return nil, err
		}
	}
	return s.apply(batch)
}

// prepareAll reads the writes of one commit. It returns INVALID_ARGUMENT when one
// of them, or their sequence, could not be applied to any documents.
func prepareAll(root string, writes []*pb.Write) ([]*mutation, error) {
	batch := make([]*mutation, len(writes))
	last := make(map[string]*mutation, len(writes))
	base := make(map[string]int64) // the update time that the writes of a document agree on
	for i, w := range writes {
		m, err := prepare(w)
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(m.name, root+"/") {
			return nil, invalid("Document name \"" + m.name + "\" does not lie in \"" + root + "\".")
		}
		batch[i] = m
		if m.action == verify {
			continue
		}
		if err := m.follows(last[m.name]); err != nil {
			return nil, err
		}
		if want := m.current.GetUpdateTime(); want != nil {
			if last[m.name] != nil && base[m.name] != value.Micros(want) {
				return nil, invalid("Cannot collapse mutations with different version preconditions.")
			}
			base[m.name] = value.Micros(want)
		}
		last[m.name] = m
	}
	return batch, nil
}

// follows refuses a precondition that the write before it on the same document
// (nil for none) has made impossible or idle.
func (m *mutation) follows(before *mutation) error {
	if before == nil {
		return nil
	}
	if exists, said := m.expects(); said && exists == (before.action == remove) {
		return invalid("Cannot " + before.kind() + " then " + m.kind() + " an entity in the same request.")
	}
	return nil
}

// expects tells whether the precondition wants the document to exist, if it
// says anything about that.
func (m *mutation) expects() (exists, said bool) {
	switch c := m.current.GetConditionType().(type) {
	case *pb.Precondition_Exists:
		return c.Exists, true
	case *pb.Precondition_UpdateTime:
		return true, true
	default:
		return false, false
	}
}

// kind is the name of a write by what it expects of its document.
func (m *mutation) kind() string {
	exists, said := m.expects()
	switch {
	case m.action == remove:
		return "delete"
	case !said:
		return "upsert"
	case exists:
		return "update"
	default:
		return "insert"
	}
}

// staged is a document on its way through the writes of one commit.
type staged struct{ before, after *pb.Document }

// apply stages all writes and, when every one of them can be done, makes them
// the present state at one time. The caller holds mu.
func (s *Store) apply(batch []*mutation) (*Committed, error) {
	at := s.clock.commit()
	out := &Committed{At: at, Results: make([]*pb.WriteResult, len(batch))}
	docs := make(map[string]*staged, len(batch))
	for i, m := range batch {
		d := docs[m.name]
		if d == nil {
			cur := s.documents[m.name].at(at)
			d = &staged{before: cur, after: cur}
			docs[m.name] = d
		}
		after, result, err := m.apply(d.before, d.after, at)
		if err != nil {
			return nil, err
		}
		d.after, out.Results[i] = after, result
		switch m.action {
		case update, transform:
			out.Written++
		case remove:
			out.Deleted++
		case verify:
		}
	}
	for _, d := range docs {
		if d.unchanged() {
			d.after = d.before
		}
	}
	for i, m := range batch { // all writes of one document answer for what became of it
		if m.action != verify {
			out.Results[i].UpdateTime = docs[m.name].after.GetUpdateTime()
		}
	}
	changed := map[string]*pb.Document{}
	for name, d := range docs {
		if d.after != d.before { // what was rewritten to what it is keeps its version
			changed[name] = d.after
		}
	}
	if err := s.write(at, changed); err != nil {
		return nil, err
	}
	return out, nil
}

// unchanged tells whether several writes have led back to the stored content; a
// document that was deleted on the way is a new one.
func (d *staged) unchanged() bool {
	return d.before != nil && d.after != nil && d.before.GetCreateTime() == d.after.GetCreateTime() &&
		value.IdenticalFields(d.before.GetFields(), d.after.GetFields())
}
