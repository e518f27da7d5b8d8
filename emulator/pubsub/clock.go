package pubsub

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// A Clock stands still until Advance moves it. It drives everything that takes
// time in a Server: ack deadlines, backoff and the timeout of a push. The nil
// Clock is the clock of the machine.
type Clock struct {
	mu     sync.Mutex // guards now and alarms
	now    time.Time
	alarms map[*alarm]struct{}
}

type alarm struct {
	at   time.Time
	ring func()
}

// NewClock returns a clock that stands at start.
func NewClock(start time.Time) *Clock {
	return &Clock{now: start, alarms: map[*alarm]struct{}{}}
}

// Now returns the time.
func (c *Clock) Now() time.Time {
	if c == nil {
		return time.Now()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward by d in one jump: whatever falls due on the
// way happens at the end of it, the earliest first.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	due := slices.DeleteFunc(slices.Collect(maps.Keys(c.alarms)), func(a *alarm) bool { return a.at.After(c.now) })
	for _, a := range due {
		delete(c.alarms, a)
	}
	c.mu.Unlock()
	slices.SortFunc(due, func(a, b *alarm) int { return a.at.Compare(b.at) })
	for _, a := range due {
		a.ring()
	}
}

// after calls ring once when the clock reaches at, unless stop comes first.
// ring must not block and may be called before after returns.
func (c *Clock) after(at time.Time, ring func()) (stop func()) {
	if c == nil {
		t := time.AfterFunc(time.Until(at), ring)
		return func() { t.Stop() }
	}
	a := &alarm{at: at, ring: ring}
	c.mu.Lock()
	if due := !at.After(c.now); due {
		c.mu.Unlock()
		ring()
		return func() {}
	}
	c.alarms[a] = struct{}{}
	c.mu.Unlock()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.alarms, a)
	}
}

// A nap is what ends a wait for messages.
type nap struct {
	changed <-chan struct{} // closed when the queue or a window changes
	until   time.Time       // when something falls due on its own; zero is never
}

// sleep returns at the end of the nap or of ctx.
func (c *Clock) sleep(ctx context.Context, n nap) {
	due, stop := c.timer(n.until)
	defer stop()
	select {
	case <-ctx.Done():
	case <-n.changed:
	case <-due:
	}
}

// timer returns a channel that is closed when the clock reaches at; never, if
// at is zero.
func (c *Clock) timer(at time.Time) (due <-chan struct{}, stop func()) {
	if at.IsZero() {
		return nil, func() {}
	}
	ch := make(chan struct{})
	return ch, c.after(at, func() { close(ch) })
}
