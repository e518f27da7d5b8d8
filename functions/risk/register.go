package risk

import (
	"fmt"
	"math"
	"slices"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/intake"
	"truecost.dev/shared/estimate/montecarlo"
)

// relevant checks the register of the output against what the job can meet.
func relevant(ctx estimate.Context, r *estimate.Risk) agent.Grade {
	var list []agent.Finding
	for i, k := range r.AllRisks {
		if k.Probability <= 0 || k.Probability > 1 {
			list = append(list, found(fmt.Sprintf("allRisks[%d].probability", i), fmt.Sprint(k.Probability), "more than 0, at most 1", "A probability is impossible.", "It is drawn as it stands."))
		}
		if k.CostLow > k.CostMode || k.CostMode > k.CostHigh {
			list = append(list, found(fmt.Sprintf("allRisks[%d].costImpactLikely", i), k.CostMode.String(), fmt.Sprintf("%s to %s", k.CostLow, k.CostHigh), "An impact is out of order.", "It is drawn as it stands."))
		}
	}
	if ctx.Cost != nil {
		list = append(list, compareRegister(ctx, r)...)
	}
	list = append(list, repeated(r)...)
	if len(list) > 0 {
		return agent.Gate(list...)
	}
	if len(r.AllRisks) < 5 {
		return agent.Partial(100*float64(len(r.AllRisks))/5, found("allRisks", fmt.Sprint(len(r.AllRisks)), "at least 5",
			"Few risks were identified.", "Every job meets some."))
	}
	return agent.Full()
}

// repeated finds risks whose figures are repeated wrongly, among the largest and
// for the chart.
func repeated(r *estimate.Risk) (list []agent.Finding) {
	register := map[string]estimate.RiskItem{}
	for _, k := range r.AllRisks {
		register[k.ID] = k
	}
	for i, t := range r.TopRisks {
		k, ok := register[t.ID]
		switch {
		case !ok:
			list = append(list, found(fmt.Sprintf("topRisks[%d].id", i), t.ID, "a risk of allRisks", "A top risk is not in the register.", "It was not simulated."))
		case k != t:
			list = append(list, found(fmt.Sprintf("topRisks[%d]", i), t.Item+", "+t.CostMode.String(), k.Item+", "+k.CostMode.String(), "A risk stands twice with two sets of figures.", "Readers take either."))
		}
	}
	for i, t := range r.MonteCarlo.TopRisks {
		k, ok := register[t.ID]
		same := k.CostMode == t.Impact && k.Expected == t.Expected && k.Probability == t.Probability && math.Abs(k.Share-t.Share) <= 1e-6
		if ok && (!same || math.Abs(t.Sensitivity) > 1) {
			list = append(list, found(fmt.Sprintf("monteCarlo.topRisks[%d]", i), fmt.Sprintf("%s, %.3f", t.Impact, t.Probability), fmt.Sprintf("%s, %.3f", k.CostMode, k.Probability), "The chart shows other figures than the register.", "Readers take either."))
		}
	}
	return list
}

// compareRegister draws the register up again and compares.
func compareRegister(ctx estimate.Context, r *estimate.Risk) (list []agent.Finding) {
	in, _ := montecarlo.Register(ctx)
	for i, k := range r.AllRisks {
		at := slices.IndexFunc(in, func(x montecarlo.Relevant) bool { return x.ID == k.ID })
		path := fmt.Sprintf("allRisks[%d]", i)
		switch {
		case at < 0:
			list = append(list, found(path+".id", k.ID, "a risk that this job can meet",
				fmt.Sprintf("%s (%s) does not apply to this job.", k.ID, k.Item), "Nothing in the kind of job, the house or the scope triggers it, or the lines carry it."))
		case math.Abs(in[at].Chance-k.Probability) > 0.001:
			list = append(list, found(path+".probability", fmt.Sprintf("%.3f", k.Probability), fmt.Sprintf("%.3f", in[at].Chance),
				"A probability is not that of the register.", "It was not weighed by what is known of the job."))
		}
	}
	for _, x := range in {
		if !slices.ContainsFunc(r.AllRisks, func(k estimate.RiskItem) bool { return k.ID == x.ID }) {
			list = append(list, found("allRisks", "no "+x.ID, x.ID+": "+x.Name, "A risk of this job is missing.", x.Why))
		}
	}
	return list
}

// countedOnce checks that no risk stands twice, or is both simulated and
// declared to lie elsewhere.
func countedOnce(_ estimate.Context, r *estimate.Risk) agent.Grade {
	var list []agent.Finding
	seen := map[string]bool{}
	for _, k := range r.Excluded {
		seen[k.ID] = true
	}
	for i, k := range r.AllRisks {
		if seen[k.ID] {
			list = append(list, found(fmt.Sprintf("allRisks[%d].id", i), k.ID, "each risk once", "A risk is counted twice.",
				"It stands in the register more than once, or was declared to lie in the ranges of the lines."))
		}
		seen[k.ID] = true
	}
	if len(list) > 0 {
		return agent.Gate(list...)
	}
	return agent.Full()
}

// reproducible simulates the cost again: another run must agree within its
// error.
func reproducible(ctx estimate.Context, r *estimate.Risk) agent.Grade {
	if ctx.Cost == nil {
		return agent.Full()
	}
	again, err := montecarlo.Simulate(ctx, intake.Stream(ctx.Clarification, "risk"), montecarlo.Options{})
	if err != nil {
		return agent.Full() // the cost cannot be simulated: other checks say what is wrong
	}
	a, b := &r.MonteCarlo, &again.MonteCarlo
	var list []agent.Finding
	check := func(path string, far bool, got, want string) {
		if far {
			list = append(list, found(path, got, want, "A second simulation gives another value.", "The output does not follow from the cost it was made for."))
		}
	}
	check("monteCarlo.p10", off(a.P10, b.P10) > 0.015, a.P10.String(), b.P10.String())
	check("monteCarlo.p50", off(a.P50, b.P50) > 0.015, a.P50.String(), b.P50.String())
	check("monteCarlo.p80", off(a.P80, b.P80) > 0.015, a.P80.String(), b.P80.String())
	check("monteCarlo.p90", off(a.P90, b.P90) > 0.02, a.P90.String(), b.P90.String())
	check("monteCarlo.stdDev", off(a.StdDev, b.StdDev) > 0.06, a.StdDev.String(), b.StdDev.String())
	check("monteCarlo.independentStdDev", off(a.IndependentStdDev, b.IndependentStdDev) > 0.01, a.IndependentStdDev.String(), b.IndependentStdDev.String())
	for i, k := range r.AllRisks {
		if at := slices.IndexFunc(again.AllRisks, func(x estimate.RiskItem) bool { return x.ID == k.ID }); at >= 0 {
			want := again.AllRisks[at]
			check(fmt.Sprintf("allRisks[%d].costImpactLikely", i), off(k.CostMode, want.CostMode) > 0.01, k.CostMode.String(), want.CostMode.String())
			check(fmt.Sprintf("allRisks[%d].delayDaysLikely", i), k.DelayLow != want.DelayLow || k.DelayMode != want.DelayMode || k.DelayHigh != want.DelayHigh, fmt.Sprint(k.DelayMode), fmt.Sprint(want.DelayMode))
			check(fmt.Sprintf("allRisks[%d].expectedImpact", i), off(k.Expected, want.Expected) > 0.01, k.Expected.String(), want.Expected.String())
			check(fmt.Sprintf("allRisks[%d].costImpactHigh", i), off(k.CostHigh, want.CostHigh) > 0.01, k.CostHigh.String(), want.CostHigh.String())
		}
	}
	check("monteCarlo.analyticMean", off(a.AnalyticMean, b.AnalyticMean) > 0.005, a.AnalyticMean.String(), b.AnalyticMean.String())
	if len(list) > 0 {
		return agent.Gate(list...)
	}
	return agent.Full()
}
