package docstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"cloud.google.com/go/firestore"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// shardsPerWrite bounds how many shards are created at once, createTries how
// often it is looked which of them somebody else creates at the same time.
const (
	shardsPerWrite = 200
	createTries    = 5
)

// shardDoc is the document of a shard.
type shardDoc struct {
	Node    string `firestore:"node"`
	Attempt int    `firestore:"attempt"`
	Index   int    `firestore:"index"`
	From    int    `firestore:"from"`
	Size    int    `firestore:"size"`
	Window  int    `firestore:"window"`
	shardWork
}

// shardWork is what changes of a shard.
type shardWork struct {
	Active   bool       `firestore:"active"`
	Complete bool       `firestore:"complete"`
	Done     []byte     `firestore:"done"`
	Failed   []byte     `firestore:"failed"`
	InFlight []inFlight `firestore:"inflight"`
}

// newShardDoc is a shard that is created: only then its end is set.
type newShardDoc struct {
	shardDoc
	ExpireAt time.Time `firestore:"expireAt"`
}

type inFlight struct {
	Chunk     int        `firestore:"chunk"`
	Since     time.Time  `firestore:"since"`
	Tries     int        `firestore:"tries"`
	NotBefore *time.Time `firestore:"notBefore"`
}

func shardFields(fan runner.FanID, s *engine.Shard) shardDoc {
	d := shardDoc{
		Node: fan.Node, Attempt: fan.Attempt, Index: s.Index, From: s.From, Size: s.Size, Window: s.Window,
		shardWork: shardWork{Active: s.Active, Complete: s.Complete, Done: s.Done, Failed: s.Failed},
	}
	for _, f := range s.InFlight {
		d.InFlight = append(d.InFlight, inFlight(f))
	}
	return d
}

func loadShard(doc *firestore.DocumentSnapshot) (runner.Shard, error) {
	var d shardDoc
	if err := doc.DataTo(&d); err != nil {
		return runner.Shard{}, fmt.Errorf("shard %s: %w", doc.Ref.Path, err)
	}
	s := runner.Shard{Version: doc.UpdateTime, ReadAt: doc.ReadTime, Shard: engine.Shard{
		Index: d.Index, From: d.From, Size: d.Size, Window: d.Window,
		Active: d.Active, Complete: d.Complete, Done: d.Done, Failed: d.Failed,
	}}
	for _, f := range d.InFlight {
		s.InFlight = append(s.InFlight, engine.InFlight(f))
	}
	return s, nil
}

func (b *batch) putShard(fan runner.FanID, s *runner.Shard) {
	d := shardFields(fan, &s.Shard)
	if s.Version.IsZero() {
		b.put(b.store.shard(fan, s.Index), d, s.Version)
		return
	}
	b.put(b.store.shard(fan, s.Index), d.shardWork, s.Version)
}

// Shards implements runner.Store. One read per index.
func (s *Store) Shards(ctx context.Context, fan runner.FanID, indexes ...int) ([]runner.Shard, error) {
	if len(indexes) == 0 {
		return nil, nil
	}
	refs := make([]*firestore.DocumentRef, len(indexes))
	for i, index := range indexes {
		refs[i] = s.shard(fan, index)
	}
	docs, err := s.client.GetAll(ctx, refs)
	if err != nil {
		return nil, rpcFault(err, "shards of %s in %s", fan.Node, fan.Run)
	}
	return loadShards(docs)
}

func loadShards(docs []*firestore.DocumentSnapshot) ([]runner.Shard, error) {
	var shards []runner.Shard
	for _, doc := range docs {
		if !doc.Exists() {
			continue
		}
		shard, err := loadShard(doc)
		if err != nil {
			return nil, err
		}
		shards = append(shards, shard)
	}
	return shards, nil
}

// ofFan asks for equality alone, which single-field indexes answer.
func (s *Store) ofFan(fan runner.FanID) firestore.Query {
	return s.shards(fan.Run).Where("node", "==", fan.Node).Where("attempt", "==", fan.Attempt)
}

// OpenShards implements runner.Store. One read per shard found.
func (s *Store) OpenShards(ctx context.Context, fan runner.FanID) ([]runner.Shard, error) {
	docs, err := s.ofFan(fan).Where("active", "==", true).Where("complete", "==", false).Documents(ctx).GetAll()
	if err != nil {
		return nil, rpcFault(err, "open shards of %s in %s", fan.Node, fan.Run)
	}
	shards, err := loadShards(docs)
	slices.SortFunc(shards, func(a, b runner.Shard) int { return cmp.Compare(a.Index, b.Index) })
	return shards, err
}

// CompleteShards implements runner.Store. One read per 1,000.
func (s *Store) CompleteShards(ctx context.Context, fan runner.FanID) (int, error) {
	return count(ctx, s.ofFan(fan).Where("complete", "==", true))
}

// CreateShards implements runner.Store. One read, and one write per shard; one
// read more per shard where some are there. The shards of a run that is gone are
// not created: fault.NotFound. fault.Unavailable when others are in the way.
func (s *Store) CreateShards(ctx context.Context, fan runner.FanID, shards []engine.Shard) error {
	run, err := s.run(fan.Run).Get(ctx)
	if err != nil {
		return rpcFault(err, "run %s", fan.Run)
	}
	expire := run.ReadTime.Add(recordKept)
	for batch := range slices.Chunk(shards, shardsPerWrite) {
		missing := batch
		for try := 1; len(missing) > 0; try++ {
			err := s.createShards(ctx, fan, missing, expire)
			if err == nil {
				break
			}
			if fault.KindOf(err) != fault.Conflict {
				return err
			}
			if try == createTries {
				return fault.Wrap(fault.Unavailable, err, "others create the shards of %s in %s", fan.Node, fan.Run)
			}
			if missing, err = s.missing(ctx, fan, batch); err != nil {
				return err
			}
		}
	}
	return nil
}

// missing returns the shards that nobody has created.
func (s *Store) missing(ctx context.Context, fan runner.FanID, shards []engine.Shard) ([]engine.Shard, error) {
	indexes := make([]int, len(shards))
	for i := range shards {
		indexes[i] = shards[i].Index
	}
	there, err := s.Shards(ctx, fan, indexes...)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(shards), func(want engine.Shard) bool {
		return slices.ContainsFunc(there, func(has runner.Shard) bool { return has.Index == want.Index })
	}), nil
}

func (s *Store) createShards(ctx context.Context, fan runner.FanID, shards []engine.Shard, expire time.Time) error {
	b := s.batch()
	for i := range shards {
		b.writes.Create(s.shard(fan, shards[i].Index), newShardDoc{shardFields(fan, &shards[i]), expire})
	}
	if _, err := b.commit(ctx); err != nil {
		return fmt.Errorf("create %d shards of %s in %s: %w", len(shards), fan.Node, fan.Run, err)
	}
	return nil
}
