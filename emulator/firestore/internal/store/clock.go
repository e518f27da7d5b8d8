package store

import (
	"sync/atomic"
	"time"
)

// clock hands out times in microseconds. Commit times are strictly later than
// every time handed out before, whatever the clock on the wall does.
type clock struct {
	now  func() time.Time
	last atomic.Int64
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
		if t == last || c.last.CompareAndSwap(last, t) {
			return t
		}
	}
}
