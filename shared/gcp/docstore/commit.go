package docstore

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"cloud.google.com/go/firestore"

	"truecost.dev/shared/runner"
)

// Commit implements runner.Store: one atomic commit under the versions that were
// read. Blobs, and documents below the estimate that do not fit into it, are
// written before it, under ids that stay the same when the commit is tried
// again.
func (s *Store) Commit(ctx context.Context, c runner.Commit) error {
	err := s.tryCommit(ctx, &c, time.Time{})
	if c.Idempotency == nil || !exists(err) {
		return err
	}
	// The key may be one of long ago that no TTL policy has removed yet.
	version, failure := s.forgotten(ctx, c.Idempotency)
	switch {
	case failure != nil:
		return failure
	case version.IsZero():
		return err
	}
	return s.tryCommit(ctx, &c, version)
}

// tryCommit writes c; forgotten is the version of an idempotency document to
// overwrite, zero where there is to be none.
func (s *Store) tryCommit(ctx context.Context, c *runner.Commit, forgotten time.Time) error {
	b := s.batch()
	if c.EstimateID != "" {
		b.putEstimate(c)
		for i := range c.Outputs {
			b.putOutput(c.EstimateID, &c.Outputs[i])
		}
		b.putItems(c.EstimateID, c.Documents.Items)
	}
	if c.Run != nil {
		b.putRun(c.Run)
	}
	for i := range c.Steps {
		b.putStep(&c.Steps[i])
	}
	for _, claim := range c.Touch {
		b.writes.Update(s.step(claim.Run, claim.ID), []firestore.Update{{Path: "touched", Value: firestore.ServerTimestamp}})
	}
	for i := range c.Shards {
		b.putShard(c.Fan, &c.Shards[i])
	}
	for i := range c.Inputs {
		b.putInput(&c.Inputs[i])
	}
	if c.Idempotency != nil {
		b.putIdempotency(c.Idempotency, forgotten)
	}
	if c.Project != "" && c.View != nil {
		b.writes.Set(s.project(c.Project), projectFields(c))
	}
	if _, err := b.commit(ctx); err != nil {
		return fmt.Errorf("commit to %s: %w", subject(c), err)
	}
	return nil
}

// batch gathers the writes of one commit, what must be written before it, and
// the first error of preparing them.
type batch struct {
	store  *Store
	writes *firestore.WriteBatch //nolint:staticcheck // the one call that commits atomically under preconditions without a transaction's locks
	blobs  []*blob
	items  []item // too many for the commit itself
	err    error
}

func (s *Store) batch() *batch {
	return &batch{store: s, writes: s.client.Batch()} //nolint:staticcheck // see batch
}

func (b *batch) fail(err error) bool {
	if b.err == nil {
		b.err = err
	}
	return err != nil
}

// commit writes what has to be there first, then everything else at once.
func (b *batch) commit(ctx context.Context) ([]*firestore.WriteResult, error) {
	if b.err != nil {
		return nil, b.err
	}
	for _, blob := range b.blobs {
		if err := b.store.putBlob(ctx, blob); err != nil {
			return nil, err
		}
	}
	if err := b.store.writeItems(ctx, b.items); err != nil {
		return nil, err
	}
	results, err := b.writes.Commit(ctx)
	if err != nil {
		return nil, rpcFault(err, "the write was refused")
	}
	return results, nil
}

// hold prepares a payload for a document that has room for so many packed bytes.
// What does not fit is written beside parent before the commit. keep says that
// it stays as long as the estimate, instead of expiring.
func (b *batch) hold(parent *firestore.DocumentRef, name string, data []byte, room int, expire *time.Time, keep bool) payload {
	p, beside, err := hold(parent, name, data, room)
	if b.fail(err) || beside == nil {
		return p
	}
	beside.expire = expire
	b.blobs = append(b.blobs, beside)
	for i := 0; keep && i < beside.ref.Parts; i++ {
		b.writes.Update(blobPart(parent, name, &beside.ref, i), []firestore.Update{{Path: "expireAt", Value: firestore.Delete}})
	}
	return p
}

// put creates a document, or replaces every field that doc can have in the
// version that was read.
func (b *batch) put(ref *firestore.DocumentRef, doc any, version time.Time) {
	if version.IsZero() {
		b.writes.Create(ref, doc)
		return
	}
	var list []firestore.Update
	v := reflect.ValueOf(doc)
	for f, value := range v.Fields() {
		name, option, _ := strings.Cut(f.Tag.Get("firestore"), ",")
		u := firestore.Update{FieldPath: firestore.FieldPath{name}, Value: value.Interface()}
		if option == "omitempty" && value.IsZero() {
			u.Value = firestore.Delete
		}
		list = append(list, u)
	}
	b.writes.Update(ref, list, firestore.LastUpdateTime(version))
}

// Bounds of documents written in one request: 10 MiB at most.
const (
	maxCommitWrites = 450
	maxCommitItems  = 4 << 20 // bytes
)

// item is a document below an estimate.
type item struct {
	ref    *firestore.DocumentRef
	fields map[string]any
}

// putItems puts items into the commit or, where they are too many, before it.
func (b *batch) putItems(estimate string, documents []runner.Document) {
	items := make([]item, len(documents))
	bytes := 0
	for i, d := range documents {
		m, err := fields(d.Fields)
		if b.fail(err) {
			return
		}
		items[i] = item{b.store.estimate(estimate).Collection(d.Collection).Doc(d.ID), m}
		bytes += size(m)
	}
	if len(items) > maxCommitWrites || bytes > maxCommitItems {
		b.items = items
		return
	}
	for _, item := range items {
		b.writes.Set(item.ref, item.fields)
	}
}

func (s *Store) writeItems(ctx context.Context, items []item) error {
	for len(items) > 0 {
		writes := s.client.Batch() //nolint:staticcheck // see batch
		n, bytes := 0, 0
		for ; n < min(len(items), maxCommitWrites) && bytes <= maxCommitItems; n++ {
			writes.Set(items[n].ref, items[n].fields)
			bytes += size(items[n].fields)
		}
		if _, err := writes.Commit(ctx); err != nil {
			return rpcFault(err, "write %d documents from %s", n, items[0].ref.ID)
		}
		items = items[n:]
	}
	return nil
}

// subject names what a commit is about, for errors.
func subject(c *runner.Commit) string {
	switch {
	case c.Run != nil:
		return c.Run.RunID()
	case len(c.Steps) > 0:
		return c.Steps[0].Run
	case c.Fan.Run != "":
		return c.Fan.Run
	case len(c.Inputs) > 0:
		return c.Inputs[0].Run
	default:
		return c.EstimateID
	}
}
