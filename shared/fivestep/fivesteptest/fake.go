// Package fivesteptest has a specialist of the five-step protocol for tests of
// requesters: its task goes as a script says, and so does all that goes wrong.
package fivesteptest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Script says what a specialist does. The zero Script does everything right.
type Script struct {
	Card    string // the body of its card, instead of its own
	Missing string // an endpoint that its card does not name
	Public  string // what its card says of its url; empty: where it is

	Secret string // wants clients to log in as demo with it
	Uses   int    // requests that a token is good for; 0: any

	Busy   int    // submissions that are answered 503 before one is taken
	Lose   bool   // the answer to the first submission is lost, and the task begun
	Refuse string // answers submissions 400 with it

	PerStream int  // updates before a stream is cut; 0: none is
	Silent    int  // streams that are cut before any update; -1: all
	Torn      bool // streams are cut within an update, not after it
	Forgetful bool // does not look at Last-Event-ID
	Gone      bool // forgets a task once it was submitted
	Barred    bool // lets nobody listen, whoever they are

	Updates []string // status=progress; nil: a task that completes
}

// usual is a task that completes.
var usual = []string{"submitted=0", "working=10", "working=30", "working=70", "completed=100"}

// Specialist is a specialist that follows a script. It serves any path; what comes
// before the endpoint is its address.
type Specialist struct {
	script Script

	mu       sync.Mutex
	asked    []string       // method and endpoint of every request
	tasks    map[string]int // by Idempotency-Key: number of the task
	inputs   []string
	streams  int
	looks    int
	tokens   int
	uses     int // of the last token
	canceled chan struct{}
	news     chan struct{} // closed and made anew at every request
}

// New returns a specialist.
func New(script Script) *Specialist {
	if script.Updates == nil {
		script.Updates = usual
	}
	return &Specialist{script: script, tasks: map[string]int{}, canceled: make(chan struct{}), news: make(chan struct{})}
}

// Asked returns method and endpoint of every request, in order.
func (s *Specialist) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

// Await waits until an endpoint was asked.
func (s *Specialist) Await(ctx context.Context, endpoint string) error {
	for {
		s.mu.Lock()
		seen, news := slices.Contains(s.asked, endpoint), s.news
		s.mu.Unlock()
		if seen {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("nobody asks for %s: %w", endpoint, ctx.Err())
		}
	}
}

// Inputs returns the inputs of the tasks that were begun.
func (s *Specialist) Inputs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.inputs...)
}

func (s *Specialist) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, e := range []struct {
		name, path string
		handle     func(http.ResponseWriter, *http.Request)
		open       bool
	}{
		{"card", "/.well-known/agent.json", s.card, true},
		{"login", "/login", s.login, true},
		{"submit", "/submit_task", s.submit, false},
		{"updates", "/task_updates/", s.updates, false},
		{"status", "/tasks/", s.status, false},
		{"cancel", "/cancel/", s.cancel, false},
	} {
		if !strings.Contains(r.URL.Path, e.path) {
			continue
		}
		s.mu.Lock()
		s.asked = append(s.asked, e.name)
		close(s.news)
		s.news = make(chan struct{})
		s.mu.Unlock()
		if !e.open && !s.lets(r) {
			answer(w, http.StatusUnauthorized, `{"message":"who are you?"}`)
			return
		}
		e.handle(w, r)
		return
	}
	http.NotFound(w, r)
}

func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

// lets reports whether a request has a token that is good.
func (s *Specialist) lets(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.script.Secret == "" {
		return true
	}
	s.uses++
	return r.Header.Get("Authorization") == fmt.Sprintf("Bearer token-%d", s.tokens) && s.tokens > 0 &&
		(s.script.Uses == 0 || s.uses <= s.script.Uses)
}

func (s *Specialist) card(w http.ResponseWriter, r *http.Request) {
	if s.script.Card != "" {
		answer(w, http.StatusOK, s.script.Card)
		return
	}
	base := "http://" + r.Host + strings.TrimSuffix(r.URL.Path, "/.well-known/agent.json")
	if s.script.Public != "" {
		base = s.script.Public
	}
	endpoints := map[string]string{
		"login": "/login", "submit_task": "/submit_task", "task_updates": "/task_updates/{task_id}",
		"task_status": "/tasks/{task_id}", "cancel_task": "/cancel/{task_id}",
	}
	delete(endpoints, s.script.Missing)
	body, err := json.Marshal(map[string]any{
		"id": "fake", "name": "Fake", "url": base, "endpoints": endpoints,
		"capabilities": map[string]any{"async": true, "streaming_updates": "sse", "auth_required": s.script.Secret != ""},
		"skills":       []map[string]string{{"id": "browse_extract", "name": "Browse"}},
	})
	if err != nil {
		panic(err)
	}
	answer(w, http.StatusOK, string(body))
}

func (s *Specialist) login(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil || in.ID != "demo" || in.Secret != s.script.Secret {
		answer(w, http.StatusUnauthorized, `{"error":"no such client"}`)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens++
	s.uses = 0
	answer(w, http.StatusOK, fmt.Sprintf(`{"token":"token-%d"}`, s.tokens))
}

func (s *Specialist) submit(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Input json.RawMessage `json:"input_data"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		answer(w, http.StatusBadRequest, `{"error":"not JSON"}`)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.script.Refuse != "":
		answer(w, http.StatusBadRequest, s.script.Refuse)
		return
	case s.script.Busy > 0:
		s.script.Busy--
		w.Header().Set("Retry-After", "1")
		answer(w, http.StatusServiceUnavailable, `{"error":"busy"}`)
		return
	}
	key := r.Header.Get("Idempotency-Key")
	n, known := s.tasks[key]
	if !known || key == "" {
		n = len(s.tasks) + 1
		s.tasks[key] = n
		s.inputs = append(s.inputs, string(in.Input))
	}
	if s.script.Lose {
		s.script.Lose = false
		cut(w)
		return
	}
	answer(w, http.StatusAccepted, fmt.Sprintf(`{"task_id":"task-%d","status":"submitted","status_message":"taken","updates_url":"x"}`, n))
}

// cut ends a connection in the middle.
func cut(w http.ResponseWriter) {
	_ = http.NewResponseController(w).Flush() // what was written arrives
	panic(http.ErrAbortHandler)
}

// task is what the nth update says.
func (s *Specialist) task(n int, id string) string {
	status, progress, _ := strings.Cut(s.script.Updates[n], "=")
	more := ""
	switch status {
	case "completed":
		more = `,"artefacts":[{"name":"extracted_data","text":"42"},{"name":"more","data":{"n":1}}]`
	case "failed":
		more = `,"error_message":"the search is away"`
	}
	return fmt.Sprintf(`{"task_id":%q,"status":%q,"status_message":"step %d","progress_percent":%s%s}`, id, status, n, progress, more)
}

func last(path string) string { return path[strings.LastIndex(path, "/")+1:] }

func (s *Specialist) updates(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.streams++
	silent := s.script.Silent < 0 || s.streams <= s.script.Silent
	s.mu.Unlock()
	if s.script.Barred {
		answer(w, http.StatusUnauthorized, `{"message":"not you"}`)
		return
	}
	if s.script.Gone {
		answer(w, http.StatusNotFound, `{"error":"no such task"}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprint(w, ": hello\n\n")
	if silent {
		cut(w)
	}
	from := 0
	if n, err := strconv.Atoi(r.Header.Get("Last-Event-ID")); err == nil && !s.script.Forgetful {
		from = n + 1
	}
	for n := from; n < len(s.script.Updates); n++ {
		if s.script.PerStream > 0 && n == from+s.script.PerStream {
			if s.script.Torn {
				_, _ = fmt.Fprintf(w, "id: %d\ndata: %s\n", n, s.task(n, last(r.URL.Path)))
			}
			cut(w)
		}
		_, _ = fmt.Fprintf(w, "event: whatever\nid: %d\ndata: %s\n\n", n, s.task(n, last(r.URL.Path)))
	}
	if s.ended() {
		return
	}
	_ = http.NewResponseController(w).Flush()
	select {
	case <-r.Context().Done():
	case <-s.canceled:
		_, _ = fmt.Fprintf(w, "data: {\"task_id\":%q,\"status\":\"cancelled\",\"status_message\":\"cancelled\"}\n\n", last(r.URL.Path))
	}
}

// ended reports whether the script comes to an end of itself.
func (s *Specialist) ended() bool {
	final, _, _ := strings.Cut(s.script.Updates[len(s.script.Updates)-1], "=")
	return final != "working" && final != "submitted"
}

// status tells one more update at every look.
func (s *Specialist) status(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(s.looks, len(s.script.Updates)-1)
	s.looks++
	answer(w, http.StatusOK, s.task(n, last(r.URL.Path)))
}

func (s *Specialist) cancel(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.canceled:
	default:
		close(s.canceled)
	}
	answer(w, http.StatusOK, fmt.Sprintf(`{"task_id":%q,"status":"cancelled","status_message":"cancelled"}`, last(r.URL.Path)))
}
