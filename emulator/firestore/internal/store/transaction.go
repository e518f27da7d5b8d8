package store

import (
	"context"
	"fmt"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"truecost.dev/emulator/firestore/internal/value"
)

// How long a transaction lives at most, and without being used, in microseconds.
const (
	maxLife = 270 * 1_000_000
	maxIdle = 60 * 1_000_000
)

// tx is an open transaction. It is guarded by the store's lock.
type tx struct {
	id       string
	readOnly bool
	readAt   int64 // the fixed snapshot; 0 means the present
	began    int64
	used     int64
	docs     map[string]int64      // documents read: their update time, 0 for missing
	queries  []func(Snapshot) bool // whether a query made still has its result
}

func (t *tx) expired(now int64) bool { return now-t.began > maxLife || now-t.used > maxIdle }

// Begin opens a transaction and returns its id.
func (s *Store) Begin(o *pb.TransactionOptions) ([]byte, error) {
	t := &tx{docs: map[string]int64{}}
	if ro := o.GetReadOnly(); ro != nil {
		t.readOnly = true
		snap := s.Now()
		if rt := ro.GetReadTime(); rt != nil {
			var err error
			if snap, err = s.At(value.Micros(rt)); err != nil {
				return nil, err
			}
		}
		t.readAt = snap.at
	} else if s.optimistic {
		t.readAt = s.Now().at
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.txSeq++
	t.began = s.clock.read()
	t.used = t.began
	t.id = fmt.Sprintf("transaction-%d-%d", t.began, s.txSeq)
	s.locks.expire(t.began)
	s.locks.open[t.id] = t
	return []byte(t.id), nil
}

// Rollback ends a transaction without writing. It returns INVALID_ARGUMENT for
// one that is not open.
func (s *Store) Rollback(id []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.end(id)
	if t != nil {
		s.locks.release(t)
	}
	return err
}

// end takes an id out of use; nil without an id. Locks stay until release. The
// caller holds mu.
func (s *Store) end(id []byte) (*tx, error) {
	if len(id) == 0 {
		return nil, nil //nolint:nilnil // no transaction is not an error
	}
	t, err := s.lookup(id)
	if err != nil {
		return nil, err
	}
	delete(s.locks.open, t.id)
	return t, nil
}

func (s *Store) lookup(id []byte) (*tx, error) {
	now := s.clock.read()
	s.locks.expire(now)
	t := s.locks.open[string(id)]
	if t == nil {
		return nil, invalid("Invalid transaction.")
	}
	t.used = now
	return t, nil
}

// validate returns ABORTED unless everything the transaction has read is still
// as it read it. The caller holds mu.
func (s *Store) validate(t *tx) error {
	now := Snapshot{store: s, at: s.clock.read(), locked: true}
	for name, updated := range t.docs {
		if value.Micros(now.Get(name).GetUpdateTime()) != updated {
			return status.Error(codes.Aborted, "Transaction aborted: a document it read has changed.")
		}
	}
	for _, same := range t.queries {
		if !same(now) {
			return status.Error(codes.Aborted, "Transaction aborted: the result of a query it made has changed.")
		}
	}
	return nil
}

// Selector says at which state a request reads; at most one field is set.
type Selector struct {
	Transaction []byte
	New         *pb.TransactionOptions
	ReadTime    *timestamppb.Timestamp
}

// Reader reads at the state that a Selector chose and, in a transaction,
// remembers what was read.
type Reader struct {
	Begun []byte // the id of the transaction that the selector asked to begin

	store *Store
	tx    *tx // nil outside of a read-write transaction
	snap  Snapshot
}

// Reader opens a read. It returns INVALID_ARGUMENT for a transaction that is
// not open.
func (s *Store) Reader(sel Selector) (*Reader, error) {
	r := &Reader{store: s}
	id := sel.Transaction
	var err error
	switch {
	case sel.New != nil:
		if r.Begun, err = s.Begin(sel.New); err != nil {
			return nil, err
		}
		id = r.Begun
	case sel.ReadTime != nil:
		r.snap, err = s.At(value.Micros(sel.ReadTime))
		return r, err
	}
	r.snap = s.Now()
	if len(id) == 0 {
		return r, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.lookup(id)
	if err != nil {
		return nil, err
	}
	if t.readAt != 0 {
		r.snap = Snapshot{store: s, at: t.readAt}
	}
	if !t.readOnly {
		r.tx = t
	}
	return r, nil
}

// Time is the read time in microseconds since 1970.
func (r *Reader) Time() int64 { return r.snap.at }

// Documents returns the named documents in that order, nil for missing ones. It
// returns ABORTED when a transaction cannot get its locks.
func (r *Reader) Documents(ctx context.Context, names []string) ([]*pb.Document, error) {
	if err := r.lockShared(ctx, names); err != nil {
		return nil, err
	}
	docs := make([]*pb.Document, len(names))
	for i, name := range names {
		docs[i] = r.snap.Get(name)
	}
	return docs, nil
}

// Query returns what run finds. In a transaction the result is locked and must
// still be the same when the transaction commits.
func (r *Reader) Query(ctx context.Context, run func(Snapshot) []*pb.Document) ([]*pb.Document, error) {
	docs := run(r.snap)
	if r.tx == nil {
		return docs, nil
	}
	names := make([]string, len(docs))
	for i, d := range docs {
		names[i] = d.GetName()
	}
	if err := r.lockShared(ctx, names); err != nil {
		return nil, err
	}
	docs = run(r.snap) // the locks may have been waited for, and the snapshot moved on
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	r.tx.queries = append(r.tx.queries, func(now Snapshot) bool { return sameResult(docs, run(now)) })
	return docs, nil
}

// sameResult compares the names and versions of two results.
func sameResult(a, b []*pb.Document) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].GetName() != b[i].GetName() || value.Micros(a[i].GetUpdateTime()) != value.Micros(b[i].GetUpdateTime()) {
			return false
		}
	}
	return true
}

// lockShared takes shared locks for the transaction, notes the versions it
// reads and moves the snapshot on to the present. Outside of a transaction it
// does nothing.
func (r *Reader) lockShared(ctx context.Context, names []string) error {
	if r.tx == nil {
		return nil
	}
	s := r.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.optimistic {
		if err := s.acquire(ctx, &waiter{tx: r.tx, names: r.tx.unread(names)}); err != nil {
			return err
		}
		if s.locks.open[r.tx.id] == nil {
			return invalid("Invalid transaction.")
		}
		r.snap = Snapshot{store: s, at: s.clock.read()}
	}
	held := Snapshot{store: s, at: r.snap.at, locked: true}
	for _, name := range names {
		if _, ok := r.tx.docs[name]; !ok {
			r.tx.docs[name] = value.Micros(held.Get(name).GetUpdateTime())
			s.locks.share(name, r.tx)
		}
	}
	return nil
}

func (t *tx) unread(names []string) []string {
	var out []string
	for _, name := range names {
		if _, ok := t.docs[name]; !ok {
			out = append(out, name)
		}
	}
	return out
}

// CollectionIDs is Snapshot.CollectionIDs at the state read.
func (r *Reader) CollectionIDs(parent string) []string { return r.snap.CollectionIDs(parent) }
