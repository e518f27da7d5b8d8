package a2a_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/fault"
)

// meter counts what reaches a store, and fails or loses what it is told to.
type meter struct {
	a2a.Tasks
	creates, updates, gets atomic.Int64

	down  atomic.Bool // nothing reaches the store any more
	loses atomic.Bool // the next update is stored, and its answer lost
}

var errDown = fault.New(fault.Unavailable, "the store is away")

func (m *meter) Create(ctx context.Context, r a2a.Record) (a2a.Record, error) {
	m.creates.Add(1)
	return m.Tasks.Create(ctx, r)
}

func (m *meter) Update(ctx context.Context, r a2a.Record) (a2a.Record, error) {
	m.updates.Add(1)
	if m.down.Load() {
		return a2a.Record{}, errDown
	}
	stored, err := m.Tasks.Update(ctx, r)
	if m.loses.Swap(false) {
		return a2a.Record{}, errDown
	}
	return stored, err
}

func (m *meter) Get(ctx context.Context, agent string, id sdk.TaskID) (a2a.Record, error) {
	m.gets.Add(1)
	if m.down.Load() {
		return a2a.Record{}, errDown
	}
	return m.Tasks.Get(ctx, agent, id)
}

// instances are n metered views of one store, with options for a handler on each.
func instances(n int) ([]*meter, []a2a.Options) {
	opt := live()
	tasks, _ := opt.Tasks()
	meters, opts := make([]*meter, n), make([]a2a.Options, n)
	for i := range meters {
		m := &meter{Tasks: tasks}
		meters[i], opts[i] = m, opt
		opts[i].Tasks = func() (a2a.Tasks, error) { return m, nil }
	}
	return meters, opts
}

func (m *meter) want(t *testing.T, creates, updates, gets int64) {
	t.Helper()
	if c, u, g := m.creates.Load(), m.updates.Load(), m.gets.Load(); c != creates || u != updates || g != gets {
		t.Errorf("the store saw %d creates, %d updates, %d gets, want %d, %d, %d", c, u, g, creates, updates, gets)
	}
}

// lasting is an agent that works for d, or until its context ends.
func lasting(d time.Duration, runs *atomic.Int64, cause *error) a2a.Agent {
	return agentFunc(func(ctx context.Context, _ a2a.Request) (json.RawMessage, error) {
		runs.Add(1)
		select {
		case <-time.After(d):
			return json.RawMessage(`{"n":1}`), nil
		case <-ctx.Done():
			*cause = context.Cause(ctx)
			return nil, ctx.Err()
		}
	})
}

func TestShortWorkCostsTwoWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int64
		var cause error
		meters, opts := instances(1)
		wants(t, post(t.Context(), a2a.NewHandler(lasting(9*time.Second, &runs, &cause), opts[0]), message()), `"status":"completed"`)
		meters[0].want(t, 1, 1, 0)
	})
}

func TestLongWorkIsHeld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int64
		var cause error
		meters, opts := instances(2)
		agent := lasting(95*time.Second, &runs, &cause)
		a, b := a2a.NewHandler(agent, opts[0]), a2a.NewHandler(agent, opts[1])
		first := make(chan *httptest.ResponseRecorder)
		go func() { first <- post(t.Context(), a, message()) }()
		for range 9 {
			time.Sleep(10 * time.Second) //nolint:forbidigo // the clock of a bubble
			wants(t, post(t.Context(), b, message()), `"status":"working"`)
		}
		wants(t, <-first, `"status":"completed"`)
		wants(t, post(t.Context(), b, message()), `"status":"completed"`, `"duration_ms":95000`)
		meters[0].want(t, 1, 9+1, 0) // nine renewals, one end
		if n := runs.Load(); n != 1 {
			t.Errorf("the agent ran %d times, want 1", n)
		}
	})
}

func TestCancelReachesTheWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int64
		var cause error
		_, opts := instances(2)
		agent := lasting(time.Hour, &runs, &cause)
		a, b := a2a.NewHandler(agent, opts[0]), a2a.NewHandler(agent, opts[1])
		begun, first := opts[0].Now(), make(chan *httptest.ResponseRecorder)
		go func() { first <- post(t.Context(), a, message()) }()
		time.Sleep(25 * time.Second) //nolint:forbidigo // the clock of a bubble
		wants(t, post(t.Context(), b, stop()), `"state":"canceled"`)
		wants(t, <-first, `"status":"failed"`, `"state":"canceled"`)
		if took := opts[0].Now().Sub(begun); took != 30*time.Second {
			t.Errorf("the worker noticed after %s, want at its renewal after 30s", took)
		}
		if fault.KindOf(cause) != fault.Canceled || fault.Public(cause) != "the task was canceled" {
			t.Errorf("the agent's context ended because of %v, want that the task was canceled", cause)
		}
		wants(t, post(t.Context(), a, message()), `"state":"canceled"`)
		wants(t, post(t.Context(), b, look()), `"state":"canceled"`)
		if n := runs.Load(); n != 1 {
			t.Errorf("the agent ran %d times, want 1: a canceled task is not run again", n)
		}
	})
}

// An instance that is cut off from the store, as by SIGSTOP or kill -9, is
// noticed when its lease has run out, long before its deadline; the message
// sent again is then run elsewhere. The instance that comes back stops.
func TestWorkerIsTakenOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var lost, runs atomic.Int64
		var lostCause, cause error
		meters, opts := instances(2)
		a := a2a.NewHandler(lasting(time.Hour, &lost, &lostCause), opts[0])
		b := a2a.NewHandler(lasting(25*time.Second, &runs, &cause), opts[1])
		first := make(chan *httptest.ResponseRecorder)
		go func() { first <- post(t.Context(), a, message()) }()
		synctest.Wait()
		meters[0].down.Store(true)
		time.Sleep(30 * time.Second) //nolint:forbidigo // the clock of a bubble
		wants(t, post(t.Context(), b, look()), `"status":"working"`)
		time.Sleep(time.Second) //nolint:forbidigo // the clock of a bubble
		wants(t, post(t.Context(), b, look()), `"status":"failed"`, `"error_kind":"unavailable"`, `"retryable":true`)
		second := make(chan *httptest.ResponseRecorder)
		go func() { second <- post(t.Context(), b, message()) }()
		synctest.Wait()
		meters[0].down.Store(false)
		wants(t, <-first, `"status":"working"`) // what the store holds: it knows no better
		if fault.Public(lostCause) != "another instance took the task over" {
			t.Errorf("the agent's context ended because of %v, want the take-over", lostCause)
		}
		wants(t, <-second, `"status":"completed"`)
		wants(t, post(t.Context(), a, look()), `"status":"completed"`)
		if runs.Load() != 1 || lost.Load() != 1 {
			t.Errorf("the agent ran %d and %d times, want once on each instance", lost.Load(), runs.Load())
		}
	})
}

// The result of a worker that was thought dead is good if it is the first.
func TestLateResultCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var lost, runs atomic.Int64
		var cause error
		meters, opts := instances(2)
		a := a2a.NewHandler(lasting(35*time.Second, &lost, &cause), opts[0])
		b := a2a.NewHandler(agentFunc(func(context.Context, a2a.Request) (json.RawMessage, error) {
			runs.Add(1)
			<-time.After(time.Minute)
			return json.RawMessage(`{"n":2}`), nil
		}), opts[1])
		first, second := make(chan *httptest.ResponseRecorder), make(chan *httptest.ResponseRecorder)
		go func() { first <- post(t.Context(), a, message()) }()
		synctest.Wait()
		meters[0].down.Store(true)
		time.Sleep(31 * time.Second) //nolint:forbidigo // the clock of a bubble
		go func() { second <- post(t.Context(), b, message()) }()
		synctest.Wait()
		meters[0].down.Store(false)
		wants(t, <-first, `"status":"completed","result":{"n":1}`)
		wants(t, <-second, `"status":"completed","result":{"n":1}`)
		if runs.Load() != 1 || lost.Load() != 1 {
			t.Errorf("the agent ran %d and %d times, want once on each instance", lost.Load(), runs.Load())
		}
	})
}

// A write that was stored although its sender heard of an error is its own: the
// renewals go on, and the result stands.
func TestLostAnswersOfTheStore(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]time.Duration{"of a renewal": 75 * time.Second, "of the last renewal": 11 * time.Second, "of the end": 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var runs atomic.Int64
			var cause error
			meters, opts := instances(2)
			meters[0].loses.Store(true)
			agent := lasting(d, &runs, &cause)
			a, b := a2a.NewHandler(agent, opts[0]), a2a.NewHandler(agent, opts[1])
			first := make(chan *httptest.ResponseRecorder)
			go func() { first <- post(t.Context(), a, message()) }()
			time.Sleep(d - time.Millisecond) //nolint:forbidigo // the clock of a bubble
			wants(t, post(t.Context(), b, message()), `"status":"working"`)
			wants(t, <-first, `"status":"completed","result":{"n":1}`)
			wants(t, post(t.Context(), b, look()), `"status":"completed","result":{"n":1}`)
			if n := runs.Load(); n != 1 {
				t.Errorf("%s: the agent ran %d times, want 1", name, n)
			}
		})
	}
}

// A short lease is an option, and the end of the deadline ends the renewals: a
// worker that hears nothing of it loses its task.
func TestDeafWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, opts := instances(1)
		opts[0].Lease, opts[0].Deadline = 300*time.Millisecond, time.Second
		h := a2a.NewHandler(agentFunc(func(context.Context, a2a.Request) (json.RawMessage, error) {
			<-time.After(5 * time.Second)
			return json.RawMessage(`{"n":1}`), nil
		}), opts[0])
		first := make(chan *httptest.ResponseRecorder)
		go func() { first <- post(t.Context(), h, message()) }()
		time.Sleep(time.Second) //nolint:forbidigo // the clock of a bubble
		wants(t, post(t.Context(), h, look()), `"status":"working"`)
		time.Sleep(301 * time.Millisecond) //nolint:forbidigo // the clock of a bubble
		wants(t, post(t.Context(), h, look()), `"status":"failed"`, `"retryable":true`)
		wants(t, <-first, `"status":"completed"`)
		wants(t, post(t.Context(), h, look()), `"status":"completed"`)
	})
}

// A failure that may pass is run again by the same message, until it is
// canceled: then nobody waits for it.
func TestCancelAfterAFailure(t *testing.T) {
	t.Parallel()
	runs := 0
	h := a2a.NewHandler(agentFunc(func(context.Context, a2a.Request) (json.RawMessage, error) {
		runs++
		return nil, fault.New(fault.Unavailable, "prices are away")
	}), frozen())
	wants(t, post(t.Context(), h, message()), `"retryable":true`)
	wants(t, post(t.Context(), h, message()), `"retryable":true`)
	wants(t, post(t.Context(), h, stop()), `"state":"canceled"`, `"retryable":false`)
	wants(t, post(t.Context(), h, message()), `"state":"canceled"`)
	if runs != 2 {
		t.Errorf("the agent ran %d times, want 2", runs)
	}
}
