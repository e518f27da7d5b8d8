package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"truecost.dev/internal/chaos/script"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

// tally counts what is stored of the runs.
type tally struct {
	runs, steps, claims, takeovers, late, beats int
}

// check holds everything that is stored of a plan against what was foretold and
// against the invariants.
func (p *person) check(ctx context.Context, paid map[string]int) (t tally, err error) {
	for i, end := range p.plan.runs() {
		id := engine.RunID(p.id, i+1)
		h, err := (&runner.Runner{Store: p.docs}).History(ctx, id)
		if err != nil {
			return t, fmt.Errorf("history of %s: %w", id, err)
		}
		steps, err := p.docs.History(ctx, id)
		if err != nil {
			return t, fmt.Errorf("steps of %s: %w", id, err)
		}
		t.add(steps)
		r := record{world: p.world, id: id, end: end, history: &h, run: &h.Run, steps: steps, paid: paid}
		r.check(p.canceled)
		latest := i == len(p.plan.runs())-1
		if err := p.unchanged(ctx, i, latest); err != nil {
			return t, err
		}
		if latest {
			err = p.shown(ctx, &r)
		}
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

func (t *tally) add(steps []runner.Step) {
	t.runs++
	t.steps += len(steps)
	for i := range steps {
		t.claims += steps[i].Try
		t.takeovers += steps[i].Takeovers
		t.beats += steps[i].Beats
		if steps[i].Late {
			t.late++
		}
	}
}

// A record is what is stored of a run.
type record struct {
	*world
	id      string
	end     script.End
	history *runner.History
	run     *runner.Run
	steps   []runner.Step // all, without payloads
	paid    map[string]int
}

func (r *record) broken(rule, format string, args ...any) { r.Broke(rule, r.id, format, args...) }

func (r *record) check(canceled bool) {
	if canceled {
		r.checkCanceled()
	} else {
		r.checkEnd()
	}
	r.checkNodes()
	r.checkSteps()
	r.checkOrder()
	folded, err := r.history.Fold(r.run.Rev)
	if err != nil {
		r.broken("I18", "%v", err)
	} else if got, want := encoded(folded), encoded(r.run.State); got != want {
		r.broken("I18", "what is recorded gives\n%s, stored is\n%s", got, want)
	}
	if r.run.Forgotten > 0 {
		r.broken("I18", "the journal forgot %d revs", r.run.Forgotten)
	}
	if open := engine.Open(r.history.Flow, r.run.State); len(r.run.Open)+len(open) > 0 {
		r.broken("I4", "an ended run has open steps: %v", r.run.Open)
	}
}

// checkEnd compares the end with what was foretold: status, error, and exactly
// the steps, none more.
func (r *record) checkEnd() {
	if r.run.Status != r.end.Status {
		r.broken("end", "it is %s (%+v), foretold was %s %s", r.run.Status, r.run.Error, r.end.Status, r.end.Agent)
		return
	}
	if e := r.run.Error; r.end.Failure() && (e == nil || e.Code != r.end.Code || e.Agent != r.end.Agent) {
		r.broken("end", "it failed with %+v, foretold was %s of %s", e, r.end.Code, r.end.Agent)
	}
	if len(r.steps) != len(r.end.Steps) {
		r.broken("I7", "it has %d steps, foretold were %d", len(r.steps), len(r.end.Steps))
	}
	for _, call := range r.end.Steps {
		i := slices.IndexFunc(r.steps, func(s runner.Step) bool { return s.ID == call.Step })
		switch {
		case i < 0:
			r.broken("end", "%s is missing", call.Step)
		case r.steps[i].Late || r.steps[i].RevAt == 0:
			r.broken("end", "%s was not recorded: %+v", call.Step, r.steps[i])
		case (r.steps[i].Status == runner.StepFailed) != call.Refused:
			r.broken("I8", "%s is %s: %+v", call.Step, r.steps[i].Status, r.steps[i].Failure)
		}
	}
}

// checkCanceled wants a beginning of what was foretold.
func (r *record) checkCanceled() {
	if r.run.Status != engine.Canceled {
		r.broken("end", "it is %s after a cancel that was answered", r.run.Status)
		return
	}
	for i := range r.steps {
		s := &r.steps[i]
		if !slices.ContainsFunc(r.end.Steps, func(c script.Call) bool { return c.Step == s.ID }) {
			r.broken("I5", "%s was never due", s.ID)
		}
		if s.StartedAt.After(r.run.EndedAt.Add(staleHandler)) {
			r.broken("I20", "%s was claimed %v after the cancel", s.ID, s.StartedAt.Sub(*r.run.EndedAt))
		}
		if s.StartedAt.After(*r.run.EndedAt) && s.RevAt > 0 {
			r.broken("I20", "%s was claimed after the cancel and recorded", s.ID)
		}
	}
}

// staleHandler is how long a handler may be on its way from reading a run to its
// claim: it may wait for a step that is due soon, and may be suspended.
const staleHandler = 25 * time.Second

// checkNodes compares attempts, scores and outputs with what was foretold; of a
// canceled run, as far as it came.
func (r *record) checkNodes() {
	begun := map[string]bool{}
	for i := range r.end.Nodes {
		want := &r.end.Nodes[i]
		begun[want.Name] = true
		if got := r.run.Nodes[want.Name]; r.run.Status == engine.Canceled {
			if len(got.Scores) > len(want.Scores) || !slices.Equal(got.Scores, want.Scores[:len(got.Scores)]) || got.Attempt > want.Attempt {
				r.broken("I8", "%s has scores %v, foretold were %v", want.Name, got.Scores, want.Scores)
			}
		} else if !as(&got, want) {
			r.broken("I8", "%s is %s with scores %v, attempt %d, output %s; foretold was %+v", want.Name, got.Phase, got.Scores, got.Attempt, got.Out, *want)
		}
	}
	for name, got := range r.run.Nodes {
		if !begun[name] && !slices.Contains(r.run.Carried, name) && got.Phase != engine.Blocked {
			r.broken("I5", "%s is %s, and was never due", name, got.Phase)
		}
		if n := len(got.Scores); got.Phase == engine.Passed && (n == 0 || got.Scores[n-1] < script.PassMark) {
			r.broken("I9", "%s passed with scores %v", name, got.Scores)
		}
	}
}

// as reports whether a node came to what was foretold of it.
func as(got *engine.Progress, want *script.Node) bool {
	return slices.Equal(got.Scores, want.Scores) && got.Attempt == want.Attempt && got.Out == want.Out && (got.Phase == engine.Passed) == want.Passed
}
