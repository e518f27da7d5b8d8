package front

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
	"truecost.dev/shared/fault"
)

// bearer knows callers by the word after Bearer.
func bearer(r *http.Request) (task.Caller, error) {
	switch token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); token {
	case "":
		return task.Caller{}, fault.New(fault.Unknown, "say who you are")
	case "mallory":
		return task.Caller{}, fault.New(fault.Denied, "you may not")
	case "away":
		return task.Caller{}, fault.Wrap(fault.Unavailable, errors.New("dial 10.0.0.7"), "nobody can say who you are")
	default:
		return task.Caller{ID: token}, nil
	}
}

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read before its sender was known")
	return 0, io.EOF
}

// Who is not known, or may not, is refused in the words of the dialect before
// the body is read.
func TestAuthenticate(t *testing.T) {
	t.Parallel()
	h := newScripted(t, Options{Authenticate: bearer})
	tests := []struct {
		method, path, version, token string
		status                       int
		name                         string
	}{
		{"POST", "/", "1.0", "", 401, "-31401"},
		{"POST", "/", "", "", 401, "-31401"},
		{"POST", "/", "", "mallory", 403, "-31403"},
		{"POST", "/", "1.0", "away", 503, "-32000"},
		{"POST", "/message:send", "", "", 401, "UNAUTHENTICATED"},
		{"POST", "/message:stream", "1.0", "mallory", 403, "UNAUTHORIZED"},
		{"GET", "/tasks", "", "", 401, "UNAUTHENTICATED"},
		{"POST", "/v1/message:send", "", "", 401, ""},
		{"POST", "/submit_task", "", "", 401, "-"},
		{"GET", "/task_updates/t", "", "mallory", 403, "-"},
		{"GET", "/nowhere", "", "", 401, "UNAUTHENTICATED"},
	}
	for _, tt := range tests {
		r := httptest.NewRequestWithContext(t.Context(), tt.method, tt.path, unread{t})
		r.Header.Set("A2A-Version", tt.version)
		if tt.token != "" {
			r.Header.Set("Authorization", "Bearer "+tt.token)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		got := readAnswer(t, w)
		if w.Code != tt.status || tt.name != "" && got.name != tt.name || got.Error == nil {
			t.Errorf("%s %s as %q = HTTP %d, %s, want %d, %s", tt.method, tt.path, tt.token, w.Code, w.Body, tt.status, tt.name)
		}
		if (w.Header().Get("WWW-Authenticate") != "") != (w.Code == 401) || (w.Header().Get("Retry-After") != "") != (w.Code == 503) {
			t.Errorf("%s %s as %q = HTTP %d with %v", tt.method, tt.path, tt.token, w.Code, w.Header())
		}
	}
}

// What proves who somebody is goes no further than to where it is proved.
func TestAnonymous(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	for _, name := range []string{"Authorization", "X-Serverless-Authorization", "Cookie", "A2A-Version"} {
		r.Header.Set(name, "x")
	}
	got := anonymous(r).Header
	if got.Get("Authorization") != "" || got.Get("X-Serverless-Authorization") != "" || got.Get("Cookie") != "" || got.Get("A2A-Version") != "x" || r.Header.Get("Cookie") != "x" {
		t.Errorf("anonymous() has %v and left %v, want the proofs gone from a copy", got, r.Header)
	}
}

// A stranger's task is not there, in the very words of one that never was.
func TestStrangers(t *testing.T) {
	t.Parallel()
	h := newScripted(t, Options{Authenticate: bearer})
	ask := func(who, method, path, body string) string {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+who)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Body.String()
	}
	var sent struct{ Task sdk.Task }
	mine := ask("alice", "POST", "/message:send", `{"message":{"messageId":"`+streamID+`","role":"ROLE_USER","parts":[{"text":"ask"}]}}`)
	if err := json.Unmarshal([]byte(mine), &sent); err != nil || sent.Task.Status.State != sdk.TaskStateInputRequired {
		t.Fatalf("alice got %s (%v), want a task that waits", mine, err)
	}
	const hook = `{"url":"https://hooks.example/"}`
	follow := func(id string) string {
		return `{"message":{"messageId":"m","role":"ROLE_USER","taskId":"` + id + `","parts":[{"text":"x"}]}}`
	}
	tests := []struct {
		method, path string
		body         func(id string) string
	}{
		{"GET", "/tasks/{id}", nil},
		{"POST", "/tasks/{id}:cancel", nil},
		{"GET", "/tasks/{id}:subscribe", nil},
		{"POST", "/tasks/{id}/pushNotificationConfigs", func(string) string { return hook }},
		{"GET", "/tasks/{id}/pushNotificationConfigs", nil},
		{"GET", "/tasks/{id}/pushNotificationConfigs/c", nil},
		{"DELETE", "/tasks/{id}/pushNotificationConfigs/c", nil},
		{"POST", "/message:send", follow},
		{"POST", "/message:stream", follow},
		{"GET", "/v1/tasks/{id}", nil},
		{"GET", "/task_status/{id}", nil},
		{"GET", "/task_updates/{id}", nil},
		{"POST", "/cancel_task/{id}", nil},
	}
	for _, tt := range tests {
		answer := func(id string) string {
			body := ""
			if tt.body != nil {
				body = tt.body(id)
			}
			return strings.ReplaceAll(ask("bob", tt.method, strings.ReplaceAll(tt.path, "{id}", id), body), id, "{id}")
		}
		if got, want := answer(string(sent.Task.ID)), answer("no-such-task"); got != want || !strings.Contains(got, "no such task") {
			t.Errorf("%s %s of alice's task = %s, want as of none: %s", tt.method, tt.path, got, want)
		}
	}
	if got := ask("bob", "GET", "/tasks", ""); !strings.Contains(got, `"tasks":[]`) {
		t.Errorf("bob's tasks are %s, want none", got)
	}
	if got := ask("alice", "GET", "/tasks", ""); !strings.Contains(got, string(sent.Task.ID)) {
		t.Errorf("alice's tasks are %s, want hers", got)
	}
}

// An error of ours is logged with an id that its answer names, and the answer
// says nothing else.
func TestInnerErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err    error
		status int
		code   string
	}{
		{errors.New("dial 10.0.0.7: goroutine 7"), 200, "-32603"},
		{fault.Wrap(fault.Internal, errors.New("dial 10.0.0.7"), "row 7 of secrets"), 200, "-32603"},
		{fault.Wrap(fault.Unavailable, errors.New("dial 10.0.0.7"), "the store is away"), 503, "-32000"},
	}
	for _, tt := range tests {
		var log bytes.Buffer
		store := &broken{StoreFinder: tasktest.NewMemory(frozen), err: tt.err}
		h, _ := newFrontOver(t, scripted(), Options{Log: slog.New(slog.NewTextHandler(&log, nil))}, store, frozen)
		for _, method := range []string{"GetTask", "SubscribeToTask", "CancelTask"} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"id":"t"}}`))
			r.Header.Set("A2A-Version", "1.0")
			w := httptest.NewRecorder()
			log.Reset()
			h.ServeHTTP(w, r)
			got := readAnswer(t, w)
			if w.Code != tt.status || got.name != tt.code || strings.Contains(w.Body.String(), "10.0.0.7") || strings.Contains(w.Body.String(), "secret") {
				t.Errorf("%s over a store with %v = HTTP %d, %s, want %d, %s and no more", method, tt.err, w.Code, w.Body, tt.status, tt.code)
			}
			if id := w.Header().Get("X-Request-Id"); id == "" || !strings.Contains(log.String(), "request="+id) || !strings.Contains(log.String(), "10.0.0.7") {
				t.Errorf("%s: request %q, log %q, want the error under its id", method, id, &log)
			}
		}
	}
}

// broken is a store that cannot be read.
type broken struct {
	tasktest.StoreFinder
	err error
}

func (b *broken) Get(context.Context, string, sdk.TaskID) (task.Record, error) {
	return task.Record{}, b.err
}

// Cards are for everybody, wherever the agent is mounted.
func TestCards(t *testing.T) {
	t.Parallel()
	cards := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) })
	h := newScripted(t, Options{Authenticate: bearer, Cards: cards})
	for _, path := range []string{"/.well-known/agent-card.json", "/a2a_location/.well-known/agent.json", "/elsewhere/.well-known/agent.json"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if w.Body.String() != path || w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("GET %s = %s, %v, want the card for any origin", path, w.Body, w.Header())
		}
	}
	w := httptest.NewRecorder()
	newScripted(t, Options{}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/.well-known/agent.json", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("HTTP %d without cards, want 404", w.Code)
	}
}

// The extended card is told to callers, as the caller it is.
func TestExtendedCard(t *testing.T) {
	t.Parallel()
	h := newScripted(t, Options{Authenticate: bearer, Extended: func(_ context.Context, c task.Caller) ([]byte, error) {
		if c.ID != "alice" {
			return nil, fault.New(fault.Denied, "not for you")
		}
		return []byte(`{"name":"location"}`), nil
	}})
	for who, want := range map[string]string{"alice": `{"name":"location"}`, "bob": "not for you"} {
		for path, body := range map[string]string{"/extendedAgentCard": "", "/": `{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}`} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			if body != "" {
				r = httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
				r.Header.Set("A2A-Version", "1.0")
			}
			r.Header.Set("Authorization", "Bearer "+who)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s as %s = %s, want %s", path, who, w.Body, want)
			}
		}
	}
}
