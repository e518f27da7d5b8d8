package functions_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"truecost.dev/functions"
	"truecost.dev/shared/boot"
	"truecost.dev/shared/flows"
	"truecost.dev/shared/host"
	"truecost.dev/triggers"
)

// table is what is deployed beside a real project; with changes it is configured
// otherwise.
func table(t *testing.T, changes ...func(*boot.Config)) map[string]host.Function {
	t.Helper()
	c := boot.Config{AgentsURL: "https://agents.example", AgentTime: time.Minute}
	for _, change := range changes {
		change(&c)
	}
	services := boot.New(c, slog.New(slog.DiscardHandler))
	all := map[string]host.Function{}
	table := functions.Table(services)
	for _, f := range table {
		if _, twice := all[f.Name]; twice {
			t.Errorf("function %s is in the table twice", f.Name)
		}
		all[f.Name] = f
	}
	for _, trigger := range triggers.Table(services, table) {
		if _, twice := all[trigger.Name]; twice {
			t.Errorf("trigger %s has the name of a function", trigger.Name)
		}
		all[trigger.Name] = trigger.Function(services.Log)
	}
	return all
}

// Eighteen agents: six families of three, and the flow names no other. The rest
// are specialists that anybody may ask.
func TestTheFlowsAgentsExist(t *testing.T) {
	t.Parallel()
	all := table(t)
	p, err := flows.Estimate(flows.Options{PassScore: 80, MaxRetries: 2, AgentTime: time.Minute, RunTime: time.Hour, RetryPause: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, n := range p.Flow.Nodes {
		for _, agent := range []string{n.Agent, n.Gate.Scorer, n.Gate.Critic} {
			named["a2a_"+agent] = true
			if f, ok := all["a2a_"+agent]; !ok || f.Kind != host.Agent {
				t.Errorf("the flow names agent %s, which is not in the table", agent)
			}
		}
	}
	var others []string
	for name, f := range all {
		if f.Kind == host.Agent && !named[name] {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	if want := []string{"a2a_browse", "a2a_orchestrator"}; len(named) != 18 || !slices.Equal(others, want) {
		t.Errorf("the flow names %d agents, and there are %v besides; want 18, and %v", len(named), others, want)
	}
}

// Every agent has cards that say who it is and where, and what goes in and out.
// They are for everybody, also where nobody else is let in.
func TestCards(t *testing.T) {
	t.Parallel()
	for name, f := range table(t) {
		if f.Kind != host.Agent {
			continue
		}
		for _, path := range []string{"/.well-known/agent.json", "/.well-known/agent-card.json"} {
			w := httptest.NewRecorder()
			f.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			var card struct {
				Name, Description, Version, URL string
				Skills                          []struct {
					ID, Name, Description string
					Tags, Examples        []string
					Input                 string          `json:"input_description"`
					Output                string          `json:"output_artefact_description"`
					InputSchema           json.RawMessage `json:"input_schema"`
					OutputSchema          json.RawMessage `json:"output_schema"`
				}
			}
			if err := json.Unmarshal(w.Body.Bytes(), &card); err != nil || w.Code != http.StatusOK {
				t.Errorf("card of %s = %d %s", name, w.Code, w.Body)
				continue
			}
			if "a2a_"+card.Name != name || len(card.Description) < 20 || card.Version == "" || card.URL != "https://agents.example/"+name || len(card.Skills) != 1 {
				t.Errorf("card of %s = %+v", name, card)
				continue
			}
			s := card.Skills[0]
			if s.ID == "" || s.Name == "" || len(s.Description) < 20 || len(s.Tags) == 0 || len(s.Examples) == 0 {
				t.Errorf("skill of %s = %+v", name, s)
			}
			if path == "/.well-known/agent.json" && (s.Input == "" || s.Output == "" || s.InputSchema == nil || s.OutputSchema == nil) {
				t.Errorf("skill of %s says neither what goes in nor what comes out: %+v", name, s)
			}
		}
	}
}

// dance asks an agent for a method that nobody has.
func dance(f host.Function) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tasks/dance"}`))
	r.Header.Set("Content-Type", "application/json")
	f.Handler.ServeHTTP(w, r)
	return w
}

// Every agent refuses what it does not know, and beside a real project whom it
// does not know.
func TestAgentsRefuse(t *testing.T) {
	t.Parallel()
	local := table(t, func(c *boot.Config) { c.LocalAuth, c.FirestoreHost = true, "127.0.0.1:1" })
	for name, f := range table(t) {
		if f.Kind != host.Agent {
			continue
		}
		if w := dance(f); w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "-31401") {
			t.Errorf("%s answers nobody with %d %s, want 401", name, w.Code, w.Body)
		}
		if w := dance(local[name]); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "-32601") {
			t.Errorf("%s answers an unknown method with %d %s, want -32601", name, w.Code, w.Body)
		}
	}
}

// Beside a real project nobody gets in without a verified token.
func TestCallablesAreClosedWithoutAVerifier(t *testing.T) {
	t.Parallel()
	for name, f := range table(t) {
		if f.Kind != host.Callable {
			continue
		}
		for _, token := range []string{"", "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm5hIn0."} {
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"data":{"estimateId":"e"}}`))
			r.Header.Set("Content-Type", "application/json")
			if token != "" {
				r.Header.Set("Authorization", token)
			}
			w := httptest.NewRecorder()
			f.Handler.ServeHTTP(w, r)
			if w.Code != http.StatusUnauthorized {
				t.Errorf("%s with token %q = %d %s, want 401", name, token, w.Code, w.Body)
			}
		}
	}
}
