package agent

import (
	"context"
	"encoding/json"
	"strings"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// Spec is one agent as the table of functions sees it.
type Spec = a2a.Agent

// Family is a subject with its three agents.
type Family[In, Out any] struct {
	Name        string
	Description string
	Version     string
	Skills      []string // words a caller may search for
	Examples    []string // what a caller may ask for, in sentences
	Needs       []string // members of the input that the primary works from
	Yields      string   // what the primary returns, in words

	// Decode reads the input of the family from the message; an error of kind
	// fault.Invalid names what is wrong with it.
	Decode func(req a2a.Request) (In, error)

	// Primary does the work: a pure function of its arguments. feedback is nil
	// on the first attempt; on a later one the primary acts on each finding or
	// says in its output why it did not.
	Primary func(in In, feedback *Critique) (Out, error)

	Rubric Rubric[In, Out]
}

// Specs returns the primary, its scorer and its critic.
func (f Family[In, Out]) Specs() []Spec {
	return []Spec{
		f.spec(Spec{Name: f.Name, Description: f.Description, Skills: f.Skills, Serve: f.work}, f.skill),
		f.spec(Spec{
			Name: f.Name + "_scorer", Skills: []string{"scoring", "validation", f.Name}, Serve: f.score,
			Description: "Judges the output of the " + f.Name + " agent, 0 to 100, by objective checks. 80 passes.",
		}, f.scoring),
		f.spec(Spec{
			Name: f.Name + "_critic", Skills: []string{"critique", "feedback", f.Name}, Serve: f.criticise,
			Description: "Says what is wrong with an output of the " + f.Name + " agent, why, and how to fix it.",
		}, f.critique),
	}
}

// spec completes an agent of the family with its one skill, which is made when
// it is asked for: schemas cost what a start should not.
func (f Family[In, Out]) spec(a Spec, detail func() task.Skill) Spec {
	a.Version = f.Version
	a.Offer = func() []task.Skill {
		s := detail()
		s.ID, s.Description, s.Tags = a.Name, a.Description, a.Skills
		s.Name = strings.ToUpper(a.Name[:1]) + strings.ReplaceAll(a.Name[1:], "_", " ")
		return []task.Skill{s}
	}
	return a
}

func (f Family[In, Out]) work(_ context.Context, req a2a.Request) (json.RawMessage, error) {
	in, err := f.Decode(req)
	if err != nil {
		return nil, err
	}
	var feedback *Critique
	if present(req.Feedback) {
		feedback = new(Critique)
		if err := json.Unmarshal(req.Feedback, feedback); err != nil {
			return nil, fault.Wrap(fault.Invalid, err, "critic_feedback: wanted an object with issues, why_wrong and how_to_fix")
		}
	}
	out, err := f.Primary(in, feedback)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

func (f Family[In, Out]) score(_ context.Context, req a2a.Request) (json.RawMessage, error) {
	s, err := f.judge(req)
	if err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

func (f Family[In, Out]) criticise(_ context.Context, req a2a.Request) (json.RawMessage, error) {
	s, err := f.judge(req)
	if err != nil {
		return nil, err
	}
	c := s.Critique()
	if req.ScorerFeedback != "" {
		c.ScorerFeedback = req.ScorerFeedback
	}
	if req.Score != nil {
		c.Score = int(*req.Score)
	}
	return json.Marshal(c)
}

// judge scores req.Output. An output that is not an object of the family's
// shape is judged as an empty one: it is the primary's fault, not the caller's.
func (f Family[In, Out]) judge(req a2a.Request) (Score, error) {
	if req.Agent != "" && req.Agent != f.Name {
		return Score{}, fault.New(fault.Invalid, "agent_name: this agent judges %q, not %q", f.Name, req.Agent)
	}
	if !present(req.Output) {
		return Score{}, fault.New(fault.Invalid, "output: the output to judge is missing")
	}
	in, err := f.Decode(req)
	if err != nil {
		return Score{}, err
	}
	var out Out
	if err := json.Unmarshal(req.Output, &out); err != nil {
		var empty Out
		s := f.Rubric.Judge(in, &empty)
		s.Score, s.Passed = min(s.Score, 30), false
		s.Breakdown = append([]Judgment{{
			Criterion: "readable", MaxScore: 100, Feedback: "The output does not have the shape of a " + f.Name + " output.",
			Findings: []Finding{{
				Path: "$", Observed: brief(err.Error()), Expected: "the members of a " + f.Name + " output with their types",
				Issue: "The output cannot be read.", Why: "What cannot be read cannot be trusted.",
				HowToFix: "Write every member with its documented type.", Fix: Recompute,
			}},
		}}, s.Breakdown...)
		return s, nil
	}
	return f.Rubric.Judge(in, &out), nil
}

func present(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null"
}

func brief(s string) string {
	s = strings.TrimPrefix(s, "json: ")
	if len(s) > 120 {
		s = s[:120] + "…"
	}
	return s
}
