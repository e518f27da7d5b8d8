package a2a_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/a2a/a2atest"
)

// start is the instant of every test clock.
var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

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

// frozen are options with a clock that stands still and a fresh store.
func frozen() a2a.Options {
	now := func() time.Time { return start }
	tasks := a2atest.NewMemory(now)
	var ids atomic.Int64
	return a2a.Options{
		Now: now, Log: slog.New(slog.DiscardHandler),
		Tasks: func() (a2a.Tasks, error) { return tasks, nil },
		NewID: func() string { return fmt.Sprintf("fresh-%d", ids.Add(1)) },
		URL:   "https://agents.example/a2a_location",
	}
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
	client := a2a.Client{HTTP: &http.Client{Transport: inProcess{a2a.NewHandler(agentFunc(echo), frozen())}}, BaseURL: "http://agents"}
	score := 61.5
	want := a2a.Request{
		EstimateID: "est-1", Input: json.RawMessage(`{"zip":"80202"}`), Feedback: json.RawMessage(`{"issues":[]}`), Attempt: 1,
		PreviousAgents: []string{"location"}, Agent: "location", Output: json.RawMessage(`{"n":1.10}`), Score: &score, ScorerFeedback: "weak",
	}
	got, err := client.Call(t.Context(), "location", "7d9f5b1e-0f64-4c2a-9a53-1f0a5e8f2b11", want)
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
