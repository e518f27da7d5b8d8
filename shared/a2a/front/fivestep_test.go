package front

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"truecost.dev/internal/transcript"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// specialist is an agent with a skill of five-step, which does what its topic says.
func specialist(pause time.Duration) task.Agent {
	schema := `{"type":"object","required":["search_topic"],"additionalProperties":false,"properties":{
		"search_topic":{"type":"string","minLength":1,"maxLength":40},"max_results":{"type":"integer","minimum":1}}}`
	return task.Agent{
		Name: "research", Description: "Reads the web.", Version: "1.0.0",
		Skills: []task.Skill{
			{AgentSkill: sdk.AgentSkill{ID: "browse_extract", Name: "Browse", Description: "Reads the web."}, InputSchema: []byte(schema)},
			{AgentSkill: sdk.AgentSkill{ID: "anything", Name: "Anything", Description: "Takes any object."}},
			{AgentSkill: sdk.AgentSkill{ID: "broken", Name: "Broken", Description: "Has a schema that is none."}, InputSchema: []byte(`{"type":1}`)},
		},
		Run: func(_ context.Context, turn task.Turn) iter.Seq2[sdk.Event, error] {
			return func(yield func(sdk.Event, error) bool) { look(turn, pause, yield) }
		},
	}
}

func look(turn task.Turn, pause time.Duration, yield func(sdk.Event, error) bool) {
	say := func(state sdk.TaskState, text string, percent int) bool {
		time.Sleep(pause) //nolint:forbidigo // in a bubble, or not at all
		e := &sdk.TaskStatusUpdateEvent{Status: sdk.TaskStatus{State: state}}
		if text != "" {
			e.Status.Message = &sdk.Message{Role: sdk.MessageRoleAgent, Parts: sdk.ContentParts{sdk.NewTextPart(text)}}
		}
		if percent >= 0 {
			e.SetMeta(wire.MetaProgress, percent)
		}
		return yield(e, nil)
	}
	artifact := func(id string, more bool, parts ...*sdk.Part) bool {
		return yield(&sdk.TaskArtifactUpdateEvent{Append: more, Artifact: &sdk.Artifact{ID: sdk.ArtifactID(id), Name: id, Parts: parts}}, nil)
	}
	var input struct {
		Topic string `json:"search_topic"`
	}
	raw, _ := turn.Message.Parts[0].Data().(json.RawMessage)
	if json.Unmarshal(raw, &input) != nil {
		return
	}
	working := sdk.TaskStateWorking
	switch input.Topic {
	case "fail":
		if say(working, "Searching.", 30) {
			yield(nil, fault.Wrap(fault.Unavailable, fmt.Errorf("dial 10.0.0.7"), "the search is away"))
		}
	case "ask":
		say(sdk.TaskStateInputRequired, "Which of the two?", 40)
	case "message":
		yield(&sdk.Message{Role: sdk.MessageRoleAgent, Parts: sdk.ContentParts{sdk.NewTextPart("42")}}, nil)
	case "object":
		_ = artifact("result", false, sdk.NewDataPart(json.RawMessage(`{"extracted_data":"It costs \"42\".","rows":[{"n":1.10}],"grounded":true,"none":null}`))) &&
			say(sdk.TaskStateCompleted, "", -1)
	case "every kind":
		_ = artifact("file", false, &sdk.Part{Content: sdk.Raw("tck"), MediaType: "text/plain"}) &&
			artifact("link", false, sdk.NewFileURLPart("https://example.com/", "text/html")) &&
			artifact("number", false, sdk.NewDataPart(json.RawMessage("1.10"))) && say(sdk.TaskStateCompleted, "", -1)
	default:
		_ = say(working, "Tools are ready.", 10) && say(working, "Searching.", 30) && say(working, "Still searching.", 20) &&
			artifact("extracted_data", false, sdk.NewTextPart("It costs ")) && say(working, "Extracting.", 70) &&
			artifact("extracted_data", true, sdk.NewTextPart("<42>.")) && say(working, "", -1) &&
			artifact("search_results_summary", false, sdk.NewDataPart(json.RawMessage(`[{"title":"A"}]`))) &&
			say(sdk.TaskStateCompleted, "Done.", -1)
	}
}

// instance is one of several that serve the specialist over one store.
type instance struct {
	http.Handler
	worker *task.Worker
	queue  atomic.Bool // what is queued is worked on at once
}

func newInstance(t *testing.T, agent task.Agent, store tasktest.StoreFinder, now func() time.Time, log *slog.Logger) *instance {
	t.Helper()
	i := &instance{}
	i.queue.Store(true)
	var ids atomic.Int64
	fresh := func() string { return fmt.Sprintf("fresh-%d", ids.Add(1)) }
	desk := task.NewDesk(agent, task.Options{
		Store:  func() (task.Store, error) { return store, nil },
		Finder: func() (task.Finder, error) { return store, nil },
		Queue:  func() (task.Queue, error) { return i, nil },
		Now:    now, Log: log, NewID: fresh,
	})
	i.worker = &task.Worker{Desks: map[string]*task.Desk{agent.Name: desk}}
	i.Handler = NewHandler(desk, Options{
		Log: log, NewID: fresh, URL: "https://agents.example/a2a_research",
		Authenticate: func(r *http.Request) (task.Caller, error) {
			switch token := r.Header.Get("Authorization"); token {
			case "", "Bearer token-of-ann":
				return task.Caller{ID: strings.TrimPrefix(token, "Bearer token-of-")}, nil
			}
			return task.Caller{}, fault.New(fault.Unknown, "the token is not valid")
		},
	})
	return i
}

func (i *instance) Work(ctx context.Context, ref task.Ref) error {
	if !i.queue.Load() {
		return nil
	}
	return i.worker.Work(ctx, ref)
}

func (i *instance) Tell(context.Context, task.Ref) error { return nil }

// ask sends a request and returns the answer.
func (i *instance) ask(t *testing.T, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	for n := 0; n+1 < len(headers); n += 2 {
		r.Header.Set(headers[n], headers[n+1])
	}
	w := httptest.NewRecorder()
	i.ServeHTTP(w, r)
	return w
}

// submit begins a task about a topic.
func (i *instance) submit(t *testing.T, topic string, headers ...string) (id string) {
	t.Helper()
	w := i.ask(t, "POST", "/submit_task", `{"requesting_agent_id":"r","skill_id":"browse_extract","input_data":{"search_topic":"`+topic+`"}}`, headers...)
	var got fiveStepBody
	if err := json.Unmarshal(w.Body.Bytes(), &got); w.Code != http.StatusAccepted || err != nil {
		t.Fatalf("submit_task: %d %s", w.Code, w.Body)
	}
	return got.ID
}

func TestFiveStepTranscripts(t *testing.T) {
	t.Parallel()
	transcript.Play(t, "testdata/fivestep/*.txtar", func(t *testing.T) http.Handler {
		i := newInstance(t, specialist(0), tasktest.NewMemory(frozen), frozen, slog.New(slog.DiscardHandler))
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			i.queue.Store(r.Header.Get("Queue") != "slow")
			i.ServeHTTP(w, r)
		})
	})
}

// frames are the events of a stream as they stand on the wire, comments left out.
func frames(t *testing.T, stream string) []string {
	t.Helper()
	var list []string
	for frame := range strings.SplitSeq(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		if !strings.HasPrefix(frame, ":") {
			list = append(list, frame)
		}
	}
	return list
}

// bodyOf reads what a frame says.
func bodyOf(t *testing.T, frame string) (id string, b fiveStepBody) {
	t.Helper()
	for line := range strings.SplitSeq(frame, "\n") {
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "id":
			id = value
		case "data":
			if err := json.Unmarshal([]byte(value), &b); err != nil {
				t.Fatalf("frame %q: %v", frame, err)
			}
		}
	}
	return id, b
}

// F3 and F4: listeners who come at different times, to different instances, see
// the same events; progress never falls; and whoever is cut off goes on without a
// gap or a repetition.
func TestFiveStepListeners(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now //nolint:forbidigo // of the bubble
		store := tasktest.NewMemory(now)
		log := slog.New(slog.DiscardHandler)
		a := newInstance(t, specialist(time.Second), store, now, log)
		b := newInstance(t, specialist(time.Second), store, now, log)
		a.queue.Store(false)
		id := a.submit(t, "prices")
		streams := make([]string, 6)
		var wg sync.WaitGroup
		for n := range streams {
			wg.Go(func() {
				time.Sleep(time.Duration(n) * 1100 * time.Millisecond) //nolint:forbidigo // in a bubble
				streams[n] = []*instance{a, b}[n%2].ask(t, "GET", "/task_updates/"+id, "").Body.String()
			})
		}
		if err := a.worker.Work(t.Context(), task.Ref{Agent: "research", ID: sdk.TaskID(id)}); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		late := frames(t, b.ask(t, "GET", "/task_updates/"+id, "").Body.String())
		all := frames(t, b.ask(t, "GET", "/task_updates/"+id, "", "Last-Event-ID", "0").Body.String())
		if len(late) != 1 || len(all) < 6 || late[0] != all[len(all)-1] {
			t.Fatalf("a late listener gets %q, want the last frame of %q alone", late, all)
		}
		for n, s := range streams {
			got := frames(t, s)
			// The first frame is the task as it was then, the others are the events since.
			if want := all[len(all)-len(got)+1:]; !strings.HasPrefix(s, ": ") || len(got) < 2 || !cmp.Equal(got[1:], want) {
				t.Errorf("listener %d (-want +got):\n%s", n, cmp.Diff(want, got[1:]))
			}
			climbs(t, got)
		}
		climbs(t, all)
		for n, frame := range all {
			last, _ := bodyOf(t, frame)
			got := frames(t, a.ask(t, "GET", "/task_updates/"+id, "", "Last-Event-ID", last).Body.String())
			want := all[min(n+1, len(all)-1):] // the end is told again rather than nothing
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("resumed after %s (-want +got):\n%s", last, diff)
			}
		}
	})
}

// climbs checks that progress never falls, ids rise, and the end comes once, last.
func climbs(t *testing.T, frames []string) {
	t.Helper()
	progress, seq := 0, -1
	for n, frame := range frames {
		id, b := bodyOf(t, frame)
		var now int
		if _, err := fmt.Sscan(id, &now); err != nil || now <= seq || b.Progress < progress {
			t.Errorf("frame %s at %d %% after frame %d at %d %%", id, b.Progress, seq, progress)
		}
		progress, seq = b.Progress, now
		if ended := b.Status == "completed"; ended != (n == len(frames)-1) {
			t.Errorf("frame %d of %d is %s", n+1, len(frames), b.Status)
		}
	}
}

// sick is a store that fails from some moment on.
type sick struct {
	*tasktest.Memory
	err atomic.Pointer[error]
}

func (s *sick) Get(ctx context.Context, agent string, id sdk.TaskID) (task.Record, error) {
	if err := s.err.Load(); err != nil {
		return task.Record{}, *err
	}
	return s.Memory.Get(ctx, agent, id)
}

// A stream that cannot go on says so in a last frame, which is no end of the task
// unless the task is no more.
func TestFiveStepBroken(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err  error
		want string
	}{
		{
			fault.Wrap(fault.Unavailable, fmt.Errorf("dial 10.0.0.7"), "the store is away"),
			"event: stream_error\ndata: {\"message\":\"the task store is away; try again\"}",
		},
		{
			fault.New(fault.NotFound, "it expired"),
			"event: task_error\ndata: {\"status\":\"error\",\"status_message\":\"the task, or what happened in it, is no longer kept\",\"task_id\":\"fresh-1\"}",
		},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			now := time.Now //nolint:forbidigo // of the bubble
			store := &sick{Memory: tasktest.NewMemory(now)}
			i := newInstance(t, specialist(0), store, now, slog.New(slog.DiscardHandler))
			i.queue.Store(false)
			id := i.submit(t, "prices")
			go func() {
				time.Sleep(time.Second) //nolint:forbidigo // in a bubble: the listener waits by then
				store.err.Store(&tt.err)
			}()
			got := frames(t, i.ask(t, "GET", "/task_updates/"+id, "").Body.String())
			if len(got) != 2 || got[1] != tt.want || !strings.Contains(got[0], "submitted") {
				t.Errorf("a listener gets %q, want the task and then %q", got, tt.want)
			}
		})
	}
}

// The limit of the dialect is its own, and smaller than that of messages.
func TestFiveStepTooLarge(t *testing.T) {
	t.Parallel()
	i := newInstance(t, specialist(0), tasktest.NewMemory(frozen), frozen, slog.New(slog.DiscardHandler))
	const frame = `{"requesting_agent_id":"r","skill_id":"anything","input_data":{"a":""}}`
	for _, tt := range []struct{ size, want int }{{maxSubmission - 1000, 202}, {maxSubmission, 202}, {maxSubmission + 1, 413}} {
		body := strings.Replace(frame, `""`, `"`+strings.Repeat("x", tt.size-len(frame))+`"`, 1)
		w := i.ask(t, "POST", "/submit_task", body)
		if w.Code != tt.want {
			t.Errorf("a body of %d bytes: %d %s, want %d", tt.size, w.Code, w.Body, tt.want)
		}
	}
}

// Without a configured address the updates are told relative to the submission,
// never by what the caller says of the host.
func TestFiveStepWithoutAddress(t *testing.T) {
	t.Parallel()
	store := tasktest.NewMemory(frozen)
	desk := task.NewDesk(specialist(0), task.Options{
		Store: func() (task.Store, error) { return store, nil }, Now: frozen, Log: slog.New(slog.DiscardHandler), NewID: func() string { return "t-1" },
	})
	i := &instance{Handler: NewHandler(desk, Options{Log: slog.New(slog.DiscardHandler)})}
	w := i.ask(t, "POST", "http://evil.example/a2a/research/submit_task", `{"requesting_agent_id":"r","skill_id":"anything","input_data":{}}`)
	if !strings.Contains(w.Body.String(), `"updates_url":"task_updates/t-1"`) {
		t.Errorf("submit_task: %s, want a relative address of the updates", w.Body)
	}
	if w = i.ask(t, "GET", "/task_status/t-1", ""); !strings.Contains(w.Body.String(), `"input_data":{}`) {
		t.Errorf("task_status: %s, want what was submitted", w.Body)
	}
}

// A task belongs to who submitted it, and nothing about a token is kept or logged.
func TestFiveStepOwners(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	store := tasktest.NewMemory(frozen)
	i := newInstance(t, specialist(0), store, frozen, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	const ann = "Bearer token-of-ann"
	id := i.submit(t, "fail", "Authorization", ann, "Idempotency-Key", "1")
	if again := i.submit(t, "fail", "Authorization", ann, "Idempotency-Key", "1"); again != id {
		t.Errorf("submitted again with the same key: %s, want %s", again, id)
	}
	if other := i.submit(t, "fail", "Idempotency-Key", "1"); other == id {
		t.Error("another caller's key names the same task")
	}
	for _, path := range []string{"GET /task_status/", "GET /task_updates/", "POST /cancel_task/"} {
		method, path, _ := strings.Cut(path, " ")
		own, none := i.ask(t, method, path+id, "", "Authorization", ann), i.ask(t, method, path+"no-such-task", "")
		foreign := i.ask(t, method, path+id, "")
		if own.Code == http.StatusNotFound || foreign.Code != http.StatusNotFound || foreign.Body.String() != none.Body.String() {
			t.Errorf("%s: own %d, foreign %d %s, none %s", path, own.Code, foreign.Code, foreign.Body, none.Body)
		}
	}
	if w := i.ask(t, "POST", "/submit_task", `{}`, "Authorization", "Bearer token-of-eve"); w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") == "" {
		t.Errorf("a token that is not valid: %d %v", w.Code, w.Header())
	}
	r, err := store.Get(t.Context(), "research", sdk.TaskID(id))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := store.Log(t.Context(), "research", sdk.TaskID(id), 0)
	if err != nil || len(entries) == 0 {
		t.Fatalf("the log of the task: %v, %v", entries, err)
	}
	kept, err := json.Marshal([]any{r, entries})
	if err != nil || r.Owner != "ann" {
		t.Fatalf("the record is of %q, %v", r.Owner, err)
	}
	if text := string(kept) + log.String(); strings.Contains(text, "token-of") || log.Len() == 0 {
		t.Errorf("a token was kept or logged, or nothing was logged at all:\n%s", text)
	}
}

// Whatever is asked for, the answer is JSON in the dialect's own form.
func FuzzFiveStep(f *testing.F) {
	for _, body := range []string{
		`{"requesting_agent_id":"r","skill_id":"browse_extract","input_data":{"search_topic":"x"}}`,
		`{"requesting_agent_id":"r","skill_id":"anything","input_data":{"a":[1e400]}}`, `{}`, `[]`, ``, `{"skill_id":null}`,
	} {
		f.Add("/submit_task", body, "1", "")
	}
	f.Add("/task_updates/x", "", "", "9")
	f.Add("/cancel_task/", "", "", "")
	codec := newFiveStep(specialist(0))
	f.Fuzz(func(t *testing.T, path, body, key, last string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody)
		r.Header.Set("Idempotency-Key", key)
		r.Header.Set("Last-Event-ID", last)
		for _, method := range []string{http.MethodPost, http.MethodGet} {
			r.Method = method
			in := request{http: r, path: path, agent: specialist(0)}
			in.top, _ = parse([]byte(body))
			c, err := codec.decode(in)
			if err == nil && c.op == submitMessage && (c.send.Message.ID == "" || !json.Valid(c.send.Message.Parts[0].Data().(json.RawMessage))) {
				t.Errorf("decode(%q) = %+v", body, c.send.Message)
			}
			if err == nil {
				continue
			}
			var said fiveStepFault
			out := codec.encode(in, c, answer{err: err})
			if json.Unmarshal(out.body, &said) != nil || said.Error == "" || out.status < 400 || out.status > 500 {
				t.Errorf("%s %q %q: %d %s", method, path, body, out.status, out.body)
			}
		}
	})
}
