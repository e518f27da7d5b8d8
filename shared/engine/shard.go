package engine

import (
	"math/bits"
	"slices"
	"time"
)

// shardChunks is how many chunks a shard holds at most: their results are read
// together when it completes.
const shardChunks = 100

// windowAim is how many chunks of one shard are in flight at most where a
// fan-out is wide: each of them writes the shard's document.
const windowAim = 4

// Shard is a part of a fan-out with a queue of its own: a range of chunks, which
// of them are done, which are in flight. Its methods are functions of their
// arguments; a shard is never changed in place.
type Shard struct {
	Index    int        `json:"index"`
	From     int        `json:"from"` // first chunk
	Size     int        `json:"size"` // chunks
	Window   int        `json:"window"`
	Active   bool       `json:"active"`
	Complete bool       `json:"complete"` // its results have been merged
	Done     []byte     `json:"done"`     // a bit per chunk, the first in the lowest bit
	Failed   []byte     `json:"failed"`   // of the done ones
	InFlight []InFlight `json:"inflight"` // in the order they began
}

// InFlight is a chunk that should happen now.
type InFlight struct {
	Chunk     int        `json:"chunk"`
	Since     time.Time  `json:"since"` // when it was put in flight: see Stamp
	Tries     int        `json:"tries,omitempty"`
	NotBefore *time.Time `json:"notBefore,omitempty"`
}

// Fan returns the size of a fan-out over so many chunks.
func (f *FanOut) Fan(chunks int) Fan {
	if chunks == 0 {
		return Fan{}
	}
	shards := max(ceil(chunks, shardChunks), ceil(min(chunks, f.MaxParallel), windowAim))
	return Fan{Chunks: chunks, Shards: shards, Active: min(shards, f.MaxParallel)}
}

func ceil(n, by int) int { return (n + by - 1) / by }

// Shards returns the shards a fan-out begins with: the ranges are in order and
// differ in size by one at most. The first Fan.Active are at work with their
// windows filled; the windows of those at work sum to MaxParallel at most, and
// each shard hands its window on to the one that it activates.
func (f *FanOut) Shards(fan Fan) []Shard {
	shards := make([]Shard, fan.Shards)
	from := 0
	for i := range shards {
		size := share(fan.Chunks, fan.Shards, i)
		s := Shard{
			Index: i, From: from, Size: size, Window: share(f.MaxParallel, fan.Active, i%fan.Active),
			Done: make([]byte, ceil(size, 8)), Failed: make([]byte, ceil(size, 8)),
		}
		if i < fan.Active {
			s = s.Activate()
		}
		shards[i] = s
		from += size
	}
	return shards
}

// share splits n over parts as evenly as can be; the first ones get the rest.
func share(n, parts, i int) int {
	size := n / parts
	if i < n%parts {
		size++
	}
	return size
}

// ShardOf returns the index of the shard that holds a chunk.
func (fan Fan) ShardOf(chunk int) int {
	size, rest := fan.Chunks/fan.Shards, fan.Chunks%fan.Shards
	if large := rest * (size + 1); chunk < large {
		return chunk / (size + 1)
	} else {
		return rest + (chunk-large)/size
	}
}

// Activates returns the shard that begins when this one completes; ok is false
// for the last ones.
func (fan Fan) Activates(shard int) (next int, ok bool) {
	next = shard + fan.Active
	return next, next < fan.Shards
}

// Activate lets the shard work: its window is filled.
func (s Shard) Activate() Shard {
	s.Active = true
	return s.fill()
}

// fill puts chunks in flight while there is room in the window.
func (s Shard) fill() Shard {
	s.InFlight = slices.Clone(s.InFlight)
	for next := s.count() + len(s.InFlight); next < s.Size && len(s.InFlight) < s.Window; next++ {
		s.InFlight = append(s.InFlight, InFlight{Chunk: s.From + next})
	}
	return s
}

// count is how many chunks are done.
func (s Shard) count() int {
	n := 0
	for _, b := range s.Done {
		n += bits.OnesCount8(b)
	}
	return n
}

// Failures is how many chunks are done and failed.
func (s Shard) Failures() int {
	n := 0
	for _, b := range s.Failed {
		n += bits.OnesCount8(b)
	}
	return n
}

// FirstFailure returns the first chunk that is done and failed.
func (s Shard) FirstFailure() (chunk int, ok bool) {
	for i := range s.Size {
		if bit(s.Failed, i) {
			return s.From + i, true
		}
	}
	return 0, false
}

// Stamp notes when the chunks that are newly in flight were put there.
func (s Shard) Stamp(now time.Time) Shard {
	s.InFlight = slices.Clone(s.InFlight)
	for i := range s.InFlight {
		if s.InFlight[i].Since.IsZero() {
			s.InFlight[i].Since = now
		}
	}
	return s
}

// Full reports whether every chunk is done.
func (s Shard) Full() bool { return s.count() == s.Size }

// FailedAt reports whether a chunk is done and failed.
func (s Shard) FailedAt(chunk int) bool { return bit(s.Failed, chunk-s.From) }

func bit(set []byte, i int) bool { return set[i/8]>>(i%8)&1 == 1 }

// Find returns the entry of a chunk in flight; nil when it is not.
func (s Shard) Find(chunk int) *InFlight {
	i := slices.IndexFunc(s.InFlight, func(f InFlight) bool { return f.Chunk == chunk })
	if i < 0 {
		return nil
	}
	return &s.InFlight[i]
}

// Finish records that a chunk is done. next lists the chunks that are in flight
// in its place. Stale: the chunk is not in flight.
func (s Shard) Finish(chunk int, failed bool) (after Shard, next []int, verdict Verdict) {
	if s.Find(chunk) == nil {
		return s, nil, Stale
	}
	before := len(s.InFlight) - 1
	s.Done = slices.Clone(s.Done)
	s.Done[(chunk-s.From)/8] |= 1 << ((chunk - s.From) % 8)
	if failed {
		s.Failed = slices.Clone(s.Failed)
		s.Failed[(chunk-s.From)/8] |= 1 << ((chunk - s.From) % 8)
	}
	s.InFlight = slices.DeleteFunc(slices.Clone(s.InFlight), func(f InFlight) bool { return f.Chunk == chunk })
	s = s.fill()
	for _, f := range s.InFlight[before:] {
		next = append(next, f.Chunk)
	}
	return s, next, Applied
}

// Retry counts a failed try of a chunk. again is false when its budget is used
// up: the chunk has failed then, and next lists what is in flight in its place.
func (s Shard) Retry(n *Node, run string, e Retryable, chunk int, now time.Time) (after Shard, again bool, next []int, verdict Verdict) {
	f := s.Find(chunk)
	if f == nil {
		return s, false, nil, Stale
	}
	retry := *f
	pause := min(e.After, maxAfter)
	if !e.Working {
		retry.Tries++
		if retry.Tries >= n.Retry.Tries {
			after, next, verdict = s.Finish(chunk, true)
			return after, false, next, verdict
		}
		pause = max(n.Retry.Pause(run, e.Step, retry.Tries), pause)
	}
	retry.NotBefore = new(now.Add(pause))
	s.InFlight = slices.Clone(s.InFlight)
	*s.Find(chunk) = retry
	return s, true, nil, Applied
}

// Shut marks a full shard as merged.
func (s Shard) Shut() Shard {
	s.Complete = true
	return s
}
