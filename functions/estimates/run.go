package estimates

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"truecost.dev/shared/callable"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

// detail is one run with all that people ask about it.
type detail struct {
	summary
	Rev         int        `json:"rev"`
	DeadlineAt  time.Time  `json:"deadlineAt"`
	WaitSince   *time.Time `json:"waitSince"` // since when only people can act
	Nodes       []node     `json:"nodes"`     // in flow order
	Open        []openStep `json:"open"`      // in flow order
	Questions   []question `json:"questions"` // in the order they were asked
	History     []entry    `json:"history"`   // in the order it happened
	HistoryNext *string    `json:"historyNext"`
	Totals      totals     `json:"totals"` // of the whole history
}

// node is how far a node is.
type node struct {
	Node    string        `json:"node"`
	Agent   string        `json:"agent"`
	Phase   engine.Phase  `json:"phase"`
	Attempt int           `json:"attempt"` // from 0
	Best    int           `json:"best"`    // attempt with the highest score
	Scores  []int         `json:"scores"`  // by attempt
	Carried bool          `json:"carried"` // had settled in an earlier run
	Edited  bool          `json:"edited"`  // a person replaced inputs
	FanOut  *engine.Fan   `json:"fanOut"`
	Error   *engine.Error `json:"error"`
}

// openStep is a step that should happen.
type openStep struct {
	Step      engine.StepID `json:"step"`
	Agent     string        `json:"agent"` // empty: the engine's own work
	Since     time.Time     `json:"since"`
	AgeMS     int64         `json:"ageMs"`
	NotBefore *time.Time    `json:"notBefore"`
	Tries     int           `json:"tries"` // calls that failed in transport so far
}

// question is what a person was asked.
type question struct {
	InputID    string          `json:"inputId"`
	Node       string          `json:"node"`
	Kind       string          `json:"kind"` // agent, pause, exhausted
	Open       bool            `json:"open"` // the run waits for the answer
	Prompt     string          `json:"prompt"`
	Schema     json.RawMessage `json:"schema"` // JSON Schema of the answer; null: any object
	AskedAt    time.Time       `json:"askedAt"`
	ExpiresAt  time.Time       `json:"expiresAt"`
	Decision   engine.Decision `json:"decision"` // empty: not answered
	Answer     json.RawMessage `json:"answer"`
	AnsweredBy string          `json:"answeredBy"`
	AnsweredAt *time.Time      `json:"answeredAt"`
	Omitted    []string        `json:"omitted"` // members that are too large to be shown, or that the protocol cannot carry
}

// getRun returns a run with its history.
func (p Ports) getRun(ctx context.Context, call callable.Call) (any, error) {
	var req struct {
		subject
		Limit *int          `json:"limit"` // entries of the history, 1 to 100
		After engine.StepID `json:"after"` // historyNext of the page before
	}
	user, err := decode(call, &req)
	if err == nil {
		err = req.needRun()
	}
	if err != nil {
		return nil, err
	}
	limit, err := page(req.Limit, maxPage)
	if err != nil {
		return nil, err
	}
	run, err := p.run(ctx, req.subject, user)
	if err != nil {
		return nil, err
	}
	r, err := p.Runner()
	if err != nil {
		return nil, err
	}
	d, err := p.detail(ctx, &run, r.Now())
	if err != nil {
		return nil, err
	}
	d.History, d.HistoryNext, err = cut(d.History, req.After, limit)
	if err != nil {
		return nil, err
	}
	return success(d)
}

// detail gathers what there is about a run.
func (p Ports) detail(ctx context.Context, run *runner.Run, now time.Time) (*detail, error) {
	runs, err := p.Runs()
	if err != nil {
		return nil, err
	}
	f, err := (&flows{from: runs}).of(ctx, &run.State)
	if err != nil {
		return nil, err
	}
	steps, err := runs.History(ctx, run.RunID())
	if err != nil {
		return nil, fmt.Errorf("history of %s: %w", run.RunID(), err)
	}
	inputs, err := runs.RunInputs(ctx, run.RunID())
	if err != nil {
		return nil, fmt.Errorf("questions of %s: %w", run.RunID(), err)
	}
	d := &detail{
		summary: summarize(f, &run.State, now), Rev: run.Rev, DeadlineAt: run.DeadlineAt, WaitSince: run.WaitSince,
		Nodes: nodes(f, &run.State), Open: open(f, &run.State, now), Questions: questions(&run.State, inputs),
		History: history(steps),
	}
	for _, e := range d.History {
		d.Totals.add(&e)
	}
	return d, nil
}

func nodes(f *engine.Flow, s *engine.State) []node {
	list := make([]node, len(f.Nodes))
	for i, n := range f.Nodes {
		p := s.Nodes[n.Name]
		_, edited := s.Edits[n.Name]
		list[i] = node{
			Node: n.Name, Agent: n.Agent, Phase: p.Phase, Attempt: p.Attempt, Best: p.Best, Scores: append([]int{}, p.Scores...),
			Carried: slices.Contains(s.Carried, n.Name), Edited: edited, FanOut: p.Fan, Error: p.Err,
		}
	}
	return list
}

func open(f *engine.Flow, s *engine.State, now time.Time) []openStep {
	list := make([]openStep, 0, len(s.Open))
	for id, o := range s.Open {
		list = append(list, openStep{
			Step: id, Agent: f.AgentOf(id), Since: o.Since, AgeMS: max(now.Sub(o.Since), 0).Milliseconds(),
			NotBefore: o.NotBefore, Tries: o.Tries,
		})
	}
	place := func(id engine.StepID) int {
		r, _ := id.Ref()
		return slices.IndexFunc(f.Nodes, func(n engine.Node) bool { return n.Name == r.Node })
	}
	slices.SortFunc(list, func(a, b openStep) int {
		return cmp.Or(place(a.Step)-place(b.Step), strings.Compare(string(a.Step), string(b.Step)))
	})
	return list
}

// asks are the kinds of inputs that are questions.
var asks = []engine.AskKind{engine.AskAgent, engine.AskPause, engine.AskExhausted}

// maxShown is how much of a prompt, a schema or an answer is shown, in bytes.
const maxShown = 16 << 10

// questions lists what people were asked, the last hundred.
func questions(s *engine.State, inputs []runner.Input) []question {
	list := []question{}
	for _, in := range inputs {
		if !slices.Contains(asks, engine.AskKind(in.Kind)) {
			continue // an edit: nobody asked for it
		}
		q := question{
			InputID: in.ID, Node: in.Node, Kind: in.Kind, AskedAt: in.AskedAt, ExpiresAt: in.ExpiresAt,
			Prompt:   strings.ToValidUTF8(in.Prompt[:min(len(in.Prompt), maxShown)], ""),
			Decision: in.Decision, AnsweredBy: in.AnsweredBy, AnsweredAt: in.AnsweredAt, Omitted: []string{},
		}
		ask := s.Nodes[in.Node].Ask
		q.Open = ask != nil && ask.ID == in.ID && !s.Status.Ended()
		if len(in.Prompt) > maxShown {
			q.Omitted = append(q.Omitted, "prompt")
		}
		q.Schema = q.show("schema", in.Schema)
		q.Answer = q.show("answer", in.Answer)
		list = append(list, q)
	}
	slices.SortStableFunc(list, func(a, b question) int { return a.AskedAt.Compare(b.AskedAt) })
	return list[max(0, len(list)-maxPage):]
}

// show returns a member if it can be shown: the SDKs of the protocol refuse an
// answer in which anything is called @type.
func (q *question) show(name string, raw json.RawMessage) json.RawMessage {
	if len(raw) > maxShown || bytes.Contains(raw, []byte(`@type`)) {
		q.Omitted = append(q.Omitted, name)
		return nil
	}
	return raw
}
