package runnertest

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// keyAge is how long an idempotency key counts.
const keyAge = 24 * time.Hour

// Run implements runner.Store.
func (m *Memory) Run(ctx context.Context, id string) (runner.Run, error) {
	var r runner.Run
	version, _, there := m.get(runPath(id), &r)
	if !there {
		return runner.Run{}, missing(ctx, "there is no run %s", id)
	}
	r.Version = version
	return r, given(ctx)
}

// given is the error of a read that nobody waits for any more.
func given(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fault.Wrap(fault.KindOf(err), err, "the read was given up")
	}
	return nil
}

func missing(ctx context.Context, format string, args ...any) error {
	if err := given(ctx); err != nil {
		return err
	}
	return fault.New(fault.NotFound, format, args...)
}

// Steps implements runner.Store.
func (m *Memory) Steps(ctx context.Context, run string, ids ...engine.StepID) ([]runner.Step, error) {
	var steps []runner.Step
	for _, id := range ids {
		var f stepFields
		if version, readAt, there := m.get(stepPath(run, id), &f); there {
			s := f.step()
			s.Version, s.ReadAt = version, readAt
			steps = append(steps, s)
		}
	}
	return steps, given(ctx)
}

// PutStep implements runner.Store.
func (m *Memory) PutStep(ctx context.Context, s runner.Step) (runner.Step, error) {
	version, err := m.commit(ctx, func(b *batch) { b.step(s) })
	if err != nil {
		return s, err
	}
	s.Version = version
	return s, nil
}

// Input implements runner.Store.
func (m *Memory) Input(ctx context.Context, estimate string) (json.RawMessage, error) {
	var e Estimate
	if _, _, there := m.get(estimatePath(estimate), &e); !there {
		return nil, missing(ctx, "there is no estimate %s", estimate)
	}
	return e.Clarification, given(ctx)
}

// Inputs implements runner.Store.
func (m *Memory) Inputs(ctx context.Context, run string, ids ...string) ([]runner.Input, error) {
	var inputs []runner.Input
	for _, id := range ids {
		var f inputFields
		if version, _, there := m.get(inputPath(run, id), &f); there {
			in := f.input()
			in.Version = version
			inputs = append(inputs, in)
		}
	}
	return inputs, given(ctx)
}

// Shards implements runner.Store.
func (m *Memory) Shards(ctx context.Context, fan runner.FanID, indexes ...int) ([]runner.Shard, error) {
	var shards []runner.Shard
	for _, i := range indexes {
		var s runner.Shard
		if version, readAt, there := m.get(shardPath(fan, i), &s.Shard); there {
			s.Version, s.ReadAt = version, readAt
			shards = append(shards, s)
		}
	}
	return shards, given(ctx)
}

// ofFan are the shards of a fan-out that keep holds for, by index.
func (m *Memory) ofFan(fan runner.FanID, keep func(*engine.Shard) bool) []runner.Shard {
	var versions, reads []time.Time
	found := query(m, runPath(fan.Run)+"/shards", func(r Revision, s *engine.Shard) bool {
		ours := r.Path == shardPath(fan, s.Index) && keep(s)
		if ours {
			versions, reads = append(versions, r.Version), append(reads, m.serverTime())
		}
		return ours
	})
	shards := make([]runner.Shard, len(found))
	for i, s := range found {
		shards[i] = runner.Shard{Shard: s, Version: versions[i], ReadAt: reads[i]}
	}
	slices.SortFunc(shards, func(a, b runner.Shard) int { return a.Index - b.Index })
	return shards
}

// OpenShards implements runner.Store.
func (m *Memory) OpenShards(ctx context.Context, fan runner.FanID) ([]runner.Shard, error) {
	return m.ofFan(fan, func(s *engine.Shard) bool { return s.Active && !s.Complete }), given(ctx)
}

// CompleteShards implements runner.Store.
func (m *Memory) CompleteShards(ctx context.Context, fan runner.FanID) (int, error) {
	n := len(m.ofFan(fan, func(s *engine.Shard) bool { return s.Complete }))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads["query/"+runPath(fan.Run)+"/shards"] += 1 + n/1000 - max(1, n) // a count costs one read per thousand
	return n, given(ctx)
}

// CreateShards implements runner.Store.
func (m *Memory) CreateShards(ctx context.Context, fan runner.FanID, shards []engine.Shard) error {
	for _, s := range shards {
		_, err := m.commit(ctx, func(b *batch) { b.shard(fan, runner.Shard{Shard: s}) })
		if err != nil && fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
	return nil
}

// Flow implements runner.Store.
func (m *Memory) Flow(ctx context.Context, hash string) (*engine.Flow, error) {
	var f engine.Flow
	if _, _, there := m.get("flows/"+hash, &f); !there {
		return nil, missing(ctx, "there is no flow %s", hash)
	}
	return &f, given(ctx)
}

// PutFlow implements runner.Store.
func (m *Memory) PutFlow(ctx context.Context, f *engine.Flow) error {
	_, err := m.commit(ctx, func(b *batch) { b.put("flows/"+f.Hash(), time.Time{}, f, limits{}) })
	if fault.KindOf(err) == fault.Conflict {
		return nil
	}
	return err
}

// Started implements runner.Store.
func (m *Memory) Started(ctx context.Context, owner, key string) (runner.Idempotency, error) {
	var i runner.Idempotency
	stored, now, there := m.get(keyPath(owner, key), &i)
	if !there || now.Sub(stored) > keyAge {
		return runner.Idempotency{}, missing(ctx, "the key was not used")
	}
	return i, given(ctx)
}

// Due implements runner.Finder.
func (m *Memory) Due(ctx context.Context, now time.Time, after runner.Due, limit int) ([]runner.Due, error) {
	var due []runner.Due
	query(m, "runs", func(_ Revision, s *engine.State) bool {
		if s.Status.Ended() || s.WakeAt == nil || s.WakeAt.After(now) {
			return false
		}
		d := runner.Due{Run: s.RunID(), WakeAt: *s.WakeAt}
		if behind := after != (runner.Due{}) && byWakeAt(d, after) <= 0; behind {
			return false
		}
		due = append(due, d)
		return true
	})
	slices.SortFunc(due, byWakeAt)
	return due[:min(limit, len(due))], given(ctx)
}

func byWakeAt(a, b runner.Due) int {
	return cmp.Or(a.WakeAt.Compare(b.WakeAt), cmp.Compare(a.Run, b.Run))
}

// Census implements runner.Finder.
func (m *Memory) Census(ctx context.Context, owner string, since time.Time) (atWork, created int, err error) {
	query(m, "runs", func(_ Revision, s *engine.State) bool {
		if s.Owner != owner {
			return false
		}
		if s.Status == engine.Running {
			atWork++
		}
		if !s.CreatedAt.Before(since) {
			created++
		}
		return false
	})
	return atWork, created, given(ctx)
}
