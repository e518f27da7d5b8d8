package webhook_test

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
	"sync"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/webhook"
	"truecost.dev/shared/egress"
	"truecost.dev/shared/fault"
)

// received is what a receiver saw of one request.
type received struct {
	Header http.Header
	Body   string
}

// receiver answers every request with a status, and keeps it.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex // guards got
	got []received
}

func newReceiver(t *testing.T, status int) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.got = append(r.got, received{req.Header, string(body)})
		r.mu.Unlock()
		if status/100 == 3 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.Repeat("thank you ", 100_000)) // more than anybody reads
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got
}

// sender returns a sender that may call this machine, and its log.
func sender() (*webhook.Sender, *bytes.Buffer) {
	var log bytes.Buffer
	return &webhook.Sender{
		HTTP:  egress.New(egress.Options{Plain: true, Loopback: true}),
		Log:   slog.New(slog.NewJSONHandler(&log, nil)),
		Early: func(t *sdk.Task) ([]byte, error) { return []byte(`{"kind":"task","id":"` + string(t.ID) + `"}`), nil },
	}, &log
}

var info = sdk.TaskInfo{TaskID: "t-1", ContextID: "c-1"}

func working() task.Entry {
	e := sdk.NewStatusUpdateEvent(info, sdk.TaskStateWorking, nil)
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	e.Status.Timestamp = &at
	return task.Entry{Seq: 2, Event: e}
}

func hook(address string) task.Hook {
	return task.Hook{Config: sdk.PushConfig{
		TaskID: "t-1", ID: "h-1", URL: address + "/hook?key=s3cret-query", Token: "s3cret-token",
		Auth: &sdk.PushAuthInfo{Scheme: "Bearer", Credentials: "s3cret-credentials"},
	}}
}

func TestPost(t *testing.T) {
	t.Parallel()
	artifact := sdk.NewArtifactEvent(info, sdk.NewDataPart(json.RawMessage(`{"n":12345678901234567890}`)))
	artifact.Artifact.ID = "result"
	tests := []struct {
		name        string
		early       bool
		entry       task.Entry
		media, body string // body empty: nothing is sent
	}{
		{
			"a status", false, working(), "application/a2a+json",
			`{"statusUpdate":{"contextId":"c-1","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-11-21T10:00:00Z"},"taskId":"t-1"}}`,
		},
		{
			"an artifact, its numbers as they were", false,
			task.Entry{Seq: 3, Event: artifact},
			"application/a2a+json",
			`{"artifactUpdate":{"artifact":{"artifactId":"result","parts":[{"data":{"n":12345678901234567890}}]},"contextId":"c-1","taskId":"t-1"}}`,
		},
		{
			"a message alone", false,
			task.Entry{Seq: 1, Event: &sdk.Message{ID: "m", Role: sdk.MessageRoleAgent, Parts: sdk.ContentParts{sdk.NewTextPart("hi")}}},
			"application/a2a+json", `{"message":{"messageId":"m","parts":[{"text":"hi"}],"role":"ROLE_AGENT"}}`,
		},
		{"0.3: the task", true, working(), "application/json", `{"kind":"task","id":"t-1"}`},
		{"0.3: a message alone", true, task.Entry{Seq: 1, Event: &sdk.Message{ID: "m"}}, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newReceiver(t, http.StatusNoContent)
			h := hook(r.URL)
			h.Early = tt.early
			s, _ := sender()
			if err := s.Post(t.Context(), h, tt.entry, &sdk.Task{ID: "t-1"}); err != nil {
				t.Fatalf("Post = %v", err)
			}
			got := r.all()
			if tt.body == "" {
				if len(got) != 0 {
					t.Fatalf("the receiver got %v, want nothing", got)
				}
				return
			}
			if len(got) != 1 || got[0].Body != tt.body {
				t.Fatalf("the receiver got %v, want %s", got, tt.body)
			}
			want := map[string]string{
				"Content-Type": tt.media, "A2A-Notification-Token": "s3cret-token",
				"X-A2A-Notification-Token": "s3cret-token", "Authorization": "Bearer s3cret-credentials",
			}
			for name, value := range want {
				if got := got[0].Header.Get(name); got != value {
					t.Errorf("%s = %q, want %q", name, got, value)
				}
			}
		})
	}
}

// Without token and credentials there are no headers for them.
func TestPostBare(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, http.StatusOK)
	s, _ := sender()
	if err := s.Post(t.Context(), task.Hook{Config: sdk.PushConfig{URL: r.URL, Auth: &sdk.PushAuthInfo{Scheme: "Bearer"}}}, working(), nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"A2A-Notification-Token", "X-A2A-Notification-Token", "Authorization", "Cookie"} {
		if v, ok := r.all()[0].Header[http.CanonicalHeaderKey(name)]; ok {
			t.Errorf("%s = %q, want none", name, v)
		}
	}
}

// Which answers take an event, which ask for another try, and which end it.
func TestAnswers(t *testing.T) {
	t.Parallel()
	tests := map[int]fault.Kind{
		200: "", 201: "", 202: "", 204: "",
		301: fault.Invalid, 302: fault.Invalid, 307: fault.Invalid, 308: fault.Invalid,
		400: fault.Invalid, 401: fault.Invalid, 403: fault.Invalid, 404: fault.Invalid, 410: fault.Invalid, 422: fault.Invalid,
		408: fault.Unavailable, 429: fault.Unavailable,
		500: fault.Unavailable, 502: fault.Unavailable, 503: fault.Unavailable, 504: fault.Unavailable,
	}
	for status, want := range tests {
		r := newReceiver(t, status)
		s, _ := sender()
		err := s.Post(t.Context(), hook(r.URL), working(), nil)
		if got := fault.KindOf(err); got != want {
			t.Errorf("Post, answered %d = %v, want kind %q", status, err, want)
		}
		if n := len(r.all()); n != 1 {
			t.Errorf("answered %d: %d requests, want 1: redirects are not followed", status, n)
		}
	}
}

// doer answers as it is told.
type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r) }

// What went wrong below keeps its meaning: addresses that must not be called are
// given up, the rest is tried again.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err  error
		want fault.Kind
	}{
		{fault.New(fault.Invalid, "url: wanted a public address"), fault.Invalid},
		{fault.New(fault.Timeout, "slow"), fault.Unavailable},
		{fault.New(fault.Unavailable, "away"), fault.Unavailable},
		{fault.New(fault.Exhausted, "long"), fault.Unavailable},
		{errors.New("anything"), fault.Unavailable},
		{context.Canceled, fault.Canceled},
	}
	for _, tt := range tests {
		s, _ := sender()
		s.HTTP = doer(func(*http.Request) (*http.Response, error) { return nil, tt.err })
		if err := s.Post(t.Context(), hook("https://example.com"), working(), nil); fault.KindOf(err) != tt.want {
			t.Errorf("Post, %v below = %v, want kind %q", tt.err, err, tt.want)
		}
	}
}

// A receiver on a private address is not called, whoever configured it.
func TestGuarded(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, http.StatusOK)
	s, _ := sender()
	s.HTTP = egress.New(egress.Options{})
	for _, address := range []string{r.URL, strings.Replace(r.URL, "http:", "https:", 1), "https://169.254.169.254"} {
		if err := s.Post(t.Context(), hook(address), working(), nil); fault.KindOf(err) != fault.Invalid {
			t.Errorf("Post(%s) = %v, want fault.Invalid", address, err)
		}
	}
	if got := r.all(); len(got) != 0 {
		t.Errorf("the receiver got %v, want nothing", got)
	}
}

// A token that would become another header, or another request, is not sent.
func TestHeadersAreOneLine(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, http.StatusOK)
	for _, bad := range []string{"a\r\nX-Evil: 1", "a\nb", "a\x00b", "käse", "a\x7fb"} {
		token, auth := hook(r.URL), hook(r.URL)
		token.Config.Token = bad
		auth.Config.Auth = &sdk.PushAuthInfo{Scheme: "Bearer", Credentials: bad}
		for _, h := range []task.Hook{token, auth} {
			s, _ := sender()
			if err := s.Post(t.Context(), h, working(), nil); fault.KindOf(err) != fault.Invalid {
				t.Errorf("Post with %q = %v, want fault.Invalid", bad, err)
			}
		}
	}
	if got := r.all(); len(got) != 0 {
		t.Errorf("the receiver got %v, want nothing", got)
	}
}

// Nothing secret gets into a log line or an error.
func TestSecretsStay(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 400, 500} {
		s, log := sender()
		err := s.Post(t.Context(), hook(newReceiver(t, status).URL), working(), nil)
		said := log.String()
		if err != nil {
			said += err.Error()
		}
		if strings.Contains(said, "s3cret") || !strings.Contains(said, "t-1") {
			t.Errorf("answered %d: said %s, want the task and no secret", status, said)
		}
	}
	s, _ := sender()
	err := s.Post(t.Context(), hook("http://127.0.0.1:1"), working(), nil)
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("nobody there: %v, want an error without a secret", err)
	}
	err = s.Post(t.Context(), hook("http://bad host"), working(), nil)
	if fault.KindOf(err) != fault.Invalid || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a bad address: %v, want fault.Invalid without a secret", err)
	}
}

// The log line of a delivery.
func TestLogLine(t *testing.T) {
	t.Parallel()
	s, log := sender()
	if err := s.Post(t.Context(), hook(newReceiver(t, http.StatusAccepted).URL), working(), nil); err != nil {
		t.Fatal(err)
	}
	var line map[string]any
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	delete(line, "time")
	want := map[string]any{"level": "INFO", "msg": "webhook told", "task": "t-1", "hook": "h-1", "event": 2.0, "host": "127.0.0.1", "status": 202.0}
	if d := cmp.Diff(want, line); d != "" {
		t.Errorf("log line (-want +got):\n%s", d)
	}
}
