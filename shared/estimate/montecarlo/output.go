package montecarlo

import (
	"cmp"
	"math"
	"slices"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
	"truecost.dev/shared/estimate/stat"
)

// Bins of the published histogram.
const Bins = 20

// maxP80Error is the standard error of P80, in percent of it, below which a run
// has converged.
const maxP80Error = 0.5

// p80Error returns the standard error of P80 in percent of it, by the binomial
// interval of order statistics.
func (r *Result) p80Error() float64 {
	n := float64(len(r.Totals))
	half := math.Sqrt(0.8 * 0.2 / n)
	low, high := stat.Percentile(r.Totals, 0.8-half), stat.Percentile(r.Totals, 0.8+half)
	p80 := stat.Percentile(r.Totals, 0.8)
	if p80 == 0 {
		return 0
	}
	return 100 * (high - low) / 2 / math.Abs(p80)
}

func percentiles(sorted []float64) estimate.Percentiles {
	at := func(p float64) money.Cents { return money.FromFloat(stat.Percentile(sorted, p)) }
	return estimate.Percentiles{P10: at(0.1), P50: at(0.5), P80: at(0.8), P90: at(0.9)}
}

func (r *Result) monteCarlo(base money.Cents, seed [32]byte) estimate.MonteCarlo {
	last := len(r.Totals) - 1
	mc := estimate.MonteCarlo{
		Percentiles: percentiles(r.Totals), Iterations: r.Iterations, Seed: hexadecimal(seed),
		Mean: money.FromFloat(r.Mean), StdDev: money.FromFloat(r.SD),
		Min: money.FromFloat(r.Totals[0]), Max: money.FromFloat(r.Totals[last]),
		AnalyticMean: money.FromFloat(r.AnalyticMean), IndependentStdDev: money.FromFloat(r.IndependentSD),
		Correlation: round(r.Correlation, 4), P80Error: round(r.p80Error(), 4),
	}
	at := func(p float64) money.Cents { return money.FromFloat(stat.Percentile(r.Totals, p)) }
	mc.P25, mc.P75, mc.P95 = at(0.25), at(0.75), at(0.95)
	mc.MinValue, mc.MaxValue = mc.Min, mc.Max
	mc.Converged = mc.P80Error < maxP80Error
	mc.Recommended = max(0, mc.P80-base)
	within, _ := slices.BinarySearch(r.Totals, base.Float()+0.005) // the rest is strictly above the base, in cents
	mc.OverBase = round(float64(len(r.Totals)-within)/float64(len(r.Totals)), 4)
	mc.Histogram, mc.Edges, mc.Counts = histogram(r.Totals)
	mc.Tornado = r.tornado()
	mc.Contributors = r.contributors()
	return mc
}

// histogram counts a sorted sample in contiguous bins from its least to its
// largest value. A sample without a spread gets bins of one cent.
func histogram(sorted []float64) (bins []estimate.Bin, edges []money.Cents, counts []int) {
	low, high := money.FromFloat(sorted[0]), money.FromFloat(sorted[len(sorted)-1])
	if high-low < Bins {
		high = low + Bins
	}
	for i := range Bins + 1 {
		edges = append(edges, low+(high-low)*money.Cents(i)/Bins)
	}
	counts = make([]int, Bins)
	for _, x := range sorted {
		c := money.FromFloat(x)
		i, exact := slices.BinarySearch(edges, c)
		if !exact {
			i-- // the bin that begins below
		}
		counts[min(i, Bins-1)]++
	}
	for i, n := range counts {
		bins = append(bins, estimate.Bin{
			Low: edges[i], High: edges[i+1], Count: n, Percentage: round(100*float64(n)/float64(len(sorted)), 4),
		})
	}
	return bins, edges, counts
}

// tornado returns the components with the widest swings, the widest first.
func (r *Result) tornado() []estimate.Swing {
	list := []estimate.Swing{}
	for i := range r.Components {
		if c := &r.Components[i]; c.Watched {
			list = append(list, estimate.Swing{
				Name: c.Name, Low: money.FromFloat(c.Low), High: money.FromFloat(c.High), Spearman: round(c.Spearman, 4),
			})
		}
	}
	slices.SortStableFunc(list, func(a, b estimate.Swing) int {
		return cmp.Or(cmp.Compare(b.High-b.Low, a.High-a.Low), cmp.Compare(a.Name, b.Name))
	})
	return list[:min(watched, len(list))]
}

// contributors returns the shares of variance of the divisions and the events,
// the largest first. Rounding leaves the sum within 0.0001 of 1.
func (r *Result) contributors() []estimate.Contributor {
	var list []estimate.Contributor
	at := map[string]int{}
	for i := range r.Components {
		c := &r.Components[i]
		name := c.Group
		if c.Event != nil {
			name = c.Name
		}
		k, ok := at[name]
		if !ok {
			k = len(list)
			at[name] = k
			list = append(list, estimate.Contributor{Name: name})
		}
		list[k].Share += c.Share
	}
	for i := range list {
		list[i].Share = round(list[i].Share, 6)
	}
	slices.SortStableFunc(list, func(a, b estimate.Contributor) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Name, b.Name))
	})
	return list
}

func (r *Result) labor() *estimate.LaborRisk {
	mean, sd := stat.Moments(r.Labor)
	l := &estimate.LaborRisk{
		Percentiles: percentiles(r.Labor), Iterations: r.Iterations, Mean: money.FromFloat(mean), StdDev: money.FromFloat(sd),
		MinValue: money.FromFloat(r.Labor[0]), MaxValue: money.FromFloat(r.Labor[len(r.Labor)-1]),
		TopRisks: []estimate.TradeRisk{}, ByTrade: map[string]estimate.Percentiles{},
	}
	l.Histogram, _, _ = histogram(r.Labor)
	for i, t := range r.Trades {
		p := percentiles(r.ByTrade[i])
		if p.P90 <= 0 {
			continue
		}
		name := catalog.TradeName(t)
		l.ByTrade[name] = p
		l.TopRisks = append(l.TopRisks, estimate.TradeRisk{
			Trade: name, Impact: p.P90 - p.P50, Share: round(r.TradeShare[i], 6), Sensitivity: round(r.TradeCorr[i], 4),
		})
	}
	slices.SortStableFunc(l.TopRisks, func(a, b estimate.TradeRisk) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Trade, b.Trade))
	})
	return l
}

// chart returns the top risks as the chart reads them.
func chart(r *Result, top []estimate.RiskItem) []estimate.SimRisk {
	list := []estimate.SimRisk{}
	for _, t := range top {
		s := estimate.SimRisk{
			ID: t.ID, Item: t.Item, Name: t.Item, Impact: t.CostMode, Expected: t.Expected, Probability: t.Probability, Share: t.Share,
		}
		for i := range r.Components {
			if c := &r.Components[i]; c.Event != nil && c.Event.ID == t.ID {
				s.Sensitivity = round(c.Spearman, 4)
			}
		}
		list = append(list, s)
	}
	return list
}
