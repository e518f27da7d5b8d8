package tasktest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
)

// House is several instances over one store and one queue, with an actor on
// each. Time runs as fast as the clock of the test: leases are short.
type House struct {
	*Actor
	Queue
	Instances []*Instance

	background sync.WaitGroup

	mu    sync.Mutex // guards posts
	posts []string
	// Refuse is asked before a hook is told; nil: every receiver takes everything.
	Refuse func(h task.Hook, e task.Entry) error
}

// Instance is one process of a house.
type Instance struct {
	*task.Desk
	*task.Worker
	Store *Flaky
}

// Name is the agent of a house.
const Name = "actor"

// The times of a house.
const (
	Lease    = 600 * time.Millisecond
	deadline = 10 * Lease
	soon     = Lease / 6 // for what is to take no time
)

// NewHouse returns instances over views of one empty store, one for each.
func NewHouse(views ...StoreFinder) *House {
	h := &House{Actor: new(Actor)}
	for _, view := range views {
		h.Add(view)
	}
	return h
}

// Add puts one more instance into the house.
func (h *House) Add(view StoreFinder) {
	in := &Instance{Store: &Flaky{StoreFinder: view}}
	in.Desk = task.NewDesk(h.Agent(Name), task.Options{
		Store:  func() (task.Store, error) { return in.Store, nil },
		Finder: func() (task.Finder, error) { return in.Store, nil },
		Queue:  func() (task.Queue, error) { return &h.Queue, nil },
		Now:    time.Now, Log: slog.New(slog.DiscardHandler), //nolint:forbidigo // a test has the time it has
		Deadline: deadline, Lease: Lease, Poll: Lease / 30, Pace: Lease / 10, Push: true,
	})
	in.Worker = &task.Worker{Desks: map[string]*task.Desk{Name: in.Desk}, Post: h.post}
	h.Instances = append(h.Instances, in)
}

func (h *House) post(_ context.Context, hook task.Hook, e task.Entry, _ *sdk.Task) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.Refuse != nil {
		if err := h.Refuse(hook, e); err != nil {
			return err
		}
	}
	h.posts = append(h.posts, hook.Config.ID+" "+Line(e))
	return nil
}

// Posts returns what hooks were told, in order.
func (h *House) Posts() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.posts)
}

// Kill takes an instance from the store for ever: what it does from now on,
// nobody learns.
func (h *House) Kill(i int) { h.Instances[i].Store.Cut() }

// Close waits for the work that is still under way, that of dead instances too.
func (h *House) Close() { h.background.Wait() }

// Deliver has an instance do what waits in the queue, all at once.
func (h *House) Deliver(ctx context.Context, i int) {
	var doing sync.WaitGroup
	for {
		j, ok := h.Next()
		if !ok {
			break
		}
		doing.Go(func() { _ = h.Instances[i].Do(ctx, j) })
	}
	doing.Wait()
}

// Settle sweeps and delivers on an instance until nobody is to work on a task
// any more, and returns it.
func (h *House) Settle(ctx context.Context, i int, id sdk.TaskID) (task.Record, error) {
	in := h.Instances[i]
	for range 400 {
		if err := in.Sweep(ctx); err != nil {
			return task.Record{}, err
		}
		h.Deliver(ctx, i)
		r, err := in.Store.Get(ctx, Name, id)
		if err != nil || !r.AtWork() && !r.Queued {
			return r, err
		}
		rest(Lease)
	}
	return task.Record{}, errors.New("tasktest: the task does not end")
}

// rest waits; in a bubble that takes no time.
func rest(d time.Duration) { <-time.After(d) }

// Check returns what is wrong with a task that nobody works on: its log is to
// have no gap and, where want is 1, one end, and to lead to the task as it is.
func (h *House) Check(ctx context.Context, i int, id sdk.TaskID, want int) error {
	store := h.Instances[i].Store.StoreFinder
	r, err := store.Get(ctx, Name, id)
	if err != nil {
		return err
	}
	f := fold{arts: map[sdk.ArtifactID]string{}}
	for f.seq < r.Seq {
		log, err := store.Log(ctx, Name, id, f.seq)
		if err != nil || len(log) == 0 {
			return fmt.Errorf("the log ends with event %d, want %d: %w", f.seq, r.Seq, err)
		}
		for _, e := range log {
			if err := f.add(e); err != nil {
				return err
			}
		}
	}
	arts := map[sdk.ArtifactID]string{}
	for _, a := range r.Task.Artifacts {
		arts[a.ID] = texts(a.Parts)
	}
	switch {
	case f.ends != want:
		return fmt.Errorf("the log has %d ends, want %d", f.ends, want)
	case f.state != r.Task.Status.State:
		return fmt.Errorf("the log leads to %s, the task is %s", f.state, r.Task.Status.State)
	case !reflect.DeepEqual(f.arts, arts):
		return fmt.Errorf("the log leads to the artifacts %v, the task has %v", f.arts, arts)
	}
	return nil
}

// fold is a log as somebody reads it who knows nothing else.
type fold struct {
	seq      int64
	state    sdk.TaskState
	ends     int
	progress int
	arts     map[sdk.ArtifactID]string
}

func (f *fold) add(e task.Entry) error {
	if f.seq++; e.Seq != f.seq {
		return fmt.Errorf("event %d comes where %d is due", e.Seq, f.seq)
	}
	switch ev := e.Event.(type) {
	case *sdk.TaskStatusUpdateEvent:
		if f.state = ev.Status.State; f.state.Terminal() {
			f.ends++
		}
		p, ok := task.Progress(ev.Metadata)
		if ok && p < f.progress {
			return fmt.Errorf("event %d has progress %d after %d", e.Seq, p, f.progress)
		}
		f.progress = max(f.progress, p)
		if ev.Status.Timestamp == nil {
			return fmt.Errorf("event %d has no time", e.Seq)
		}
	case *sdk.TaskArtifactUpdateEvent:
		if !ev.Append {
			f.arts[ev.Artifact.ID] = ""
		}
		f.arts[ev.Artifact.ID] += texts(ev.Artifact.Parts)
	default:
		return fmt.Errorf("event %d is a %T", e.Seq, e.Event)
	}
	return nil
}

// async runs f in the background and returns a channel with its result.
func async[T any](h *House, f func() T) <-chan T {
	c := make(chan T, 1)
	h.background.Go(func() { c <- f() })
	return c
}

// Case is one thing that instances are held to.
type Case struct {
	Name string
	Run  func(t *testing.T, h *House)
}

// TestInstances holds desks on three instances over one store to the durable
// contract: what one began, any other answers for, and nothing is done twice.
// open returns three views of one empty store; it is called once for each case,
// and cases run in parallel. Leases are 600 ms by the store's own clock.
func TestInstances(t *testing.T, open func(t *testing.T) [3]StoreFinder) {
	t.Helper()
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			views := open(t)
			h := NewHouse(views[:]...)
			defer h.Close()
			c.Run(t, h)
		})
	}
}
