package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/uuid"

	"truecost.dev/internal/chaos/tasks/walk"
	"truecost.dev/shared/a2a/task"
)

// way is how a client sends its message and hears of the end.
type way string

const (
	submits way = "submitted" // the five-step protocol: queued, then listened to
	streams way = "streamed"  // A2A 1.0
	waits   way = "waited"    // A2A 1.0, by two clients at once with the same message
)

// An errand is one message of a client and what it hears of it. What is cut off
// it asks for again: it knows nothing of crashes.
type errand struct {
	*world
	id      string // of the message: a UUID
	way     way
	plan    walk.Plan
	cancels bool
	random  *rand.Rand

	task  sdk.TaskID
	hangs bool
	took  time.Duration

	mu    sync.Mutex // guards what follows
	heard map[string]string
	again int // requests that were made once more
}

// newErrand draws the errand of a number.
func (w *world) newErrand(number uint64) *errand {
	r := rand.New(rand.NewPCG(w.seed, number)) //nolint:gosec // G404: a seed's errands are to be drawn alike
	id := uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "errand %d of world %d", number, w.seed))
	e := &errand{
		world: w, id: id.String(), way: []way{submits, submits, streams, waits}[r.IntN(4)], random: r, heard: map[string]string{},
		plan: walk.Plan{Steps: 2 + r.IntN(5), Pause: time.Duration(20+r.IntN(180)) * time.Millisecond, Stumble: r.IntN(8) == 0},
	}
	e.cancels = e.way == submits && r.IntN(8) == 0
	e.task, _ = task.ID(walk.Name, task.Caller{}, e.id)
	return e
}

// run sends the message and returns when the end was heard, or ctx has ended.
func (e *errand) run(ctx context.Context) {
	began := time.Now()
	var err error
	switch e.way {
	case submits:
		err = e.submit(ctx)
	case streams:
		err = e.stream(ctx)
	case waits:
		err = e.twins(ctx)
	}
	e.took = time.Since(began)
	if err != nil {
		e.hangs = true
		e.Broke("end", e.id, "%s: %v", e.way, err)
	}
}

// anywhere is the address of one of the two walkers.
func (e *errand) anywhere() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.at[e.random.IntN(len(e.at))]
}

// pause waits before something is asked again; it is false when ctx has ended.
func (e *errand) pause(ctx context.Context) bool {
	e.mu.Lock()
	e.again++
	d := time.Duration(20+e.random.IntN(200)) * time.Millisecond
	e.mu.Unlock()
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// hear notes a frame: nobody may have heard another one under its number.
func (e *errand) hear(dialect, id, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := dialect + " " + id
	if was, known := e.heard[key]; known && was != text {
		e.Broke("frames", e.id, "%s frame %s was %s, and is %s", dialect, id, was, text)
	}
	e.heard[key] = text
}

// twins are two clients with one message, each at a walker of its own to begin
// with.
func (e *errand) twins(ctx context.Context) error {
	var both sync.WaitGroup
	var errs [2]error
	for i := range errs {
		both.Go(func() { errs[i] = e.wait(ctx, e.at[i]) })
	}
	both.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// crowd sends messages, so many at once, until the time is up, and returns all
// errands when their ends were heard.
func (w *world) crowd(sending, waiting context.Context) []*errand {
	var mu sync.Mutex // guards all
	var all []*errand
	var clients sync.WaitGroup
	for range w.clients {
		clients.Go(func() {
			for sending.Err() == nil {
				mu.Lock()
				e := w.newErrand(uint64(len(all)))
				all = append(all, e)
				mu.Unlock()
				e.run(waiting)
			}
		})
	}
	clients.Wait()
	return all
}
