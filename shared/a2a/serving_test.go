package a2a_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/a2a/front"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
	"truecost.dev/shared/fault"
)

// callID is the id of a call that may be repeated.
const callID = "7d9f5b1e-0f64-4c2a-9a53-1f0a5e8f2b11"

// standing is a clock that stands still.
func standing() time.Time { return time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC) }

// handler is the front of an agent over a store.
func handler(a a2a.Agent, store task.Store) http.Handler {
	return logged(a, store, slog.New(slog.DiscardHandler))
}

func logged(a a2a.Agent, store task.Store, log *slog.Logger) http.Handler {
	var ids atomic.Int64
	desk := task.NewDesk(a.Task(), task.Options{
		Store: func() (task.Store, error) { return store, nil },
		Now:   standing, Log: log, NewID: func() string { return fmt.Sprintf("fresh-%d", ids.Add(1)) },
	})
	return front.NewHandler(desk, front.Options{Log: log, URL: "https://agents.example/a2a_location"})
}

// inProcess sends requests to a handler without a port.
type inProcess struct{ http.Handler }

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// clientOf returns a client of an agent over a store.
func clientOf(a a2a.Agent, store task.Store) *a2a.Client {
	return &a2a.Client{HTTP: &http.Client{Transport: inProcess{handler(a, store)}}, BaseURL: "http://agents"}
}

// agentFunc is an agent named location that does serve.
func agentFunc(serve func(ctx context.Context, req a2a.Request) (json.RawMessage, error)) a2a.Agent {
	return a2a.Agent{
		Name: "location", Description: "Local prices.", Version: "1.0.0",
		Skills: []string{"pricing", "labor rates"}, Serve: serve,
	}
}

// echo is an agent that returns its request.
func echo(_ context.Context, req a2a.Request) (json.RawMessage, error) { return json.Marshal(req) }

func TestCallRoundTrip(t *testing.T) {
	t.Parallel()
	score := 61.5
	want := a2a.Request{
		EstimateID: "est-1", Input: json.RawMessage(`{"zip":"80202"}`), Feedback: json.RawMessage(`{"issues":[]}`), Attempt: 1,
		PreviousAgents: []string{"location"}, Agent: "location", Output: json.RawMessage(`{"n":1.10}`), Score: &score, ScorerFeedback: "weak",
	}
	got, err := clientOf(agentFunc(echo), tasktest.NewMemory(standing)).Call(t.Context(), "location", callID, want)
	if err != nil {
		t.Fatalf("Call() = %v, want a result", err)
	}
	text, _ := json.Marshal(want)
	if string(got.Output) != string(text) {
		t.Errorf("Call() = %s, want %s", got.Output, text)
	}
	if got.TaskID == "" || got.Metadata.Agent != "location" || got.Metadata.State != "completed" {
		t.Errorf("Call() = task %q, metadata %+v, want a task of location, completed", got.TaskID, got.Metadata)
	}
}

// counted is a store that counts what it is asked.
type counted struct {
	task.Store
	creates, updates, gets int
	events                 []int // of each write
}

func (c *counted) Create(ctx context.Context, r task.Record, log ...task.Entry) (task.Record, error) {
	c.creates++
	c.events = append(c.events, len(log))
	return c.Store.Create(ctx, r, log...)
}

func (c *counted) Update(ctx context.Context, r task.Record, log ...task.Entry) (task.Record, error) {
	c.updates++
	c.events = append(c.events, len(log))
	return c.Store.Update(ctx, r, log...)
}

func (c *counted) Get(ctx context.Context, agent string, id sdk.TaskID) (task.Record, error) {
	c.gets++
	return c.Store.Get(ctx, agent, id)
}

// A call of the pipeline is two writes: the task, and its end with the result.
func TestACallIsTwoWrites(t *testing.T) {
	t.Parallel()
	store := &counted{Store: tasktest.NewMemory(standing)}
	if _, err := clientOf(agentFunc(echo), store).Call(t.Context(), "location", callID, a2a.Request{EstimateID: "e"}); err != nil {
		t.Fatalf("Call() = %v, want a result", err)
	}
	if diff := cmp.Diff([]int{0, 2}, store.events); diff != "" || store.creates != 1 || store.updates != 1 || store.gets != 0 {
		t.Errorf("a call was %d creates, %d updates, %d gets with %v events, want 1, 1, 0 with 0 and 2", store.creates, store.updates, store.gets, store.events)
	}
}

// away is a store that answers nothing.
type away struct{ task.Store }

var errAway = fault.Wrap(fault.Unavailable, errors.New("dial 10.0.0.7"), "the store is away")

func (away) Create(context.Context, task.Record, ...task.Entry) (task.Record, error) {
	return task.Record{}, errAway
}

func (away) Get(context.Context, string, sdk.TaskID) (task.Record, error) {
	return task.Record{}, errAway
}

// A call that reaches no store has done nothing, and may be made again.
func TestStoreAway(t *testing.T) {
	t.Parallel()
	client := clientOf(agentFunc(func(context.Context, a2a.Request) (json.RawMessage, error) {
		t.Error("the agent ran, want it untouched")
		return nil, nil
	}), away{})
	_, err := client.Call(t.Context(), "location", callID, a2a.Request{EstimateID: "e"})
	_, look := client.Look(t.Context(), "location", "t")
	for name, err := range map[string]error{"Call": err, "Look": look, "Cancel": client.Cancel(t.Context(), "location", "t")} {
		after, told := a2a.RetryAfter(err)
		if fault.KindOf(err) != fault.Unavailable || a2a.Ambiguous(err) || !told || after != time.Second || strings.Contains(err.Error(), "10.0.0.7") {
			t.Errorf("%s() = %v, want unavailable, not ambiguous, to be tried after 1s, and no address", name, err)
		}
	}
}

// A stack and a cause go to the log and nowhere else; a body goes nowhere.
func TestWhatLeaves(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := logged(scripted(), tasktest.NewMemory(standing), slog.New(slog.NewTextHandler(&log, nil)))
	var answers strings.Builder
	for _, input := range []string{`"panic"`, `"unavailable"`, `{"password":"hunter2"}`} {
		w := httptest.NewRecorder()
		body := `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"role":"user","parts":[{"type":"data","data":{"estimate_id":"e","input":` + input + `}}]}}}`
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body)))
		answers.WriteString(w.Body.String())
	}
	for _, secret := range []string{"secret of the house", "goroutine", "10.0.0.7"} {
		if strings.Contains(answers.String(), secret) || !strings.Contains(log.String(), secret) {
			t.Errorf("%q is in an answer or missing in the log:\n%s\n%s", secret, answers.String(), log.String())
		}
	}
	if strings.Contains(log.String(), "hunter2") {
		t.Errorf("the log has the body of a request:\n%s", log.String())
	}
}

// FuzzDecodeRequest has a client ask with any data: an agent that returns what it
// was asked is asked the same by its own answer.
func FuzzDecodeRequest(f *testing.F) {
	for _, seed := range []string{
		`{"estimate_id":"e","input":{"a":1.10}}`, `{"estimate_id":"e","zip":"80202","retry_attempt":2}`, `{"estimate_id":"e","input":null}`,
		`{"estimate_id":"e","human_input":1,"score":61.5,"output":{}}`, `{"Estimate_ID":"e"}`, `[]`, `{}`, `{"estimate_id":"\ud800"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h := handler(agentFunc(echo), tasktest.NewMemory(standing))
		once, ok := asked(t, h, data)
		if !ok {
			return
		}
		if twice, _ := asked(t, h, once); string(twice) != string(once) {
			t.Errorf("asked with %s: %s, want the same", once, twice)
		}
	})
}

// asked sends a data part and returns the result; ok is false when the data was
// refused.
func asked(t *testing.T, h http.Handler, data []byte) (result json.RawMessage, ok bool) {
	t.Helper()
	w := httptest.NewRecorder()
	body := `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"role":"user","parts":[{"type":"data","data":` + string(data) + `}]}}}`
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body)))
	var got struct {
		Result *struct {
			Status string
			Result json.RawMessage
		}
		Error *struct{ Code int }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || (got.Result == nil) == (got.Error == nil) {
		t.Fatalf("answer %s (%v), want a result or an error", w.Body, err)
	}
	if got.Result == nil || got.Result.Status != "completed" {
		return nil, false
	}
	return got.Result.Result, true
}
