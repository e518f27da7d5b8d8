package final

import (
	"encoding/json"
	"fmt"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/synthesis"
)

// Agents returns the final agent, its scorer and its critic.
func Agents() []agent.Spec { return family().Specs() }

func family() agent.Family[estimate.Context, estimate.Final] {
	return agent.Family[estimate.Context, estimate.Final]{
		Name:        "final",
		Description: "Joins cost, risk and schedule into one total, with the breakdown that leads to it, what it rests on and what to do next.",
		Version:     "1.0.0",
		Skills:      []string{"estimate", "executive-summary", "synthesis", "construction"},
		Examples: []string{
			"Join these parts into one estimate.",
			"Summarise what this project costs, how long it takes and what may go wrong.",
		},
		Needs:   []string{"clarification_output", "location_output", "scope_output", "cost_output", "risk_output", "timeline_output"},
		Yields:  "one total with the breakdown that leads to it, the schedule, the risks, and what it rests on",
		Decode:  agent.EstimateContext,
		Primary: work,
		Rubric:  rubric(),
	}
}

// work concludes the estimate. With feedback it says for each finding what the
// figure was and what it is now; a finding that only a person can settle becomes
// a reason for review.
func work(in estimate.Context, feedback *agent.Critique) (estimate.Final, error) {
	f, err := synthesis.Final(in)
	if err != nil || feedback == nil {
		return f, err
	}
	raw, err := json.Marshal(f)
	if err != nil {
		return f, fmt.Errorf("encode the estimate to compare it with the previous one: %w", err)
	}
	f.Revisions = agent.Revisions(feedback, raw)
	for _, finding := range feedback.Findings {
		if finding.Fix == agent.AskUser {
			f.NeedsReview = true
			f.ReviewReasons = append(f.ReviewReasons, "final: "+finding.Issue)
		}
	}
	return f, nil
}
