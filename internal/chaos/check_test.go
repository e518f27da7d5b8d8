package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"truecost.dev/internal/chaos/script"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/flows"
	"truecost.dev/shared/runner"
)

var dawn = time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)

// recorded is what a sound engine stores of the first run of a plan, a second a
// step.
func recorded(t *testing.T, p *plan) *record {
	t.Helper()
	pipeline, err := flows.Estimate(flows.Options{PassScore: script.PassMark, MaxRetries: 2, AgentTime: time.Minute, RunTime: time.Hour, RetryPause: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	now := dawn
	state, _, verdict := engine.Next(pipeline.Flow, engine.State{}, engine.Started{EstimateID: p.id, Owner: "anyone", N: 1}, now)
	r := &record{world: &world{}, id: engine.RunID(p.id, 1), end: p.end, paid: map[string]int{}}
	for _, call := range p.end.Steps {
		if verdict != engine.Applied {
			t.Fatalf("the engine takes %s for %s", call.Step, verdict)
		}
		ref, _ := call.Step.Ref()
		s := runner.Step{Run: r.id, ID: call.Step, Call: call.ID, Status: runner.Done, Try: 1, StartedAt: now, Result: []byte(`{"call":"` + call.ID + `"}`)}
		if now = now.Add(time.Second); call.Refused {
			s.Status, s.Result, s.Failure = runner.StepFailed, nil, &engine.Error{Code: engine.CodeAgentFailed}
		} else if r.paid[call.ID] = 1; ref.Role == engine.RoleScorer {
			s.Score = script.Of(call.ID).Score
		}
		s.DoneAt = new(now)
		state, _, verdict = engine.Next(pipeline.Flow, state, engine.Finished{Step: s.ID, Failure: s.Failure, Score: s.Score}, now)
		s.RevAt = state.Rev
		r.steps = append(r.steps, s)
	}
	r.history = &runner.History{Flow: pipeline.Flow, Run: runner.Run{State: state}, Steps: slices.Clone(r.steps)}
	r.run = &r.history.Run
	return r
}

func TestSoundRecordsPass(t *testing.T) {
	t.Parallel()
	for _, p := range plans(5, 40) {
		r := recorded(t, &p)
		r.check(false)
		if found := r.Violations(); len(found) > 0 {
			t.Errorf("%s: %s", p.id, strings.Join(found, "\n"))
		}
	}
}

// Each check finds what it is there for.
func TestChecksFindWhatIsBroken(t *testing.T) {
	t.Parallel()
	p := plans(5, 10)[0]
	both := func(change func(*runner.Step)) func(*record) { // of the third step, wherever it is read
		return func(r *record) { change(&r.steps[2]); change(&r.history.Steps[2]) }
	}
	tests := []struct {
		rule, name string
		harm       func(*record)
	}{
		{"end", "another end", func(r *record) { r.run.Status = engine.Failed }},
		{"end", "another error", func(r *record) { r.end.Status, r.run.Status, r.run.Error = engine.Failed, engine.Failed, nil }},
		{"end", "a step that came late", both(func(s *runner.Step) { s.RevAt, s.Late = 0, true })},
		{"I1", "the result of another call", both(func(s *runner.Step) { s.Result = []byte(`{"call":"x"}`) })},
		{"I1", "a rev that is not there yet", both(func(s *runner.Step) { s.RevAt = 99 })},
		{"I4", "open steps at the end", func(r *record) { r.run.Open = map[engine.StepID]engine.OpenStep{"final.0.s": {}} }},
		{"I5", "a step before its time", both(func(s *runner.Step) { s.StartedAt = dawn })},
		{"I6", "a claim too many", both(func(s *runner.Step) { s.Try = 2 })},
		{"I6", "another call id", both(func(s *runner.Step) { s.Call = "x" })},
		{"I7", "a step too many", func(r *record) { r.steps = append(r.steps, runner.Step{ID: "final.2.c", Try: 1}) }},
		{"I8", "a transport failure for a judgment", both(func(s *runner.Step) { s.Status = runner.StepFailed })},
		{"I8", "another score", func(r *record) { edit(r, "scope", func(n *engine.Progress) { n.Scores = []int{99} }) }},
		{"I9", "a pass below the mark", func(r *record) { edit(r, "scope", func(n *engine.Progress) { n.Scores = []int{script.PassMark - 1} }) }},
		{"I12", "two results of one rev", both(func(s *runner.Step) { s.RevAt-- })},
		{"I18", "a rev that nothing made", func(r *record) { r.run.Rev++ }},
		{"I18", "a journal with holes", func(r *record) { r.run.Forgotten = 1 }},
		{"I20", "a claim after the cancel", func(r *record) {
			r.run.Status, r.run.EndedAt = engine.Canceled, new(dawn)
		}},
		{"I21", "a carried node that was called", func(r *record) { r.run.Carried = []string{"scope"} }},
		{"ledger", "a result for nothing", func(r *record) { r.paid = nil }},
	}
	for _, tt := range tests {
		r := recorded(t, &p)
		tt.harm(r)
		r.check(tt.rule == "I20")
		if found := r.Violations(); !slices.ContainsFunc(found, func(v string) bool { return strings.HasPrefix(v, tt.rule+" ") }) {
			t.Errorf("%s: found %q, want a breach of %s", tt.name, found, tt.rule)
		}
	}
}

func edit(r *record, node string, change func(*engine.Progress)) {
	n := r.run.Nodes[node]
	change(&n)
	r.run.Nodes[node] = n
}

// What is seen twice is compared.
func TestLooksAreCompared(t *testing.T) {
	t.Parallel()
	p := plans(5, 10)[0]
	tests := []struct {
		rule string
		harm func(run *runner.Run, v *view)
	}{
		{"", func(*runner.Run, *view) {}},
		{"I3", func(run *runner.Run, v *view) { run.Rev, v.Rev = 1, 1 }},
		{"I3", func(run *runner.Run, _ *view) { run.Nodes["scope"] = engine.Progress{Phase: engine.Primary} }},
		{"I4", func(run *runner.Run, _ *view) { run.Open["scope.0.p"] = engine.OpenStep{} }},
		{"I11", func(_ *runner.Run, v *view) { v.Progress-- }},
		{"I12", func(_ *runner.Run, v *view) { v.Rev++ }},
		{"I17", func(run *runner.Run, _ *view) { run.Owner = strings.Repeat("x", maxRun) }},
	}
	for _, tt := range tests {
		r := recorded(t, &p)
		seen := view{Run: 1, Rev: r.run.Rev, Progress: 100}
		w := &watched{id: r.id, run: *r.run, view: seen}
		var again runner.Run
		if err := json.Unmarshal([]byte(encoded(r.run)), &again); err != nil {
			t.Fatal(err)
		}
		tt.harm(&again, &seen)
		(&person{world: r.world, plan: p}).compare(w, r.history.Flow, &again, seen)
		found := r.Violations()
		names := slices.ContainsFunc(found, func(v string) bool { return strings.HasPrefix(v, tt.rule+" ") })
		if names != (tt.rule != "") || tt.rule == "" && len(found) > 0 {
			t.Errorf("found %q, want a breach of %q", found, tt.rule)
		}
	}
}
