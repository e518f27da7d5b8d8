package risk

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
	"truecost.dev/shared/estimate/montecarlo"
)

// rubric lists the checks of estimating practice §10 (R1–R13) and of the domain
// rules R5–R7 and R15.
func rubric() agent.Rubric[estimate.Context, estimate.Risk] {
	return agent.Rubric[estimate.Context, estimate.Risk]{
		{Name: "simulation_present", Weight: 8, Check: present},
		{Name: "base_is_cost_total", Weight: 8, Check: baseIsCost},
		{Name: "percentiles_ordered", Weight: 10, Check: percentilesOrdered},
		{Name: "contingency_is_p80_less_base", Weight: 12, Check: contingency},
		{Name: "mean_matches_analysis", Weight: 7, Check: mean},
		{Name: "lines_correlated", Weight: 8, Check: correlated},
		{Name: "iterations_and_convergence", Weight: 8, Check: iterations},
		{Name: "histogram_sums", Weight: 8, Check: histogram},
		{Name: "variance_shares", Weight: 6, Check: shares},
		{Name: "tornado_ranked", Weight: 4, Check: tornado},
		{Name: "risks_relevant", Weight: 7, Check: relevant},
		{Name: "nothing_counted_twice", Weight: 4, Check: countedOnce},
		{Name: "follows_from_cost", Weight: 4, Check: reproducible},
		{Name: "shape_plausible", Weight: 2, Check: plausible},
		{Name: "explained", Weight: 2, Check: explained},
		{Name: "labor_simulated", Weight: 1, Check: labor},
		{Name: "belongs_to_estimate", Weight: 1, Check: belongs},
	}
}

func belongs(ctx estimate.Context, r *estimate.Risk) agent.Grade {
	return agent.Belongs(ctx, r.EstimateID)
}

// found is a finding that the primary can mend by simulating again.
func found(path, observed, expected, issue, why string) agent.Finding {
	return agent.Finding{
		Path: path, Observed: observed, Expected: expected, Issue: issue, Why: why,
		HowToFix: "Simulate again from the cost output and take the figure from the result.", Fix: agent.Recompute,
	}
}

func present(_ estimate.Context, r *estimate.Risk) agent.Grade {
	mc := &r.MonteCarlo
	var list []agent.Finding
	missing := func(path string, absent bool) {
		if absent {
			list = append(list, found(path, "nothing", "a positive amount", "The core of the simulation is missing.", "Without it there is no contingency."))
		}
	}
	missing("baseCost", r.Base <= 0)
	missing("monteCarlo.iterations", mc.Iterations <= 0)
	missing("monteCarlo.p50", mc.P50 <= 0)
	missing("monteCarlo.p80", mc.P80 <= 0)
	missing("monteCarlo.mean", mc.Mean <= 0)
	if len(list) > 0 {
		return agent.Missing(list...)
	}
	return agent.Full()
}

func baseIsCost(ctx estimate.Context, r *estimate.Risk) agent.Grade {
	if ctx.Cost == nil || r.Base == ctx.Cost.Total.Low {
		return agent.Full()
	}
	return agent.Gate(found("baseCost", r.Base.String(), ctx.Cost.Total.Low.String(),
		"The base is not the total of the cost.", "Contingency on another base breaks the one total."))
}

// published since a later version: outputs of earlier ones have none.
var published = []string{"monteCarlo.p25", "monteCarlo.p75", "monteCarlo.p95"}

func percentilesOrdered(_ estimate.Context, r *estimate.Risk) agent.Grade {
	mc := &r.MonteCarlo
	type step struct {
		path string
		at   money.Cents
	}
	steps := []step{
		{"monteCarlo.min", mc.Min},
		{"monteCarlo.p10", mc.P10},
		{"monteCarlo.p25", mc.P25},
		{"monteCarlo.p50", mc.P50},
		{"monteCarlo.p75", mc.P75},
		{"monteCarlo.p80", mc.P80},
		{"monteCarlo.p90", mc.P90},
		{"monteCarlo.p95", mc.P95},
		{"monteCarlo.max", mc.Max},
	}
	steps = slices.DeleteFunc(steps, func(s step) bool { return s.at == 0 && slices.Contains(published, s.path) })
	var list []agent.Finding
	for i := 1; i < len(steps); i++ {
		if steps[i].at < steps[i-1].at {
			list = append(list, found(steps[i].path, steps[i].at.String(), "at least "+steps[i-1].at.String(),
				"Percentiles are out of order.", "A higher percentile cannot be a lower price."))
		}
	}
	for _, copied := range []struct {
		path      string
		got, want money.Cents
	}{
		{"totalCostMonteCarlo.p80", r.TotalCost.P80, mc.P80},
		{"totalCostMonteCarlo.p50", r.TotalCost.P50, mc.P50},
		{"totalCostMonteCarlo.p90", r.TotalCost.P90, mc.P90},
		{"totalCostMonteCarlo.p10", r.TotalCost.P10, mc.P10},
		{"confidenceRange.low", r.Confidence.Low, mc.P10},
		{"confidenceRange.likely", r.Confidence.Likely, mc.P50},
		{"confidenceRange.high", r.Confidence.High, mc.P90},
		{"confidenceRange.p50", r.Confidence.P50, mc.P50},
		{"confidenceRange.p80", r.Confidence.P80, mc.P80},
		{"confidenceRange.p90", r.Confidence.P90, mc.P90},
		{"monteCarlo.minValue", mc.MinValue, mc.Min},
		{"monteCarlo.maxValue", mc.MaxValue, mc.Max},
	} {
		if copied.got != copied.want {
			list = append(list, found(copied.path, copied.got.String(), copied.want.String(),
				"The same percentile stands twice with two values.", "Readers take either."))
		}
	}
	if len(list) > 0 {
		return agent.Gate(list...)
	}
	return agent.Full()
}

func contingency(_ estimate.Context, r *estimate.Risk) agent.Grade {
	want := max(0, r.MonteCarlo.P80-r.Base)
	var list []agent.Finding
	for path, got := range map[string]money.Cents{"contingency.dollarAmount": r.Contingency.Dollars, "monteCarlo.recommendedContingency": r.MonteCarlo.Recommended} {
		if got != want {
			list = append(list, found(path, got.String(), want.String(),
				"The contingency is not P80 less the base.", "Base and contingency must add up to the published P80."))
		}
	}
	sortFindings(list)
	pct := 0.0
	if r.Base > 0 {
		pct = 100 * want.Float() / r.Base.Float()
	}
	if math.Abs(r.Contingency.Recommended-pct) > 0.05 {
		list = append(list, found("contingency.recommended", percent(r.Contingency.Recommended), percent(pct),
			"The percentage and the amount of the contingency disagree.", "Reports print both."))
	}
	if len(list) > 0 {
		return agent.Gate(list...)
	}
	if pct < 3 || pct > 100*montecarlo.MaxContingency {
		f := found("contingency.recommended", percent(pct), "3 to 25 %", "The contingency lies outside the band of the estimate class.",
			"Less is false precision; more means that the scope cannot be priced yet.")
		f.Fix, f.HowToFix = agent.AskUser, "Settle the widest items of the tornado with the client, or accept the spread."
		return agent.Partial(60, f)
	}
	return agent.Full()
}

func mean(_ estimate.Context, r *estimate.Risk) agent.Grade {
	mc := &r.MonteCarlo
	if off(mc.Mean, mc.AnalyticMean) <= 0.01 {
		return agent.Full()
	}
	return agent.Gate(found("monteCarlo.mean", mc.Mean.String(), mc.AnalyticMean.String()+" ± 1 %",
		"The sampled mean is not the sum of the means.", "Then something was sampled wrongly or counted twice."))
}

func correlated(_ estimate.Context, r *estimate.Risk) agent.Grade {
	mc := &r.MonteCarlo
	if mc.StdDev == 0 && mc.IndependentStdDev == 0 {
		return agent.Partial(50, found("monteCarlo.stdDev", "$0.00", "a spread", "Nothing is uncertain.", "No estimate is."))
	}
	var list []agent.Finding
	if mc.StdDev <= mc.IndependentStdDev {
		list = append(list, found("monteCarlo.stdDev", mc.StdDev.String(), "more than "+mc.IndependentStdDev.String(),
			"The spread is no wider than that of independent lines.", "Lines share market, crew and estimator; sampling them apart makes the total far too narrow."))
	}
	if mc.Correlation <= 0.05 || mc.Correlation > 0.95 {
		list = append(list, found("monteCarlo.averageCorrelation", fmt.Sprintf("%.3f", mc.Correlation), "0.05 to 0.95",
			"The lines are not correlated, or move as one.", "The contingency hangs on it."))
	}
	if len(list) > 0 {
		return agent.Gate(list...)
	}
	return agent.Full()
}

func iterations(_ estimate.Context, r *estimate.Risk) agent.Grade {
	mc := &r.MonteCarlo
	if mc.Iterations < montecarlo.Iterations {
		return agent.Gate(found("monteCarlo.iterations", fmt.Sprint(mc.Iterations), fmt.Sprintf("at least %d", montecarlo.Iterations),
			"Too few iterations.", "The tail of the distribution is not settled."))
	}
	if b, err := hex.DecodeString(mc.Seed); err != nil || len(b) != 32 {
		return agent.Gate(found("monteCarlo.seed", mc.Seed, "64 hexadecimal digits", "The seed is not recorded.", "The numbers cannot be repeated."))
	}
	const why = "The contingency would change with the seed."
	settled := mc.P80Error >= 0 && mc.P80Error < 0.5
	if mc.Converged && !settled {
		return agent.Gate(found("monteCarlo.p80StandardErrorPercent", percent(mc.P80Error), "under 0.5 %", "P80 is said to have converged and has not.", why))
	}
	if settled && !mc.Converged {
		return agent.Gate(found("monteCarlo.converged", "false", "true", "P80 has converged and is said not to have.", why))
	}
	if !settled {
		return agent.Partial(40, found("monteCarlo.p80StandardErrorPercent", percent(mc.P80Error), "under 0.5 %",
			"P80 has not converged.", why))
	}
	return agent.Full()
}

func explained(_ estimate.Context, r *estimate.Risk) agent.Grade {
	var list []agent.Finding
	empty := func(path string, absent bool) {
		if absent {
			list = append(list, found(path, "nothing", "a sentence", "A reader is left without an explanation.", "Figures alone do not persuade."))
		}
	}
	empty("summary", r.Summary == "")
	empty("contingency.rationale", r.Contingency.Rationale == "")
	empty("keyFindings", len(r.KeyFindings) < 2)
	empty("assumptions", len(r.Assumptions) == 0)
	if r.Level != "Low" && r.Level != "Medium" && r.Level != "High" {
		return agent.Gate(found("riskLevel", r.Level, "Low, Medium or High", "The level of risk is none of the published ones.", "The owner decides by it."))
	}
	if r.Analysis > 1 || r.Trust > 1 || r.Analysis < 0 || r.Trust < 0 {
		return agent.Gate(found("confidence", fmt.Sprintf("%g, %g", r.Trust, r.Analysis), "0 to 1", "The confidence is not a share.", "Ranges are read by it."))
	}
	if want := montecarlo.Level(r); r.Level != want {
		return agent.Gate(found("riskLevel", r.Level, want, "The level of risk is not that of the spread and the register.", "The owner decides by it."))
	}
	for i, k := range r.AllRisks {
		empty(fmt.Sprintf("allRisks[%d].mitigation", i), k.Mitigation == "")
		empty(fmt.Sprintf("allRisks[%d].whyRelevant", i), k.Why == "")
	}
	return agent.Deduct(25, list)
}

// off is the relative difference of two amounts.
func off(a, b money.Cents) float64 {
	if b == 0 {
		return math.Abs(a.Float())
	}
	return math.Abs(a.Float()-b.Float()) / math.Abs(b.Float())
}

func percent(x float64) string { return fmt.Sprintf("%.2f %%", x) }
