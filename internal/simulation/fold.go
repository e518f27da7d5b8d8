package simulation

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
)

// fold checks that a transition is what Next makes of the event that the commit
// records: I18.
func (a *audit) fold(before, s engine.State, changes []runnertest.Revision) {
	e := a.event(&before, &s, changes)
	if e == nil {
		a.bad("I18", "%s: nothing in the commit says what made rev %d", s.RunID(), s.Rev)
		return
	}
	got, _, verdict := engine.Next(a.flow, before, e, s.UpdatedAt)
	if verdict != engine.Applied || !same(got, s) {
		a.bad("I18", "%s: rev %d is not what %T makes of rev %d (%s)", s.RunID(), s.Rev, e, before.Rev, verdict)
	}
}

// event finds the event of a transition in what the commit wrote.
func (a *audit) event(before, s *engine.State, changes []runnertest.Revision) engine.Event {
	switch {
	case before.Rev == 0:
		return a.started(s)
	case s.Status == engine.Canceled:
		return engine.CancelRequested{}
	case before.Hold == nil && s.Hold != nil:
		return engine.HoldRequested{By: s.Hold.By, Reason: s.Hold.Reason}
	case before.Hold != nil && s.Hold == nil:
		return engine.ResumeRequested{}
	case s.Error != nil && s.Error.Code == engine.CodePipelineTimeout:
		return engine.DeadlinePassed{}
	}
	for _, d := range changes {
		if in, ok := d.Input(); ok && in.Decision != "" {
			return engine.InputGiven{ID: in.ID, By: in.AnsweredBy, Decision: in.Decision}
		}
		if step, ok := d.Step(); ok && step.RevAt == s.Rev {
			return a.finished(before, s, d, changes)
		}
	}
	return a.bare(before, s)
}

func (a *audit) started(s *engine.State) engine.Event {
	e := engine.Started{
		EstimateID: s.EstimateID, Owner: s.Owner, Project: s.Project, N: s.N, Input: s.Input, Facts: s.Facts,
		Parent: s.Parent, Edits: s.Edits, Carried: map[string]engine.Progress{},
	}
	for _, name := range s.Carried {
		e.Carried[name] = s.Nodes[name]
	}
	return e
}

// finished is the event of a step that got its result.
func (a *audit) finished(before, s *engine.State, d runnertest.Revision, changes []runnertest.Revision) engine.Event {
	step, _ := d.Step()
	ref, _ := step.ID.Ref()
	p := s.Nodes[ref.Node]
	asked := p.Phase == engine.Waiting && p.Ask.Kind == engine.AskAgent && before.Nodes[ref.Node].Phase != engine.Waiting
	if asked {
		for _, d := range changes {
			if in, ok := d.Input(); ok {
				return engine.InputNeeded{Step: step.ID, Prompt: in.Prompt, Schema: in.Schema}
			}
		}
	}
	e := engine.Finished{Step: step.ID, Failure: step.Failure, Score: step.Score, Facts: p.Facts}
	if ref.Role == engine.RoleExpand && p.Fan != nil {
		e.Fan = &engine.Fan{Chunks: p.Fan.Chunks, Shards: p.Fan.Shards, Active: p.Fan.Active}
	}
	return e
}

// bare is an event that leaves no document of its own: a failed try, the end of a
// fan-out, a question or a try whose time was up.
func (a *audit) bare(before, s *engine.State) engine.Event {
	for id, step := range s.Open {
		was, open := before.Open[id]
		if open && step.NotBefore != nil && (was.NotBefore == nil || !was.NotBefore.Equal(*step.NotBefore)) {
			return engine.Retryable{Step: id, After: step.NotBefore.Sub(s.UpdatedAt), Working: step.Tries == was.Tries}
		}
	}
	for _, n := range a.flow.Nodes {
		was, is := before.Nodes[n.Name], s.Nodes[n.Name]
		switch {
		case was.Phase == engine.Fanning && is.Phase != engine.Fanning:
			return engine.ShardsDone{Node: n.Name, Attempt: was.Attempt, Failed: is.Fan.Failed, Failure: is.Err}
		case was.Phase == engine.Waiting && is.Err != nil && is.Err.Code == engine.CodeInputExpired:
			return engine.DeadlinePassed{Input: was.Ask.ID}
		}
	}
	return a.outlived(before, s)
}

// outlived is the event of the last try of a step, whose time was up.
func (a *audit) outlived(before, s *engine.State) engine.Event {
	for _, id := range slices.Sorted(maps.Keys(before.Open)) {
		if _, open := s.Open[id]; open {
			continue
		}
		ref, _ := id.Ref()
		failure := s.Nodes[ref.Node].Err
		if failure == nil || failure.Code == engine.CodeValidationFailed {
			failure = &engine.Error{Code: engine.CodeAgentTimeout, Message: "The call took longer than its time.", Agent: a.flow.AgentOf(id)}
		}
		e := engine.Finished{Step: id, Failure: failure}
		if got, _, verdict := engine.Next(a.flow, *before, e, s.UpdatedAt); verdict == engine.Applied && same(got, *s) {
			return e
		}
	}
	return nil
}

// folds checks that the runner's own history of each run folds to what was stored,
// at its end and at a rev in the middle: I18.
func (a *audit) folds() {
	for _, id := range sorted(a.states) {
		h, err := (&runner.Runner{Store: a.w.store}).History(context.Background(), id)
		if err != nil {
			a.bad("I18", "the history of %s: %v", id, err)
			continue
		}
		if h.Run.Forgotten > 0 {
			continue // it was too long to be kept, and says so
		}
		for _, rev := range []int{a.states[id].Rev, a.states[id].Rev / 2} {
			want, there := a.revs[fmt.Sprintf("%s %d", id, rev)]
			if !there || between(h.Run.Controls, rev) {
				continue
			}
			if got, err := h.Fold(rev); err != nil || !same(got, want) {
				a.bad("I18", "what is recorded of %s gives another rev %d (%v)", id, rev, err)
			}
		}
	}
}

// between reports whether a rev is one of several that the journal keeps as one.
func between(controls []runner.Control, rev int) bool {
	return slices.ContainsFunc(controls, func(c runner.Control) bool { return rev < c.Rev && rev > c.Rev-c.Times })
}
