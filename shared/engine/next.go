package engine

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// viewPause is the least time between two writes of a view that show neither an
// end, a question, what a person did nor an output: a document takes one
// sustained write a second.
const viewPause = time.Second

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
	urgent  bool   // a person acted and wants to see it: the view is not left out
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
		Parent: e.Parent, Edits: e.Edits, Facts: e.Facts,
		Status: Running, CreatedAt: t.now, DeadlineAt: t.now.Add(t.flow.Budget),
		Nodes: make(map[string]Progress, len(t.flow.Nodes)), Open: map[StepID]OpenStep{},
	}
	for _, n := range t.flow.Nodes {
		p, carried := e.Carried[n.Name]
		switch {
		case !carried:
			p = Progress{Phase: Blocked}
		case !p.Phase.Settled():
			return Invalid
		default:
			t.state.Carried = append(t.state.Carried, n.Name)
		}
		t.state.Nodes[n.Name] = p
		if p.partial() {
			t.flag(FlagPartial)
		}
	}
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
	case InputNeeded:
		return t.inputNeeded(e)
	case InputGiven:
		return t.inputGiven(e)
	case ShardsDone:
		return t.shardsDone(e)
	case HoldRequested:
		return t.hold(e)
	case ResumeRequested:
		return t.resume()
	case CancelRequested:
		t.end(Canceled, nil)
		return Applied
	case DeadlinePassed:
		return t.deadlinePassed(e)
	default:
		return Invalid
	}
}

// locate returns node and place of a step that is open.
func (t *transition) locate(id StepID) (*Node, StepRef, Verdict) {
	r, ok := id.Ref()
	n := t.flow.Node(r.Node)
	if !ok || n == nil {
		return nil, r, Invalid
	}
	if _, open := t.state.Open[id]; !open {
		return nil, r, Stale
	}
	return n, r, Applied
}

func (t *transition) finished(e Finished) Verdict {
	n, r, verdict := t.locate(e.Step)
	if verdict != Applied {
		return verdict
	}
	t.came = e.Step
	p := t.state.Nodes[n.Name]
	switch r.Role {
	case RoleExpand:
		return t.expanded(n, p, e)
	case RolePrimary, RoleJoin:
		if r.Turn > 0 {
			p.Made = e.Step
		}
		p.Turn = 0
		t.made(n, p, e)
	case RoleScorer:
		if e.Failure == nil && (e.Score < 0 || e.Score > 100) {
			return Invalid
		}
		t.scored(n, p, e)
	case RoleCritic:
		t.criticized(n, p, e)
		return Applied // the view shows nothing of it
	default:
		return Invalid
	}
	t.effects.View = true
	return Applied
}

func (t *transition) deadlinePassed(e DeadlinePassed) Verdict {
	switch {
	case e.Step != "":
		return t.stepDeadline(e)
	case e.Input != "":
		return t.inputExpired(e.Input)
	case t.state.WaitSince != nil || t.now.Before(t.state.DeadlineAt):
		return Stale // waiting for people is not working time
	}
	t.end(Failed, &Error{Code: CodePipelineTimeout, Message: "The run took longer than its time budget.", Agent: t.firstActive()})
	return Applied
}

// unblock starts blocked nodes whose needs are met, in flow order, as many as
// may be at work. A node whose conditions do not hold is skipped, which may
// meet the needs of others.
func (t *transition) unblock() {
	if t.state.Status.Ended() || t.state.Hold != nil {
		return
	}
	room := t.flow.parallel()
	for _, p := range t.state.Nodes {
		if p.Phase.working() {
			room--
		}
	}
	for again := true; again; {
		again = false
		for i := range t.flow.Nodes {
			n := &t.flow.Nodes[i]
			p := t.state.Nodes[n.Name]
			if p.Phase != Blocked || !t.needsMet(n) {
				continue
			}
			switch {
			case !n.holds(&t.state):
				p.Phase = Skipped
				again = true
			case n.Pause != nil:
				p = t.ask(n, p, Question{
					ID: n.Name + ".0.pause", Kind: AskPause, Prompt: n.Pause.Prompt, Schema: n.Pause.Schema,
					ExpiresAt: t.now.Add(n.Pause.expires()),
				}, n.begin())
			case room > 0:
				p.Phase = n.begin()
				room--
			default:
				continue
			}
			t.state.Nodes[n.Name] = p
		}
	}
}

func (t *transition) needsMet(n *Node) bool {
	return !slices.ContainsFunc(n.Needs, func(need string) bool { return !t.state.Nodes[need].Phase.Settled() })
}

// begin is the phase in which an attempt of a node starts.
func (n *Node) begin() Phase {
	if n.FanOut != nil {
		return Expanding
	}
	return Primary
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
		if t.state.Nodes[n.Name].Phase.working() {
			return n.Name
		}
	}
	return ""
}

// settle completes a transition: nodes start, the status and the open steps
// follow from the nodes, and what is newly open is to be published.
func (t *transition) settle() {
	s := &t.state
	t.unblock()
	before := s.Open
	s.Open = Open(t.flow, *s)
	t.status()
	if s.Status.Ended() {
		s.Open = map[StepID]OpenStep{}
		inFlight := maps.Clone(before)
		delete(inFlight, t.came)
		t.effects.Cancel = slices.Collect(maps.Keys(inFlight))
		t.inFlowOrder(t.effects.Cancel)
	}
	for id, step := range s.Open {
		if _, was := before[id]; !was {
			step.Since = t.now
			s.Open[id] = step
			t.effects.Publish = append(t.effects.Publish, id)
		}
	}
	t.inFlowOrder(t.effects.Publish)
	s.Rev++
	s.UpdatedAt = t.now
	s.WakeAt = t.wake()
	if s.Status != Running {
		t.effects.View = true // what ended or waits is shown as it is
	}
	t.coalesce()
}

// status derives the status of a run that has not ended, and keeps the time in
// which only people could act off its working time.
func (t *transition) status() {
	s := &t.state
	if s.Status.Ended() {
		return
	}
	was := s.Status
	switch {
	case t.allSettled():
		t.end(Completed, nil)
	case s.Hold != nil, !t.atWork():
		s.Status = WaitingInput
	default:
		s.Status = Running
	}
	if s.Status != was {
		t.effects.View = true
	}
	switch {
	case s.Status == WaitingInput && s.WaitSince == nil:
		s.WaitSince = new(t.now)
	case s.Status != WaitingInput && s.WaitSince != nil:
		s.DeadlineAt = s.DeadlineAt.Add(t.now.Sub(*s.WaitSince))
		s.WaitSince = nil
	}
}

func (t *transition) atWork() bool {
	for _, p := range t.state.Nodes {
		if p.Phase.working() {
			return true
		}
	}
	return false
}

func (t *transition) allSettled() bool {
	for _, p := range t.state.Nodes {
		if !p.Phase.Settled() {
			return false
		}
	}
	return true
}

// coalesce leaves a view out that comes within a second of the last one and
// shows nothing that cannot wait. What brings an output writes the document
// anyway.
func (t *transition) coalesce() {
	s := &t.state
	if !t.effects.View || s.Schema < 2 {
		return
	}
	urgent := t.urgent || s.Rev == 1 || s.Status != Running || len(t.effects.Outputs) > 0 || len(t.effects.Ask) > 0
	if !urgent && s.ViewAt != nil && t.now.Sub(*s.ViewAt) < viewPause {
		t.effects.View = false
		return
	}
	s.ViewAt = new(t.now)
}

// inFlowOrder sorts steps by their nodes' place in the flow; steps of one node
// by their ids.
func (t *transition) inFlowOrder(ids []StepID) {
	if len(ids) < 2 {
		return
	}
	rank := func(id StepID) int {
		r, _ := id.Ref()
		return slices.IndexFunc(t.flow.Nodes, func(n Node) bool { return n.Name == r.Node })
	}
	slices.SortFunc(ids, func(a, b StepID) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(string(a), string(b))
	})
}
