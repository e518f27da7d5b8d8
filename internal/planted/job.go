package planted

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"truecost.dev/functions/cost"
	"truecost.dev/functions/final"
	"truecost.dev/functions/location"
	"truecost.dev/functions/risk"
	"truecost.dev/functions/scope"
	"truecost.dev/functions/timeline"
	"truecost.dev/shared/a2a"
	"truecost.dev/shared/agent"
)

// Families are the six agents in the order in which they work.
func Families() []string {
	return []string{"location", "scope", "cost", "risk", "timeline", "final"}
}

// agents returns primaries, scorers and critics by name.
func agents() map[string]agent.Spec {
	all := map[string]agent.Spec{}
	for _, specs := range [][]agent.Spec{location.Agents(), scope.Agents(), cost.Agents(), risk.Agents(), timeline.Agents(), final.Agents()} {
		for _, s := range specs {
			all[s.Name] = s
		}
	}
	return all
}

// A Job is a clarified scope and what each agent made of it.
type Job struct {
	ID     string
	Input  map[string]map[string]json.RawMessage // by family: what it was given
	Output map[string]json.RawMessage            // by family
}

// received is when every message comes in.
var received = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// Work takes a clarification through the six agents.
func Work(ctx context.Context, clarification json.RawMessage) (*Job, error) {
	var named struct {
		ID string `json:"estimateId"`
	}
	if err := json.Unmarshal(clarification, &named); err != nil {
		return nil, fmt.Errorf("read the clarification: %w", err)
	}
	j := &Job{ID: named.ID, Input: map[string]map[string]json.RawMessage{}, Output: map[string]json.RawMessage{}}
	for _, family := range Families() {
		given := map[string]json.RawMessage{"clarification_output": clarification}
		for _, before := range Families() {
			if out, ok := j.Output[before]; ok {
				given[before+"_output"] = out
			}
		}
		j.Input[family] = given
		out, err := j.Again(ctx, family, nil)
		if err != nil {
			return nil, err
		}
		j.Output[family] = out
	}
	return j, nil
}

// Again runs the primary of a family, with the answer of its critic or without.
func (j *Job) Again(ctx context.Context, family string, critique json.RawMessage) (json.RawMessage, error) {
	out, err := serve(ctx, family, j.request(j.Input[family]), func(r *a2a.Request) { r.Feedback = critique })
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", family, err)
	}
	return out, nil
}

// Judge runs the scorer of a family on an output. The critique is what its
// critic makes of the score.
func (j *Job) Judge(ctx context.Context, family string, input map[string]json.RawMessage, output json.RawMessage) (s agent.Score, c agent.Critique, err error) {
	judged := func(r *a2a.Request) { r.Agent, r.Output = family, output }
	raw, err := serve(ctx, family+"_scorer", j.request(input), judged)
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err != nil {
		return s, c, fmt.Errorf("score %s: %w", family, err)
	}
	return s, s.Critique(), nil
}

// Criticise runs the critic of a family on an output.
func (j *Job) Criticise(ctx context.Context, family string, input map[string]json.RawMessage, output json.RawMessage) (json.RawMessage, error) {
	raw, err := serve(ctx, family+"_critic", j.request(input), func(r *a2a.Request) { r.Agent, r.Output = family, output })
	if err != nil {
		return nil, fmt.Errorf("criticise %s: %w", family, err)
	}
	return raw, nil
}

func (j *Job) request(input map[string]json.RawMessage) a2a.Request {
	raw, err := json.Marshal(input)
	if err != nil {
		raw = nil // parts are JSON already: they came from Marshal
	}
	return a2a.Request{EstimateID: j.ID, Input: raw, ReceivedAt: received}
}

func serve(ctx context.Context, name string, req a2a.Request, with func(*a2a.Request)) (json.RawMessage, error) {
	with(&req)
	return agents()[name].Serve(ctx, req)
}
