package main

import (
	"encoding/json"
	"slices"

	"truecost.dev/internal/chaos/script"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/runner"
)

// checkSteps looks at each step by itself: its call, its claims, its payment.
func (r *record) checkSteps() {
	revs := map[int]engine.StepID{}
	for i := range r.steps {
		s := &r.steps[i]
		if s.Call != runner.CallID(r.id, s.ID) {
			r.broken("I6", "%s was called as %s", s.ID, s.Call)
		}
		if other, taken := revs[s.RevAt]; taken && s.RevAt > 0 {
			r.broken("I12", "%s and %s both made rev %d", other, s.ID, s.RevAt)
		}
		revs[s.RevAt] = s.ID
		if s.RevAt > r.run.Rev || s.Late && s.RevAt > 0 {
			r.broken("I1", "%s is of rev %d (late: %v) in a run of %d", s.ID, s.RevAt, s.Late, r.run.Rev)
		}
		if backs := r.givenBack(s.ID); s.Try > 1+s.Takeovers+backs {
			r.broken("I6", "%s was claimed %d times, with %d take-overs and %d failed tries", s.ID, s.Try, s.Takeovers, backs)
		}
		if s.Status == runner.Done && r.paid[s.Call] == 0 {
			r.broken("ledger", "%s has a result that nobody paid for", s.ID)
		}
		if ref, _ := s.ID.Ref(); slices.Contains(r.run.Carried, ref.Node) {
			r.broken("I21", "%s was carried and called", ref.Node)
		}
	}
	for i := range r.history.Steps {
		r.checkResult(&r.history.Steps[i])
	}
}

// givenBack counts the tries of a step that failed and were to be followed by
// another.
func (r *record) givenBack(id engine.StepID) int {
	n := 0
	for _, c := range r.run.Controls {
		if c.Step == id && (c.Kind == runner.ControlRetry || c.Kind == runner.ControlWorking) {
			n += max(c.Times, 1)
		}
	}
	return n
}

// checkResult wants the result of the call of the step and of none other.
func (r *record) checkResult(s *runner.Step) {
	if s.Status != runner.Done {
		return
	}
	ref, _ := s.ID.Ref()
	if call := callOf(s.Result); call != s.Call {
		r.broken("I1", "%s has the result of call %q", s.ID, call)
	}
	if want := script.Of(s.Call).Score; ref.Role == engine.RoleScorer && s.Score != want {
		r.broken("I1", "%s scored %d, the agent said %d", s.ID, s.Score, want)
	}
}

// callOf returns the call that a result names.
func callOf(result []byte) string {
	var said struct {
		Call string `json:"call"`
		Why  string `json:"why_wrong"` // of a critic
	}
	if json.Unmarshal(result, &said) != nil {
		return ""
	}
	return said.Call + said.Why
}

// checkOrder wants a node to begin after everything it needs had passed, and the
// steps of a chain one after the other.
func (r *record) checkOrder() {
	recorded := slices.DeleteFunc(slices.Clone(r.history.Steps), func(s runner.Step) bool { return s.RevAt == 0 || s.DoneAt == nil })
	slices.SortFunc(recorded, func(a, b runner.Step) int { return a.RevAt - b.RevAt })
	for i := 1; i < len(recorded); i++ {
		before, s := &recorded[i-1], &recorded[i]
		if place(s) < place(before) {
			r.broken("I5", "%s was recorded after %s", s.ID, before.ID)
		}
		// The first claim may have been before the last: take-overs start anew.
		if s.StartedAt.Before(*before.DoneAt) {
			r.broken("I5", "%s was claimed before %s had its result", s.ID, before.ID)
		}
	}
}

// place orders the steps of a run as a chain does them.
func place(s *runner.Step) int {
	ref, _ := s.ID.Ref()
	role := slices.Index([]engine.Role{engine.RolePrimary, engine.RoleScorer, engine.RoleCritic}, ref.Role)
	return 100*slices.Index(estimate.Agents[:], ref.Node) + 10*ref.Attempt + role
}
