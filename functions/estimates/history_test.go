package estimates

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

// The chunks of a fan-out are one entry, behind the step that cut them; what is
// at work or came too late is last.
func TestHistoryOfAFanOut(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return time.Date(2026, 3, 2, 15, 0, s, 0, time.UTC) }
	failure := &engine.Error{Code: engine.CodeAgentFailed, Message: "no"}
	steps := []runner.Step{ // as the store returns them
		{ID: "list.0.k0", Agent: "lister", Status: runner.Done, Try: 1, StartedAt: at(4), DoneAt: new(at(6)), Duration: time.Second, Tokens: 5, CostUSD: 0.1, RevAt: 1},
		{ID: "list.0.k1", Agent: "lister", Status: runner.StepFailed, Try: 3, Takeovers: 1, Beats: 2, StartedAt: at(3), DoneAt: new(at(5)), Duration: time.Second, CostUSD: 0.2, RevAt: 1, Failure: failure},
		{ID: "list.0.x", Status: runner.Done, Try: 1, StartedAt: at(2), DoneAt: new(at(2)), RevAt: 2},
		{ID: "list.0.j", Status: runner.Done, Try: 1, StartedAt: at(7), DoneAt: new(at(7)), RevAt: 3},
		{ID: "list.0.s", Agent: "judge", Status: runner.Done, Try: 1, StartedAt: at(7), DoneAt: new(at(8)), Score: 88, RevAt: 4},
		{ID: "list.1.p", Agent: "lister", Status: runner.Claimed, Try: 1, StartedAt: at(9)},
		{ID: "old.0.p", Agent: "older", Status: runner.Done, Try: 1, StartedAt: at(1), DoneAt: new(at(9)), Late: true},
	}
	want := []entry{
		{Step: "list.0.x", Node: "list", Status: runner.Done, Tries: 1, StartedAt: at(2), DoneAt: new(at(2)), RevAt: new(2)},
		{
			Step: "list.0.k", Node: "list", Agent: "lister", Status: runner.StepFailed, Tries: 4, Takeovers: 1, Beats: 2,
			StartedAt: at(3), DoneAt: new(at(6)), DurationMS: 2000, Tokens: 5, CostUSD: 0.3, Error: failure, Chunks: &chunks{Done: 1, Failed: 1},
		},
		{Step: "list.0.j", Node: "list", Status: runner.Done, Tries: 1, StartedAt: at(7), DoneAt: new(at(7)), RevAt: new(3)},
		{Step: "list.0.s", Node: "list", Agent: "judge", Status: runner.Done, Tries: 1, StartedAt: at(7), DoneAt: new(at(8)), Score: new(88), RevAt: new(4)},
		{Step: "old.0.p", Node: "old", Agent: "older", Status: runner.Done, Tries: 1, StartedAt: at(1), DoneAt: new(at(9)), Late: true},
		{Step: "list.1.p", Node: "list", Agent: "lister", Status: runner.Claimed, Tries: 1, StartedAt: at(9)},
	}
	got := history(steps)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(entry{})); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	var sum totals
	for i := range got {
		sum.add(&got[i])
	}
	if want := (totals{Steps: 7, Tries: 9, Takeovers: 1, Late: 1, Failed: 1, Tokens: 5, CostUSD: 0.3, AgentMS: 2000}); sum != want {
		t.Errorf("totals = %+v, want %+v", sum, want)
	}
}
