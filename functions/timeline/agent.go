package timeline

import (
	"encoding/json"
	"fmt"
	"strings"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/intake"
	"truecost.dev/shared/estimate/schedule"
)

// Agents returns timeline, timeline_scorer and timeline_critic.
func Agents() []agent.Spec { return family().Specs() }

func family() agent.Family[estimate.Context, estimate.Timeline] {
	return agent.Family[estimate.Context, estimate.Timeline]{
		Name:        "timeline",
		Description: "Plans the work from the hours of the cost: activities, calendar, critical path, and the spread of the finish.",
		Version:     "1.0.0",
		Skills:      []string{"schedule", "critical path", "milestones", "weather"},
		Examples: []string{
			"When is this kitchen done if work begins in May?",
			"Plan this work and name the critical path.",
		},
		Needs:   []string{"clarification_output", "location_output", "scope_output", "cost_output"},
		Yields:  "activities with dates, the critical path, milestones and the spread of the finish",
		Decode:  agent.EstimateContext,
		Primary: plan,
		Rubric:  rubric(),
	}
}

// plan is the primary. A schedule is a function of the hours, so every finding
// is answered by planning again from them; what only a person can settle is
// left and said so.
func plan(ctx estimate.Context, feedback *agent.Critique) (estimate.Timeline, error) {
	t, err := schedule.Plan(ctx, intake.Stream(ctx.Clarification, "timeline"))
	if err != nil || feedback == nil {
		return t, err
	}
	for _, f := range feedback.Findings {
		t.Revisions = append(t.Revisions, estimate.Revision{Path: f.Path, Action: answer(f)})
	}
	raw, err := json.Marshal(t)
	if err != nil {
		return t, fmt.Errorf("encode the timeline to compare it with the previous one: %w", err)
	}
	t.Revisions = agent.Tell(feedback, raw, t.Revisions)
	return t, nil
}

func answer(f agent.Finding) string {
	switch {
	case f.Fix == agent.AskUser:
		return "Left as it is: only a person can settle it. " + f.HowToFix
	case strings.HasPrefix(f.Path, "scheduleMonteCarlo"), strings.HasPrefix(f.Path, "durationRange"):
		return "Simulated the network again."
	case strings.HasPrefix(f.Path, "criticalPath"), strings.HasPrefix(f.Path, "totalDuration"):
		return "Computed the critical path again, forward and backward."
	case strings.HasSuffix(f.Path, ".start"), strings.HasSuffix(f.Path, ".end"), strings.HasPrefix(f.Path, "startDate"), strings.HasPrefix(f.Path, "endDate"):
		return "Laid the working days out again from the start date."
	case strings.HasSuffix(f.Path, ".duration"), strings.HasSuffix(f.Path, ".laborHours"):
		return "Took hours and crews from the cost and the catalogue again."
	}
	return "Built the network again from the priced lines."
}
