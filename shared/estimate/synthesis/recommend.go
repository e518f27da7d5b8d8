package synthesis

import (
	"fmt"

	"truecost.dev/shared/estimate"
)

// maxRecommendations is how many a reader takes in.
const maxRecommendations = 6

// recommendations says what to do next, the most pressing first. Each follows
// from a figure of this estimate.
func (s subject) recommendations(f *estimate.Final) []estimate.Recommendation {
	out := []estimate.Recommendation{}
	add := func(priority, category, title, description string) {
		if description != "" && len(out) < maxRecommendations {
			out = append(out, estimate.Recommendation{Category: category, Title: title, Description: description, Priority: priority})
		}
	}
	if n := len(f.ReviewReasons); n > 0 {
		add("high", "scope", "Settle the open points",
			fmt.Sprintf("%d points need a person before the price is sent; the first: %s", n, sentence(f.ReviewReasons[0])))
	}
	if t := s.Timeline; t != nil && t.DeadlineMet != nil && !*t.DeadlineMet {
		add("high", "schedule", "Agree on a later finish or a smaller scope", sentence(t.DeadlineNote))
	}
	if groups := largest(s.Cost, 1); len(groups) == 1 {
		g := groups[0]
		add("medium", "cost", "Ask for quotes in "+g.Name,
			fmt.Sprintf("%s is the largest group with %s of direct cost; one quote narrows the range of the total most.", g.Name, g.Total.Low.Whole()))
	}
	if s.Risk != nil && len(s.Risk.TopRisks) > 0 {
		r := s.Risk.TopRisks[0]
		add("medium", "risk", "Act on the largest risk: "+r.Item, sentence(r.Mitigation))
	}
	if f.Breakdown.Contingency > 0 {
		add("medium", "budget", "Hold the contingency apart",
			fmt.Sprintf("Keep %s (%.4g %% of the base) for what is not known yet and release it when the rough-in is inspected.",
				f.Breakdown.Contingency.Whole(), f.Breakdown.ContingencyPct))
	}
	for _, saving := range s.Cost.Summary.Opportunities {
		add("low", "cost", "Consider a lower grade", saving)
		break
	}
	if len(out) < 2 {
		add("low", "scope", "Decide on selections early", "Finishes, fixtures and appliances that are chosen before the work starts keep their price and their delivery.")
	}
	return out
}
