package boot_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"truecost.dev/shared/boot"
	"truecost.dev/shared/flows"
	"truecost.dev/shared/host"
)

// A program whose table lacks an agent of a flow does not start, and says which.
func TestCheckFlows(t *testing.T) {
	t.Parallel()
	s := boot.New(boot.Config{PassScore: 80, MaxRetries: 2, AgentTime: time.Minute, RunTime: time.Hour, RetryPause: time.Second}, slog.New(slog.DiscardHandler))
	var table []host.Function
	for _, name := range []string{"location", "scope", "cost", "risk", "timeline", "final"} {
		for _, role := range []string{"", "_scorer", "_critic"} {
			table = append(table, host.Function{Name: "a2a_" + name + role, Kind: host.Agent})
		}
	}
	if err := s.CheckFlows(table); err != nil {
		t.Errorf("CheckFlows(all agents) = %v, want nil", err)
	}
	table[4].Kind = host.Callable // scope_scorer
	err := s.CheckFlows(table[:len(table)-1])
	invalid, ok := errors.AsType[*flows.InvalidError](err)
	if !ok || len(invalid.Problems) != 2 {
		t.Fatalf("CheckFlows = %v, want two problems", err)
	}
	for i, want := range []string{`nodes[1].gate.scorer: there is no agent "scope_scorer"`, `nodes[5].gate.critic: there is no agent "final_critic"`} {
		if got := invalid.Problems[i].String(); got != want {
			t.Errorf("problem %d = %q, want %q", i, got, want)
		}
	}
	if !strings.HasPrefix(err.Error(), "flow truecost: ") {
		t.Errorf("CheckFlows = %q, want it to name the flow", err)
	}
}
