package risk

import (
	"encoding/json"
	"fmt"
	"strings"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/intake"
	"truecost.dev/shared/estimate/montecarlo"
)

// Agents returns risk, risk_scorer and risk_critic.
func Agents() []agent.Spec { return family().Specs() }

func family() agent.Family[estimate.Context, estimate.Risk] {
	return agent.Family[estimate.Context, estimate.Risk]{
		Name:        "risk",
		Description: "Simulates the total price with correlated lines and discrete risks, and recommends a contingency.",
		Version:     "1.0.0",
		Skills:      []string{"monte carlo", "contingency", "risk register", "sensitivity"},
		Examples: []string{
			"How much contingency does this estimate need?",
			"Which risks move the price of this addition most?",
		},
		Needs:   []string{"clarification_output", "location_output", "scope_output", "cost_output"},
		Yields:  "the spread of the total price, the contingency that covers 80 percent of it, and the risks that drive it",
		Decode:  agent.EstimateContext,
		Primary: simulate,
		Rubric:  rubric(),
	}
}

// simulate is the primary. What a critic found decides how it is done again;
// every finding is answered in Revisions.
func simulate(ctx estimate.Context, feedback *agent.Critique) (estimate.Risk, error) {
	opt, revisions := respond(feedback)
	r, err := montecarlo.Simulate(ctx, intake.Stream(ctx.Clarification, "risk"), opt)
	if err != nil || feedback == nil {
		return r, err
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return r, fmt.Errorf("encode the risk to compare it with the previous one: %w", err)
	}
	r.Revisions = agent.Tell(feedback, raw, revisions)
	return r, nil
}

// respond turns findings into options of the simulation and says what was done
// about each.
func respond(feedback *agent.Critique) (opt montecarlo.Options, revisions []estimate.Revision) {
	if feedback == nil {
		return opt, nil
	}
	for _, f := range feedback.Findings {
		action := "Simulated again from the cost and the register; the figure is computed, never carried over."
		switch {
		case f.Fix == agent.AskUser:
			action = "Left as it is: only a person can settle it. " + f.HowToFix
		case strings.HasPrefix(f.Path, "monteCarlo.iterations"), strings.HasPrefix(f.Path, "monteCarlo.p80StandardErrorPercent"), strings.HasPrefix(f.Path, "monteCarlo.converged"):
			opt.Iterations = max(2*montecarlo.Iterations, 2*opt.Iterations)
			action = fmt.Sprintf("Simulated again with at least %d iterations.", opt.Iterations)
		case strings.HasPrefix(f.Path, "monteCarlo.stdDev"), strings.HasPrefix(f.Path, "monteCarlo.averageCorrelation"):
			usual := montecarlo.Usual
			opt.Correlation = &usual
			action = "Simulated again with the usual correlations between lines, trades and materials."
		case strings.HasPrefix(f.Path, "allRisks"), strings.HasPrefix(f.Path, "excludedRisks"), strings.HasPrefix(f.Path, "topRisks"):
			action = "Drew the register up again from the kind of job, the age of the house and the priced lines, and simulated again."
		}
		revisions = append(revisions, estimate.Revision{Path: f.Path, Action: action})
	}
	return opt, revisions
}
