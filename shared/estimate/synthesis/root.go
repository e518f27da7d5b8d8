package synthesis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
)

// Root returns the members for the root of the estimate's document, from the
// same figures as f: their amounts agree with it to the cent (R6).
func Root(ctx estimate.Context, f estimate.Final) estimate.Root {
	s := subject{ctx}
	e := &f.Executive
	r := estimate.Root{
		ProjectType: e.ProjectType, Sqft: e.Sqft,
		TotalCost: e.TotalCost, ClientTotal: e.TotalCost, P50: e.Range.P50, P80: e.Range.P80, P90: e.Range.P90,
		ContingencyPct: e.ContingencyPct, Weeks: e.Weeks,
		Drivers: []estimate.RootDriver{}, Schedule: s.rootSchedule(), Risk: s.rootRisk(&f), Assumptions: s.rootAssumptions(&f),
		CostItems: f.CostItems.Count, CostItemsPath: f.CostItems.Path, Notes: s.notes(&f),
	}
	if c := ctx.Clarification; c != nil {
		r.ProjectName = cmp.Or(c.Brief.ProjectName, capital(strings.ReplaceAll(c.Brief.ProjectType, "_", " ")))
		r.Address = c.Brief.Location.Full
		r.Scope = cmp.Or(c.ProjectScope, c.Brief.Summary.Description)
		r.CAD = &c.CAD
	}
	if ctx.Risk != nil {
		r.Iterations = ctx.Risk.MonteCarlo.Iterations
	}
	if ctx.Cost != nil {
		r.Labor = s.rootLabor(&f)
		r.Breakdown, r.Bill = s.rootBreakdown(&f), s.rootBill(&f)
		for _, d := range largest(ctx.Cost, len(ctx.Cost.Divisions)) {
			r.Drivers = append(r.Drivers, estimate.RootDriver{Name: d.Name, Cost: d.Total.Low, Percentage: share(d.Total.Low, f.Breakdown.Direct)})
		}
	}
	return r
}

// share returns part as percent of whole, two decimals.
func share(part, whole money.Cents) float64 {
	if whole == 0 {
		return 0
	}
	return round2(100 * float64(part) / float64(whole))
}

func (s subject) rootLabor(f *estimate.Final) estimate.RootLabor {
	byTrade := map[string]*estimate.RootTrade{}
	out := estimate.RootLabor{
		Hours: s.Cost.Subtotals.LaborHours, Total: f.Breakdown.Labor, Pct: share(f.Breakdown.Labor, f.Breakdown.Total),
		Trades: []estimate.RootTrade{}, Locations: estimate.RootUnion{Premium: 1}, Days: s.days(),
	}
	for _, l := range s.Cost.Lines {
		if l.LaborHours == 0 && l.LaborCost.Low == 0 {
			continue
		}
		t := byTrade[l.Trade]
		if t == nil {
			t = &estimate.RootTrade{Name: l.Trade}
			byTrade[l.Trade] = t
		}
		t.Hours += l.LaborHours
		t.Total += l.LaborCost.Low
		t.Base += s.wages(l)
	}
	for _, t := range byTrade {
		t.Hours = round2(t.Hours)
		t.Burden = t.Total - t.Base
		if t.Hours > 0 {
			t.Rate = money.RateFrom(t.Total.Float() / t.Hours)
		}
		out.Base += t.Base
		out.Burden += t.Burden
		out.Trades = append(out.Trades, *t)
	}
	slices.SortFunc(out.Trades, func(a, b estimate.RootTrade) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), strings.Compare(a.Name, b.Name))
	})
	if s.Location != nil {
		out.Locations.Union = s.Location.Union
	}
	return out
}

// wages returns the bare wages in the labor of a line: the local burdened rate
// without the burden of the trade.
func (s subject) wages(l *estimate.CostLine) money.Cents {
	trade := catalog.TradeByName(l.Trade)
	if trade == nil {
		return l.LaborCost.Low
	}
	own := 1.0
	if l.Subcontract {
		own += trade.SubOnLaborPct / 100
	}
	return l.LaborCost.Low.Scale(1 / own / (1 + trade.BurdenPct/100))
}

// days of work: those of the schedule, or without one crew-days of two workers.
func (s subject) days() float64 {
	if s.Timeline != nil {
		return s.Timeline.Duration
	}
	return math.Ceil(s.Cost.Subtotals.LaborHours / (2 * 8 * 0.85))
}

func (s subject) rootSchedule() estimate.RootSchedule {
	out := estimate.RootSchedule{Tasks: []estimate.RootTask{}, Milestones: []estimate.RootMilestone{}, Notes: []string{}}
	t := s.Timeline
	if t == nil {
		out.Notes = append(out.Notes, "The schedule is not available.")
		return out
	}
	out.Weeks, out.Start, out.End = t.Weeks, t.Start.String(), t.End.String()
	numbers := map[string]int{}
	for i := range t.Tasks {
		numbers[t.Tasks[i].ID] = t.Tasks[i].Number
	}
	for i := range t.Tasks {
		task := &t.Tasks[i]
		row := estimate.RootTask{
			Number: task.Number, Name: task.Name, Duration: task.Duration, Start: task.Start.String(), End: task.End.String(),
			Milestone: task.Milestone, Dependencies: []int{},
		}
		for _, id := range task.Dependencies {
			if n, ok := numbers[id]; ok {
				row.Dependencies = append(row.Dependencies, n)
			}
		}
		out.Tasks = append(out.Tasks, row)
	}
	for _, m := range t.Milestones {
		out.Milestones = append(out.Milestones, estimate.RootMilestone{Name: m.Name, Date: m.Date.String()})
	}
	out.Notes = append(out.Notes, t.Assumptions...)
	return out
}

func (s subject) rootBreakdown(f *estimate.Final) estimate.RootBreakdown {
	b := &f.Breakdown
	of := func(part money.Cents) float64 { return share(part, b.Total) }
	out := estimate.RootBreakdown{
		Material: b.Materials, Labor: b.Labor, Equipment: b.Equipment, Permits: b.Permits, Overhead: b.Overhead, Profit: b.Profit,
		Tax: b.Taxes, Contingency: b.Contingency, Total: b.Total,
		MaterialPct: of(b.Materials), LaborPct: of(b.Labor), EquipmentPct: of(b.Equipment), PermitsPct: of(b.Permits),
		OverheadPct: of(b.Overhead), ProfitPct: of(b.Profit), TaxPct: of(b.Taxes), ContingencyPct: of(b.Contingency),
		Divisions: []estimate.RootDivision{},
	}
	for i := range s.Cost.Divisions {
		d := &s.Cost.Divisions[i]
		if len(d.Lines) == 0 {
			continue
		}
		row := estimate.RootDivision{
			Code: d.Code, Name: d.Name, Total: d.Total.Low, Material: d.Material.Low, Labor: d.Labor.Low, Equipment: d.Equipment.Low,
			Percentage: share(d.Total.Low, b.Direct), Items: []estimate.RootItem{},
		}
		for j := range d.Lines {
			row.Items = append(row.Items, rootItem(&d.Lines[j]))
		}
		out.Divisions = append(out.Divisions, row)
	}
	return out
}

func rootItem(l *estimate.CostLine) estimate.RootItem {
	return estimate.RootItem{
		Description: l.Description, Quantity: l.Quantity, Unit: l.Unit, UnitCost: perUnit(l.TotalCost, l.Quantity).Low,
		Material: l.MaterialCost.Low, Labor: l.LaborCost.Low, Equipment: l.Equipment.Low,
	}
}

func (s subject) rootBill(f *estimate.Final) estimate.RootBill {
	b := &f.Breakdown
	out := estimate.RootBill{
		Items: []estimate.RootBillItem{}, Subtotal: b.Direct, Permits: b.Permits, Overhead: b.Overhead, Profit: b.Profit,
		Tax: b.Taxes, Contingency: b.Contingency, Total: b.Total, MarkupPct: share(b.Overhead+b.Profit, b.Direct),
	}
	for d, l := range s.Cost.Lines {
		out.Items = append(out.Items, estimate.RootBillItem{
			Number: len(out.Items) + 1, RootItem: rootItem(l), Total: l.TotalCost.Low, Division: s.Cost.Divisions[d].Code,
		})
	}
	return out
}

func (s subject) rootRisk(f *estimate.Final) estimate.RootRisk {
	p := f.Executive.Range
	out := estimate.RootRisk{
		P50: p.P50, P80: p.P80, P90: p.P90, ContingencyP: f.Breakdown.ContingencyPct, Contingency: f.Breakdown.Contingency,
		Histogram: []estimate.Bin{}, TopRisks: []estimate.RootTopRisk{},
	}
	if s.Risk == nil {
		return out
	}
	m := &s.Risk.MonteCarlo
	out.Iterations, out.Mean, out.Min, out.Max = m.Iterations, m.Mean, m.Min, m.Max
	for _, bin := range m.Histogram {
		out.Histogram = append(out.Histogram, bin)
		out.MaxPercentage = max(out.MaxPercentage, bin.Percentage)
	}
	for _, r := range m.TopRisks {
		out.TopRisks = append(out.TopRisks, estimate.RootTopRisk{Item: r.Item, Impact: r.Impact, Probability: r.Probability, Sensitivity: r.Sensitivity})
	}
	return out
}

func (s subject) rootAssumptions(f *estimate.Final) estimate.RootAssumptions {
	out := estimate.RootAssumptions{
		Items: f.Assumptions, Inclusions: []string{}, Exclusions: []estimate.RootExclusion{},
		Notes: append(slices.Clone(f.Disclaimers), f.Allowances...),
	}
	if s.Cost != nil {
		for i := range s.Cost.Divisions {
			if d := &s.Cost.Divisions[i]; len(d.Lines) > 0 {
				out.Inclusions = append(out.Inclusions, fmt.Sprintf("%s: %d lines", d.Name, len(d.Lines)))
			}
		}
	}
	out.Exclusions = append(out.Exclusions, estimate.RootExclusion{Category: "Not in the price", Items: f.Exclusions})
	return out
}

// notes are for the contractor: what to look at, and the markups.
func (s subject) notes(f *estimate.Final) string {
	var out []string
	if s.Cost != nil {
		a := &s.Cost.Adjustments
		out = append(out, fmt.Sprintf("Profile %s; general conditions %.4g %%, overhead %.4g %%, profit %.4g %%.",
			a.MarkupProfile, 100*a.GeneralConditionsPct, 100*a.OverheadPct, 100*a.ProfitPct))
	}
	for _, r := range f.ReviewReasons {
		out = append(out, sentence(r))
	}
	return strings.Join(out, " ")
}
