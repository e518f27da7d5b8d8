package montecarlo

import (
	"fmt"
	"math"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
)

// MaxContingency is the share of the base above which a contingency says that
// the input is not fit to be priced, rather than how risky the job is.
const MaxContingency = 0.25

// describe fills in what follows from the simulation: contingency, level, and
// the sentences.
func describe(r *estimate.Risk, ctx estimate.Context, res *Result) {
	mc := &r.MonteCarlo
	pct := round(100*mc.Recommended.Float()/r.Base.Float(), 2)
	r.TotalCost = mc.Percentiles
	r.Confidence = estimate.ConfidenceRange{P50: mc.P50, P80: mc.P80, P90: mc.P90, Low: mc.P10, Likely: mc.P50, High: mc.P90}
	r.Contingency = estimate.ContingencyRule{
		Recommended: pct, Dollars: mc.Recommended, Level: "P80",
		Rationale: fmt.Sprintf(
			"%s (%.1f %% of the base of %s) raises the budget to %s, which 8 of 10 simulated outcomes stay within. The base alone is exceeded in %.0f of 100.",
			mc.Recommended.Whole(), pct, r.Base.Whole(), mc.P80.Whole(), 100*mc.OverBase),
	}
	r.Level = Level(r)
	r.Summary = fmt.Sprintf("Half of %d simulated outcomes cost less than %s, 80 %% less than %s and 90 %% less than %s. Risk is %s; the recommended contingency is %s.",
		mc.Iterations, mc.P50.Whole(), mc.P80.Whole(), mc.P90.Whole(), lower(r.Level), mc.Recommended.Whole())
	r.KeyFindings = findings(r, res)
	r.Recommendations = []string{}
	for _, t := range r.TopRisks {
		r.Recommendations = append(r.Recommendations, t.Item+": "+lowerFirst(t.Mitigation))
	}
	r.Assumptions = assumptions(ctx)
	r.Warnings = append(r.Warnings, warnings(r, ctx, res)...)
	r.NeedsReview = len(r.Warnings) > 0
	r.Analysis = confidence(r, ctx)
	r.Trust = r.Analysis
}

// Level is High, Medium or Low by the spread of the total and the number of
// likely risks with a high impact.
func Level(r *estimate.Risk) string {
	mc := &r.MonteCarlo
	cv := mc.StdDev.Float() / math.Max(1, mc.Mean.Float())
	spread := mc.P90.Float() / math.Max(1, mc.P50.Float())
	grave := 0
	for _, k := range r.AllRisks {
		if k.Impact == "high" && k.Probability > 0.3 {
			grave++
		}
	}
	switch {
	case cv > 0.15 || spread > 1.25 || grave >= 3:
		return "High"
	case cv > 0.08 || spread > 1.15 || grave >= 2:
		return "Medium"
	}
	return "Low"
}

func lower(level string) string { return lowerFirst(level) }

func findings(r *estimate.Risk, res *Result) []string {
	mc := &r.MonteCarlo
	list := []string{fmt.Sprintf(
		"Standard deviation %s (%.1f %% of the mean); without correlation between lines it would be %s, too narrow.",
		mc.StdDev.Whole(), 100*mc.StdDev.Float()/math.Max(1, mc.Mean.Float()), mc.IndependentStdDev.Whole())}
	top, n := 0.0, min(5, len(mc.Contributors))
	for _, c := range mc.Contributors[:n] {
		top += c.Share
	}
	if n > 0 {
		list = append(list, fmt.Sprintf("The largest contributor to the spread is %s (%.0f %% of the variance); the first %d explain %.0f %%.",
			mc.Contributors[0].Name, 100*mc.Contributors[0].Share, n, 100*top))
	}
	if len(mc.Tornado) > 0 {
		s := mc.Tornado[0]
		list = append(list, fmt.Sprintf("The widest single swing is %s: %s between its P10 and its P90.", s.Name, (s.High-s.Low).Whole()))
	}
	var expected money.Cents
	for _, k := range r.AllRisks {
		expected += k.Expected
	}
	list = append(list, fmt.Sprintf("%d risks of the register apply, with %s expected in all; %d were left out, because a range or a price covers them or nothing can trigger them.",
		len(r.AllRisks), expected.Whole(), len(r.Excluded)))
	if res.Shrink < 1 {
		list = append(list, fmt.Sprintf("The correlations contradicted each other and were shrunk by %.0f %%.", 100*(1-res.Shrink)))
	}
	return list
}

// assumptions states what the simulation takes for granted.
func assumptions(ctx estimate.Context) []string {
	list := []string{
		fmt.Sprintf("Correlation between the scores of two lines: %.2f between any two, %.2f in one trade, %.2f for one material, %.2f between material and labor; %.2f between risks of one group.",
			Usual.Any, Usual.Trade, Usual.Material, Usual.Cross, Usual.Event),
		"Place, finish, complexity and age of the house are priced, which settles half of the range of a catalogue item.",
		"Probabilities and impacts are those of the catalogue's register, which is general knowledge and no record of claims.",
		"Changes that the owner orders are change orders, not contingency.",
	}
	if perDay := FromCost(ctx).PerDay; perDay > 0 {
		list = append(list, fmt.Sprintf("A day lost on site costs %s in general conditions and in what is bought by time; %.0f %% of lost days lengthen the job.",
			money.FromFloat(perDay/criticalShare).Whole(), 100*criticalShare))
	}
	return list
}

func warnings(r *estimate.Risk, ctx estimate.Context, res *Result) []string {
	var list []string
	share := r.MonteCarlo.Recommended.Float() / r.Base.Float()
	if share > MaxContingency {
		list = append(list, fmt.Sprintf("The contingency is %.0f %% of the base: the scope is too uncertain for a firm price.", 100*share))
	}
	if !r.MonteCarlo.Converged {
		list = append(list, fmt.Sprintf("P80 has a standard error of %.2f %% after %d iterations.", r.MonteCarlo.P80Error, res.Iterations))
	}
	if ctx.Clarification != nil && ctx.Clarification.Brief.YearBuilt == 0 && ageMatters(r) {
		list = append(list, "The year built is unknown: risks of old houses are weighed with the average age of the housing stock.")
	}
	if ctx.Scope == nil {
		list = append(list, "There is no scope output: the kind of job was taken from the brief.")
	}
	return list
}

// ageMatters reports whether a risk that hangs on the age of the house applies.
func ageMatters(r *estimate.Risk) bool {
	for _, k := range r.AllRisks {
		if k.Category == "hazmat" {
			return true
		}
	}
	return false
}

// confidence in the analysis: that of the cost, less a tenth for each part of
// the context that was missing and for each warning.
func confidence(r *estimate.Risk, ctx estimate.Context) float64 {
	c := 0.9
	if ctx.Cost.Confidence > 0 {
		c = math.Min(0.95, ctx.Cost.Confidence+0.1)
	}
	for _, absent := range []bool{ctx.Clarification == nil, ctx.Scope == nil, ctx.Location == nil} {
		if absent {
			c -= 0.1
		}
	}
	return round(math.Max(0.1, c-0.05*float64(len(r.Warnings))), 4)
}
