package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

// History is what is recorded of a run: the run with its journal, its steps but
// for chunks and shards, which do not write it, and its questions with their
// answers.
type History struct {
	Flow   *engine.Flow
	Run    Run
	Steps  []Step
	Inputs []Input
}

// History loads what is recorded of a run; fault.NotFound when there is none.
func (r *Runner) History(ctx context.Context, id string) (h History, err error) {
	run, p, err := r.load(ctx, id)
	if err != nil {
		return h, err
	}
	h = History{Flow: p.Flow, Run: run}
	var steps []engine.StepID
	var inputs, talks []string
	for _, n := range p.Flow.Nodes {
		inputs = append(inputs, n.Name+".0.pause")
		for attempt := range run.Nodes[n.Name].Attempt + 1 {
			for _, role := range []engine.Role{engine.RolePrimary, engine.RoleScorer, engine.RoleCritic, engine.RoleExpand, engine.RoleJoin} {
				steps = append(steps, engine.Step(n.Name, attempt, role))
			}
			inputs = append(inputs, n.Name+"."+strconv.Itoa(attempt)+".ask")
			talks = append(talks, string(engine.Step(n.Name, attempt, engine.RolePrimary)))
		}
	}
	if h.Inputs, err = r.Store.Inputs(ctx, id, inputs...); err != nil {
		return h, fmt.Errorf("load the questions of %s: %w", id, err)
	}
	// An agent may ask any number of times; each question is named after the step
	// that its answer opens.
	for turn := 1; len(talks) > 0; turn++ {
		ids := make([]string, len(talks))
		for i, first := range talks {
			ids[i] = first + "." + strconv.Itoa(turn)
		}
		asked, err := r.Store.Inputs(ctx, id, ids...)
		if err != nil {
			return h, fmt.Errorf("load the questions of %s: %w", id, err)
		}
		talks = nil
		for _, in := range asked {
			ref, _ := engine.StepID(in.ID).Ref()
			steps = append(steps, ref.ID())
			talks = append(talks, string(engine.Step(ref.Node, ref.Attempt, ref.Role)))
		}
		h.Inputs = append(h.Inputs, asked...)
	}
	if h.Steps, err = r.Store.Steps(ctx, id, steps...); err != nil {
		return h, fmt.Errorf("load the steps of %s: %w", id, err)
	}
	return h, nil
}

// Fold returns the run as it was at a rev: engine.Next applied to what is
// recorded, in order of revs. At the latest rev that is the stored run itself.
// fault.NotFound when the records do not say what made a rev: the run has none so
// far, its journal has forgotten some, or it began under schema 1, which kept
// none of failed tries and of what people did.
func (h *History) Fold(rev int) (engine.State, error) {
	s, _, verdict := engine.Next(h.Flow, engine.State{}, h.started(), h.Run.CreatedAt)
	if verdict != engine.Applied {
		return s, fault.New(fault.Internal, "the start of %s is %s", h.Run.RunID(), verdict)
	}
	s.Schema = h.Run.Schema // Next begins runs of the latest schema alone
	if s.Schema < 2 {
		s.ViewAt = nil
	}
	for s.Rev < rev {
		e, at := h.event(&s)
		if e == nil {
			return s, fault.New(fault.NotFound, "nothing that is recorded says what made rev %d of %s", s.Rev+1, h.Run.RunID())
		}
		after, _, verdict := engine.Next(h.Flow, s, e, at)
		if verdict != engine.Applied {
			return s, fault.New(fault.Internal, "rev %d of %s: %T is %s", s.Rev+1, h.Run.RunID(), e, verdict)
		}
		s = after
	}
	return s, nil
}

// started is the event that began the run. A node that was carried over never
// changes.
func (h *History) started() engine.Started {
	s := &h.Run.State
	e := engine.Started{
		EstimateID: s.EstimateID, Owner: s.Owner, Project: s.Project, N: s.N, Input: s.Input, Facts: s.Facts,
		Parent: s.Parent, Edits: s.Edits, Carried: make(map[string]engine.Progress, len(s.Carried)),
	}
	for _, name := range s.Carried {
		e.Carried[name] = s.Nodes[name]
	}
	return e
}

// event finds what made the rev after a state, and when; nil when nothing says.
func (h *History) event(before *engine.State) (engine.Event, time.Time) {
	rev := before.Rev + 1
	for i := range h.Run.Controls {
		if c := &h.Run.Controls[i]; rev <= c.Rev && rev > c.Rev-c.times() {
			return c.event(), c.At
		}
	}
	for i := range h.Inputs {
		if in := &h.Inputs[i]; in.RevAt == rev && in.AnsweredAt != nil {
			return engine.InputGiven{ID: in.ID, By: in.AnsweredBy, Decision: in.Decision}, *in.AnsweredAt
		}
	}
	for i := range h.Steps {
		if step := &h.Steps[i]; step.RevAt == rev && step.DoneAt != nil {
			return h.finished(before, step), *step.DoneAt
		}
	}
	return nil, time.Time{}
}

// finished is the event of a step that has its result, or that ended in a
// question.
func (h *History) finished(before *engine.State, step *Step) engine.Event {
	ref, _ := step.ID.Ref()
	next := ref
	next.Turn++
	for i := range h.Inputs {
		if in := &h.Inputs[i]; ref.Role == engine.RolePrimary && in.ID == string(next.ID()) {
			return engine.InputNeeded{Step: step.ID, Prompt: in.Prompt, Schema: in.Schema}
		}
	}
	e := engine.Finished{Step: step.ID, Failure: step.Failure, Score: step.Score}
	n := h.Flow.Node(ref.Node)
	switch {
	case step.Status != Done || n == nil:
	case ref.Role == engine.RolePrimary, ref.Role == engine.RoleJoin:
		e.Facts = facts(h.Flow, ref.Node, step.Result)
	case ref.Role == engine.RoleScorer:
		if judged := find(h.Steps, n.Made(before.Nodes[ref.Node])); judged != nil {
			e.Facts = facts(h.Flow, ref.Node, judged.Result)
		}
	case ref.Role == engine.RoleExpand:
		if fan := new(engine.Fan); json.Unmarshal(step.Result, fan) == nil {
			e.Fan = fan
		}
	}
	return e
}
