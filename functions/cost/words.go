package cost

import (
	"strings"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
)

// summary looks whether the prose says what the figures say.
func summary(_ estimate.Context, c *output) agent.Grade {
	var found []agent.Finding
	need := func(path, issue string, ok bool, observed any, expected string) {
		if !ok {
			found = append(found, wrong(path, issue, "Who reads only the words must read the same estimate.", observed, expected))
		}
	}
	s := &c.Summary
	if strings.Contains(s.Headline, "$") && !strings.Contains(s.Headline, c.Total.Low.Whole()) {
		return agent.Gate(wrong("summary.headline", "The headline states another total.", "An estimate has one total (R5).", s.Headline, c.Total.Low.Whole()))
	}
	need("summary.headline", "The headline does not state the total.", strings.Contains(s.Headline, c.Total.Low.Whole()), s.Headline, c.Total.Low.Whole())
	need("summary.keyCostDrivers", "No driver of the cost is named.", len(s.Drivers) > 0, len(s.Drivers), "the largest divisions")
	need("summary.assumptions", "The assumptions are thin.", len(s.Assumptions) >= 3, len(s.Assumptions), "date, place, markups, tax")
	need("summary.disclaimers", "No disclaimer is given.", len(s.Disclaimers) > 0, 0, "at least one")
	return agent.Deduct(35, found)
}
