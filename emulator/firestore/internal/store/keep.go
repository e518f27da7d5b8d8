package store

import (
	"iter"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"truecost.dev/emulator/firestore/internal/value"
	"truecost.dev/emulator/journal"
)

// snapshotRecord is how many bytes of documents a record of a snapshot holds,
// or one document.
const snapshotRecord = 256 << 10

// Open returns a store that keeps its documents in a directory, with those that
// are there. Commits are in the journal before anybody sees them; times go on
// from the latest that was handed out. Old versions and open transactions end
// with the process.
func Open(dir string, o Options) (*Store, error) {
	s := New(o)
	o.Journal.Kind = "firestore"
	j, err := journal.Open(dir, o.Journal, s.restore)
	if err != nil {
		return nil, err
	}
	s.journal = j
	s.oldest = s.clock.last.Load()
	s.clock.limit.Store(s.oldest)
	s.clock.keep = func(limit int64) error { return s.append(record{at: limit}) }
	return s, nil
}

// Close ends the journal. Commits are refused from then on.
func (s *Store) Close() error { return s.journal.Close() }

// restore applies a record of the journal.
func (s *Store) restore(b []byte) error {
	r, err := unmarshal(b)
	if err != nil {
		return err
	}
	s.clock.last.Store(max(s.clock.last.Load(), r.at))
	for _, d := range r.stored {
		s.forget(d.GetName())
		s.put(d.GetName(), value.Micros(d.GetUpdateTime()), d)
	}
	for _, name := range r.deleted {
		s.forget(name)
	}
	return nil
}

// keep appends a commit to the journal. The caller holds mu: the order of the
// records is the order of the commits, and what a reader has seen is never taken
// back.
func (s *Store) keep(at int64, names []string, changed map[string]*pb.Document) error {
	if s.journal == nil {
		return nil
	}
	r := record{at: at}
	for _, name := range names {
		if d := changed[name]; d != nil {
			r.stored = append(r.stored, d)
		} else {
			r.deleted = append(r.deleted, name)
		}
	}
	return s.append(r)
}

func (s *Store) append(r record) error {
	b, err := r.marshal()
	if err == nil {
		err = s.journal.Append(b)
	}
	if err != nil {
		return status.Error(codes.Internal, "the commit cannot be kept: "+err.Error())
	}
	return nil
}

// compact lets a snapshot take the place of the log when that has grown. It
// fails only as every later commit will. The caller holds mu.
func (s *Store) compact() {
	if !s.journal.Due() {
		return
	}
	at := s.clock.read()
	var docs []*pb.Document
	for _, h := range s.documents {
		if d := h.at(at); d != nil {
			docs = append(docs, d)
		}
	}
	s.clock.mu.Lock() // the limit of the snapshot is the last of the log before it
	defer s.clock.mu.Unlock()
	_ = s.journal.Compact(snapshotOf(s.clock.limit.Load(), docs)) // broken for good: the next commit says so
}

// snapshotOf returns the records that stand for documents.
func snapshotOf(limit int64, docs []*pb.Document) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		r, size := record{at: limit}, 0
		flush := func() bool {
			b, err := r.marshal()
			r.stored, size = nil, 0
			return yield(b, err)
		}
		for _, d := range docs {
			r.stored = append(r.stored, d)
			if size += proto.Size(d); size >= snapshotRecord && !flush() {
				return
			}
		}
		flush()
	}
}
