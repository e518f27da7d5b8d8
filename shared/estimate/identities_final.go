package estimate

import (
	"fmt"
	"math"

	"truecost.dev/shared/estimate/money"
)

// CheckTotals returns where a final estimate does not have one total (R5) or
// does not add up to it (R6).
func (f *Final) CheckTotals() []Breach {
	l := &ledger{}
	b, e := &f.Breakdown, &f.Executive
	l.equal("costBreakdown.directCostsSubtotal", b.Direct, money.Sum(b.Materials, b.Labor, b.Equipment), "The direct cost is not materials, labor and equipment.")
	l.equal("costBreakdown.totalBeforeContingency", b.BeforeContingency, money.Sum(b.Direct, b.LocationAdjustment, b.Overhead, b.Profit, b.Permits, b.Taxes),
		"The parts of the breakdown do not make the total before contingency.")
	l.equal("costBreakdown.totalWithContingency", b.Total, b.BeforeContingency+b.Contingency, "The total is not the base and the contingency.")
	one := func(path string, got, want money.Cents, issue string) {
		if got != want {
			l.add("R5", path, got.String(), want.String(), issue)
		}
	}
	one("executiveSummary.totalCost", e.TotalCost, b.Total, "The summary states another total than the breakdown.")
	one("executiveSummary.baseCost", e.BaseCost, b.BeforeContingency, "The summary states another base than the breakdown.")
	one("executiveSummary.contingency", e.Contingency, b.Contingency, "The summary states another contingency than the breakdown.")
	percentage := func(path string, pct float64) {
		if want := 100 * b.Contingency.Float() / b.BeforeContingency.Float(); b.BeforeContingency > 0 && math.Abs(pct-want) > 0.05 {
			l.add("R6", path, fmt.Sprintf("%.2f", pct), fmt.Sprintf("%.2f", want), "The percentage of the contingency is not its amount over the base.")
		}
	}
	percentage("executiveSummary.contingencyPercent", e.ContingencyPct)
	percentage("costBreakdown.contingencyPercentage", b.ContingencyPct)
	if e.Sqft > 0 {
		l.equal("executiveSummary.costPerSqft", e.CostPerSqft, money.FromFloat(e.TotalCost.Float()/e.Sqft), "The cost per square foot is not the total over the area.")
	}
	if p := e.Range; p.P10 > p.P50 || p.P50 > p.P80 || p.P80 > p.P90 || p.P10 < 0 {
		l.add("R7", "executiveSummary.confidenceRange", fmt.Sprintf("%v, %v, %v, %v", p.P10, p.P50, p.P80, p.P90), "P10 ≤ P50 ≤ P80 ≤ P90", "The percentiles are out of order.")
	}
	return l.breaches
}

// CheckAgreement returns where a final estimate differs from the outputs it
// joins (R5, R6). An output that is missing is not compared.
func (f *Final) CheckAgreement(ctx Context) []Breach {
	l := &ledger{}
	b := &f.Breakdown
	if c := ctx.Cost; c != nil {
		s, a := &c.Subtotals, &c.Adjustments
		for _, part := range []struct {
			name      string
			got, want money.Cents
		}{
			{"materials", b.Materials, s.Materials.Low},
			{"labor", b.Labor, s.Labor.Low},
			{"equipment", b.Equipment, s.Equipment.Low},
			{"locationAdjustment", b.LocationAdjustment, a.LocationAdjustment.Low},
			{"overhead", b.Overhead, a.Overhead.Low},
			{"profit", b.Profit, a.Profit.Low},
			{"permits", b.Permits, a.Permits.Low},
			{"taxes", b.Taxes, a.Tax.Low},
			{"totalBeforeContingency", b.BeforeContingency, c.Total.Low},
		} {
			l.equal("costBreakdown."+part.name, part.got, part.want, "The breakdown does not repeat the cost.")
		}
		if a.ContingencyFixed {
			l.equal("costBreakdown.contingency", b.Contingency, a.Contingency.Low, "The contingency is not the one the user fixed.")
		}
		if b.ContingencyFixed != a.ContingencyFixed {
			l.add("R6", "costBreakdown.contingencyFixedByUser", fmt.Sprint(b.ContingencyFixed), fmt.Sprint(a.ContingencyFixed), "It is not said truly who set the contingency.")
		}
	}
	fixed := ctx.Cost != nil && ctx.Cost.Adjustments.ContingencyFixed
	if r := ctx.Risk; r != nil {
		l.percentiles(f, r)
		if !fixed {
			l.equal("costBreakdown.contingency", b.Contingency, max(0, r.Contingency.Dollars), "The contingency is not that of the risk analysis.")
		}
		if p := r.MonteCarlo.Percentiles; !fixed && (b.Total < p.P50-tolerance || b.Total > p.P90+tolerance) {
			l.add("R5", "costBreakdown.totalWithContingency", b.Total.String(), fmt.Sprintf("%v to %v", p.P50, p.P90), "The total lies outside the published distribution.")
		}
	}
	return l.breaches
}

func (l *ledger) percentiles(f *Final, r *Risk) {
	p, want := f.Executive.Range, r.MonteCarlo.Percentiles
	l.equal("executiveSummary.confidenceRange.p50", p.P50, want.P50, "P50 is not that of the risk analysis.")
	l.equal("executiveSummary.confidenceRange.p80", p.P80, want.P80, "P80 is not that of the risk analysis.")
	l.equal("executiveSummary.confidenceRange.p90", p.P90, want.P90, "P90 is not that of the risk analysis.")
}

// CheckRoot returns where the members at the root of the document differ from
// the final estimate, or their percentages do not sum to 100 (R5, R6).
func (r *Root) CheckRoot(f *Final) []Breach {
	l := &ledger{}
	b := &f.Breakdown
	l.equal("totalCost", r.TotalCost, f.Executive.TotalCost, "The root states another total.")
	l.equal("clientTotal", r.ClientTotal, f.Executive.TotalCost, "The client sees another total.")
	l.equal("p80", r.P80, f.Executive.Range.P80, "The root states another P80.")
	l.equal("risk_analysis.p50", r.Risk.P50, r.P50, "The root states two P50.")
	l.equal("risk_analysis.p80", r.Risk.P80, r.P80, "The root states two P80.")
	l.equal("risk_analysis.p90", r.Risk.P90, r.P90, "The root states two P90.")
	l.equal("cost_breakdown.total_labor", r.Breakdown.Labor, b.Labor, "The labor of the root is not that of the breakdown.")
	l.equal("laborAnalysis.total", r.Labor.Total, r.Labor.Base+r.Labor.Burden, "Wages and burden do not make the labor.")
	l.equal("laborAnalysis.total", r.Labor.Total, b.Labor, "The labor analysis is not the labor of the breakdown.")
	items, trades, drivers := money.Cents(0), money.Cents(0), money.Cents(0)
	for i := range r.Bill.Items {
		items += r.Bill.Items[i].Total
	}
	for _, t := range r.Labor.Trades {
		trades += t.Total
	}
	shares, divisions := 0.0, 0.0
	for _, d := range r.Drivers {
		drivers += d.Cost
		shares += d.Percentage
	}
	for _, d := range r.Breakdown.Divisions {
		divisions += d.Percentage
	}
	l.equal("bill_of_quantities.subtotal", r.Bill.Subtotal, items, "The bill does not add up.")
	l.equal("bill_of_quantities.total", r.Bill.Total, money.Sum(r.Bill.Subtotal, r.Bill.Overhead, r.Bill.Profit, r.Bill.Tax, r.Bill.Permits, r.Bill.Contingency), "The bill does not lead to the total.")
	l.equal("laborAnalysis.trades", trades, r.Labor.Total, "The trades do not make the labor.")
	l.equal("costDrivers", drivers, b.Direct, "The divisions do not make the direct cost.")
	k := &r.Breakdown
	l.hundred("costDrivers", shares)
	l.hundred("cost_breakdown.divisions", divisions)
	l.hundred("cost_breakdown", k.MaterialPct+k.LaborPct+k.EquipmentPct+k.PermitsPct+k.OverheadPct+k.ProfitPct+k.TaxPct+k.ContingencyPct)
	return l.breaches
}

func (l *ledger) hundred(path string, sum float64) {
	if math.Abs(sum-100) > 0.5 {
		l.add("R6", path, fmt.Sprintf("%.2f", sum), "100", "The percentages do not sum to 100.")
	}
}
