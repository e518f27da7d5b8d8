package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"truecost.dev/shared/engine"
)

// promisedSize is what the document of a run takes at most, in bytes.
const promisedSize = 100_000

// As many nodes as there may be, all with a question of any length or all failed
// with a message of any length, keep the promise.
func TestTextsOfManyNodesFit(t *testing.T) {
	t.Parallel()
	long, now := strings.Repeat("é", 10_000), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, what := range []string{"questions", "failures"} {
		f := &engine.Flow{ID: "wide", Engine: 1, Budget: time.Hour}
		for i := range engine.MaxNodes {
			n := engine.Node{
				Name: fmt.Sprintf("estimate_of_trade_%03d", i), Agent: "a", Timeout: time.Second,
				Retry: engine.Retry{Tries: 3, Base: time.Second, Cap: time.Second},
				Gate:  &engine.Gate{Scorer: "s", Critic: "c", Threshold: 80, Exhausted: engine.Degrade},
			}
			if what == "questions" {
				n.Pause = &engine.Pause{Prompt: long}
			}
			f.Nodes = append(f.Nodes, n)
		}
		if err := f.Check(); err != nil {
			t.Fatal(err)
		}
		s, _, _ := engine.Next(f, engine.State{}, engine.Started{EstimateID: "e", Owner: "u", N: 1}, now)
		for what == "failures" && !s.Status.Ended() {
			id := f.Nodes[engine.MaxNodes-len(unsettled(f, s))].Name + ".0.p"
			var verdict engine.Verdict
			s, _, verdict = engine.Next(f, s, engine.Finished{Step: engine.StepID(id), Failure: &engine.Error{Code: engine.CodeAgentFailed, Message: long}}, now)
			if verdict != engine.Applied {
				t.Fatalf("the failure of %s is %s", id, verdict)
			}
		}
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > promisedSize {
			t.Errorf("a run of %d nodes with %s takes %d bytes, want at most %d", engine.MaxNodes, what, len(b), promisedSize)
		}
	}
}

func unsettled(f *engine.Flow, s engine.State) (names []string) {
	for _, n := range f.Nodes {
		if !s.Nodes[n.Name].Phase.Settled() {
			names = append(names, n.Name)
		}
	}
	return names
}

// A flow whose facts would not fit into a run is refused.
func TestFactsThatDoNotFit(t *testing.T) {
	t.Parallel()
	retry := engine.Retry{Tries: 1, Base: time.Second, Cap: time.Second}
	f := &engine.Flow{ID: "many", Engine: 1, Budget: time.Hour, Nodes: []engine.Node{{Name: "first", Agent: "a", Timeout: time.Second, Retry: retry}}}
	second := engine.Node{Name: "second", Agent: "a", Needs: []string{"first"}, Timeout: time.Second, Retry: retry}
	for i := range 200 {
		second.When = append(second.When, engine.Condition{Fact: fmt.Sprintf("first.m%d", i%40), Is: engine.Present})
	}
	f.Nodes = append(f.Nodes, second)
	if err := f.Check(); err != nil {
		t.Errorf("Check(40 facts, read often) = %v, want nil", err)
	}
	for i := range 60 {
		f.Nodes[1].When[i].Fact = fmt.Sprintf("first.n%d", i)
	}
	if err := f.Check(); err == nil || !strings.Contains(err.Error(), "100 facts") {
		t.Errorf("Check(100 facts) = %v, want it to name 100 facts", err)
	}
}
