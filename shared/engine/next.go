package engine

import (
	"maps"
	"slices"
	"time"
)

// Next applies one event to a run. It is a function of its arguments alone:
// time comes in as now, equal inputs give equal outputs, and s is not changed.
// An event that is late, repeated or meant for an older attempt is Stale.
func Next(f *Flow, s State, e Event, now time.Time) (State, Effects, Verdict) {
	t := transition{flow: f, now: now}
	var verdict Verdict
	if start, ok := e.(Started); ok {
		verdict = t.start(s, start)
	} else {
		verdict = t.apply(s, e)
	}
	if verdict != Applied {
		return s, Effects{}, verdict
	}
	t.settle()
	return t.state, t.effects, Applied
}

// transition is one application of Next: the state it works on and the effects
// it gathers.
type transition struct {
	flow    *Flow
	now     time.Time
	state   State
	effects Effects
	came    StepID // the step that this event brings home
}

func (t *transition) start(s State, e Started) Verdict {
	if s.Rev > 0 {
		return Stale
	}
	if e.EstimateID == "" || e.N < 1 {
		return Invalid
	}
	t.state = State{
		Schema: Schema, Flow: t.flow.Hash(), FlowID: t.flow.ID,
		EstimateID: e.EstimateID, Owner: e.Owner, Project: e.Project, N: e.N, Input: e.Input,
		Status: Running, CreatedAt: t.now, DeadlineAt: t.now.Add(t.flow.Budget),
		Nodes: make(map[string]Progress, len(t.flow.Nodes)), Open: map[StepID]OpenStep{},
	}
	for _, n := range t.flow.Nodes {
		t.state.Nodes[n.Name] = Progress{Phase: Blocked}
	}
	t.unblock()
	t.effects.View = true
	return Applied
}

func (t *transition) apply(s State, e Event) Verdict {
	switch {
	case s.Rev == 0:
		return Invalid // nothing happens to a run that does not exist
	case s.Status.Ended():
		return Stale
	}
	t.state = s.clone()
	switch e := e.(type) {
	case Finished:
		return t.finished(e)
	case Retryable:
		return t.retryable(e)
	case CancelRequested:
		t.end(Canceled, nil)
		return Applied
	case DeadlinePassed:
		if t.now.Before(s.DeadlineAt) {
			return Stale
		}
		t.end(Failed, &Error{Code: CodePipelineTimeout, Message: "The run took longer than its time budget.", Agent: t.firstActive()})
		return Applied
	default:
		return Invalid
	}
}

// locate returns node and role of a step that is open.
func (t *transition) locate(id StepID) (*Node, Role, Verdict) {
	name, _, role, ok := id.Parts()
	n := t.flow.Node(name)
	if !ok || n == nil {
		return nil, "", Invalid
	}
	if _, open := t.state.Open[id]; !open {
		return nil, "", Stale
	}
	return n, role, Applied
}

func (t *transition) finished(e Finished) Verdict {
	n, role, verdict := t.locate(e.Step)
	if verdict != Applied {
		return verdict
	}
	if role == RoleScorer && e.Failure == nil && (e.Score < 0 || e.Score > 100) {
		return Invalid
	}
	t.came = e.Step
	p := t.state.Nodes[n.Name]
	switch role {
	case RolePrimary:
		t.primaryFinished(n, p, e)
		t.effects.View = true
	case RoleScorer:
		t.scorerFinished(n, p, e)
		t.effects.View = true
	case RoleCritic:
		if e.Failure != nil {
			t.flag(FlagCriticUnavailable) // the retry works with the scorer's own words
		}
		p.Attempt++
		p.Phase = Primary
		t.state.Nodes[n.Name] = p
	}
	return Applied
}

func (t *transition) primaryFinished(n *Node, p Progress, e Finished) {
	switch {
	case e.Failure != nil:
		t.exhausted(n, p, e.Failure)
	case n.Gate == nil:
		p.Best, p.Out = p.Attempt, e.Step
		t.pass(n, p)
	default:
		p.Phase = Scoring
		t.state.Nodes[n.Name] = p
	}
}

func (t *transition) scorerFinished(n *Node, p Progress, e Finished) {
	if e.Failure != nil {
		t.exhausted(n, p, &Error{Code: CodeValidationFailed, Message: "The output could not be judged: " + e.Failure.Message, Agent: n.Gate.Scorer})
		return
	}
	p.Scores = append(slices.Clone(p.Scores), e.Score)
	if len(p.Scores) == 1 || e.Score > p.Scores[p.Best] {
		p.Best, p.Out = p.Attempt, Step(n.Name, p.Attempt, RolePrimary)
	}
	switch {
	case e.Score >= n.Gate.Threshold:
		// The attempt that reached the threshold is the output, and it is the
		// best one: every attempt before it was below.
		t.pass(n, p)
	case p.Attempt < n.Gate.Retries:
		p.Phase = Critiquing
		t.state.Nodes[n.Name] = p
	default:
		t.exhausted(n, p, &Error{
			Code: CodeRetriesExhausted, Agent: n.Name,
			Message: "No attempt reached the pass mark; the best one is kept.",
		})
	}
}

func (t *transition) pass(n *Node, p Progress) {
	p.Phase = Passed
	t.state.Nodes[n.Name] = p
	t.effects.Outputs = append(t.effects.Outputs, Output{Node: n.Name, Step: p.Out, Phase: Passed})
	t.unblock()
}

// exhausted ends a node that nothing brings through.
func (t *transition) exhausted(n *Node, p Progress, cause *Error) {
	if cause.Agent == "" {
		cause = &Error{Code: cause.Code, Message: cause.Message, Agent: n.Name}
	}
	p.Err = cause
	p.Phase = NodeFailed
	if n.Gate != nil && n.Gate.Exhausted == Degrade {
		p.Phase = Degraded
	}
	t.state.Nodes[n.Name] = p
	if p.Out != "" {
		t.effects.Outputs = append(t.effects.Outputs, Output{Node: n.Name, Step: p.Out, Phase: p.Phase})
	}
	if p.Phase == Degraded {
		t.flag(FlagPartial)
		t.unblock()
		return
	}
	t.end(Failed, &Error{Code: cause.Code, Message: cause.Message, Agent: n.Name})
}

// unblock starts every blocked node whose needs are met.
func (t *transition) unblock() {
	for i := range t.flow.Nodes {
		n := &t.flow.Nodes[i]
		p := t.state.Nodes[n.Name]
		if p.Phase != Blocked {
			continue
		}
		if !slices.ContainsFunc(n.Needs, func(need string) bool { return !t.state.Nodes[need].Phase.settled() }) {
			p.Phase = Primary
			t.state.Nodes[n.Name] = p
		}
	}
}

func (t *transition) flag(name string) {
	if !slices.Contains(t.state.Flags, name) {
		t.state.Flags = append(t.state.Flags, name)
	}
}

func (t *transition) end(status Status, cause *Error) {
	t.state.Status = status
	t.state.Error = cause
	t.state.EndedAt = new(t.now)
	t.effects.View = true
}

func (t *transition) firstActive() string {
	for _, n := range t.flow.Nodes {
		if p := t.state.Nodes[n.Name].Phase; p == Primary || p == Scoring || p == Critiquing {
			return n.Name
		}
	}
	return ""
}

// settle completes a transition: the run ends when every node has, the open
// steps follow from the nodes, and what is newly open is to be published.
func (t *transition) settle() {
	s := &t.state
	if s.Status == Running && t.allSettled() {
		t.end(Completed, nil)
	}
	before := s.Open
	s.Open = Open(t.flow, *s)
	for id, step := range s.Open {
		if _, was := before[id]; !was {
			step.Since = t.now
			s.Open[id] = step
			t.effects.Publish = append(t.effects.Publish, id)
		}
	}
	t.inFlowOrder(t.effects.Publish)
	if s.Status.Ended() {
		inFlight := maps.Clone(before)
		delete(inFlight, t.came)
		t.effects.Cancel = slices.Collect(maps.Keys(inFlight))
		t.inFlowOrder(t.effects.Cancel)
	}
	s.Rev++
	s.UpdatedAt = t.now
	s.WakeAt = t.wake()
}

func (t *transition) allSettled() bool {
	for _, p := range t.state.Nodes {
		if !p.Phase.settled() {
			return false
		}
	}
	return true
}

func (t *transition) inFlowOrder(ids []StepID) {
	rank := func(id StepID) int {
		name, _, _, _ := id.Parts()
		return slices.IndexFunc(t.flow.Nodes, func(n Node) bool { return n.Name == name })
	}
	slices.SortFunc(ids, func(a, b StepID) int { return rank(a) - rank(b) })
}
