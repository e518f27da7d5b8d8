package risk

import (
	"fmt"
	"maps"
	"slices"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
)

// labor holds the simulated labor against itself, the price and the cost.
func labor(ctx estimate.Context, r *estimate.Risk) agent.Grade {
	l := r.Labor
	if l == nil {
		return agent.Full()
	}
	const why = "The labor of the trades is planned by it."
	if !rising(l.Percentiles) {
		return agent.Gate(found("laborMonteCarlo.p50", spelled(l.Percentiles), "P10 to P90 in order", "Percentiles are out of order.", why))
	}
	if l.P50 > r.MonteCarlo.P50 {
		return agent.Gate(found("laborMonteCarlo.p50", l.P50.String(), "less than "+r.MonteCarlo.P50.String(), "Labor costs more than the job.", why))
	}
	// Labor is skewed by a little: P90 is nowhere twice the middle.
	one := []money.Cents{l.MinValue, l.P10, l.Mean, l.P90, l.MaxValue, 5 * l.P90}
	if !slices.IsSorted(one) || l.P90 > 2*l.P50 {
		return agent.Gate(found("laborMonteCarlo", fmt.Sprintf("%s to %s, mean %s", l.MinValue, l.MaxValue, l.Mean), "round "+spelled(l.Percentiles), "The figures of labor are not of one sample.", why))
	}
	for _, name := range slices.Sorted(maps.Keys(l.ByTrade)) {
		if p := l.ByTrade[name]; !rising(p) || p.P90 > l.P90 {
			return agent.Gate(found("laborMonteCarlo.byTrade."+name, spelled(p), "in order, within all labor", "The percentiles of a trade are impossible.", why))
		}
	}
	return ofTheCost(ctx, l)
}

// ofTheCost holds the median of labor against the labor of the cost.
func ofTheCost(ctx estimate.Context, l *estimate.LaborRisk) agent.Grade {
	if ctx.Cost == nil || ctx.Cost.Subtotals.Labor.Low <= 0 {
		return agent.Full()
	}
	if base := ctx.Cost.Subtotals.Labor.Low; l.P50 < base.Scale(0.7) || l.P50 > base.Scale(1.5) {
		return agent.Gate(found("laborMonteCarlo.p50", l.P50.String(), "near "+base.String(), "The simulated labor is not that of the cost.", "The labor of the trades is planned by it."))
	}
	return agent.Full()
}

func rising(p estimate.Percentiles) bool {
	return slices.IsSorted([]money.Cents{0, p.P10, p.P50, p.P80, p.P90})
}

func spelled(p estimate.Percentiles) string {
	return fmt.Sprintf("%s, %s, %s, %s", p.P10, p.P50, p.P80, p.P90)
}
