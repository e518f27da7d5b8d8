package host_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/host"
	"truecost.dev/shared/identity"
)

func env() host.Env {
	tasks := tasktest.NewMemory(time.Now)
	return host.Env{
		Log: slog.New(slog.DiscardHandler), Now: time.Now, AgentURL: "https://agents.example/",
		Tasks: func() (task.Store, error) { return tasks, nil },
	}
}

func actor() []task.Agent {
	a := new(tasktest.Actor).Agent("actor")
	a.Description, a.Version = "Does what it is told.", "1.0.0"
	a.Skills = []task.Skill{{AgentSkill: sdk.AgentSkill{ID: "act", Name: "Act", Description: "Acts.", Tags: []string{"test"}}}}
	return []task.Agent{a}
}

// send is a message to an agent in TrueCost's dialect.
func send(h http.Handler) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(
		`{"jsonrpc":"2.0","id":"7d9f5b1e-0f64-4c2a-9a53-1f0a5e8f2b11","method":"message/send","params":{"message":{"role":"user","parts":[{"type":"text","text":"COMPLETED"}]}}}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestTaskAgents(t *testing.T) {
	t.Parallel()
	f := env().TaskAgents(actor())[0]
	if f.Name != "a2a_actor" || f.Kind != host.Agent {
		t.Errorf("function = %s of kind %s", f.Name, f.Kind)
	}
	if w := send(f.Handler); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"status":"completed"`) {
		t.Errorf("answer = %d %s, want the task completed", w.Code, w.Body)
	}
	cards, err := f.Cards()
	if err != nil || cards.URL() != "https://agents.example/a2a_actor" {
		t.Errorf("Cards() = %v, %v, want them at the configured address", cards, err)
	}
	if one, two := f.Desk(), f.Desk(); one != two {
		t.Error("the handler and the queue's workers have desks of their own")
	}
}

// Where nobody can tell the callers, nobody is let in.
func TestCallersAreNotKnown(t *testing.T) {
	t.Parallel()
	e := env()
	var log bytes.Buffer
	e.Log = slog.New(slog.NewTextHandler(&log, nil))
	e.Callers = func() (*identity.Authority, error) { return nil, errors.New("no keys") }
	w := send(e.TaskAgents(actor())[0].Handler)
	if strings.Contains(w.Body.String(), "completed") || strings.Contains(w.Body.String(), "no keys") || !strings.Contains(log.String(), "no keys") {
		t.Errorf("answer = %d %s with the log %s, want it refused, and why in the log alone", w.Code, w.Body, &log)
	}
}

// A worker has the desks of the table, and no two agents share a name.
func TestWorker(t *testing.T) {
	t.Parallel()
	e := env()
	table := e.TaskAgents(actor())
	table = append(table, host.Function{Name: "start", Kind: host.Callable})
	w, err := e.Worker(table)()
	if err != nil || len(w.Desks) != 1 || w.Desks["actor"] != table[0].Desk() {
		t.Errorf("Worker() = %+v, %v, want the desk of the one agent", w, err)
	}
	if _, err := e.Worker(append(table, e.TaskAgents(actor())...))(); fault.KindOf(err) != fault.Internal {
		t.Errorf("Worker(two agents of one name) = %v, want kind internal", err)
	}
}
