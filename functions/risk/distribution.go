package risk

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
	"truecost.dev/shared/estimate/montecarlo"
)

func sortFindings(list []agent.Finding) {
	slices.SortStableFunc(list, func(a, b agent.Finding) int { return cmp.Compare(a.Path, b.Path) })
}

func histogram(_ estimate.Context, r *estimate.Risk) agent.Grade {
	mc := &r.MonteCarlo
	bad := func(path, observed, expected, issue string) agent.Grade {
		return agent.Gate(found(path, observed, expected, issue, "The chart would not show the distribution that the figures describe."))
	}
	if len(mc.Histogram) != montecarlo.Bins || len(mc.Counts) != montecarlo.Bins || len(mc.Edges) != montecarlo.Bins+1 {
		return bad("monteCarlo.histogram", fmt.Sprintf("%d bins, %d counts, %d edges", len(mc.Histogram), len(mc.Counts), len(mc.Edges)),
			"20 bins, 20 counts, 21 edges", "The histogram has not twenty bins.")
	}
	total, pct := 0, 0.0
	for i, b := range mc.Histogram {
		path := fmt.Sprintf("monteCarlo.histogram[%d]", i)
		if b.Low != mc.Edges[i] || b.High != mc.Edges[i+1] || b.High < b.Low {
			return bad(path, fmt.Sprintf("%s to %s", b.Low, b.High), fmt.Sprintf("%s to %s", mc.Edges[i], mc.Edges[i+1]), "Bins are not contiguous.")
		}
		if b.Count < 0 || b.Count != mc.Counts[i] {
			return bad(path+".count", fmt.Sprint(b.Count), fmt.Sprint(mc.Counts[i]), "The two forms of the histogram disagree.")
		}
		total += b.Count
		pct += b.Percentage
	}
	if total != mc.Iterations {
		return bad("monteCarlo.histogram_counts", fmt.Sprint(total), fmt.Sprint(mc.Iterations), "The counts do not sum to the iterations.")
	}
	if math.Abs(pct-100) > 0.5 {
		return bad("monteCarlo.histogram", percent(pct), "100 %", "The percentages do not sum to 100.")
	}
	if mc.Edges[0] != mc.Min || mc.Edges[montecarlo.Bins] < mc.Max {
		return bad("monteCarlo.histogram_bins", fmt.Sprintf("%s to %s", mc.Edges[0], mc.Edges[montecarlo.Bins]),
			fmt.Sprintf("%s to %s", mc.Min, mc.Max), "The histogram does not cover the sample.")
	}
	return pictured(mc, r.Base)
}

// pictured holds the bars against the percentiles: the bins that end below P80
// hold at most 80 % of the sample, and with the bin that holds P80 at least 80 %.
func pictured(mc *estimate.MonteCarlo, base money.Cents) agent.Grade {
	const rounding = 0.005 // of a percentile to the cent and of a rank
	for _, p := range []struct {
		name  string
		at    money.Cents
		share float64
	}{{"P10", mc.P10, 0.10}, {"P50", mc.P50, 0.50}, {"P80", mc.P80, 0.80}, {"P90", mc.P90, 0.90}} {
		below, upTo := 0.0, 0.0
		for _, b := range mc.Histogram {
			part := float64(b.Count) / float64(mc.Iterations)
			if b.High <= p.at {
				below += part
			}
			if b.Low <= p.at {
				upTo += part
			}
		}
		if p.share < below-rounding || p.share > upTo+rounding {
			return agent.Gate(found("monteCarlo.histogram", fmt.Sprintf("%s at %.0f to %.0f %% of the counts", p.name, 100*below, 100*upTo), fmt.Sprintf("%.0f %%", 100*p.share),
				"The histogram is not that of the percentiles.", "Figure and chart must show one distribution."))
		}
	}
	over, atLeast := 0.0, 0.0
	for _, b := range mc.Histogram {
		part := float64(b.Count) / float64(mc.Iterations)
		if b.High > base {
			over += part
		}
		if b.Low > base {
			atLeast += part
		}
	}
	if mc.OverBase < atLeast-rounding || mc.OverBase > over+rounding {
		return agent.Gate(found("monteCarlo.probabilityOverBase", fmt.Sprintf("%.3f", mc.OverBase), fmt.Sprintf("%.3f to %.3f, by the counts", atLeast, over),
			"The chance to exceed the base is not that of the distribution.", "The owner decides on the contingency by it."))
	}
	return agent.Full()
}

func shares(_ estimate.Context, r *estimate.Risk) agent.Grade {
	list := r.MonteCarlo.Contributors
	if len(list) == 0 && r.MonteCarlo.StdDev == 0 {
		return agent.Full()
	}
	sum, top := 0.0, 0.0
	ranked := true
	for i, c := range list {
		sum += c.Share
		if i < 5 {
			top += c.Share
		}
		ranked = ranked && (i == 0 || c.Share <= list[i-1].Share)
	}
	if math.Abs(sum-1) > 0.01 {
		return agent.Gate(found("monteCarlo.topRiskContributors", fmt.Sprintf("%.3f", sum), "1.00 ± 0.01",
			"The shares of variance do not sum to 1.", "They are covariances with the total over its variance, and nothing else sums to the total."))
	}
	of := map[string]float64{}
	for _, c := range list {
		of[c.Name] = c.Share
	}
	for i, k := range r.AllRisks {
		if math.Abs(k.Share-of[k.Item]) > 0.001 {
			return agent.Gate(found(fmt.Sprintf("allRisks[%d].varianceContribution", i), fmt.Sprintf("%.4f", k.Share), fmt.Sprintf("%.4f", of[k.Item]),
				"The register and the contributors give one risk two shares.", "A risk is counted once."))
		}
	}
	switch {
	case !ranked:
		return agent.Partial(60, found("monteCarlo.topRiskContributors", "unsorted", "the largest first", "The contributors are not ranked.", "Readers look at the first."))
	case top < 0.35:
		return agent.Partial(70, found("monteCarlo.topRiskContributors", fmt.Sprintf("%.2f", top), "the first five explain at least 0.35",
			"The first five contributors explain too little.", "Then the sensitivity analysis helps nobody."))
	}
	return agent.Full()
}

func tornado(_ estimate.Context, r *estimate.Risk) agent.Grade {
	list := r.MonteCarlo.Tornado
	if len(list) == 0 {
		return agent.Gate(found("monteCarlo.tornado", "nothing", "at least one bar", "There is no sensitivity analysis.", "It says where effort pays."))
	}
	var bad []agent.Finding
	for i, s := range list {
		path := fmt.Sprintf("monteCarlo.tornado[%d]", i)
		if s.High < s.Low || math.Abs(s.Spearman) > 1 {
			return agent.Gate(found(path, fmt.Sprintf("%s to %s, %.2f", s.Low, s.High, s.Spearman), "low to high, -1 to 1", "A bar is impossible.", "It misleads."))
		}
		if i > 0 && s.High-s.Low > list[i-1].High-list[i-1].Low {
			bad = append(bad, found(path, (s.High-s.Low).String(), "at most "+(list[i-1].High-list[i-1].Low).String(), "The bars are not ranked by swing.", "The widest matters most."))
		}
	}
	if len(bad) > 0 {
		return agent.Gate(bad...)
	}
	return agent.Full()
}

// plausible checks where the base lies and how skewed the total is.
func plausible(_ estimate.Context, r *estimate.Risk) agent.Grade {
	mc := &r.MonteCarlo
	var list []agent.Finding
	if d := off(mc.P50, r.Base); d > 0.10 {
		list = append(list, found("monteCarlo.p50", mc.P50.String(), r.Base.String()+" ± 10 %",
			"The median lies far from the base.", "Either the base is too low or a risk is counted that the lines carry already."))
	}
	if mc.OverBase < 0.40 || mc.OverBase > 0.90 {
		list = append(list, found("monteCarlo.probabilityOverBase", fmt.Sprintf("%.2f", mc.OverBase), "0.40 to 0.90",
			"The base lies outside P10 to P60.", "Ranges and risks are skewed to the right, so a sound base lies below the median."))
	}
	if low := mc.P50 - mc.P10; low > 0 {
		if tail := (mc.P90 - mc.P50).Float() / low.Float(); tail < 0.9 || tail > 2.2 {
			list = append(list, found("monteCarlo.p90", fmt.Sprintf("tail ratio %.2f", tail), "0.9 to 2.2", "The skew is implausible.", "Construction costs overrun further than they underrun."))
		}
	}
	if cv := mc.StdDev.Float() / math.Max(1, mc.Mean.Float()); cv < 0.03 || cv > 0.30 {
		list = append(list, found("monteCarlo.stdDev", percent(100*cv), "3 to 30 % of the mean", "The spread is implausible.", "It is false precision, or the input cannot be priced."))
	}
	if len(list) > 0 && off(mc.P50, r.Base) > 0.25 {
		return agent.Gate(list...)
	}
	return agent.Deduct(40, list)
}
