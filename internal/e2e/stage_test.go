package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
	"truecost.dev/shared/host"
)

// A stage is the address of the agents of a system: it keeps what each was
// asked, may hold requests back, and has its own actors in the place of some
// agents. For all others the real ones answer.
type stage struct {
	*httptest.Server
	actors map[string]http.Handler // by agent
	hold   func(agent string, req a2a.Request) bool
	opened chan struct{} // closed: nothing is held any more
	open   func()        // lets go what is held, and holds nothing any more
	held   chan string   // agents whose requests are being held
	gone   chan string   // agents whose callers went away meanwhile

	mu    sync.Mutex // guards asked and real
	asked map[string][]a2a.Request
	real  http.Handler
}

// newStage starts a stage. Requests that hold picks wait until open is called;
// nil picks none.
func newStage(t *testing.T, hold func(agent string, req a2a.Request) bool, actors ...a2a.Agent) *stage {
	t.Helper()
	s := &stage{
		actors: map[string]http.Handler{}, asked: map[string][]a2a.Request{}, hold: hold,
		opened: make(chan struct{}), held: make(chan string, 16), gone: make(chan string, 16),
	}
	s.open = sync.OnceFunc(func() { close(s.opened) })
	for _, a := range actors {
		a.Version, a.Description = "1", "an actor"
		tasks := tasktest.NewMemory(time.Now)
		env := host.Env{Log: slog.New(slog.DiscardHandler), Now: time.Now, Tasks: func() (task.Store, error) { return tasks, nil }}
		s.actors[a.Name] = env.Agents([]a2a.Agent{a})[0].Handler
	}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

// env is the environment of a system whose agents this stage is.
func (s *stage) env() map[string]string { return map[string]string{"A2A_BASE_URL": s.URL} }

// before puts the stage before the agents of a system, which is stopped before
// the stage and must not wait for what is held.
func (s *stage) before(t *testing.T, sys *system) {
	t.Helper()
	target, err := url.Parse(sys.Addresses().FunctionsURL())
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.real = httputil.NewSingleHostReverseProxy(target)
	t.Cleanup(s.open)
}

func (s *stage) serve(w http.ResponseWriter, r *http.Request) {
	agent := strings.TrimPrefix(r.URL.Path, "/a2a_")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var call struct {
		Params struct {
			Message struct {
				Parts []struct {
					Data a2a.Request `json:"data"`
				} `json:"parts"`
			} `json:"message"`
		} `json:"params"`
	}
	if json.Unmarshal(body, &call) == nil && len(call.Params.Message.Parts) == 1 {
		if req := call.Params.Message.Parts[0].Data; !s.pass(r.Context(), agent, req) {
			return
		}
	}
	handler := s.actors[agent]
	if handler == nil {
		s.mu.Lock()
		handler = s.real
		s.mu.Unlock()
	}
	handler.ServeHTTP(w, r)
}

// pass keeps a request and holds it if it is to be held. It is false when the
// caller went away meanwhile.
func (s *stage) pass(ctx context.Context, agent string, req a2a.Request) bool {
	s.mu.Lock()
	s.asked[agent] = append(s.asked[agent], req)
	s.mu.Unlock()
	if s.hold == nil || !s.hold(agent, req) {
		return true
	}
	select {
	case <-s.opened:
		return true
	default:
	}
	s.held <- agent
	select {
	case <-s.opened:
		return true
	case <-ctx.Done():
		s.gone <- agent
		return false
	}
}

// requests returns what an agent was asked, in order.
func (s *stage) requests(agent string) []a2a.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]a2a.Request(nil), s.asked[agent]...)
}

// only picks the requests of one agent.
func only(agent string) func(string, a2a.Request) bool {
	return func(asked string, _ a2a.Request) bool { return asked == agent }
}

// receive waits for the next word of a channel, which must be want.
func receive(t *testing.T, from <-chan string, want string) {
	t.Helper()
	select {
	case got := <-from:
		if got != want {
			t.Fatalf("got word of %s, want %s", got, want)
		}
	case <-time.After(patience):
		t.Fatalf("no word of %s", want)
	}
}
