package scope

import (
	"encoding/json"
	"fmt"

	"truecost.dev/shared/a2a"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/takeoff"
	"truecost.dev/shared/fault"
)

// Agents returns the scope agent, its scorer and its critic.
func Agents() []agent.Spec { return family().Specs() }

func family() agent.Family[estimate.Context, estimate.Scope] {
	return agent.Family[estimate.Context, estimate.Scope]{
		Name:        "scope",
		Description: "Makes a bill of quantities of the clarified scope: every line matched to a cost code, its quantity converted and checked against the drawing, what is missing named.",
		Version:     "1.0.0",
		Skills:      []string{"scope", "bill-of-quantities", "takeoff", "csi-masterformat", "cost-codes"},
		Examples: []string{
			"Make a bill of quantities of this clarified scope.",
			"Check the quantities of this bathroom against its drawing.",
		},
		Needs:   []string{"clarification_output"},
		Yields:  "a bill of quantities in 24 CSI divisions: lines with cost codes, quantities, hours and what is missing",
		Decode:  decode,
		Primary: work,
		Rubric:  rubric(),
	}
}

// decode reads the context. Primary, scorer and critic see the same scope, with
// the usual lines where a division came without any.
func decode(req a2a.Request) (estimate.Context, error) {
	in, err := agent.EstimateContext(req)
	if err == nil && in.Clarification != nil {
		in.Clarification = takeoff.Filled(in.Clarification)
	}
	return in, err
}

// work takes the scope off. With feedback it looks the lines up again that the
// critic doubts, marks those that only a person can settle, and says in the
// output what it did about each finding.
func work(in estimate.Context, feedback *agent.Critique) (estimate.Scope, error) {
	if in.Clarification == nil {
		return estimate.Scope{}, fault.New(fault.Invalid, "clarification_output: the scope agent needs the clarified scope")
	}
	if feedback == nil {
		return takeoff.Take(in.Clarification, nil), nil
	}
	r := review(in.Clarification, feedback)
	out := takeoff.Take(in.Clarification, r.corrections)
	raw, err := json.Marshal(out)
	if err != nil {
		return out, fmt.Errorf("encode the scope to compare it with the previous one: %w", err)
	}
	out.Revisions = agent.Tell(feedback, raw, r.revisions(&out))
	out.NeedsReview = out.NeedsReview || r.asked
	return out, nil
}
