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

func table(t *testing.T) map[string]host.Function {
	t.Helper()
	services := boot.New(boot.Config{AgentsURL: "https://agents.example", AgentTime: time.Minute}, slog.New(slog.DiscardHandler))
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
	if want := []string{"a2a_browse"}; len(named) != 18 || !slices.Equal(others, want) {
		t.Errorf("the flow names %d agents, and there are %v besides; want 18, and %v", len(named), others, want)
	}
}

// Every agent has a card that says who it is and where, and refuses what it
// does not know.
func TestCards(t *testing.T) {
	t.Parallel()
	for name, f := range table(t) {
		if f.Kind != host.Agent {
			continue
		}
		w := httptest.NewRecorder()
		f.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/.well-known/agent.json", nil))
		var card struct {
			Name, Description, Version, URL string
			Skills                          []any
		}
		if err := json.Unmarshal(w.Body.Bytes(), &card); err != nil || w.Code != http.StatusOK {
			t.Errorf("card of %s = %d %s", name, w.Code, w.Body)
			continue
		}
		if "a2a_"+card.Name != name || len(card.Description) < 20 || card.Version == "" || len(card.Skills) == 0 || card.URL != "https://agents.example/"+name {
			t.Errorf("card of %s = %+v", name, card)
		}
		w = httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tasks/dance"}`))
		r.Header.Set("Content-Type", "application/json")
		f.Handler.ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), "-32601") {
			t.Errorf("%s answers an unknown method with %s", name, w.Body)
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
