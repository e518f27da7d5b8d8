package e2e

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"truecost.dev/emulator/hub"
	"truecost.dev/shared/fault"
)

// ask calls a function with the id of the one estimate of these tests.
func (s *system) ask(t *testing.T, function string) (version, error) {
	t.Helper()
	var answer struct {
		Data version `json:"data"`
	}
	err := s.Call(t.Context(), function, map[string]any{"estimateId": "deck-1"}, &answer)
	return answer.Data, err
}

// A run is canceled while an agent is at work: the call in flight is given up,
// what was done stays, and nothing more happens.
func TestCancelDuringARun(t *testing.T) {
	t.Parallel()
	st := newStage(t, only("cost"))
	env := st.env()
	env["TRUECOST_STEP_LEASE"] = "600ms" // a canceled call is noticed within a third of it
	s := start(t, hub.Config{}, env)
	st.before(t, s)
	s.begin(t, "deck-1", input(t, "deck"))
	receive(t, st.held, "cost")

	for range 2 { // the second time changes nothing
		got, err := s.ask(t, "cancel_pipeline")
		if err != nil || got["status"] != "canceled" || got["estimateId"] != "deck-1" {
			t.Fatalf("cancel_pipeline = %v, %v; want canceled", got, err)
		}
	}
	receive(t, st.gone, "cost")
	canceled := s.get(t, "estimates/deck-1")
	for path, want := range map[string]any{
		"status": "canceled", "pipelineStatus.currentAgent": nil, "pipelineStatus.currentAgents": []any{},
		"pipelineStatus.completedAgents": []any{"location", "scope"}, "pipelineStatus.error": nil,
		"pipelineStatus.agentStatuses.cost": "pending", "costOutput": nil,
	} {
		if diff := cmp.Diff(want, canceled.at(path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	if canceled["scopeOutput"] == nil || canceled.at("pipelineStatus.completedAt") == nil {
		t.Errorf("the scope is there: %v, the end has its time: %v", canceled["scopeOutput"] != nil, canceled.at("pipelineStatus.completedAt"))
	}
	st.open()
	s.settle(t)
	if diff := cmp.Diff(canceled, s.get(t, "estimates/deck-1")); diff != "" {
		t.Errorf("a canceled estimate went on (-then +now):\n%.2000s", diff)
	}
	run := s.get(t, "runs/deck-1~1")
	if open, ok := unpacked(t, run, "state")["open"].(map[string]any); run["status"] != "canceled" || !ok || len(open) > 0 {
		t.Errorf("the run is %v with open steps %v", run["status"], open)
	}
}

// An estimate is deleted while an agent is at work on it: nothing of it is
// left, not even when the agent would have answered.
func TestDeleteDuringARun(t *testing.T) {
	t.Parallel()
	st := newStage(t, only("cost"))
	env := st.env()
	env["TRUECOST_STEP_LEASE"] = "600ms"
	s := start(t, hub.Config{}, env)
	st.before(t, s)
	s.begin(t, "deck-1", input(t, "deck"))
	receive(t, st.held, "cost")
	if got, err := s.ask(t, "delete_estimate"); err != nil || got["deleted"] != true {
		t.Fatalf("delete_estimate = %v, %v; want deleted", got, err)
	}
	s.isEmpty(t, "after the delete")
	receive(t, st.gone, "cost")
	st.open()
	s.settle(t)
	s.isEmpty(t, "when the agent was let go")
}

// A complete estimate is deleted with everything that was made for it; its id
// is free again.
func TestDeleteAfterARun(t *testing.T) {
	t.Parallel()
	s := start(t, hub.Config{}, nil)
	s.begin(t, "deck-1", input(t, "deck"))
	s.end(t, "deck-1", "complete")
	if _, err := s.ask(t, "cancel_pipeline"); fault.KindOf(err) != fault.Conflict {
		t.Errorf("cancel of a complete estimate = %v, want a conflict", err)
	}
	if got, err := s.ask(t, "delete_estimate"); err != nil || got["deleted"] != true {
		t.Fatalf("delete_estimate = %v, %v; want deleted", got, err)
	}
	s.settle(t)
	s.isEmpty(t, "after the delete")
	for _, function := range []string{"get_pipeline_status", "cancel_pipeline", "delete_estimate"} {
		if _, err := s.ask(t, function); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s of a deleted estimate = %v, want not found", function, err)
		}
	}
	s.begin(t, "deck-1", input(t, "deck"))
	s.watch(t, "estimates/deck-1", completed("scope"))
}

// isEmpty fails the test when any document is left, in any collection.
func (s *system) isEmpty(t *testing.T, when string) {
	t.Helper()
	for _, collection := range []string{"estimates", "runs", "tasks"} {
		for name := range s.list(t, collection) {
			t.Errorf("%s, %s/%s is there", when, collection, name)
		}
	}
	for _, group := range []string{"steps", "agentOutputs", "costItems"} {
		docs, err := s.db.CollectionGroup(group).Documents(t.Context()).GetAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range docs {
			t.Errorf("%s, %s is there", when, doc.Ref.Path)
		}
	}
}

// Twenty callers start the same estimate at once: all are told that it runs,
// and it runs once. Whoever comes with another input or as another user is
// refused.
func TestStartTwentyTimesAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, hub.Config{}, nil)
	deck := input(t, "deck")
	call := func(data map[string]any) error {
		data["estimateId"] = "deck-1"
		return s.Call(t.Context(), "start_deep_pipeline", data, nil)
	}
	var callers sync.WaitGroup
	errs := make([]error, 20)
	for i := range errs {
		callers.Go(func() { errs[i] = call(map[string]any{"clarificationOutput": deck}) })
	}
	callers.Wait()
	for i, err := range errs {
		if err != nil {
			t.Errorf("caller %d: %v", i, err)
		}
	}
	for who, data := range map[string]map[string]any{
		"another input": {"clarificationOutput": input(t, "bathroom")},
		"another user":  {"clarificationOutput": deck, "userId": "somebody"},
	} {
		if err := call(data); fault.KindOf(err) != fault.Conflict {
			t.Errorf("start with %s = %v, want a conflict", who, err)
		}
	}
	s.end(t, "deck-1", "complete")
	s.settle(t)
	checkOnce(t, s)

	// Once more, with the members of the input in another order: nothing happens.
	var members map[string]json.RawMessage
	decode(t, deck, &members)
	before := s.get(t, "estimates/deck-1")
	if err := call(map[string]any{"clarificationOutput": members}); err != nil {
		t.Errorf("start of what is complete: %v", err)
	}
	s.settle(t)
	if diff := cmp.Diff(before, s.get(t, "estimates/deck-1")); diff != "" {
		t.Errorf("a start again changed the estimate (-then +now):\n%.2000s", diff)
	}
}
