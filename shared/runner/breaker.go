package runner

import (
	"sync"
	"time"
)

// A breaker opens when an agent fails so often within so long, and stays open
// for so long; then one call probes.
const (
	breakerFailures = 5
	breakerWindow   = 30 * time.Second
	breakerOpen     = 15 * time.Second
)

// breakers keep an instance from hammering an agent that is down: while one is
// open, a failed call is not repeated within its delivery. The durable tries
// are untouched. The zero value is ready.
type breakers struct {
	mu      sync.Mutex // guards byAgent
	byAgent map[string]*breaker
}

type breaker struct {
	failures []time.Time // within the window
	until    time.Time   // open until then
}

// saw counts the outcome of a call and reports whether the breaker of the agent
// is open.
func (b *breakers) saw(agent string, now time.Time, ok bool) (open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ok {
		delete(b.byAgent, agent)
		return false
	}
	if b.byAgent == nil {
		b.byAgent = map[string]*breaker{}
	}
	s := b.byAgent[agent]
	if s == nil {
		s = &breaker{}
		b.byAgent[agent] = s
	}
	for len(s.failures) > 0 && now.Sub(s.failures[0]) > breakerWindow {
		s.failures = s.failures[1:]
	}
	s.failures = append(s.failures, now)
	probed := !s.until.IsZero() && !now.Before(s.until)
	if probed || len(s.failures) >= breakerFailures {
		s.until = now.Add(breakerOpen)
	}
	return now.Before(s.until)
}
