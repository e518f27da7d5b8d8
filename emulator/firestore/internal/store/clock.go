package store

import (
	"sync"
	"sync/atomic"
	"time"
)

// reserved is how far ahead times are reserved in the journal, in microseconds,
// and so by how much a store that was opened again may be ahead of the wall.
const reserved = 100_000

// clock hands out times in microseconds. Commit times are strictly later than
// every time handed out before, whatever the clock on the wall does, and
// whichever process handed it out: no time is handed out that is later than
// what keep has been told.
type clock struct {
	now   func() time.Time
	keep  func(limit int64) error
	last  atomic.Int64
	limit atomic.Int64
	mu    sync.Mutex // guards the writing of limit
}

// read returns a time not earlier than any commit so far; later commits will be
// strictly later than it.
func (c *clock) read() int64 { return c.advance(0) }

// commit returns the time of a new commit.
func (c *clock) commit() int64 { return c.advance(1) }

func (c *clock) advance(least int64) int64 {
	for {
		last := c.last.Load()
		t := max(c.now().UnixMicro(), last+least)
		if t > c.limit.Load() && !c.reserve(t) {
			return last + least // the clock stands, and no commit can be kept
		}
		if t == last || c.last.CompareAndSwap(last, t) {
			return t
		}
	}
}

// reserve moves the limit to t or later, and tells whether it could.
func (c *clock) reserve(t int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t <= c.limit.Load() {
		return true
	}
	if c.keep(t+reserved) != nil {
		return false
	}
	c.limit.Store(t + reserved)
	return true
}
