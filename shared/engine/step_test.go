package engine

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestStepIDs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		id    StepID
		want  StepRef
		calls bool
	}{
		{"scope.0.p", StepRef{Node: "scope", Role: RolePrimary}, true},
		{"cost.12.s", StepRef{Node: "cost", Attempt: 12, Role: RoleScorer}, true},
		{"a.1.c", StepRef{Node: "a", Attempt: 1, Role: RoleCritic}, true},
		{"a.0.p.1", StepRef{Node: "a", Role: RolePrimary, Turn: 1}, true},
		{"a.2.k0", StepRef{Node: "a", Attempt: 2, Role: RoleChunk}, true},
		{"a.0.k9999", StepRef{Node: "a", Role: RoleChunk, Index: 9999}, true},
		{"a.0.d7", StepRef{Node: "a", Role: RoleShard, Index: 7}, false},
		{"a.0.x", StepRef{Node: "a", Role: RoleExpand}, false},
		{"a.0.j", StepRef{Node: "a", Role: RoleJoin}, false},
	}
	for _, tt := range tests {
		got, ok := tt.id.Ref()
		if !ok || got != tt.want || got.ID() != tt.id {
			t.Errorf("Ref(%q) = %+v, %t and back %q, want %+v", tt.id, got, ok, got.ID(), tt.want)
		}
		if got.Role.CallsAgent() != tt.calls {
			t.Errorf("CallsAgent(%s) = %t, want %t", got.Role, !tt.calls, tt.calls)
		}
	}
	for _, id := range []StepID{
		"", "scope", "scope.0", "scope.x.p", "scope.-1.p", "scope.01.p", "scope.0.z", "scope.0.pp", "scope.0.", ".0.p",
		"a.0.p.0", "a.0.p.01", "a.0.p.", "a.0.p.1.1", "a.0.k", "a.0.k-1", "a.0.k01", "a.0.p1", "a.0.x.1", "a.0.k1.1", "a.0.d1.1",
	} {
		if r, ok := id.Ref(); ok {
			t.Errorf("Ref(%q) = %+v, want not ok", id, r)
		}
	}
}

func FuzzStepID(f *testing.F) {
	for _, seed := range []string{"scope.0.p", "a.1.k12", "a.0.p.3", "a.0.d1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if r, ok := StepID(s).Ref(); ok && r.ID() != StepID(s) {
			t.Errorf("Ref(%q) = %+v, which is %q", s, r, r.ID())
		}
	})
}

func TestAgentOf(t *testing.T) {
	t.Parallel()
	f := sound()
	for id, want := range map[StepID]string{
		"price.0.k3": "pricer", "price.1.s": "judge", "price.0.c": "critic", "sum.0.p.2": "adder",
		"price.0.x": "", "price.0.j": "", "price.0.d1": "", "list.0.s": "", "tax.0.p": "", "list": "",
	} {
		if got := f.AgentOf(id); got != want {
			t.Errorf("AgentOf(%s) = %q, want %q", id, got, want)
		}
	}
}

// TestPause: a pause doubles to its cap, give or take half, and is the same for
// the same try.
func TestPause(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := Retry{Base: time.Duration(rapid.IntRange(1, 1000).Draw(t, "base")) * time.Millisecond, Cap: time.Duration(rapid.IntRange(1, 900).Draw(t, "cap")) * time.Second}
		try := rapid.IntRange(1, 12).Draw(t, "try")
		run := rapid.StringMatching(`[a-z]{1,8}~[1-9]`).Draw(t, "run")
		got := r.Pause(run, "a.0.p", try)
		want := min(r.Base<<(try-1), max(r.Cap, r.Base))
		if got < want/2-1 || got > want+want/2+1 {
			t.Fatalf("Pause(%v, try %d) = %v, want %v give or take half", r, try, got, want)
		}
		if again := r.Pause(run, "a.0.p", try); again != got {
			t.Fatalf("Pause(%v, try %d) = %v and then %v", r, try, got, again)
		}
	})
}

func TestStateSurvivesJSON(t *testing.T) {
	t.Parallel()
	f := sound()
	s, _, _ := Next(&f, State{}, Started{
		EstimateID: "e", Owner: "o", Project: "p", N: 2, Input: "h", Parent: "e~1",
		Carried: map[string]Progress{"list": {Phase: Passed, Out: "list.0.p", From: "e~1", Facts: map[string]any{"list.count": 3.0}}},
		Edits:   map[string]string{"price": "edit-1"}, Facts: map[string]any{"input.kind": "house"},
	}, epoch)
	s, _, _ = Next(&f, s, Retryable{Step: "price.0.x", After: time.Hour}, epoch)
	s, _, _ = Next(&f, s, Finished{Step: "price.0.x", Fan: &Fan{Chunks: 3, Shards: 1, Active: 1}}, epoch)
	s, _, v := Next(&f, s, HoldRequested{By: "o", Reason: "r"}, epoch)
	if v != Applied {
		t.Fatalf("hold is %s", v)
	}
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

// TestInvalidEvents: what cannot happen in a sound system changes nothing.
func TestInvalidEvents(t *testing.T) {
	t.Parallel()
	f := sound()
	running, _, _ := Next(&f, State{}, Started{EstimateID: "e", N: 1, Facts: map[string]any{"input.kind": "house"}}, epoch)
	expanding, _, _ := Next(&f, running, Finished{Step: "list.0.p", Facts: map[string]any{"list.count": 1.0}}, epoch)
	fanning, _, _ := Next(&f, expanding, Finished{Step: "price.0.x", Fan: &Fan{Chunks: 3, Shards: 1, Active: 1}}, epoch)
	joining, _, _ := Next(&f, fanning, ShardsDone{Node: "price"}, epoch)
	scoring, _, v := Next(&f, joining, Finished{Step: "price.0.j"}, epoch)
	if v != Applied || !mapHas(scoring.Open, "price.0.s") {
		t.Fatalf("the way to the scorer: %s, open %v", v, scoring.Open)
	}
	tests := []struct {
		name  string
		state State
		event Event
		want  Verdict
	}{
		{"a start without an estimate", State{}, Started{N: 1}, Invalid},
		{"a start without a number", State{}, Started{EstimateID: "e"}, Invalid},
		{"an event before the start", State{}, CancelRequested{}, Invalid},
		{"no event", running, nil, Invalid},
		{"a step of no node", running, Finished{Step: "tax.0.p"}, Invalid},
		{"no step", running, Finished{Step: "list"}, Invalid},
		{"too many chunks", expanding, Finished{Step: "price.0.x", Fan: &Fan{Chunks: MaxChunks + 1}}, Invalid},
		{"less than no chunks", expanding, Finished{Step: "price.0.x", Fan: &Fan{Chunks: -1}}, Invalid},
		{"chunks in no shards", expanding, Finished{Step: "price.0.x", Fan: &Fan{Chunks: 1}}, Invalid},
		{"shards of no node", fanning, ShardsDone{Node: "tax"}, Invalid},
		{"more failures than chunks", fanning, ShardsDone{Node: "price", Failed: 4}, Invalid},
		{"a score beyond 100", scoring, Finished{Step: "price.0.s", Score: 101}, Invalid},
		{"a score below 0", scoring, Finished{Step: "price.0.s", Score: -1}, Invalid},
		{"a deadline of no step", running, DeadlinePassed{Step: "list"}, Invalid},
		{"a deadline of a step that is not open", running, DeadlinePassed{Step: "list.1.p"}, Stale},
		{"a try of a step that is not open", running, Retryable{Step: "list.1.p"}, Stale},
		{"the end of a chunk", fanning, Finished{Step: "price.0.k0"}, Stale},
		{"a question of a step that is not open", running, InputNeeded{Step: "sum.0.p"}, Stale},
		{"an answer to nothing", running, InputGiven{ID: "sum.0.pause", Decision: Answer}, Stale},
		{"a question that is not there expires", running, DeadlinePassed{Input: "sum.0.pause"}, Stale},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, effects, v := Next(&f, tt.state, tt.event, epoch)
			if v != tt.want {
				t.Errorf("Next(%#v) is %s, want %s", tt.event, v, tt.want)
			}
			if err := check(&f, tt.state, s, tt.event, effects, v); err != nil {
				t.Error(err)
			}
		})
	}
}
