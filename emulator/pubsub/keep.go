package pubsub

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"truecost.dev/emulator/journal"
)

// maxKeptBatch is the largest buffer that is kept for the next record, in bytes.
const maxKeptBatch = 1 << 20

// A scribe collects what changes under the broker's mutex, for one record of
// the journal. Without a journal it does nothing.
type scribe struct {
	journal *journal.Journal
	report  func(error)
	batch   []byte
	err     error // of the encoding
}

func (s *scribe) message(field protowire.Number, m proto.Message) {
	if s.journal != nil && s.err == nil {
		s.batch, s.err = appendMessage(s.batch, field, m)
	}
}

func (s *scribe) name(field protowire.Number, name string) {
	if s.journal != nil {
		s.batch = appendBytes(s.batch, field, name)
	}
}

func (s *scribe) numbers(field protowire.Number, list ...uint64) {
	if s.journal != nil {
		s.batch = appendNumbers(s.batch, field, list...)
	}
}

func (s *scribe) published(r *record, entries []entry) {
	if s.journal != nil && s.err == nil {
		s.batch, s.err = appendPublished(s.batch, r, entries)
	}
}

// unlock writes what has changed since lock to the journal, all of it or
// nothing, and gives the mutex back. If that is not possible, *err says so when
// it said nothing, and nothing is delivered any more.
func (b *broker) unlock(err *error) {
	defer b.mu.Unlock()
	keepErr := b.keep()
	if keepErr == nil {
		return
	}
	if !b.halted {
		b.scribe.report(keepErr)
		b.haltLocked()
	}
	if *err == nil {
		*err = keepErr
	}
}

// keep writes the batch. The mutex is held.
func (b *broker) keep() error {
	s := &b.scribe
	if len(s.batch) == 0 && s.err == nil {
		return nil
	}
	err := s.err
	if err == nil {
		err = s.journal.Append(s.batch)
	}
	if err != nil {
		return status.Error(codes.Internal, "the change cannot be kept: "+err.Error())
	}
	if s.batch = s.batch[:0]; cap(s.batch) > maxKeptBatch {
		s.batch = nil
	}
	if s.journal.Due() {
		_ = s.journal.Compact(b.snapshot()) // broken for good: the next change says so
	}
	return nil
}

// snapshot copies the state and returns the records that stand for it. The mutex
// is held; the records are made without it.
func (b *broker) snapshot() iter.Seq2[[]byte, error] {
	state := scribe{journal: b.scribe.journal} // writes its batch into the snapshot, not into the log
	state.numbers(countersField, b.lastID, b.entries, b.leases)
	for _, name := range slices.Sorted(maps.Keys(b.topics)) {
		state.message(topicField, b.topics[name])
	}
	backlog := map[*record][]entry{}
	for _, name := range slices.Sorted(maps.Keys(b.subs)) {
		state.message(subscriptionField, b.subs[name].config)
		for e := range b.subs[name].queue.all() {
			copied := entry{number: e.number, subscription: e.subscription, order: e.order, at: e.at, attempt: e.attempt}
			if e.ackID != "" {
				copied.at = time.Unix(0, 0) // the lease ends with the process
			}
			backlog[e.record] = append(backlog[e.record], copied)
		}
	}
	return func(yield func([]byte, error) bool) {
		if !yield(state.batch, state.err) {
			return
		}
		byNumber := func(a, b *record) int { return cmp.Compare(backlog[a][0].number, backlog[b][0].number) }
		for _, r := range slices.SortedFunc(maps.Keys(backlog), byNumber) {
			if !yield(appendPublished(nil, r, backlog[r])) {
				return
			}
		}
	}
}
