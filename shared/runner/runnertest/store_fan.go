package runnertest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// cut returns the shards of a fan-out over so many chunks, four at a time.
func cut(chunks int) []engine.Shard {
	f := engine.FanOut{Over: "input.items", Chunk: 1, MaxParallel: 4, OnItemError: engine.FailAll}
	return f.Shards(f.Fan(chunks))
}

func testShards(t *testing.T, s runner.Store) {
	started(t, s, "est-1")
	want := cut(45_000) // more shards than any batch takes
	indexes := make([]int, len(want))
	for i := range want {
		indexes[i] = i
	}
	half := slices.DeleteFunc(slices.Clone(want), func(s engine.Shard) bool { return s.Index%3 == 1 })
	must(t, s.CreateShards(t.Context(), fan, half))
	none, err := s.Shards(t.Context(), fan, 1, 4)
	must(t, err)
	if len(none) != 0 {
		t.Fatalf("Shards = %d shards that were not created", len(none))
	}

	// One of them is at work already when somebody creates them again.
	first, err := s.Shards(t.Context(), fan, 0)
	must(t, err)
	worked, _, verdict := first[0].Finish(0, true)
	if verdict != engine.Applied {
		t.Fatalf("the first chunk is %s", verdict)
	}
	worked.InFlight[0].Tries, worked.InFlight[0].NotBefore = 2, new(epoch.Add(time.Minute))
	must(t, s.Commit(t.Context(), runner.Commit{Fan: fan, Shards: []runner.Shard{{Shard: worked, Version: first[0].Version}}}))
	kind(t, "a shard that changed", s.Commit(t.Context(), runner.Commit{Fan: fan, Shards: first}), fault.Conflict)
	want[0] = worked
	for range 2 {
		must(t, s.CreateShards(t.Context(), fan, cut(45_000)))
	}
	got, err := s.Shards(t.Context(), fan, indexes...)
	must(t, err)
	read := make([]engine.Shard, len(got))
	for i := range got {
		read[i] = got[i].Shard
		if got[i].Version.IsZero() {
			t.Errorf("shard %d has no version", i)
		}
	}
	same(t, "shards", want, read)
	other, err := s.Shards(t.Context(), runner.FanID{Run: fan.Run, Node: fan.Node, Attempt: 1}, 0)
	must(t, err)
	if len(other) != 0 {
		t.Error("another attempt has the shards of this one")
	}
}

func testShardsTogether(t *testing.T, s runner.Store) {
	started(t, s, "est-1")
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if err := s.CreateShards(t.Context(), fan, cut(1500)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got, err := s.Shards(t.Context(), fan, 0, 14)
	must(t, err)
	if len(got) != 2 {
		t.Errorf("Shards = %d shards, want the first and the last", len(got))
	}
}

func testShardQueries(t *testing.T, s runner.Store) {
	started(t, s, "est-1")
	again := runner.FanID{Run: fan.Run, Node: fan.Node, Attempt: 1}
	for _, id := range []runner.FanID{fan, again} {
		must(t, s.CreateShards(t.Context(), id, cut(1500))) // 15 shards, the first 4 at work
	}
	census := func(id runner.FanID, complete int, open ...int) {
		t.Helper()
		n, err := s.CompleteShards(t.Context(), id)
		must(t, err)
		if n != complete {
			t.Errorf("CompleteShards = %d, want %d", n, complete)
		}
		found, err := s.OpenShards(t.Context(), id)
		must(t, err)
		indexes := make([]int, len(found))
		for i, shard := range found {
			indexes[i] = shard.Index
			if shard.Version.IsZero() {
				t.Errorf("shard %d has no version", shard.Index)
			}
		}
		if !slices.Equal(indexes, open) {
			t.Errorf("OpenShards = %d, want %d", indexes, open)
		}
	}
	census(fan, 0, 0, 1, 2, 3)
	shards, err := s.Shards(t.Context(), fan, 1, 11)
	must(t, err)
	shards[0].Shard, shards[1].Shard = shards[0].Shut(), shards[1].Activate()
	must(t, s.Commit(t.Context(), runner.Commit{Fan: fan, Shards: shards}))
	census(fan, 1, 0, 2, 3, 11)
	census(again, 0, 0, 1, 2, 3)
	census(runner.FanID{Run: fan.Run, Node: "nobody"}, 0)
}

func testFlow(t *testing.T, s runner.Store) {
	f := Flow()
	f.Nodes[1].When = []engine.Condition{{Fact: "input.sqft", Is: engine.AtLeast, Value: 2500.5}, {Fact: "input.roof", Is: engine.Present}}
	f.Nodes[1].Schema = []byte(`{"type":"object"}`)
	f.Nodes[1].FanOut = &engine.FanOut{Over: "input.items", Chunk: 7, MaxParallel: 3, OnItemError: engine.Collect}
	_, err := s.Flow(t.Context(), f.Hash())
	kind(t, "a flow that was not stored", err, fault.NotFound)
	for range 2 {
		must(t, s.PutFlow(t.Context(), f))
	}
	got, err := s.Flow(t.Context(), f.Hash())
	must(t, err)
	same(t, "flow", f, got)
	if got.Hash() != f.Hash() {
		t.Errorf("the flow read has the hash %s, want %s", got.Hash(), f.Hash())
	}
	must(t, s.PutFlow(t.Context(), Flow()))
	plain, err := s.Flow(t.Context(), Flow().Hash())
	must(t, err)
	same(t, "another flow", Flow(), plain)
}
