package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"truecost.dev/shared/runner"
)

// observer stands between a runner and its store and notes, beside, when each
// step is recorded. It tells the parent of runs that end. The floor uses it in
// the same way, so that both sides pay the same for being watched.
type observer struct {
	runner.Store
	out io.Writer

	mu   sync.Mutex // guards what follows
	last map[string]time.Time
	seen sight
}

// sight is what was seen since the last look.
type sight struct {
	Gaps      []time.Duration `json:"gaps"`      // between two steps of a run
	Recorded  int             `json:"recorded"`  // commits that record a step, refused ones as well
	Conflicts int             `json:"conflicts"` // those that were refused
	Messages  int             `json:"messages"`  // published
}

func newObserver(store runner.Store, out io.Writer) *observer {
	return &observer{Store: store, out: out, last: map[string]time.Time{}}
}

// recorded notes the commit of a step.
func (o *observer) recorded(run string, conflict, end bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen.Recorded++
	if conflict {
		o.seen.Conflicts++
		return
	}
	now := time.Now()
	if before, ok := o.last[run]; ok {
		o.seen.Gaps = append(o.seen.Gaps, now.Sub(before))
	}
	o.last[run] = now
	if end {
		delete(o.last, run)
		fmt.Fprintln(o.out, run)
	}
}

func (o *observer) sent(messages int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen.Messages += messages
}

func (o *observer) take() sight {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.seen
	o.seen = sight{}
	return s
}
