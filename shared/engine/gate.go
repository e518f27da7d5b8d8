package engine

import (
	"cmp"
	"slices"
)

// Made returns the step whose result is the output of the attempt at hand.
func (n *Node) Made(p Progress) StepID {
	switch {
	case p.Made != "":
		return p.Made
	case n.FanOut != nil:
		return Step(n.Name, p.Attempt, RoleJoin)
	default:
		return Step(n.Name, p.Attempt, RolePrimary)
	}
}

// MadeBefore returns the step whose result was the output of the attempt before.
func (n *Node) MadeBefore(p Progress) StepID {
	return n.Made(Progress{Made: p.Last, Attempt: p.Attempt - 1})
}

// made takes the output of an attempt, or its failure.
func (t *transition) made(n *Node, p Progress, e Finished) {
	switch {
	case e.Failure != nil:
		t.exhausted(n, p, e.Failure)
	case n.Gate == nil:
		p.Best, p.Out, p.Facts = p.Attempt, n.Made(p), e.Facts
		t.pass(n, p)
	default:
		p.Phase = Scoring
		t.state.Nodes[n.Name] = p
	}
}

func (t *transition) scored(n *Node, p Progress, e Finished) {
	if e.Failure != nil {
		t.exhausted(n, p, &Error{Code: CodeValidationFailed, Message: "The output could not be judged: " + e.Failure.Message, Agent: n.Gate.Scorer})
		return
	}
	p.Scores = append(slices.Clone(p.Scores), e.Score)
	if len(p.Scores) == 1 || e.Score > p.Scores[p.Best] {
		p.Best, p.Out, p.Facts = p.Attempt, n.Made(p), e.Facts
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

// criticized begins the next attempt, with or without the critic's words.
func (t *transition) criticized(n *Node, p Progress, e Finished) {
	if e.Failure != nil {
		t.flag(FlagCriticUnavailable) // the retry works with the scorer's own words
	}
	p.Last, p.Made, p.Fan = p.Made, "", nil
	p.Attempt++
	p.Phase = n.begin()
	t.state.Nodes[n.Name] = p
}

func (t *transition) pass(n *Node, p Progress) {
	p.Phase = Passed
	t.state.Nodes[n.Name] = p
	if p.partial() {
		t.flag(FlagPartial)
	}
	t.output(n, p)
}

func (t *transition) output(n *Node, p Progress) {
	if p.Out != "" {
		t.effects.Outputs = append(t.effects.Outputs, Output{Node: n.Name, Step: p.Out, Phase: p.Phase})
	}
}

// exhausted ends the work on a node that nothing brings through, as its gate
// says; without a gate it fails.
func (t *transition) exhausted(n *Node, p Progress, cause *Error) {
	p.Err = &Error{Code: cause.Code, Message: t.flow.text(cause.Message), Agent: cmp.Or(cause.Agent, n.Name)}
	p.Turn = 0
	policy := Fail
	if n.Gate != nil {
		policy = n.Gate.Exhausted
	}
	switch policy {
	case Degrade:
		t.degrade(n, p)
	case Ask:
		t.askAccept(n, p)
	default:
		t.fail(n, p)
	}
}

func (t *transition) degrade(n *Node, p Progress) {
	p.Phase = Degraded
	t.state.Nodes[n.Name] = p
	t.output(n, p)
	t.flag(FlagPartial)
}

func (t *transition) fail(n *Node, p Progress) {
	p.Phase = NodeFailed
	t.state.Nodes[n.Name] = p
	t.output(n, p)
	t.end(Failed, &Error{Code: p.Err.Code, Message: p.Err.Message, Agent: n.Name})
}
