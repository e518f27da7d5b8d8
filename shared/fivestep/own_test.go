package fivestep_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/card"
	"truecost.dev/shared/a2a/front"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/fivestep"
	"truecost.dev/shared/identity"
)

// stubborn is a specialist that streams the same text every time, with a network
// or without.
type stubborn string

func (s stubborn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "agent.json") {
		_, _ = w.Write([]byte(`{"endpoints":{"submit_task":"/s","task_updates":"/u/{task_id}"},"skills":[{"id":"browse_extract"}]}`))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = w.Write([]byte(s))
}

// RoundTrip is stubborn without a network.
func (s stubborn) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result(), nil
}

const secret = "3f1c-a secret of a client, made at random"

// process is one of our own processes: it serves an agent and works for its queue
// until it is killed.
type process struct {
	server *httptest.Server
	worker *task.Worker
	dead   atomic.Bool
	work   sync.WaitGroup
}

// mortal is the store as a process sees it.
type mortal struct {
	*tasktest.Memory
	p *process
}

func (m mortal) Update(ctx context.Context, r task.Record, log ...task.Entry) (task.Record, error) {
	if m.p.dead.Load() {
		return r, fault.New(fault.Unavailable, "the process is dead")
	}
	return m.Memory.Update(ctx, r, log...)
}

// Work is the queue: what a dead process took is lost.
func (p *process) Work(ctx context.Context, ref task.Ref) error {
	p.work.Go(func() { _ = p.worker.Work(context.WithoutCancel(ctx), ref) })
	return nil
}

func (p *process) Tell(context.Context, task.Ref) error { return nil }

// kill ends a process in the middle of whatever it does.
func (p *process) kill() {
	p.dead.Store(true)
	_ = p.server.Listener.Close()
	p.server.CloseClientConnections()
}

// start starts a process at an address, over a store that others know too.
func start(t *testing.T, address string, store *tasktest.Memory, agent task.Agent, log *slog.Logger) *process {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String()
	p := &process{}
	now := time.Now //nolint:forbidigo // leases run out by it
	desk := task.NewDesk(agent, task.Options{
		Store:  func() (task.Store, error) { return mortal{store, p}, nil },
		Finder: func() (task.Finder, error) { return store, nil },
		Queue:  func() (task.Queue, error) { return p, nil },
		Now:    now, Log: log, Lease: 200 * time.Millisecond, Poll: 10 * time.Millisecond, Pace: time.Millisecond,
	})
	p.worker = &task.Worker{Desks: map[string]*task.Desk{agent.Name: desk}}
	callers, err := identity.New(identity.Config{
		URL: url, Secret: "kP7wq2ZfB9xLmT4vRc8sYh3nJd6gUe1A", Now: now,
		Clients: []identity.Client{{ID: "demo", Hash: sha256.Sum256([]byte(secret))}},
	})
	if err != nil {
		t.Fatal(err)
	}
	cards, err := card.New(agent, card.Options{URL: url, Auth: &card.Auth{
		Schemes:      sdk.NamedSecuritySchemes{"bearer": sdk.HTTPAuthSecurityScheme{Scheme: "bearer"}},
		Requirements: sdk.SecurityRequirementsOptions{{"bearer": nil}}, Login: true,
	}})
	if err != nil {
		t.Fatal(err)
	}
	p.server = httptest.NewUnstartedServer(callers.Login(front.NewHandler(desk, front.Options{
		Authenticate: callers.At(url), Cards: cards, URL: url, Log: log,
	})))
	_ = p.server.Listener.Close()
	p.server.Listener = listener
	p.server.Start()
	t.Cleanup(func() { p.server.Close(); p.work.Wait() })
	return p
}

// researcher is an agent that comes to a halt in its first run.
func researcher(halted chan<- struct{}) task.Agent {
	return task.Agent{
		Name: "research", Description: "Reads.", Version: "1.0.0",
		Skills: []task.Skill{{AgentSkill: sdk.AgentSkill{ID: "browse_extract", Name: "Browse", Description: "Reads.", Tags: []string{"web"}}}},
		Run: func(ctx context.Context, turn task.Turn) iter.Seq2[sdk.Event, error] {
			return func(yield func(sdk.Event, error) bool) {
				say := func(state sdk.TaskState, percent int) bool {
					e := &sdk.TaskStatusUpdateEvent{Status: sdk.TaskStatus{State: state}}
					e.SetMeta(wire.MetaProgress, percent)
					return yield(e, nil)
				}
				if !say(sdk.TaskStateWorking, 10) || !say(sdk.TaskStateWorking, 30) {
					return
				}
				if turn.Try == 1 {
					halted <- struct{}{}
					<-ctx.Done()
					return
				}
				_ = say(sdk.TaskStateWorking, 70) &&
					yield(&sdk.TaskArtifactUpdateEvent{Artifact: &sdk.Artifact{ID: "a", Name: "answer", Parts: sdk.ContentParts{sdk.NewTextPart("42")}}}, nil) &&
					say(sdk.TaskStateCompleted, 100)
			}
		},
	}
}

// A specialist that is killed in the middle of a task and started again ends the
// task, and whoever asked hears it, once, with progress that never falls. Neither
// tokens nor secrets are kept or logged.
func TestKilled(t *testing.T) {
	t.Parallel()
	now := time.Now //nolint:forbidigo // leases run out by it
	store := tasktest.NewMemory(now)
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&locked{w: &text}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	halted := make(chan struct{}, 1)
	first := start(t, "127.0.0.1:0", store, researcher(halted), log)
	address := first.server.Listener.Addr().String()

	var seen tokens
	c := &fivestep.Client{
		ClientID: "demo", ClientSecret: secret, HTTP: &http.Client{Transport: &seen},
		Sleep: func(ctx context.Context, d time.Duration) error { return nap(ctx, d/10) },
	}
	s, err := c.Discover(t.Context(), "http://"+address, "browse_extract")
	if err != nil {
		t.Fatal(err)
	}
	begun, err := s.Submit(t.Context(), "browse_extract", json.RawMessage(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	var told []fivestep.Task
	var ended fivestep.Task
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		ended, err = s.Listen(t.Context(), begun.ID, func(u fivestep.Task) { told = append(told, u) })
	}()
	<-halted
	first.kill()
	second := start(t, address, store, researcher(halted), log)
	tick := time.NewTicker(20 * time.Millisecond) // the scheduler's
	defer tick.Stop()
	for waiting := true; waiting; {
		select {
		case <-heard:
			waiting = false
		case <-tick.C:
			_ = second.worker.Sweep(t.Context())
		}
	}
	if err != nil || ended.Status != "completed" || !strings.Contains(string(ended.Artefacts), "42") {
		t.Fatalf("Listen() = %+v, %v, want it completed", ended, err)
	}
	for n, u := range told {
		if n > 0 && u.Progress < told[n-1].Progress || u.Ended() != (n == len(told)-1) {
			t.Errorf("update %d of %d: %+v", n+1, len(told), u)
		}
	}
	first.work.Wait() // it logs that the task was taken over
	second.work.Wait()
	r, err := store.Get(t.Context(), "research", sdk.TaskID(begun.ID))
	if err != nil || r.Owner != "demo" || r.Tries != 2 {
		t.Fatalf("the record is of %q, after %d tries: %v", r.Owner, r.Tries, err)
	}
	entries, err := store.Log(t.Context(), "research", sdk.TaskID(begun.ID), 0)
	kept, err2 := json.Marshal([]any{r, entries})
	if err != nil || err2 != nil || len(seen.list()) == 0 {
		t.Fatalf("%v, %v; tokens: %d", err, err2, len(seen.list()))
	}
	for _, token := range append(seen.list(), secret) {
		if all := string(kept) + text.String(); strings.Contains(all, token) {
			t.Errorf("a token or a secret was kept or logged:\n%s", all)
		}
	}
}

func nap(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// locked is a writer for several goroutines.
type locked struct {
	mu sync.Mutex
	w  *bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// tokens notes the tokens that requests carry.
type tokens struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (s *tokens) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		if s.seen == nil {
			s.seen = map[string]bool{}
		}
		s.seen[token] = true
	}
	s.mu.Unlock()
	return http.DefaultTransport.RoundTrip(r)
}

func (s *tokens) list() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for token := range s.seen {
		all = append(all, token)
	}
	return all
}
