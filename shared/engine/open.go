package engine

import (
	"hash/fnv"
	"strconv"
	"time"
)

// Open lists the steps that should happen now. For a state that Next returned
// it equals s.Open; the bookkeeping of a step that stays open is carried over.
func Open(f *Flow, s State) map[StepID]OpenStep {
	open := make(map[StepID]OpenStep, len(s.Open)+1)
	if s.Status.Ended() {
		return open
	}
	for _, n := range f.Nodes {
		p := s.Nodes[n.Name]
		var role Role
		switch p.Phase {
		case Primary:
			role = RolePrimary
		case Scoring:
			role = RoleScorer
		case Critiquing:
			role = RoleCritic
		default:
			continue
		}
		id := Step(n.Name, p.Attempt, role)
		open[id] = s.Open[id]
	}
	return open
}

// overdue is how long after a step opened, or may be tried again, the sweeper
// looks whether anybody took it.
const overdue = 120 * time.Second

func (t *transition) wake() *time.Time {
	if t.state.Status.Ended() {
		return nil
	}
	at := t.state.DeadlineAt
	for _, step := range t.state.Open {
		due := t.now.Add(overdue)
		if step.NotBefore != nil {
			due = *step.NotBefore
		}
		if due.Before(at) {
			at = due
		}
	}
	return &at
}

// retryable counts a failed try. While the budget lasts the step stays open
// and waits; then the failure is final.
func (t *transition) retryable(e Retryable) Verdict {
	n, _, verdict := t.locate(e.Step)
	if verdict != Applied {
		return verdict
	}
	step := t.state.Open[e.Step]
	step.Tries++
	if step.Tries >= n.Retry.Tries {
		return t.finished(Finished{Step: e.Step, Failure: &e.Failure})
	}
	pause := max(n.Retry.pause(t.state.RunID(), e.Step, step.Tries), min(e.After, time.Hour))
	step.NotBefore = new(t.now.Add(pause))
	t.state.Open[e.Step] = step
	return Applied
}

// pause returns how long to wait before the next try: Base doubled per try, at
// most Cap, give or take half. The jitter is a hash, so that a test sees the
// same pauses every time and a thousand runs do not wake together.
func (r Retry) pause(run string, id StepID, try int) time.Duration {
	pause := r.Base
	for range try - 1 {
		pause = min(2*pause, r.Cap)
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(run + "/" + string(id) + "/" + strconv.Itoa(try))) // a hash never fails
	jitter := 0.5 + float64(h.Sum32())/(1<<32)
	return time.Duration(float64(pause) * jitter)
}
