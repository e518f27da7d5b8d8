package a2a_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/a2a/a2atest"
	"truecost.dev/shared/fault"
)

// message is a message/send named by callID.
func message() string {
	return strings.Replace(data(`{"estimate_id":"e","input":{}}`), `"id":1`, `"id":"`+callID+`"`, 1)
}

// look is a tasks/get of the task of callID.
func look() string {
	id, _ := a2a.TaskID("location", callID)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"task_id":%q}}`, id)
}

// stop is a tasks/cancel of the task of callID.
func stop() string { return strings.Replace(look(), "tasks/get", "tasks/cancel", 1) }

func post(ctx context.Context, h http.Handler, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)).WithContext(ctx))
	return w
}

// wants fails unless the body of an answer has every one of these texts.
func wants(t *testing.T, w *httptest.ResponseRecorder, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(w.Body.String(), text) {
			t.Errorf("answer %s, want %s in it", w.Body, text)
		}
	}
}

// live are options with the clock of a synctest bubble.
func live() a2a.Options {
	opt := frozen()
	opt.Now = time.Now //nolint:forbidigo // the clock of a bubble
	tasks := a2atest.NewMemory(opt.Now)
	opt.Tasks = func() (a2a.Tasks, error) { return tasks, nil }
	return opt
}

func TestRepetitionWhileTheFirstRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		h := a2a.NewHandler(agentFunc(func(context.Context, a2a.Request) (json.RawMessage, error) {
			calls++
			<-time.After(7 * time.Second)
			return json.RawMessage(`{"n":1}`), nil
		}), live())
		first := make(chan *httptest.ResponseRecorder)
		go func() { first <- post(t.Context(), h, message()) }()
		synctest.Wait()

		wants(t, post(t.Context(), h, message()), `"status":"working"`, `"state":"working"`)
		wants(t, post(t.Context(), h, look()), `"status":"working"`)
		wants(t, <-first, `"status":"completed","result":{"n":1}`, `"duration_ms":7000`)
		wants(t, post(t.Context(), h, message()), `"status":"completed","result":{"n":1}`, `"duration_ms":7000`)
		if calls != 1 {
			t.Errorf("the agent ran %d times, want 1", calls)
		}
	})
}

func TestWorkerDied(t *testing.T) {
	t.Parallel()
	now := start
	opt := frozen()
	opt.Now, opt.Deadline = func() time.Time { return now }, time.Minute
	tasks := a2atest.NewMemory(opt.Now)
	opt.Tasks = func() (a2a.Tasks, error) { return unfinished{tasks}, nil }
	h := a2a.NewHandler(agentFunc(echo), opt)
	wants(t, post(t.Context(), h, message()), `"status":"completed"`) // answered, though it could not be saved
	wants(t, post(t.Context(), h, look()), `"status":"working"`)

	now = now.Add(31 * time.Second) // a lease later, and long before the deadline
	wants(t, post(t.Context(), h, look()), `"status":"failed"`, `"error_kind":"unavailable"`, `"retryable":true`)
	opt.Tasks = func() (a2a.Tasks, error) { return tasks, nil }
	h = a2a.NewHandler(agentFunc(echo), opt)
	wants(t, post(t.Context(), h, message()), `"status":"completed"`)
	wants(t, post(t.Context(), h, look()), `"status":"completed"`)
}

// unfinished is a store that goes away while an agent works.
type unfinished struct{ a2a.Tasks }

func (unfinished) Update(context.Context, a2a.Record) (a2a.Record, error) {
	return a2a.Record{}, fault.New(fault.Unavailable, "the store is away")
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		opt := live()
		opt.Deadline = 3 * time.Second
		h := a2a.NewHandler(agentFunc(func(ctx context.Context, _ a2a.Request) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}), opt)
		wants(t, post(t.Context(), h, message()), `"status":"failed","error":"the deadline passed"`, `"error_kind":"timeout"`, `"retryable":true`, `"duration_ms":3000`)
	})
}

// Whoever asks may die or lose patience: the work goes on, and waits for whoever
// asks again.
func TestCallerLeaves(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	runs := 0
	h := a2a.NewHandler(agentFunc(func(ctx context.Context, _ a2a.Request) (json.RawMessage, error) {
		runs++
		leave()
		return json.RawMessage(`{"n":1}`), ctx.Err()
	}), frozen())
	post(ctx, h, message())
	wants(t, post(t.Context(), h, look()), `"status":"completed","result":{"n":1}`)
	wants(t, post(t.Context(), h, message()), `"status":"completed","result":{"n":1}`)
	if runs != 1 {
		t.Errorf("the agent ran %d times, want 1", runs)
	}
}

func TestStoreAway(t *testing.T) {
	t.Parallel()
	tests := map[string]func() (a2a.Tasks, error){
		"not opened": func() (a2a.Tasks, error) { return nil, fault.New(fault.Unavailable, "the store is away") },
		"no answer":  func() (a2a.Tasks, error) { return away{}, nil },
	}
	for name, open := range tests {
		opt := frozen()
		opt.Tasks = open
		h := a2a.NewHandler(agentFunc(func(context.Context, a2a.Request) (json.RawMessage, error) {
			t.Errorf("%s: the agent ran, want it untouched", name)
			return nil, nil
		}), opt)
		for _, body := range []string{message(), look(), stop()} {
			w := post(t.Context(), h, body)
			wants(t, w, `-32000`, `the store is away`)
			if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" {
				t.Errorf("%s: HTTP %d, Retry-After %q, want 503, 1", name, w.Code, w.Header().Get("Retry-After"))
			}
		}
	}
}

// away is a store that answers nothing.
type away struct{ a2a.Tasks }

var errAway = fault.New(fault.Unavailable, "the store is away")

func (away) Create(context.Context, a2a.Record) (a2a.Record, error) { return a2a.Record{}, errAway }

func (away) Get(context.Context, string, sdk.TaskID) (a2a.Record, error) {
	return a2a.Record{}, errAway
}

func TestWithoutTasks(t *testing.T) {
	t.Parallel()
	opt := frozen()
	opt.Tasks = nil
	h := a2a.NewHandler(scripted(), opt)
	count := strings.Replace(message(), `"input":{}`, `"input":"count"`, 1)
	wants(t, post(t.Context(), h, count), `"n":1`)
	wants(t, post(t.Context(), h, count), `"n":2`)
	wants(t, post(t.Context(), h, look()), `-32001`)
}

// A stack and a cause go to the log and nowhere else; a body goes nowhere.
func TestWhatLeaves(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	opt := frozen()
	opt.Log = slog.New(slog.NewTextHandler(&log, nil))
	h := a2a.NewHandler(scripted(), opt)
	var answers strings.Builder
	for _, input := range []string{`"panic"`, `"unavailable"`, `{"password":"hunter2"}`} {
		answers.WriteString(post(t.Context(), h, data(`{"estimate_id":"e","input":`+input+`}`)).Body.String())
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

func TestNewHandlerPanicsOnAnIncompleteAgent(t *testing.T) {
	t.Parallel()
	whole := agentFunc(echo)
	tests := map[string]func(*a2a.Agent, *a2a.Options){
		"no name":  func(a *a2a.Agent, _ *a2a.Options) { a.Name = "" },
		"no serve": func(a *a2a.Agent, _ *a2a.Options) { a.Serve = nil },
		"no clock": func(_ *a2a.Agent, o *a2a.Options) { o.Now = nil },
		"no log":   func(_ *a2a.Agent, o *a2a.Options) { o.Log = nil },
	}
	for name, spoil := range tests {
		agent, opt := whole, frozen()
		spoil(&agent, &opt)
		if p := panicked(func() { a2a.NewHandler(agent, opt) }); p == nil {
			t.Errorf("NewHandler(%s) returned, want a panic", name)
		}
	}
}

func panicked(f func()) (p any) {
	defer func() { p = recover() }()
	f()
	return nil
}

func TestTaskCodec(t *testing.T) {
	t.Parallel()
	const text = `{"id":"t","artifacts":[{"artifactId":"result","name":"result","parts":[{"data":{"z":1.10,"a":9007199254740993}},{"text":"x"}]}],` +
		`"contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}`
	task, err := a2a.DecodeTask([]byte(text))
	if err != nil {
		t.Fatalf("DecodeTask() = %v, want a task", err)
	}
	if got, err := a2a.EncodeTask(task); err != nil || string(got) != text {
		t.Errorf("EncodeTask(DecodeTask(x)) = %s, %v, want %s", got, err, text)
	}
	if _, err := a2a.DecodeTask([]byte(`{"id":7}`)); fault.KindOf(err) != fault.Internal {
		t.Errorf("DecodeTask(id 7) = %v, want kind internal", err)
	}
	bad := &sdk.Task{ID: "t", Metadata: map[string]any{"f": func() {}}}
	if _, err := a2a.EncodeTask(bad); err == nil {
		t.Error("EncodeTask(a func) = nil, want an error")
	}
}
