package engine

import (
	"hash/fnv"
	"maps"
	"strconv"
	"time"
)

// Open lists the steps that should happen now. For a state that Next returned
// it equals s.Open; the bookkeeping of a step that stays open is carried over.
// While a run is held nothing is added. The chunks of a fan-out are not among
// them: their shards list them.
func Open(f *Flow, s State) map[StepID]OpenStep {
	open := make(map[StepID]OpenStep, len(s.Open)+1)
	if s.Status.Ended() {
		return open
	}
	for i := range f.Nodes {
		id, due := f.Nodes[i].due(s.Nodes[f.Nodes[i].Name])
		if !due {
			continue
		}
		step, was := s.Open[id]
		if s.Hold == nil || was {
			open[id] = step
		}
	}
	return open
}

// due returns the step that a node waits for.
func (n *Node) due(p Progress) (StepID, bool) {
	r := StepRef{Node: n.Name, Attempt: p.Attempt, Turn: p.Turn}
	switch p.Phase {
	case Primary:
		r.Role = RolePrimary
	case Scoring:
		r.Role = RoleScorer
	case Critiquing:
		r.Role = RoleCritic
	case Expanding:
		r.Role = RoleExpand
	case Joining:
		r.Role = RoleJoin
	default:
		return "", false
	}
	return r.ID(), true
}

// wake is when somebody should look whether the run goes on: nil when only a
// person can make it.
func (t *transition) wake() *time.Time {
	s := &t.state
	if s.Status.Ended() {
		return nil
	}
	var at time.Time
	sooner := func(due time.Time) {
		if at.IsZero() || due.Before(at) {
			at = due
		}
	}
	for _, p := range s.Nodes {
		if p.Phase == Waiting {
			sooner(p.Ask.ExpiresAt)
		}
		if p.Phase == Fanning && s.Hold == nil {
			sooner(t.now.Add(t.flow.LookAfter()))
			if s.WakeAt != nil {
				sooner(*s.WakeAt) // what moves beside a fan-out puts no look at it off
			}
		}
	}
	if s.WaitSince != nil {
		if at.IsZero() {
			return nil
		}
		return new(at)
	}
	sooner(s.DeadlineAt)
	for _, step := range s.Open {
		due := step.Since.Add(t.flow.LookAfter()) // and not from now: other branches may move all the time
		if step.NotBefore != nil {
			due = *step.NotBefore
		}
		sooner(due)
	}
	return new(at)
}

// maxAfter bounds the pause that an agent may ask for.
const maxAfter = time.Hour

// retryable counts a failed try. While the budget lasts the step stays open
// and waits; then the failure is final. An agent that is still at work uses up
// no try.
func (t *transition) retryable(e Retryable) Verdict {
	n, _, verdict := t.locate(e.Step)
	if verdict != Applied {
		return verdict
	}
	step := t.state.Open[e.Step]
	pause := min(e.After, maxAfter)
	if !e.Working {
		step.Tries++
		if step.Tries >= n.Retry.Tries {
			return t.finished(Finished{Step: e.Step, Failure: &e.Failure})
		}
		pause = max(n.Retry.Pause(t.state.RunID(), e.Step, step.Tries), pause)
	}
	step.NotBefore = new(t.now.Add(pause))
	t.state.Open = maps.Clone(t.state.Open)
	t.state.Open[e.Step] = step
	return Applied
}

// stepDeadline takes a try that outlived its time as one that failed.
func (t *transition) stepDeadline(e DeadlinePassed) Verdict {
	n, r, verdict := t.locate(e.Step)
	switch {
	case verdict != Applied:
		return verdict
	case !r.Role.CallsAgent():
		return Invalid
	case t.now.Before(e.Since.Add(n.Timeout + stepGrace)):
		return Stale
	}
	return t.retryable(Retryable{Step: e.Step, Failure: Error{
		Code: CodeAgentTimeout, Message: "The call took longer than its time.", Agent: t.flow.AgentOf(e.Step),
	}})
}

// Pause returns how long to wait before the next try: Base doubled per try, at
// most Cap, give or take half. The jitter is a hash, so that a test sees the
// same pauses every time and a thousand runs do not wake together.
func (r Retry) Pause(run string, id StepID, try int) time.Duration {
	pause := r.Base
	for range try - 1 {
		pause = min(2*pause, r.Cap)
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(run + "/" + string(id) + "/" + strconv.Itoa(try))) // a hash never fails
	jitter := 0.5 + float64(h.Sum32())/(1<<32)
	return time.Duration(float64(pause) * jitter)
}
