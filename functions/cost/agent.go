package cost

import (
	"encoding/json"
	"fmt"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/pricing"
)

// Agents returns the cost agent, its scorer and its critic.
func Agents() []agent.Spec { return family().Specs() }

func family() agent.Family[estimate.Context, estimate.Cost] {
	return agent.Family[estimate.Context, estimate.Cost]{
		Name:        "cost",
		Description: "Prices every line of the scope at the place, with labor, waste, markups, sales tax and permits, and ranges that follow the evidence.",
		Version:     "1.0.0",
		Skills:      []string{"cost", "pricing", "bill-of-quantities", "markup", "construction"},
		Examples: []string{
			"Price this bill of quantities for Denver.",
			"What does this deck cost with overhead, profit and permits?",
		},
		Needs:   []string{"clarification_output", "location_output", "scope_output"},
		Yields:  "every line priced at the place, with markups, permits and tax, as ranges",
		Decode:  agent.EstimateContext,
		Primary: work,
		Rubric:  rubric(),
	}
}

// work prices the scope. With feedback it says for each finding what the figure
// was and what it is now that it is computed anew; a finding that only a person
// can settle marks the cost for review.
func work(in estimate.Context, feedback *agent.Critique) (estimate.Cost, error) {
	c, err := pricing.Price(in)
	if err != nil || feedback == nil {
		return c, err
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return c, fmt.Errorf("encode the cost to compare it with the previous one: %w", err)
	}
	c.Revisions = agent.Revisions(feedback, raw)
	for _, f := range feedback.Findings {
		c.NeedsReview = c.NeedsReview || f.Fix == agent.AskUser
	}
	return c, nil
}
