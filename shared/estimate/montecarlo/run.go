package montecarlo

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"truecost.dev/shared/estimate/stat"
)

// blocks is how many streams a run is cut into. It is fixed, so a run gives the
// same numbers on any number of processors.
const blocks = 16

// Component is what the run found about one line or event.
type Component struct {
	Name  string
	Group string // of a line
	Event *Event // nil for a line
	Mean  float64
	Share float64 // cov(X, T) / var(T); the shares of all components sum to 1

	// Of the components that move the total most, the change of the total
	// between this one's P10 and P90, and its rank correlation with the total.
	Watched   bool
	Low, High float64
	Spearman  float64
}

// Result of a run. Totals are prices in dollars.
type Result struct {
	Iterations int
	Totals     []float64 // sorted
	Mean, SD   float64
	Components []Component // lines, then events, in the order of the sorted model
	Labor      []float64   // direct labor, sorted
	Trades     []string
	ByTrade    [][]float64 // direct labor of each trade, sorted
	TradeShare []float64   // of the variance of labor
	TradeCorr  []float64   // correlation with labor
	Shrink     float64     // of the correlations: 1 when they needed no repair

	AnalyticMean  float64
	IndependentSD float64 // what the same ranges would give without correlation
	Correlation   float64 // average correlation between the costs of two lines
}

// Run draws iterations of the model. The same model, seed and number give the
// same result on any machine of one architecture; at least one line or event
// and one iteration are needed.
func (m *Model) Run(seed [32]byte, iterations int) *Result {
	lines, events := m.sorted()
	p := compile(lines, events, m)
	moments := m.moments(lines, events, &p.load)
	p.watch = moments.watch(len(lines), watched)
	record := newRecord(p, iterations)
	record.run(p, seed)
	return record.result(p, lines, events, moments)
}

// record is what a run writes down, by iteration and by block.
type record struct {
	totals, labor []float64
	byTrade       [][]float64
	watched       [][]float64
	sums          [blocks]sums
}

// sums of the components of one block, and of all its lines together, less
// their base so that squares keep their digits.
type sums struct {
	x, xx, xt   []float64
	lines, sqrd float64
}

func newRecord(p *program, n int) *record {
	r := &record{totals: make([]float64, n), labor: make([]float64, n)}
	for range p.trades {
		r.byTrade = append(r.byTrade, make([]float64, n))
	}
	for range p.watch {
		r.watched = append(r.watched, make([]float64, n))
	}
	for b := range r.sums {
		c := len(p.base)
		r.sums[b] = sums{x: make([]float64, c), xx: make([]float64, c), xt: make([]float64, c)}
	}
	return r
}

// run draws all blocks, as many at once as there are processors.
func (r *record) run(p *program, seed [32]byte) {
	n := len(r.totals)
	parallel(blocks, func(b int) {
		r.block(p, p.scratch(seed, uint64(b)), b, b*n/blocks, (b+1)*n/blocks)
	})
}

// parallel calls do for 0 … n-1 on as many workers as there are processors,
// and returns when all are done.
func parallel(n int, do func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				do(int(i))
			}
		})
	}
	wg.Wait()
}

func (r *record) block(p *program, s *scratch, b, from, to int) {
	sum := &r.sums[b]
	for i := from; i < to; i += batch {
		n := min(batch, to-i)
		p.draw(s, n)
		copy(r.totals[i:], s.total[:n])
		copy(r.labor[i:], s.labor[:n])
		for k := range r.byTrade {
			copy(r.byTrade[k][i:], s.byTrade[k][:n])
		}
		for k, c := range p.watch {
			copy(r.watched[k][i:], s.x[c][:n])
		}
		for _, x := range s.lines[:n] {
			sum.lines += x
			sum.sqrd += x * x
		}
		for c := range s.x {
			var own, squares, products float64
			for k, x := range s.x[c][:n] {
				own += x
				squares += x * x
				products += x * s.total[k]
			}
			sum.x[c] += own
			sum.xx[c] += squares
			sum.xt[c] += products
		}
	}
}

func (r *record) result(p *program, lines []Line, events []Event, known *moments) *Result {
	n := float64(len(r.totals))
	res := &Result{
		Iterations: len(r.totals), Trades: p.trades, Shrink: p.load.shrink,
		AnalyticMean: known.mean, IndependentSD: known.independentSD, Components: make([]Component, len(p.base)),
	}
	mean, sd := stat.Moments(r.totals)
	variance := sd * sd * (n - 1) / n
	lineVariance, lineSD := 0.0, 0.0
	for c := range res.Components {
		var x, xx, xt float64
		for b := range r.sums {
			x += r.sums[b].x[c]
			xx += r.sums[b].xx[c]
			xt += r.sums[b].xt[c]
		}
		x, xx, xt = x/n, xx/n, xt/n
		comp := Component{Mean: p.scale*p.base[c] + x}
		if variance > 0 {
			comp.Share = (xt - x*mean) / variance
		}
		if c < len(lines) {
			comp.Name, comp.Group = lines[c].Name, lines[c].Group
			v := max(0, xx-x*x)
			lineVariance += v
			lineSD += math.Sqrt(v)
		} else {
			comp.Name, comp.Event = events[c-len(lines)].Name, &events[c-len(lines)]
		}
		res.Components[c] = comp
	}
	res.Correlation = r.averageCorrelation(lineVariance, lineSD)
	r.sensitivities(p, res, mean)
	r.trades(res)
	for i := range r.totals {
		r.totals[i] += p.origin
	}
	res.Mean, res.SD = mean+p.origin, sd
	res.Totals, res.Labor, res.ByTrade = r.totals, r.labor, r.byTrade
	samples := append([][]float64{res.Totals, res.Labor}, res.ByTrade...)
	parallel(len(samples), func(i int) { stat.Sort(samples[i]) })
	return res
}

// trades fills in what each trade does to labor as a whole, while both are in
// the order of the iterations.
func (r *record) trades(res *Result) {
	_, whole := stat.Moments(r.labor)
	for _, t := range r.byTrade {
		_, own := stat.Moments(t)
		rho, share := stat.Pearson(t, r.labor), 0.0
		if whole > 0 {
			share = rho * own / whole
		}
		res.TradeShare, res.TradeCorr = append(res.TradeShare, share), append(res.TradeCorr, rho)
	}
}

// averageCorrelation returns the mean correlation between two lines, from the
// variance of their sum and what it would be without correlation.
func (r *record) averageCorrelation(variances, sds float64) float64 {
	sum, squares := 0.0, 0.0
	for b := range r.sums {
		sum += r.sums[b].lines
		squares += r.sums[b].sqrd
	}
	n := float64(len(r.totals))
	together := squares/n - (sum/n)*(sum/n)
	pairs := sds*sds - variances
	if pairs <= 1e-9*variances || pairs == 0 {
		return 0
	}
	return (together - variances) / pairs
}

// sensitivities fills in what the watched components do to the total. Totals
// are still in the order of the iterations and less their base.
func (r *record) sensitivities(p *program, res *Result, mean float64) {
	ranks := stat.Ranks(r.totals)
	parallel(len(p.watch), func(k int) {
		comp, x := &res.Components[p.watch[k]], r.watched[k]
		comp.Watched = true
		own, _ := stat.Moments(x)
		order, sorted := stat.RankSort(x)
		comp.Spearman = stat.Pearson(order, ranks)
		rest := p.origin + mean - own
		comp.Low, comp.High = rest+stat.Percentile(sorted, 0.1), rest+stat.Percentile(sorted, 0.9)
	})
}
