package location

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/locality"
)

var regions = []string{"Northeast", "Southeast", "Midwest", "South", "Southwest", "Mountain", "Pacific", "National"}

// placeRight checks that the output is about the place of the brief (L1).
func placeRight(in estimate.Context, out *output) agent.Grade {
	if out.Zip == "" && out.State == "" && out.City == "" {
		return agent.Missing(wrong("zipCode", "The output names no place.", "Every figure of it depends on the place.", "none", "ZIP, city and state of the work"))
	}
	const why = "The figures of another place are not the figures of this one."
	prefix := locality.PrefixOf(out.Zip)
	stated := ""
	if in.Clarification != nil {
		addr := in.Clarification.Brief.Location
		stated = addr.State
		if out.Zip != addr.Zip {
			return agent.Gate(wrong("zipCode", "The ZIP is not that of the brief.", why, out.Zip, addr.Zip))
		}
		if addr.City != "" && !strings.EqualFold(out.City, addr.City) {
			return agent.Gate(wrong("city", "The city is not that of the brief.", why, out.City, addr.City))
		}
	}
	possible := possibleStates(prefix, stated)
	if len(possible) > 0 && !slices.Contains(possible, out.State) {
		return agent.Gate(elsewhere("state", "The state is neither that of the ZIP nor that of the brief.", why, out.State, strings.Join(possible, " or ")))
	}
	if len(possible) > 1 && !out.NeedsReview {
		return agent.Gate(elsewhere("needsReview", "ZIP and state of the brief exclude each other, and the output does not say so.", "A typing error in the address must reach a person.", false, true))
	}
	if !slices.Contains(regions, out.Region) {
		return agent.Gate(wrong("region", "The region is not one of the published ones.", "Reports group by it.", out.Region, strings.Join(regions, ", ")))
	}
	return agent.Full()
}

// possibleStates are the states an address may mean, without repetition.
func possibleStates(prefix *catalog.Prefix, stated string) []string {
	var states []string
	if prefix != nil {
		states = append(states, prefix.State)
	}
	if stated != "" && !slices.Contains(states, stated) {
		states = append(states, stated)
	}
	return states
}

// factorRight checks base and source of the indexes (L2): relative to the
// national average, from the row of the place, composite of labor and material.
func factorRight(_ estimate.Context, out *output) agent.Grade {
	if out.LocationFactor == 0 || out.LaborIndex == 0 || out.MaterialIndex == 0 {
		return agent.Missing(wrong("locationFactor", "Factor or indexes are missing.", "Prices cannot be brought to the place without them.", out.LocationFactor, "factor, labor and material index"))
	}
	low, high := 0.75, 1.35
	switch out.State {
	case "AK", "HI":
		high = 1.45
	case "PR":
		low = 0.65
	}
	const why = "Every line of the estimate is scaled by it."
	if !within(out.LocationFactor, low, high) {
		return agent.Gate(wrong("locationFactor", "The factor is out of the range of the country: another base, or applied twice.", why, out.LocationFactor, fmt.Sprintf("%.2f to %.2f", low, high)))
	}
	var off []agent.Finding
	if c := 0.60*out.LaborIndex + 0.40*out.MaterialIndex; math.Abs(c-out.LocationFactor) > 0.08 {
		off = append(off, wrong("locationFactor", "The factor is not the composite of the labor and material indexes.", why, out.LocationFactor, fmt.Sprintf("%.3f ± 0.08", c)))
	}
	if want, ok := tableFactor(out); ok && math.Abs(want-out.LocationFactor) > 0.03 {
		off = append(off, wrong("locationFactor", "The factor is not that of the place in the table.", why, out.LocationFactor, fmt.Sprintf("%.3f ± 0.03", want)))
	}
	for _, m := range []struct {
		name string
		x    float64
	}{
		{"transportationFactor", out.Materials.Transportation},
		{"localAvailabilityFactor", out.Materials.Availability},
		{"lumberRegionalAdjustment", out.Materials.Lumber},
		{"concreteRegionalAdjustment", out.Materials.Concrete},
	} {
		if !within(m.x, 0.5, 2) {
			off = append(off, wrong("materialAdjustments."+m.name, "The adjustment of a material is no factor round 1.", why, m.x, "0.5 to 2"))
		}
	}
	if !within(out.MaterialIndex, 0.90, 1.20) {
		off = append(off, wrong("materialIndex", "Material hardly differs by place, except by sea.", why, out.MaterialIndex, "0.90 to 1.20"))
	}
	if len(off) > 0 {
		return agent.Gate(off...)
	}
	return agent.Full()
}

// tableFactor is what the catalogue says of the place at the level the output
// claims; ok is false where it says nothing.
func tableFactor(out *output) (float64, bool) {
	switch p := locality.PrefixOf(out.Zip); {
	case out.Level == locality.LevelNational:
		return 1, true
	case out.Level == locality.LevelZip && p != nil && p.LocationIndex != nil:
		return *p.LocationIndex, true
	case out.Level == locality.LevelState:
		if s := catalog.StateByAbbr(out.State); s != nil {
			return s.LocationIndex, true
		}
	}
	return 0, false
}

// sourced checks that the fallback level is stated, the price date is there, and
// every figure has a source (L11, L12).
func sourced(_ estimate.Context, out *output) agent.Grade {
	var off []agent.Finding
	levels := []string{locality.LevelZip, locality.LevelMetro, locality.LevelState, locality.LevelNational}
	if !slices.Contains(levels, out.Level) {
		off = append(off, wrong("fallbackLevel", "The level of the data is not stated.", "A silent default looks like a fact.", out.Level, strings.Join(levels, ", ")))
	}
	if (out.Level == locality.LevelState || out.Level == locality.LevelNational) && !out.NeedsReview {
		off = append(off, wrong("needsReview", "The place was not found and nobody is asked to look.", "An average stands in for the place.", false, true))
	}
	if out.PriceYear != catalog.PriceYear {
		off = append(off, wrong("priceYear", "The price year is not that of the catalogue.", "Escalation starts from it.", out.PriceYear, catalog.PriceYear))
	}
	for _, what := range []string{"laborRates", "materialIndex", "salesTax", "permitCosts", "weatherFactors"} {
		i := slices.IndexFunc(out.Provenance, func(p estimate.Provenance) bool { return p.What == what })
		if i < 0 || out.Provenance[i].Source == "" || out.Provenance[i].Date == "" {
			off = append(off, wrong("provenance", "Source or date of "+what+" is missing.", "A number without a source cannot be checked.", "none", "source and date"))
		}
	}
	if len(off) > 0 {
		return agent.Gate(off...)
	}
	return agent.Full()
}
