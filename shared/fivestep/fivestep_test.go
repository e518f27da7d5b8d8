package fivestep_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/fault"
	"truecost.dev/shared/fivestep"
	"truecost.dev/shared/fivestep/fivesteptest"
)

// naps is a clock on which waiting costs nothing and is written down.
type naps struct {
	mu   sync.Mutex
	list []time.Duration
}

func (n *naps) sleep(ctx context.Context, d time.Duration) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, d)
	return ctx.Err()
}

// run asks a specialist and returns how the task ended and what was told meanwhile.
func run(t *testing.T, c *fivestep.Client, address string) (fivestep.Task, []string, error) {
	t.Helper()
	s, err := c.Discover(t.Context(), address, "browse_extract")
	if err != nil {
		return fivestep.Task{}, nil, err
	}
	begun, err := s.Submit(t.Context(), "browse_extract", json.RawMessage(`{"search_topic":"roofs"}`))
	if err != nil {
		return begun, nil, err
	}
	var told []string
	task, err := s.Listen(t.Context(), begun.ID, func(u fivestep.Task) { told = append(told, fmt.Sprintf("%s=%d", u.Status, u.Progress)) })
	return task, told, err
}

const all = "submitted=0 working=10 working=30 working=70 completed=100"

func TestAsk(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		script fivesteptest.Script
		told   string // updates
		asked  string // of the specialist
		kind   fault.Kind
	}{
		{"good", fivesteptest.Script{}, all, "card submit updates", ""},
		{"fails", fivesteptest.Script{Updates: []string{"working=30", "failed=30"}}, "working=30 failed=30", "card submit updates", ""},
		{"logs in", fivesteptest.Script{Secret: "s3cret"}, all, "card login submit updates", ""},
		{"token is used up", fivesteptest.Script{Secret: "s3cret", Uses: 1}, all, "card login submit updates login updates", ""},
		{"no token is ever good", fivesteptest.Script{Secret: "s3cret", Uses: -1}, "", "card login submit login submit", fault.Unknown},
		{"busy", fivesteptest.Script{Busy: 3}, all, "card submit submit submit submit updates", ""},
		{"always busy", fivesteptest.Script{Busy: 99}, "", "card submit submit submit submit submit", fault.Unavailable},
		{"answer lost", fivesteptest.Script{Lose: true}, all, "card submit submit updates", ""},
		{"refused", fivesteptest.Script{Refuse: `{"error":"search_topic: too long"}`}, "", "card submit", fault.Invalid},
		{"cut after every update", fivesteptest.Script{PerStream: 1}, all, "card submit updates updates updates updates updates", ""},
		{"cut within an update", fivesteptest.Script{PerStream: 2, Torn: true}, all, "card submit updates updates updates", ""},
		{"cut within the last update", fivesteptest.Script{PerStream: 4, Torn: true}, all, "card submit updates updates", ""},
		{"cut, and told from the start again", fivesteptest.Script{PerStream: 2, Forgetful: true, Updates: []string{"working=10", "working=30", "failed=30"}}, "working=10 working=30 failed=30", "card submit" + strings.Repeat(" updates", 5) + strings.Repeat(" status", 3), ""},
		{"cut before the first", fivesteptest.Script{Silent: 4}, all, "card submit updates updates updates updates updates", ""},
		{"no stream ever", fivesteptest.Script{Silent: -1}, all, "card submit" + strings.Repeat(" updates", 5) + strings.Repeat(" status", 5), ""},
		{"no stream and no status", fivesteptest.Script{Silent: -1, Missing: "task_status"}, "", "card submit" + strings.Repeat(" updates", 5), fault.Unavailable},
		{"task is gone", fivesteptest.Script{Gone: true}, "", "card submit updates", fault.NotFound},
		{"nobody may listen", fivesteptest.Script{Secret: "s3cret", Barred: true}, "", "card login submit updates login updates", fault.Unknown},
		{"behind a proxy", fivesteptest.Script{Public: "https://specialist.example/agents/7"}, all, "card submit updates", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fake := fivesteptest.New(tt.script)
			server := httptest.NewServer(fake)
			defer server.Close()
			var n naps
			c := &fivestep.Client{ClientID: "demo", ClientSecret: "s3cret", Sleep: n.sleep}
			task, told, err := run(t, c, server.URL+"/some/where")
			if got := strings.Join(told, " "); got != tt.told || fault.KindOf(err) != tt.kind {
				t.Errorf("told %q, %v, want %q, %q", got, err, tt.told, tt.kind)
			}
			if got := strings.Join(fake.Asked(), " "); got != tt.asked {
				t.Errorf("asked %q, want %q", got, tt.asked)
			}
			if begun := len(fake.Inputs()); tt.told != "" && (begun != 1 || !task.Ended()) {
				t.Errorf("%d tasks were begun, and the last is %s", begun, task.Status)
			}
		})
	}
}

// The waits grow, and are as long as the specialist asks for.
func TestWaits(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(fivesteptest.New(fivesteptest.Script{Busy: 3, Silent: -1}))
	defer server.Close()
	var n naps
	if _, _, err := run(t, &fivestep.Client{Sleep: n.sleep}, server.URL); err != nil {
		t.Fatal(err)
	}
	const half, s = 500 * time.Millisecond, time.Second
	want := []time.Duration{s, s, 2 * s, half, s, 2 * s, 4 * s, 2 * s, 2 * s, 2 * s, 2 * s}
	if diff := cmp.Diff(want, n.list); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

func TestDiscover(t *testing.T) {
	t.Parallel()
	card := func(url, submit, updates, skill string) string {
		return fmt.Sprintf(`{"url":%q,"endpoints":{"submit_task":%q,"task_updates":%q},"skills":[{"id":%q}]}`, url, submit, updates, skill)
	}
	const updates = "/u/{task_id}"
	tests := []struct {
		name, card string
		want       fault.Kind
	}{
		{"small", card("", "/s", updates, "browse_extract"), ""},
		{"no JSON", "<html>", fault.Invalid},
		{"no endpoints", `{"skills":[{"id":"browse_extract"}]}`, fault.Invalid},
		{"no skills", card("", "/s", updates, ""), fault.NotFound},
		{"other skills", card("", "/s", updates, "cook"), fault.NotFound},
		{"updates of no task", card("", "/s", "/u", "browse_extract"), fault.Invalid},
		{"submission to a task", card("", "/s/{task_id}", updates, "browse_extract"), fault.Invalid},
		{"elsewhere", card("", "http://collector.example/s", updates, "browse_extract"), fault.Invalid},
		{"elsewhere with TLS", card("", "https://collector.example/s", updates, "browse_extract"), fault.Invalid},
		{"elsewhere without a scheme", card("", "//collector.example/s", updates, "browse_extract"), ""},
		{"elsewhere by userinfo", card("", "@collector.example/s", updates, "browse_extract"), fault.Invalid},
		{"relative", card("", "s", updates, "browse_extract"), fault.Invalid},
		{"url elsewhere", card("https://collector.example", "/s", updates, "browse_extract"), ""},
	}
	for _, tt := range tests {
		fake := fivesteptest.New(fivesteptest.Script{Card: tt.card})
		server := httptest.NewServer(fake)
		var n naps
		c := &fivestep.Client{Token: "secret", Sleep: n.sleep}
		s, err := c.Discover(t.Context(), server.URL+"/.well-known/agent.json", "browse_extract")
		if fault.KindOf(err) != tt.want {
			t.Errorf("%s: Discover() = %v, want %q", tt.name, err, tt.want)
		}
		if err == nil { // it asks nobody else
			_, _ = s.Submit(t.Context(), "browse_extract", json.RawMessage(`{}`))
			if tt.name != "elsewhere without a scheme" && len(n.list) > 0 {
				t.Errorf("%s: asked somebody who does not answer", tt.name)
			}
		}
		server.Close()
	}
	for _, address := range []string{"", "specialist", "ftp://specialist.example", "http://", "http://me:secret@specialist.example"} {
		if _, err := new(fivestep.Client).Discover(t.Context(), address, "x"); fault.KindOf(err) != fault.Invalid {
			t.Errorf("Discover(%q) = %v, want %s", address, err, fault.Invalid)
		}
	}
	var n naps
	if _, err := (&fivestep.Client{Sleep: n.sleep}).Discover(t.Context(), "http://127.0.0.1:1", "x"); fault.KindOf(err) != fault.Unavailable || len(n.list) != 4 {
		t.Errorf("Discover(nobody) = %v after %d waits, want %s after 4", err, len(n.list), fault.Unavailable)
	}
}

// Redirects are not followed: what is sent is for the specialist alone.
func TestRedirect(t *testing.T) {
	t.Parallel()
	elsewhere := fivesteptest.New(fivesteptest.Script{})
	collector := httptest.NewServer(elsewhere)
	defer collector.Close()
	for _, path := range []string{"/submit_task", "/.well-known/agent.json"} {
		fake := fivesteptest.New(fivesteptest.Script{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == path {
				http.Redirect(w, r, collector.URL+path, http.StatusTemporaryRedirect)
				return
			}
			fake.ServeHTTP(w, r)
		}))
		var n naps
		if _, _, err := run(t, &fivestep.Client{Token: "secret", Sleep: n.sleep}, server.URL); fault.KindOf(err) != fault.Invalid || len(elsewhere.Asked()) > 0 {
			t.Errorf("%s: %v, and elsewhere was asked for %v", path, err, elsewhere.Asked())
		}
		server.Close()
	}
}

// An update of another task is none of this one.
func TestOtherTask(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(stubborn("data: {\"task_id\":\"task-2\",\"status\":\"completed\"}\n\n"))
	defer server.Close()
	var n naps
	s, err := (&fivestep.Client{Sleep: n.sleep}).Discover(t.Context(), server.URL, "browse_extract")
	if err != nil {
		t.Fatal(err)
	}
	if task, err := s.Listen(t.Context(), "task-1", func(fivestep.Task) {}); fault.KindOf(err) != fault.Unavailable || task.ID != "" {
		t.Errorf("Listen() = %v, %v, want %s", task, err, fault.Unavailable)
	}
}

// mute is a network on which streams say something at most every so often.
type mute struct{ every []time.Duration }

func (m *mute) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if !strings.HasPrefix(r.URL.Path, "/u/") {
		stubborn("").ServeHTTP(w, r)
		return w.Result(), nil
	}
	pause := m.every[0]
	m.every = m.every[1:]
	w.Header().Set("Content-Type", "text/event-stream")
	body, out := io.Pipe()
	go func() {
		for range 4 {
			if err := nap(r.Context(), pause); err != nil {
				_ = out.CloseWithError(err)
				return
			}
			_, _ = io.WriteString(out, ": still here\n\n")
		}
		_, _ = io.WriteString(out, "data: {\"task_id\":\"task-1\",\"status\":\"completed\"}\n\n")
		_ = out.Close()
	}()
	resp := w.Result()
	resp.Body = body
	return resp, nil
}

// A stream without a sign of life for a minute is given up; one that only says
// that it lives is not.
func TestSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		network := &mute{every: []time.Duration{time.Hour, 59 * time.Second}}
		s, err := (&fivestep.Client{HTTP: &http.Client{Transport: network}}).Discover(t.Context(), "http://specialist", "browse_extract")
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now() //nolint:forbidigo // of the bubble
		task, err := s.Listen(t.Context(), "task-1", func(fivestep.Task) {})
		took := time.Since(begun)
		if want := 60*time.Second + 500*time.Millisecond + 4*59*time.Second; err != nil || !task.Ended() || took != want || len(network.every) != 0 {
			t.Errorf("Listen() = %v, %v after %v, want its end after %v", task, err, took, want)
		}
	})
}

// A requester without credentials says so, before it submits anything.
func TestNoCredentials(t *testing.T) {
	t.Parallel()
	fake := fivesteptest.New(fivesteptest.Script{Secret: "s3cret"})
	server := httptest.NewServer(fake)
	defer server.Close()
	var n naps
	if _, _, err := run(t, &fivestep.Client{Sleep: n.sleep}, server.URL); fault.KindOf(err) != fault.Unknown || len(fake.Asked()) != 1 {
		t.Errorf("without a client: %v after %v", err, fake.Asked())
	}
	c := &fivestep.Client{ClientID: "demo", ClientSecret: "wrong", Sleep: n.sleep}
	if _, _, err := run(t, c, server.URL); fault.KindOf(err) != fault.Unknown || strings.Contains(err.Error(), "wrong") {
		t.Errorf("with a wrong secret: %v, want %s, and no secret", err, fault.Unknown)
	}
}

// Leaving ends the listening at once; canceling is another request.
func TestCancel(t *testing.T) {
	t.Parallel()
	fake := fivesteptest.New(fivesteptest.Script{Updates: []string{"working=10"}})
	server := httptest.NewServer(fake)
	defer server.Close()
	s, err := new(fivestep.Client).Discover(t.Context(), server.URL, "browse_extract")
	if err != nil {
		t.Fatal(err)
	}
	begun, err := s.Submit(t.Context(), "browse_extract", json.RawMessage(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	if _, err := s.Listen(ctx, begun.ID, func(fivestep.Task) { leave() }); fault.KindOf(err) != fault.Canceled {
		t.Errorf("Listen() = %v, want %s", err, fault.Canceled)
	}
	if task, err := s.Cancel(t.Context(), begun.ID); err != nil || !task.Ended() {
		t.Errorf("Cancel() = %v, %v", task, err)
	}
	if task, err := s.Listen(t.Context(), begun.ID, func(fivestep.Task) {}); err != nil || task.Status != "cancelled" {
		t.Errorf("Listen() = %v, %v, want cancelled", task, err)
	}
}

// Whatever a specialist streams, listening ends, in bounded memory, with a task
// that has ended or an error.
func FuzzListen(f *testing.F) {
	f.Add("data: {\"task_id\":\"task-1\",\"status\":\"completed\"}\n\n")
	f.Add("\ufeffid: 1\r\ndata: {\"task_id\":\"task-1\",\r\ndata: \"status\":\"working\"}\r\n\r\nevent: x\n\n")
	f.Add(": c\ndata: {\"task_id\":\"task-1\",\"status\":\"completed\"}\n")
	f.Add("data: [1]\n\ndata\n\nid: \x00\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		var n naps
		c := &fivestep.Client{HTTP: &http.Client{Transport: stubborn(stream)}, Sleep: n.sleep}
		s, err := c.Discover(t.Context(), "http://specialist", "browse_extract")
		if err != nil {
			t.Fatal(err)
		}
		task, err := s.Listen(t.Context(), "task-1", func(fivestep.Task) {})
		if (err == nil) != task.Ended() {
			t.Errorf("Listen(%q) = %v, %v", stream, task, err)
		}
		if whole := strings.Contains(stream, "\n\n") || strings.Contains(stream, "\r"); err == nil && !whole {
			t.Errorf("Listen(%q) took an update that is not whole", stream)
		}
	})
}
