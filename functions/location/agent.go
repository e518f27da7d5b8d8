package location

import (
	"encoding/json"
	"fmt"
	"strings"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/locality"
	"truecost.dev/shared/estimate/takeoff"
	"truecost.dev/shared/fault"
)

// Agents returns the location agent, its scorer and its critic.
func Agents() []agent.Spec { return family().Specs() }

func family() agent.Family[estimate.Context, estimate.Location] {
	return agent.Family[estimate.Context, estimate.Location]{
		Name:        "location",
		Description: "Finds what the place of the work means for its price: labor and material indexes, trade rates, sales tax, permits and weather, each with its source.",
		Version:     "1.0.0",
		Skills:      []string{"location", "labor-rates", "permits", "sales-tax", "weather", "construction"},
		Examples: []string{
			"What does a kitchen remodel in Denver, CO 80206 pay for labor, permits and sales tax?",
			"Find the wage and material indexes for this address, and say where each figure comes from.",
		},
		Needs:   []string{"clarification_output"},
		Yields:  "location factor, labor and material indexes, trade rates, sales tax, permit costs and weather, each with its source",
		Decode:  agent.EstimateContext,
		Primary: work,
		Rubric:  rubric(),
	}
}

// work locates the address of the brief. With feedback it says what it did
// about each finding; the figures are computed anew from the tables in any
// case, so a finding about an earlier slip is mended by that alone.
func work(in estimate.Context, feedback *agent.Critique) (estimate.Location, error) {
	if in.Clarification == nil {
		return estimate.Location{}, fault.New(fault.Invalid, "clarification_output: the location agent needs the clarified scope")
	}
	addr, class := in.Clarification.Brief.Location, takeoff.ProjectType(in.Clarification).PermitClass
	loc := locality.LocateFor(in.Own(), addr, class, locality.Auto)
	if feedback == nil {
		return loc, nil
	}
	if asksForOtherPlace(feedback) && contradictory(&loc) {
		loc = locality.LocateFor(in.Own(), addr, class, other(addr, &loc))
	}
	for _, f := range feedback.Findings {
		loc.Revisions = append(loc.Revisions, estimate.Revision{Path: f.Path, Action: action(f, &loc)})
		loc.NeedsReview = loc.NeedsReview || f.Fix == agent.AskUser
	}
	raw, err := json.Marshal(loc)
	if err != nil {
		return loc, fmt.Errorf("encode the location to compare it with the previous one: %w", err)
	}
	loc.Revisions = agent.Tell(feedback, raw, loc.Revisions)
	return loc, nil
}

// asksForOtherPlace reports whether a critic doubts where the work is.
func asksForOtherPlace(feedback *agent.Critique) bool {
	for _, path := range []string{"state", "zipCode"} {
		for _, f := range feedback.Find(path) {
			if f.Fix == agent.Relookup {
				return true
			}
		}
	}
	return false
}

// contradictory reports whether ZIP and state exclude each other, so that there
// is another place to choose.
func contradictory(loc *estimate.Location) bool {
	for _, w := range loc.Warnings {
		if strings.Contains(w, "lies in") {
			return true
		}
	}
	return false
}

// other returns the half of a contradictory address that was not believed.
func other(addr estimate.Address, loc *estimate.Location) locality.Trust {
	if loc.State == addr.State {
		return locality.TrustZip
	}
	return locality.TrustState
}

// action says what was done about a finding.
func action(f agent.Finding, loc *estimate.Location) string {
	switch {
	case f.Fix == agent.AskUser:
		return "left as it is and marked for review: " + f.HowToFix
	case f.Fix == agent.Relookup && (strings.HasPrefix(f.Path, "state") || strings.HasPrefix(f.Path, "zipCode")):
		return fmt.Sprintf("looked the address up again: %s, at the level %s", loc.State, loc.Level)
	default:
		return fmt.Sprintf("computed again from the tables for %s (labor %.3f, material %.3f)", loc.State, loc.LaborIndex, loc.MaterialIndex)
	}
}
