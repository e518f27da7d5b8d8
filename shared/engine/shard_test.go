package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFanSizes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		chunks, maxParallel int
		want                Fan
	}{
		{0, 8, Fan{}},
		{1, 8, Fan{Chunks: 1, Shards: 1, Active: 1}},
		{10, 8, Fan{Chunks: 10, Shards: 2, Active: 2}},
		{10, 1, Fan{Chunks: 10, Shards: 1, Active: 1}},
		{250, 1, Fan{Chunks: 250, Shards: 3, Active: 1}},
		{1_000, 40, Fan{Chunks: 1_000, Shards: 10, Active: 10}},
		{1_000, 200, Fan{Chunks: 1_000, Shards: 50, Active: 50}},
		{10_000, 10, Fan{Chunks: 10_000, Shards: 100, Active: 10}},
		{10_000, 400, Fan{Chunks: 10_000, Shards: 100, Active: 100}},
	}
	for _, tt := range tests {
		f := FanOut{MaxParallel: tt.maxParallel}
		if got := f.Fan(tt.chunks); got != tt.want {
			t.Errorf("Fan(%d) of %d at once = %+v, want %+v", tt.chunks, tt.maxParallel, got, tt.want)
		}
	}
}

func drawFan(t *rapid.T) (FanOut, Fan) {
	f := FanOut{MaxParallel: rapid.IntRange(1, maxFanParallel).Draw(t, "maxParallel")}
	top := rapid.SampledFrom([]int{12, 300, MaxChunks}).Draw(t, "most")
	return f, f.Fan(rapid.IntRange(1, top).Draw(t, "chunks"))
}

// TestShardsPartition: every chunk is in one shard, ShardOf knows which, the
// shards are of even size and at most 100, and the windows of those at work sum
// to MaxParallel.
func TestShardsPartition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f, fan := drawFan(t)
		shards := f.Shards(fan)
		next, windows, inFlight := 0, 0, 0
		for i, s := range shards {
			if s.Index != i || s.From != next || s.Size < 1 || s.Size > shardChunks || s.Window < 1 {
				t.Fatalf("shard %d = %+v, want it to begin at %d", i, s, next)
			}
			if d := shards[0].Size - s.Size; d < 0 || d > 1 {
				t.Fatalf("shard %d has %d chunks, the first has %d", i, s.Size, shards[0].Size)
			}
			for chunk := s.From; chunk < s.From+s.Size; chunk++ {
				if got := fan.ShardOf(chunk); got != i {
					t.Fatalf("ShardOf(%d) = %d, want %d", chunk, got, i)
				}
			}
			next += s.Size
			if s.Active != (i < fan.Active) || s.Active != (len(s.InFlight) > 0) || len(s.InFlight) > s.Window {
				t.Fatalf("shard %d of %d at work: %+v", i, fan.Active, s)
			}
			if s.Active {
				windows += s.Window
			}
			inFlight += len(s.InFlight)
		}
		if next != fan.Chunks {
			t.Fatalf("the shards hold %d chunks, want %d", next, fan.Chunks)
		}
		if windows != f.MaxParallel {
			t.Fatalf("the windows at work sum to %d, want %d", windows, f.MaxParallel)
		}
		if room := shards[fan.Active-1].Size; inFlight > f.MaxParallel || (room >= ceil(f.MaxParallel, fan.Active) && inFlight != f.MaxParallel) {
			t.Fatalf("%d chunks are in flight, want %d", inFlight, f.MaxParallel)
		}
	})
}

// fanRun finishes the chunks of a fan-out in any order, as its shards allow.
type fanRun struct {
	t        *rapid.T
	f        FanOut
	fan      Fan
	shards   []Shard
	inFlight []int // chunks, over all shards
	begun    map[int]bool
	finished map[int]bool
}

func (r *fanRun) began(chunks ...int) {
	r.t.Helper()
	for _, chunk := range chunks {
		if r.begun[chunk] {
			r.t.Fatalf("chunk %d begins twice", chunk)
		}
		r.begun[chunk] = true
		r.inFlight = append(r.inFlight, chunk)
	}
	if len(r.inFlight) > r.f.MaxParallel {
		r.t.Fatalf("%d chunks are in flight of at most %d", len(r.inFlight), r.f.MaxParallel)
	}
}

// step finishes one chunk, failed or not, or lets one of its tries fail.
func (r *fanRun) step() {
	t := r.t
	chunk := rapid.SampledFrom(r.inFlight).Draw(t, "chunk")
	i := r.fan.ShardOf(chunk)
	before := r.shards[i]
	var after Shard
	var next []int
	var verdict Verdict
	failed, gone := rapid.IntRange(0, 9).Draw(t, "failed") == 0, true
	if rapid.IntRange(0, 4).Draw(t, "try") == 0 {
		n := &Node{Name: "a", Retry: Retry{Tries: 2, Base: time.Second, Cap: time.Second}}
		var again bool
		id := StepRef{Node: "a", Role: RoleChunk, Index: chunk}.ID()
		tries := before.Find(chunk).Tries
		after, again, next, verdict = before.Retry(n, "run", Retryable{Step: id}, chunk, epoch)
		gone, failed = !again, !again
		if again == (tries+1 >= n.Retry.Tries) {
			t.Fatalf("Retry(%d) after %d tries: again %t", chunk, tries, again)
		}
	} else {
		after, next, verdict = before.Finish(chunk, failed)
	}
	if verdict != Applied || (gone && after.FailedAt(chunk) != failed) {
		t.Fatalf("chunk %d, failed %t: %s, %+v", chunk, failed, verdict, after)
	}
	r.shards[i] = after
	if !gone {
		return
	}
	if r.finished[chunk] = true; after.Find(chunk) != nil {
		t.Fatalf("chunk %d is done and in flight", chunk)
	}
	if _, _, again := after.Finish(chunk, !failed); again != Stale {
		t.Fatalf("chunk %d finishes twice", chunk)
	}
	r.inFlight = slices.DeleteFunc(r.inFlight, func(c int) bool { return c == chunk })
	r.began(next...)
	if after.Full() {
		r.complete(i)
	}
}

func (r *fanRun) complete(i int) {
	r.shards[i] = r.shards[i].Shut()
	if next, ok := r.fan.Activates(i); ok {
		if r.shards[next].Active {
			r.t.Fatalf("shard %d is activated twice", next)
		}
		r.shards[next] = r.shards[next].Activate()
		for _, f := range r.shards[next].InFlight {
			r.began(f.Chunk)
		}
	}
}

// TestFanOutFinishes: I15. In whatever order the chunks end, each is begun once
// and done once, no more than MaxParallel are in flight, and all shards are full
// when all chunks are done and not before.
func TestFanOutFinishes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := FanOut{MaxParallel: rapid.IntRange(1, 12).Draw(t, "maxParallel")}
		fan := f.Fan(rapid.SampledFrom([]int{1, 2, 7, 30, 120, 230}).Draw(t, "chunks"))
		r := &fanRun{t: t, f: f, fan: fan, shards: f.Shards(fan), begun: map[int]bool{}, finished: map[int]bool{}}
		for _, s := range r.shards {
			for _, inFlight := range s.InFlight {
				r.began(inFlight.Chunk)
			}
		}
		for len(r.inFlight) > 0 {
			r.step()
		}
		failures := 0
		for _, s := range r.shards {
			if !s.Full() || !s.Complete || s.count() != s.Size || len(s.InFlight) > 0 {
				t.Fatalf("nothing is in flight and shard %d is %+v", s.Index, s)
			}
			failures += s.Failures()
			if first, ok := s.FirstFailure(); ok != (s.Failures() > 0) || (ok && !s.FailedAt(first)) {
				t.Fatalf("FirstFailure() = %d, %t of %d", first, ok, s.Failures())
			}
			for chunk := s.From; chunk < s.From+s.Size; chunk++ {
				if s.FailedAt(chunk) {
					failures--
				}
			}
		}
		if len(r.finished) != fan.Chunks || failures != 0 {
			t.Fatalf("%d chunks are done of %d, failures differ by %d", len(r.finished), fan.Chunks, failures)
		}
	})
}

// TestShardIsNotChangedInPlace: who holds an older copy keeps it.
func TestShardIsNotChangedInPlace(t *testing.T) {
	t.Parallel()
	f := FanOut{MaxParallel: 3}
	s := f.Shards(f.Fan(9))[0]
	before := f.Shards(f.Fan(9))[0]
	n := &Node{Name: "a", Retry: Retry{Tries: 3, Base: time.Second, Cap: time.Second}}
	s.Finish(1, true)
	s.Retry(n, "run", Retryable{Step: "a.0.k1"}, 1, epoch)
	s.Retry(n, "run", Retryable{Step: "a.0.k1", Working: true}, 1, epoch)
	s.Activate()
	s.Shut()
	if diff := cmp.Diff(before, s); diff != "" {
		t.Errorf("the shard changed (-before +after):\n%s", diff)
	}
}

func TestChunkRetries(t *testing.T) {
	t.Parallel()
	f := FanOut{MaxParallel: 2}
	s := f.Shards(f.Fan(3))[0]
	n := &Node{Name: "a", Retry: Retry{Tries: 2, Base: time.Second, Cap: time.Second}}
	e := Retryable{Step: "a.0.k1", After: 2 * time.Hour}

	if _, _, _, v := s.Retry(n, "run", e, 2, epoch); v != Stale {
		t.Errorf("Retry of a chunk that has not begun is %s, want stale", v)
	}
	s, again, _, v := s.Retry(n, "run", Retryable{Step: e.Step, After: time.Minute, Working: true}, 1, epoch)
	if got := s.Find(1); !again || v != Applied || got.Tries != 0 || !got.NotBefore.Equal(epoch.Add(time.Minute)) {
		t.Errorf("still working: %+v, again %t, %s; want no try and a minute", got, again, v)
	}
	s, again, _, _ = s.Retry(n, "run", e, 1, epoch)
	if got := s.Find(1); !again || got.Tries != 1 || !got.NotBefore.Equal(epoch.Add(maxAfter)) {
		t.Errorf("first failure: %+v, again %t; want one try and an hour at most", got, again)
	}
	s, again, next, v := s.Retry(n, "run", e, 1, epoch)
	if again || v != Applied || !s.FailedAt(1) || !slices.Equal(next, []int{2}) {
		t.Errorf("last failure: again %t, next %v, %s, %+v; want the chunk failed and 2 in its place", again, next, v, s)
	}
}
