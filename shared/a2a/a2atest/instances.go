package a2atest

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/fault"
)

// TestInstances holds agents on two instances over one store to the durable
// contract: what one began, the other answers for, and nothing is done twice.
// open returns two views of one empty store; it is called once for each case,
// and cases run in parallel. Leases are short and by the store's own clock.
func TestInstances(t *testing.T, open func(t *testing.T) (a, b a2a.Tasks)) {
	t.Helper()
	cases := []struct {
		name  string
		lease time.Duration // 0: the default; else short, so that a renewal or a take-over is soon
		run   func(t *testing.T, p *pair)
	}{
		{"a repeated call joins the work", 0, joins},
		{"a canceled task stops where it is at work", 90 * time.Millisecond, cancels},
		{"a completed task is not canceled", 0, cancelsLate},
		{"a dead worker is replaced", 90 * time.Millisecond, replaces},
		{"a question is asked here and answered there", 0, asks},
		{"a canceled question takes no answer", 0, cancelsQuestion},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := &pair{lease: c.lease, begun: make(chan struct{}, 8), finish: make(chan struct{}), stopped: make(chan error, 8)}
			a, b := open(t)
			p.a, p.b = p.client(a), p.client(b)
			p.deadA = p.client(dead{a})
			c.run(t, p)
		})
	}
}

const (
	firstCall  = "7d9f5b1e-0f64-4c2a-9a53-1f0a5e8f2b11"
	secondCall = "7d9f5b1e-0f64-4c2a-9a53-1f0a5e8f2b12"
)

// pair is an agent on two instances, with a client of each.
type pair struct {
	a, b  *a2a.Client
	deadA *a2a.Client // an instance that dies when it has begun a task

	lease   time.Duration
	runs    atomic.Int64
	begun   chan struct{} // one for each run
	finish  chan struct{} // closed: all work ends
	stopped chan error    // why the context of a run ended
}

func (p *pair) client(tasks a2a.Tasks) *a2a.Client {
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	h := a2a.NewHandler(a2a.Agent{Name: "location", Serve: p.serve}, a2a.Options{
		Tasks: func() (a2a.Tasks, error) { return tasks, nil },
		Now:   func() time.Time { return at }, Log: slog.New(slog.DiscardHandler), Lease: p.lease,
	})
	return &a2a.Client{HTTP: &http.Client{Transport: handlerTrip{h}}, BaseURL: "http://agents", Poll: 5 * time.Millisecond}
}

// handlerTrip sends requests to a handler without a port.
type handlerTrip struct{ http.Handler }

func (h handlerTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

// serve asks when it is told to, and else works until finish is closed.
func (p *pair) serve(ctx context.Context, req a2a.Request) (json.RawMessage, error) {
	n := p.runs.Add(1)
	p.begun <- struct{}{}
	if string(req.Input) == `"ask"` {
		if req.Answer == nil {
			return nil, a2a.Ask("Which zip code?", json.RawMessage(`{"type":"string"}`))
		}
		return json.Marshal(map[string]any{"run": n, "zip": req.Answer, "task": req.TaskID, "context": req.ContextID})
	}
	select {
	case <-p.finish:
		return json.Marshal(map[string]any{"run": n, "input": req.Input})
	case <-ctx.Done():
		p.stopped <- context.Cause(ctx)
		return nil, ctx.Err()
	}
}

// dead is the store of an instance that was killed: it begins, and nothing is
// heard of it again.
type dead struct{ a2a.Tasks }

var errDead = fault.New(fault.Unavailable, "this instance is dead")

func (dead) Update(context.Context, a2a.Record) (a2a.Record, error) { return a2a.Record{}, errDead }

type outcome struct {
	result a2a.Result
	err    error
}

// call calls in the background.
func call(ctx context.Context, c *a2a.Client, id string, req a2a.Request) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		r, err := c.Call(ctx, "location", id, req)
		done <- outcome{r, err}
	}()
	return done
}

func request(input string) a2a.Request {
	return a2a.Request{EstimateID: "est-1", Input: json.RawMessage(input)}
}

func task(id string) string {
	t, _ := a2a.TaskID("location", id)
	return string(t)
}

func (p *pair) wantRuns(t *testing.T, want int64) {
	t.Helper()
	if n := p.runs.Load(); n != want {
		t.Errorf("the agent ran %d times, want %d", n, want)
	}
}

func wantResult(t *testing.T, call string, got outcome, want string) {
	t.Helper()
	if got.err != nil || got.result.State != a2a.Completed || string(got.result.Output) != want {
		t.Errorf("%s = %+v, %v, want completed with %s", call, got.result, got.err, want)
	}
}

func joins(t *testing.T, p *pair) {
	t.Helper()
	first := call(t.Context(), p.a, firstCall, request(`{}`))
	<-p.begun
	again := call(t.Context(), p.b, firstCall, request(`{}`))
	if r, err := p.b.Look(t.Context(), "location", task(firstCall)); err != nil || r.State != a2a.Working || r.ContextID != "est-1" {
		t.Errorf("Look() during the work = %+v, %v, want working", r, err)
	}
	close(p.finish)
	const want = `{"input":{},"run":1}`
	a, b := <-first, <-again
	wantResult(t, "Call()", a, want)
	wantResult(t, "Call(repeated during the work)", b, want)
	if a.result.TaskID != task(firstCall) || b.result.TaskID != a.result.TaskID {
		t.Errorf("the calls have the tasks %s and %s, want %s", a.result.TaskID, b.result.TaskID, task(firstCall))
	}
	wantResult(t, "Call(repeated after the work)", <-call(t.Context(), p.b, firstCall, request(`{}`)), want)
	p.wantRuns(t, 1)
	_, err := p.b.Call(t.Context(), "location", firstCall, request(`{"other":1}`))
	wantKind(t, "Call(the id, another request)", err, fault.Invalid)
}

func cancels(t *testing.T, p *pair) {
	t.Helper()
	first := call(t.Context(), p.a, firstCall, request(`{}`))
	<-p.begun
	for range 2 {
		if err := p.b.Cancel(t.Context(), "location", task(firstCall)); err != nil {
			t.Fatalf("Cancel() = %v, want no error", err)
		}
	}
	if cause := <-p.stopped; fault.KindOf(cause) != fault.Canceled || fault.Public(cause) != "the task was canceled" {
		t.Errorf("the agent stopped because of %v, want the cancellation", cause)
	}
	wantKind(t, "Call() of a canceled task", (<-first).err, fault.Conflict)
	_, err := p.a.Call(t.Context(), "location", firstCall, request(`{}`))
	wantKind(t, "Call(repeated)", err, fault.Conflict)
	_, err = p.b.Look(t.Context(), "location", task(firstCall))
	wantKind(t, "Look(canceled)", err, fault.Conflict)
	p.wantRuns(t, 1)
	if err := p.b.Cancel(t.Context(), "location", task(secondCall)); err != nil {
		t.Errorf("Cancel(unknown) = %v, want no error", err)
	}
}

func cancelsLate(t *testing.T, p *pair) {
	t.Helper()
	close(p.finish)
	const want = `{"input":{},"run":1}`
	wantResult(t, "Call()", <-call(t.Context(), p.a, firstCall, request(`{}`)), want)
	if err := p.b.Cancel(t.Context(), "location", task(firstCall)); err != nil {
		t.Errorf("Cancel(completed) = %v, want no error", err)
	}
	wantResult(t, "Call(repeated)", <-call(t.Context(), p.b, firstCall, request(`{}`)), want)
}

// replaces has the first worker die at work: its task is at work while the lease
// lasts; then the message sent again runs elsewhere.
func replaces(t *testing.T, p *pair) {
	t.Helper()
	first := call(t.Context(), p.deadA, firstCall, request(`{}`))
	<-p.begun
	for {
		r, err := p.b.Look(t.Context(), "location", task(firstCall))
		if err != nil {
			wantKind(t, "Look() when the lease has run out", err, fault.Unavailable)
			break
		}
		if r.State != a2a.Working {
			t.Fatalf("Look() while the lease runs out = %+v, want working", r)
		}
		<-time.After(p.b.Poll)
	}
	p.wantRuns(t, 1)
	again := call(t.Context(), p.b, firstCall, request(`{}`))
	<-p.begun
	close(p.finish)
	got := <-again
	if got.err != nil || got.result.State != a2a.Completed || got.result.TaskID != task(firstCall) {
		t.Errorf("Call(repeated) = %+v, %v, want the task completed", got.result, got.err)
	}
	p.wantRuns(t, 2)
	wantResult(t, "Call() of the dead instance", <-first, `{"input":{},"run":1}`) // it never could write it down
	if r, err := p.a.Look(t.Context(), "location", task(firstCall)); err != nil || string(r.Output) != `{"input":{},"run":2}` {
		t.Errorf("Look() = %s, %v, want the result of the second worker", r.Output, err)
	}
}

func asks(t *testing.T, p *pair) {
	t.Helper()
	for _, c := range []*a2a.Client{p.a, p.b} {
		r, err := c.Call(t.Context(), "location", firstCall, request(`"ask"`))
		if err != nil || r.State != a2a.InputRequired || r.TaskID != task(firstCall) || r.ContextID != "est-1" || r.Question == nil ||
			r.Question.Prompt != "Which zip code?" || string(r.Question.Schema) != `{"type":"string"}` {
			t.Fatalf("Call() = %+v, %v, want the question", r, err)
		}
	}
	p.wantRuns(t, 1)
	answer := request(`"ask"`)
	answer.TaskID, answer.ContextID, answer.Answer = task(firstCall), "est-1", json.RawMessage(`"80202"`)
	want := `{"context":"est-1","run":2,"task":"` + task(firstCall) + `","zip":"80202"}`
	for _, c := range []*a2a.Client{p.b, p.a, p.b} {
		got := <-call(t.Context(), c, secondCall, answer)
		wantResult(t, "Call(the answer)", got, want)
		if got.result.TaskID != task(firstCall) {
			t.Errorf("Call(the answer) is task %s, want %s", got.result.TaskID, task(firstCall))
		}
	}
	p.wantRuns(t, 2)
	if r, err := p.a.Look(t.Context(), "location", task(firstCall)); err != nil || string(r.Output) != want {
		t.Errorf("Look() = %s, %v, want %s", r.Output, err, want)
	}
	answer.Answer = json.RawMessage(`"10001"`)
	_, err := p.a.Call(t.Context(), "location", secondCall, answer)
	wantKind(t, "Call(another answer, the same id)", err, fault.Invalid)
}

func cancelsQuestion(t *testing.T, p *pair) {
	t.Helper()
	if _, err := p.a.Call(t.Context(), "location", firstCall, request(`"ask"`)); err != nil {
		t.Fatalf("Call() = %v, want the question", err)
	}
	if err := p.b.Cancel(t.Context(), "location", task(firstCall)); err != nil {
		t.Fatalf("Cancel() = %v, want no error", err)
	}
	answer := request(`"ask"`)
	answer.TaskID, answer.Answer = task(firstCall), json.RawMessage(`"80202"`)
	_, err := p.a.Call(t.Context(), "location", secondCall, answer)
	wantKind(t, "Call(the answer to a canceled question)", err, fault.Conflict)
	p.wantRuns(t, 1)
}
