package montecarlo

import (
	"cmp"
	"encoding/hex"
	"math"
	"slices"
	"strings"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
	"truecost.dev/shared/estimate/stat"
	"truecost.dev/shared/fault"
)

// Iterations is the least number of draws of a published simulation.
const Iterations = 10_000

// MaxIterations bounds what feedback can ask for.
const MaxIterations = 160_000

// maxLines bounds the work of one simulation; a large house has some hundreds.
const maxLines = 5000

// Options of a simulation. The zero value means Iterations draws and the usual
// correlations.
type Options struct {
	Iterations  int
	Correlation *Correlation
}

// Simulate returns the distribution of the total price of ctx.Cost and the
// contingency that follows from it: P80 less the base, never below zero.
//
// The base is Cost.Total.Low, which holds no contingency; with every factor 1
// and no event the simulated price is the base to the cent. What does not move
// with the lines (the permit's base fee) stays fixed. Parts of the context
// other than Cost sharpen which risks are relevant and may be nil. Without a
// priced cost it returns fault.Invalid.
func Simulate(ctx estimate.Context, seed [32]byte, opt Options) (estimate.Risk, error) {
	if ctx.Cost == nil {
		return estimate.Risk{}, fault.New(fault.Invalid, "cost_output: risk simulates the cost, and there is none")
	}
	if ctx.Cost.Total.Low <= 0 {
		return estimate.Risk{}, fault.New(fault.Invalid, "cost_output.total.low: %v is not a price", ctx.Cost.Total.Low)
	}
	m := FromCost(ctx)
	if len(m.Lines) == 0 {
		return estimate.Risk{}, fault.New(fault.Invalid, "cost_output.divisions: no priced line")
	}
	if len(m.Lines) > maxLines {
		return estimate.Risk{}, fault.New(fault.Invalid, "cost_output.divisions: %d lines; at most %d can be simulated", len(m.Lines), maxLines)
	}
	in, out := Register(ctx)
	m.addEvents(in)
	if opt.Correlation != nil {
		m.Correlation = *opt.Correlation
	}
	n := min(MaxIterations, max(Iterations, opt.Iterations))
	r := m.Run(seed, n)
	for r.p80Error() >= maxP80Error && n < MaxIterations {
		n *= 2
		r = m.Run(seed, n)
	}
	risk := estimate.Risk{
		EstimateID: ctx.EstimateID, Base: ctx.Cost.Total.Low, MonteCarlo: r.monteCarlo(ctx.Cost.Total.Low, seed),
		Labor: r.labor(), Excluded: out, Warnings: []string{},
	}
	risk.AllRisks = items(m, r, in)
	risk.TopRisks = risk.AllRisks[:min(5, len(risk.AllRisks))]
	risk.MonteCarlo.TopRisks = chart(r, risk.TopRisks)
	describe(&risk, ctx, r)
	return risk, nil
}

// FromCost returns the model of a priced bill, without events.
func FromCost(ctx estimate.Context) *Model {
	c := ctx.Cost
	m := &Model{Scale: c.Adjustments.PricePerDirectDollar, Correlation: Usual}
	var sum money.Cents
	for d, l := range c.Lines {
		sum += l.TotalCost.Low
		line := Line{
			Name: l.Description, Group: divisionName(c, d), Trade: l.Trade, Code: material(l.CostCode),
			Material: l.MaterialCost.Low.Float(), Labor: l.LaborCost.Low.Float(), Equipment: l.Equipment.Low.Float(),
			MaterialFactor: around(l.Uncertainty.Material), LaborFactor: around(l.Uncertainty.Labor),
			QuantityFactor: around(l.Uncertainty.Quantity),
		}
		if line.cost() != 0 {
			m.Lines = append(m.Lines, line)
		}
	}
	m.Lines, _ = m.sorted()
	direct := sum.Float()
	if m.Scale <= 0 && direct > 0 {
		m.Scale = c.Total.Low.Float() / direct
	}
	m.Fixed = c.Total.Low.Float() - m.Scale*direct
	m.PerDay = delayCost(ctx, m.Scale)
	return m
}

func divisionName(c *estimate.Cost, d int) string {
	return strings.TrimSpace("Division " + c.Divisions[d].Code + " " + c.Divisions[d].Name)
}

// material is the code that lines of one material share. Lines priced at a
// division's default share nothing but the default.
func material(code string) string {
	if strings.HasPrefix(code, "GEN-") {
		return ""
	}
	return code
}

// around returns the distribution of a factor round its estimate. The estimate
// is the P50: a line's low is its P50, and the total of the lines is the base.
func around(t estimate.Triangle) stat.Dist {
	if t == (estimate.Triangle{}) {
		return nil
	}
	return stat.Median(t.Low, t.Likely, t.High)
}

// criticalShare is how much of the days lost to an event lengthens the job: the
// rest falls on work with float or coincides with another delay. Assumed.
const criticalShare = 0.5

// delayCost returns the direct dollars of a day by which an event holds up the
// work: the general conditions of a day, and what is bought by time, such as
// supervision.
func delayCost(ctx estimate.Context, scale float64) float64 {
	days := provisionalDays(ctx)
	if days <= 0 || scale <= 0 {
		return 0
	}
	return criticalShare * (ctx.Cost.Adjustments.GeneralConditions.Low.Float()/scale + timed(ctx.Cost)) / days
}

// timed returns the direct dollars of the lines that are measured in time: they
// run as long as the job does.
func timed(c *estimate.Cost) float64 {
	var sum money.Cents
	for _, l := range c.Lines {
		if l.Unit.Dimension() == "time" {
			sum += l.TotalCost.Low
		}
	}
	return sum.Float()
}

// provisionalDays is the duration before there is a schedule: that of the
// project type, in proportion to the hours; else that of three workers.
func provisionalDays(ctx estimate.Context) float64 {
	if ctx.Cost == nil {
		return 0
	}
	hours := ctx.Cost.Subtotals.LaborHours
	if ctx.Scope != nil {
		if p := catalog.ProjectTypeByKey(ctx.Scope.ProjectKey); p != nil && p.HoursCheck > 0 {
			return math.Max(1, p.WorkingDays*hours/p.HoursCheck)
		}
	}
	return math.Max(1, hours/(3*8*0.85))
}

// idle are the correlation groups whose delays come before the site runs, and
// so cost no general conditions.
var idle = []string{"permit", "supply", "owner", "market"}

func (m *Model) addEvents(in []Relevant) {
	for i := range in {
		r := &in[i]
		e := Event{
			ID: r.ID, Name: r.Name, Probability: r.Chance, Base: Base(r.CostBase), Group: r.Group,
			Impact: stat.PERT(r.CostLowPct/100, r.CostModePct/100, r.CostHighPct/100),
		}
		if !slices.Contains(idle, r.Group) && r.DelayHigh > 0 {
			e.Delay = stat.PERT(math.Max(0, r.DelayLow), r.DelayMode, r.DelayHigh)
		}
		m.Events = append(m.Events, e)
	}
}

// items returns the register as it applies, the largest expected cost first.
func items(m *Model, r *Result, in []Relevant) []estimate.RiskItem {
	base := m.bases()
	shares := map[string]float64{}
	for i := range r.Components {
		if c := &r.Components[i]; c.Event != nil {
			shares[c.Event.ID] = c.Share
		}
	}
	list := make([]estimate.RiskItem, 0, len(in))
	for i := range in {
		k, e := &in[i], &m.Events[i]
		price := func(pct float64) money.Cents { return money.FromFloat(m.Scale * base[e.Base] * pct / 100) }
		expected, _ := e.moments(base[e.Base], m.PerDay)
		item := estimate.RiskItem{
			ID: k.ID, Item: k.Name, Description: k.Name + ". Trigger: " + lowerFirst(k.Trigger) + ".", Category: k.Category,
			Probability: round(k.Chance, 4), CostLow: price(k.CostLowPct), CostMode: price(k.CostModePct), CostHigh: price(k.CostHighPct),
			Expected: money.FromFloat(m.Scale * expected), CostBase: k.CostBase,
			DelayLow: k.DelayLow, DelayMode: k.DelayMode, DelayHigh: k.DelayHigh, Group: k.Group,
			Share: round(shares[k.ID], 6), Mitigation: k.Response + ".", Why: k.Why,
		}
		item.Impact = impact(item.CostMode, m.Base())
		list = append(list, item)
	}
	slices.SortStableFunc(list, func(a, b estimate.RiskItem) int {
		return cmp.Or(cmp.Compare(b.Expected, a.Expected), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// bases returns the deterministic direct, material and labor cost.
func (m *Model) bases() map[Base]float64 {
	base := map[Base]float64{}
	for i := range m.Lines {
		base[Material] += m.Lines[i].Material
		base[Labor] += m.Lines[i].Labor
		base[Direct] += m.Lines[i].cost()
	}
	return base
}

// impact puts the likely cost of a risk into words: high from 4 % of the price,
// medium from 1.5 %.
func impact(likely money.Cents, price float64) string {
	switch share := math.Abs(likely.Float()) / price; {
	case share >= 0.04:
		return "high"
	case share >= 0.015:
		return "medium"
	}
	return "low"
}

// hexadecimal writes a seed as outputs record it.
func hexadecimal(seed [32]byte) string { return hex.EncodeToString(seed[:]) }

func round(x float64, places int) float64 {
	p := math.Pow10(places)
	return math.Round(x*p) / p
}
