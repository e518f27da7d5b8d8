package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func mapKeys[K comparable, V any](m map[K]V) iter.Seq[K] { return maps.Keys(m) }

// check holds the invariants of one transition.
func check(f *Flow, before, after State, v Verdict) error {
	if v != Applied {
		if diff := cmp.Diff(before, after); diff != "" {
			return fmt.Errorf("a %s event changed the state:\n%s", v, diff)
		}
		return nil
	}
	if after.Rev != before.Rev+1 {
		return fmt.Errorf("rev went from %d to %d", before.Rev, after.Rev)
	}
	if diff := cmp.Diff(Open(f, after), after.Open); diff != "" {
		return fmt.Errorf("open is not Open(flow, state):\n%s", diff)
	}
	if before.Status.Ended() {
		return errors.New("an ended run changed")
	}
	if after.Status.Ended() && len(after.Open) > 0 {
		return errors.New("an ended run has open steps")
	}
	if was, is := Project(f, before).Progress, Project(f, after).Progress; before.Rev > 0 && is < was {
		return fmt.Errorf("progress fell from %d to %d", was, is)
	}
	for _, n := range f.Nodes {
		p, was := after.Nodes[n.Name], before.Nodes[n.Name]
		if err := checkNode(n, was, p); err != nil {
			return fmt.Errorf("node %s: %w", n.Name, err)
		}
		if p.Phase == Primary && was.Phase == Blocked {
			for _, need := range n.Needs {
				if !after.Nodes[need].Phase.settled() {
					return fmt.Errorf("node %s started before %s settled", n.Name, need)
				}
			}
		}
	}
	return nil
}

func checkNode(n Node, was, p Progress) error {
	if p.Attempt < was.Attempt {
		return fmt.Errorf("attempt fell from %d to %d", was.Attempt, p.Attempt)
	}
	if n.Gate == nil {
		return nil
	}
	if p.Attempt > n.Gate.Retries {
		return fmt.Errorf("attempt %d of at most %d", p.Attempt, n.Gate.Retries)
	}
	if p.Phase == Passed && (len(p.Scores) == 0 || p.Scores[p.Best] < n.Gate.Threshold) {
		return fmt.Errorf("passed with scores %v", p.Scores)
	}
	if p.Phase == Critiquing && p.Attempt == n.Gate.Retries {
		return errors.New("a critic is asked after the last attempt")
	}
	return nil
}

// TestRandomHistories plays random events, duplicates and late ones included,
// and holds every invariant at every step; whatever happened, a run whose steps
// all answer ends.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		gate := Gate{Threshold: 80, Retries: rapid.IntRange(0, 3).Draw(t, "retries"), Exhausted: rapid.SampledFrom([]Exhausted{Fail, Degrade}).Draw(t, "exhausted")}
		flow := rapid.SampledFrom([]string{"chain", "diamond", "plain"}).Draw(t, "flow")
		f := shapes(gate)[flow]
		now := epoch
		apply := func(s State, e Event) State {
			next, _, v := Next(&f, s, e, now)
			if err := check(&f, s, next, v); err != nil {
				t.Fatalf("%#v: %v", e, err)
			}
			again, _, vAgain := Next(&f, next, e, now)
			if _, ok := e.(Retryable); !ok && v == Applied && vAgain != Stale {
				t.Fatalf("%#v applied twice", e)
			} else if vAgain == Stale && again.Rev != next.Rev {
				t.Fatal("a stale event moved rev")
			}
			return next
		}
		s := apply(State{}, Started{EstimateID: "e", Owner: "o", N: 1})
		seen := map[StepID]bool{}
		for range rapid.IntRange(0, 60).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.IntRange(0, 100).Draw(t, "pause")) * time.Second)
			for id := range s.Open {
				seen[id] = true
			}
			s = apply(s, draw(t, seen))
		}
		for i := 0; !s.Status.Ended(); i++ {
			if i > 200 {
				t.Fatalf("the run does not end: %+v", s.Nodes)
			}
			for _, id := range sorted(s.Open) {
				s = apply(s, Finished{Step: id, Score: 90})
				break
			}
		}
	})
}

func draw(t *rapid.T, seen map[StepID]bool) Event {
	id := rapid.SampledFrom(sorted(seen)).Draw(t, "step")
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		return Finished{Step: id, Failure: &Error{Code: CodeAgentFailed, Message: "broke"}}
	case 1, 2:
		return Retryable{Step: id, After: time.Duration(rapid.IntRange(0, 7200).Draw(t, "after")) * time.Second, Failure: Error{Code: CodeAgentFailed}}
	case 3:
		if rapid.IntRange(0, 9).Draw(t, "cancel") == 0 {
			return CancelRequested{By: "o"}
		}
		return DeadlinePassed{}
	default:
		return Finished{Step: id, Score: rapid.IntRange(0, 100).Draw(t, "score")}
	}
}

func sorted[V any](m map[StepID]V) []StepID {
	var ids []StepID
	for id := range m {
		ids = append(ids, id)
	}
	for i := range ids { // insertion sort: a handful of ids
		for j := i; j > 0 && ids[j] < ids[j-1]; j-- {
			ids[j], ids[j-1] = ids[j-1], ids[j]
		}
	}
	return ids
}

func TestNextIsPure(t *testing.T) {
	t.Parallel()
	f := shapes(Gate{Threshold: 80, Retries: 2, Exhausted: Fail})["diamond"]
	s, _, _ := Next(&f, State{}, Started{EstimateID: "e", N: 1}, epoch)
	before, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := Next(&f, s, Finished{Step: "a.0.p"}, epoch)
	second, _, _ := Next(&f, s, Finished{Step: "a.0.p"}, epoch)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("Next gave two answers (-first +second):\n%s", diff)
	}
	after, _ := json.Marshal(s)
	if string(before) != string(after) {
		t.Errorf("Next changed its argument:\n%s\n%s", before, after)
	}
}

func TestStateSurvivesJSON(t *testing.T) {
	t.Parallel()
	f := shapes(Gate{Threshold: 80, Retries: 2, Exhausted: Fail})["chain"]
	s, _, _ := Next(&f, State{}, Started{EstimateID: "e", Owner: "o", Project: "p", N: 2, Input: "h"}, epoch)
	s, _, _ = Next(&f, s, Retryable{Step: "location.0.p"}, epoch)
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var got State
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, got); diff != "" {
		t.Errorf("after JSON (-want +got):\n%s", diff)
	}
}

func TestFlowCheckNamesEveryFault(t *testing.T) {
	t.Parallel()
	good := Node{Name: "a", Agent: "a", Timeout: time.Second, Retry: Retry{Tries: 1, Base: 1, Cap: 1}}
	with := func(change func(*Node)) Node { n := good; change(&n); return n }
	tests := []struct {
		name string
		flow Flow
		want string
	}{
		{"no name", Flow{Budget: 1, Nodes: []Node{good}}, `id: ""`},
		{"no nodes", Flow{ID: "f", Budget: 1}, "at least one node"},
		{"no budget", Flow{ID: "f", Nodes: []Node{good}}, "budget"},
		{"twice", Flow{ID: "f", Budget: 1, Nodes: []Node{good, good}}, `"a" is there twice`},
		{"dotted name", Flow{ID: "f", Budget: 1, Nodes: []Node{with(func(n *Node) { n.Name = "a.b" })}}, "nodes[0].name"},
		{"no agent", Flow{ID: "f", Budget: 1, Nodes: []Node{with(func(n *Node) { n.Agent = "" })}}, "nodes[0].agent"},
		{"unknown need", Flow{ID: "f", Budget: 1, Nodes: []Node{with(func(n *Node) { n.Needs = []string{"z"} })}}, `no node "z"`},
		{"needs itself", Flow{ID: "f", Budget: 1, Nodes: []Node{with(func(n *Node) { n.Needs = []string{"a"} })}}, "needs itself"},
		{"no timeout", Flow{ID: "f", Budget: 1, Nodes: []Node{with(func(n *Node) { n.Timeout = 0 })}}, "nodes[0].timeout"},
		{"no tries", Flow{ID: "f", Budget: 1, Nodes: []Node{with(func(n *Node) { n.Retry.Tries = 0 })}}, "nodes[0].retry"},
		{"gate without critic", Flow{ID: "f", Budget: 1, Nodes: []Node{with(func(n *Node) { n.Gate = &Gate{Scorer: "s", Exhausted: Fail} })}}, "nodes[0].gate:"},
		{"threshold", Flow{ID: "f", Budget: 1, Nodes: []Node{with(func(n *Node) { n.Gate = &Gate{Scorer: "s", Critic: "c", Threshold: 101, Exhausted: Fail} })}}, "gate.threshold"},
		{"exhausted", Flow{ID: "f", Budget: 1, Nodes: []Node{with(func(n *Node) { n.Gate = &Gate{Scorer: "s", Critic: "c"} })}}, "gate.onExhausted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.flow.Check()
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Check() = %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestStepIDs(t *testing.T) {
	t.Parallel()
	for _, id := range []StepID{"scope.0.p", "cost.12.s", "a.1.c"} {
		node, attempt, role, ok := id.Parts()
		if !ok || Step(node, attempt, role) != id {
			t.Errorf("Parts(%q) = %q, %d, %q, %v", id, node, attempt, role, ok)
		}
	}
	for _, id := range []StepID{"", "scope", "scope.0", "scope.x.p", "scope.-1.p", "scope.01.p", "scope.0.z", ".0.p", "a.0.p.1"} {
		if _, _, _, ok := id.Parts(); ok {
			t.Errorf("Parts(%q) is ok, want not", id)
		}
	}
}

func FuzzStepID(f *testing.F) {
	f.Add("scope.0.p")
	f.Fuzz(func(t *testing.T, s string) {
		if node, attempt, role, ok := StepID(s).Parts(); ok && Step(node, attempt, role) != StepID(s) {
			t.Errorf("Parts(%q) does not come back", s)
		}
	})
}

func BenchmarkNext(b *testing.B) {
	f := shapes(Gate{Threshold: 80, Retries: 2, Exhausted: Fail})["diamond"]
	s, _, _ := Next(&f, State{}, Started{EstimateID: "e", N: 1}, epoch)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, v := Next(&f, s, Finished{Step: "a.0.p"}, epoch); v != Applied {
			b.Fatal(v)
		}
	}
}
