package locality

import (
	"fmt"
	"strings"
	"time"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// provenance lists where each figure comes from, when it was observed, and on
// which rung of the ladder it was found; own are the contractor's rates.
func provenance(p place, own []estimate.Provenance) []estimate.Provenance {
	stateLevel := LevelState
	if p.state.Abbr == "" {
		stateLevel = LevelNational
	}
	wage := p.state.LaborIndexSource
	if p.metro != nil {
		wage = p.metro.WageSource
	}
	if wage == "" {
		wage = "national average by definition"
	}
	contractors := "contractors' own rates not known"
	if len(own) > 0 {
		contractors = "the contractor's own rates come before them"
	}
	year := fmt.Sprint(catalog.PriceYear)
	return append([]estimate.Provenance{
		{What: "laborIndex", Source: wage, Date: "2025-05", Level: p.level},
		{What: "laborRates", Source: "BLS OEWS wages with labor burden, times laborIndex; " + contractors, Date: year, Level: p.level},
		{What: "materialIndex", Source: "judged from the labor index; freight for Alaska and Hawaii", Date: year, Level: p.level},
		{What: "locationFactor", Source: "0.60 labor + 0.40 material, national average 1.00", Date: year, Level: p.level},
		{What: "salesTax", Source: "average of state and local rates, Tax Foundation", Date: "2025", Level: stateLevel},
		{What: "permitCosts", Source: "typical fees by class and state, general knowledge; split into parts by judgement", Date: year, Level: stateLevel},
		{What: "weatherFactors", Source: "climate groups, from remembered NOAA normals, error 1–2 days a month; frost depth by IECC zone", Date: year, Level: stateLevel},
		{What: "unionSharePercent", Source: "approximate private construction membership, CPS level", Date: "2024", Level: stateLevel},
	}, own...)
}

// describe writes the prose from the figures.
func describe(loc *estimate.Location, p place) {
	where := strings.Trim(loc.City+", "+p.abbr, ", ")
	if where == "" {
		where = "an unknown place"
	}
	loc.Summary = fmt.Sprintf("%s: location factor %.3f (%s), labor %.3f, material %.3f of the national average.",
		where, loc.LocationFactor, p.level, loc.LaborIndex, loc.MaterialIndex)
	loc.Analysis = strings.Join([]string{
		fmt.Sprintf("Work in %s costs %s: the composite factor is %.3f, found at the level %q.", where, versus(loc.LocationFactor), loc.LocationFactor, p.level),
		fmt.Sprintf("Labor runs at %.3f and material at %.3f of the national average; each is applied to its own part of a line, once.", loc.LaborIndex, loc.MaterialIndex),
		fmt.Sprintf("Burdened rates are $%.2f an hour for an electrician, $%.2f for a plumber, $%.2f for a carpenter and $%.2f for general labor.",
			loc.LaborRates["electrician"].Float(), loc.LaborRates["plumber"].Float(), loc.LaborRates["carpenter"].Float(), loc.LaborRates["general_labor"].Float()),
		taxWords(loc.Tax),
		fmt.Sprintf("A permit of class %s costs about %s and %.2f percent of the contract, trade permits included.",
			loc.Permits.Class, permitFixed(loc.Permits), loc.Permits.Percentage*100),
		loc.Weather.Reason,
	}, " ")
	loc.KeyFindings = findings(loc, p)
	loc.Recommendations = recommendations(loc)
	loc.RiskFactors = risks(loc, p)
}

func versus(factor float64) string {
	pct := (factor - 1) * 100
	switch {
	case pct >= 0.5:
		return fmt.Sprintf("about %.0f percent more than the national average", pct)
	case pct <= -0.5:
		return fmt.Sprintf("about %.0f percent less than the national average", -pct)
	default:
		return "about the national average"
	}
}

func taxWords(t estimate.SalesTax) string {
	switch {
	case t.Base == "none" || t.Fraction == 0:
		return "There is no sales tax on the work."
	case strings.HasPrefix(t.Base, "contract"):
		return fmt.Sprintf("Sales tax of %.2f percent falls on the contract (%s), so materials are bought untaxed.", t.Fraction*100, t.Base)
	default:
		return fmt.Sprintf("Sales tax of %.2f percent falls on materials, labor is untaxed.", t.Fraction*100)
	}
}

func permitFixed(p estimate.PermitCosts) string {
	return (p.Base + p.Electrical + p.Plumbing + p.Mechanical + p.PlanReview + p.Impact + p.Inspection).Whole()
}

func findings(loc *estimate.Location, p place) []string {
	found := []string{
		fmt.Sprintf("Labor index %.3f, material index %.3f (level: %s).", loc.LaborIndex, loc.MaterialIndex, p.level),
		taxWords(loc.Tax),
		fmt.Sprintf("Union conditions: %s, about %.0f percent of construction workers; the wage index contains them.", loc.UnionStatus, loc.UnionShare),
		fmt.Sprintf("Winter impact %s, frost depth about %.0f inches, %.0f exterior days lost a year.", loc.Weather.WinterImpact, loc.Weather.FrostDepth, sum(loc.Weather.LostDays)),
	}
	if p.metro != nil && p.metro.Note != "" {
		found = append(found, fmt.Sprintf("%s: %s. The composite factor carries it, the labor index does not.", p.metro.Name, p.metro.Note))
	}
	return found
}

func recommendations(loc *estimate.Location) []string {
	worst := worstMonth(loc.Weather.LostDays)
	advice := []string{
		fmt.Sprintf("Keep exterior work out of %s where the programme allows.", time.Month(worst+1)),
		"Confirm permit fees and the local tax rate with the jurisdiction before the contract is signed.",
	}
	if loc.NeedsReview {
		advice = append(advice, "Confirm the address: the place could not be settled from it beyond doubt.")
	}
	if loc.Weather.FrostDepth >= 36 {
		advice = append(advice, fmt.Sprintf("Take footings to about %.0f inches, or as the county says.", loc.Weather.FrostDepth))
	}
	return advice
}

func risks(loc *estimate.Location, p place) []string {
	found := []string{"Indexes are averages of an area: single trades may be up to 15 percent off."}
	if loc.LaborIndex >= 1.15 {
		found = append(found, "Dear labor: hours weigh more here, so an error in hours costs more.")
	}
	if loc.UnionStatus != "non_union" {
		found = append(found, "Union and open-shop bids may differ; the index is their average.")
	}
	if sum(loc.Weather.LostDays) >= 55 {
		found = append(found, "Weather delays exterior work through much of the year.")
	}
	if p.level == LevelState || p.level == LevelNational {
		found = append(found, "The factor is an average of the "+map[string]string{LevelState: "state", LevelNational: "nation"}[p.level]+", not of the place.")
	}
	return found
}
