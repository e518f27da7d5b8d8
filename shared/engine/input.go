package engine

import (
	"strconv"
	"strings"
	"time"
)

// maxPrompt bounds what the state keeps of a question, in bytes.
const maxPrompt = 500

func (p *Pause) expires() time.Duration {
	if p.Expires == 0 {
		return inputTime
	}
	return p.Expires
}

// ask makes a node wait for a person; answered, it goes on in phase then.
func (t *transition) ask(n *Node, p Progress, q Question, then Phase) Progress {
	q.Node = n.Name
	p.Phase = Waiting
	p.Ask = &Asked{
		ID: q.ID, Kind: q.Kind, Phase: then, Since: t.now, ExpiresAt: q.ExpiresAt,
		Prompt: t.flow.text(q.Prompt),
	}
	t.effects.Ask = append(t.effects.Ask, q)
	t.effects.View = true
	return p
}

// askAccept asks whether the best attempt of an exhausted node will do.
func (t *transition) askAccept(n *Node, p Progress) {
	p = t.ask(n, p, Question{
		ID: n.Name + "." + strconv.Itoa(p.Attempt) + ".ask", Kind: AskExhausted, ExpiresAt: t.now.Add(inputTime),
		Prompt: p.Err.Message + " Accept what there is, or give up?",
	}, Degraded)
	t.state.Nodes[n.Name] = p
	t.output(n, p)
}

// inputNeeded parks a node whose agent asks a person. The question is named
// after the step that its answer opens.
func (t *transition) inputNeeded(e InputNeeded) Verdict {
	n, r, verdict := t.locate(e.Step)
	switch {
	case verdict != Applied:
		return verdict
	case r.Role != RolePrimary || t.state.Schema < 2:
		return Invalid
	}
	t.came = e.Step
	p := t.state.Nodes[n.Name]
	r.Turn++
	t.state.Nodes[n.Name] = t.ask(n, p, Question{
		ID: string(r.ID()), Kind: AskAgent, Step: e.Step, Prompt: e.Prompt, Schema: e.Schema, ExpiresAt: t.now.Add(inputTime),
	}, Primary)
	return Applied
}

// asked returns the node that waits for an answer to the question.
func (t *transition) asked(id string) (*Node, Progress, bool) {
	for i := range t.flow.Nodes {
		n := &t.flow.Nodes[i]
		if p := t.state.Nodes[n.Name]; p.Phase == Waiting && p.Ask.ID == id {
			return n, p, true
		}
	}
	return nil, Progress{}, false
}

func (t *transition) inputGiven(e InputGiven) Verdict {
	n, p, ok := t.asked(e.ID)
	if !ok {
		return Stale
	}
	ask := p.Ask
	p.Ask = nil
	t.effects.View, t.urgent = true, true
	switch {
	case e.Decision == GiveUp && ask.Kind == AskExhausted:
		t.fail(n, p)
	case e.Decision == GiveUp:
		t.exhausted(n, p, &Error{Code: CodeGivenUp, Message: "A person was asked and gave up."})
	case e.Decision == Accept && ask.Kind == AskExhausted:
		t.degrade(n, p)
	case e.Decision == Answer && ask.Kind != AskExhausted:
		p.Phase = ask.Phase
		if ask.Kind == AskAgent {
			p.Turn++
		}
		t.state.Nodes[n.Name] = p
	default:
		return Invalid
	}
	return Applied
}

// inputExpired fails a node whose question nobody answered in time.
func (t *transition) inputExpired(id string) Verdict {
	n, p, ok := t.asked(id)
	if !ok || t.now.Before(p.Ask.ExpiresAt) {
		return Stale
	}
	p.Ask = nil
	p.Err = &Error{Code: CodeInputExpired, Message: "Nobody answered in time.", Agent: n.Name}
	t.fail(n, p)
	return Applied
}

func (t *transition) hold(e HoldRequested) Verdict {
	switch {
	case t.state.Schema < 2:
		return Invalid
	case t.state.Hold != nil:
		return Stale
	}
	t.state.Hold = &Hold{By: e.By, Reason: strings.ToValidUTF8(e.Reason[:min(len(e.Reason), maxPrompt)], ""), At: t.now}
	return Applied
}

// resume ends a hold. Everything open is sent again: messages that came during
// the hold were put aside.
func (t *transition) resume() Verdict {
	if t.state.Hold == nil {
		return Stale
	}
	t.state.Hold = nil
	for id, step := range t.state.Open {
		if step.NotBefore == nil || !step.NotBefore.After(t.now) {
			t.effects.Publish = append(t.effects.Publish, id)
		}
	}
	t.effects.View, t.urgent = true, true
	return Applied
}
