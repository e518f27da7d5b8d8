package cost

import (
	"strings"
	"testing"

	"truecost.dev/internal/sample"
	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
)

// scale multiplies every amount of a cost that has one, keeping its sums.
func scale(c *estimate.Cost, by func(money.Cents) money.Cents) {
	r := func(x *estimate.Range) { x.Low, x.Medium, x.High = by(x.Low), by(x.Medium), by(x.High) }
	for i := range c.Divisions {
		d := &c.Divisions[i]
		for j := range d.Lines {
			l := &d.Lines[j]
			r(&l.MaterialCost)
			r(&l.LaborCost)
			r(&l.Equipment)
		}
	}
	resum(c)
}

// resum makes every sum of a tampered cost right again, so that only the slip
// itself can be seen.
func resum(c *estimate.Cost) {
	s := &c.Subtotals
	*s = estimate.CostSubtotals{LaborHours: s.LaborHours}
	s.LaborHours = 0
	for i := range c.Divisions {
		d := &c.Divisions[i]
		d.Material, d.Labor, d.Equipment, d.Total = estimate.Range{}, estimate.Range{}, estimate.Range{}, estimate.Range{}
		for j := range d.Lines {
			l := &d.Lines[j]
			l.TotalCost = l.MaterialCost.Add(l.LaborCost).Add(l.Equipment)
			d.Material, d.Labor, d.Equipment = d.Material.Add(l.MaterialCost), d.Labor.Add(l.LaborCost), d.Equipment.Add(l.Equipment)
			s.LaborHours += l.LaborHours
		}
		d.Total = d.Material.Add(d.Labor).Add(d.Equipment)
		s.Materials, s.Labor, s.Equipment = s.Materials.Add(d.Material), s.Labor.Add(d.Labor), s.Equipment.Add(d.Equipment)
	}
	s.Subtotal = s.Materials.Add(s.Labor).Add(s.Equipment)
	total(c)
}

func total(c *estimate.Cost) {
	a := &c.Adjustments
	a.Overhead = a.GeneralConditions.Add(a.Design).Add(a.CompanyOverhead)
	a.Total = a.LocationAdjustment.Add(a.Overhead).Add(a.Profit).Add(a.Tax).Add(a.Permits)
	c.Total = c.Subtotals.Subtotal.Add(a.Total)
}

// first returns the first line whose material costs something and which takes
// hours.
func first(c *estimate.Cost) *estimate.CostLine {
	for _, l := range c.Lines {
		if l.MaterialCost.Low > 10000 && l.LaborCost.Low > 0 {
			return l
		}
	}
	return nil
}

func fixed(c money.Cents) estimate.Range { return estimate.Fixed(c) }

// planted are slips as they happen; each must fail and be named where it is.
var planted = []struct {
	name  string
	slip  func(in *estimate.Context, c *estimate.Cost)
	path  string // the beginning of a finding's path
	atMax int    // the most it may score; 0 for below the pass mark
}{
	{"headline of another total", func(_ *estimate.Context, c *estimate.Cost) { c.Summary.Headline = "$52,000 for the work." }, "summary.headline", 0},
	{"no range", func(_ *estimate.Context, c *estimate.Cost) { c.Total = fixed(c.Total.Low) }, "total.high", 0},
	{"alone: no quantities", func(in *estimate.Context, c *estimate.Cost) {
		*in = estimate.Context{}
		scale(c, func(money.Cents) money.Cents { return 0 })
	}, "subtotals.subtotal.low", 0},
	{"one-dollar total", func(_ *estimate.Context, c *estimate.Cost) { c.Total = fixed(100) }, "total.low", 0},
	{"one-cent lines", func(_ *estimate.Context, c *estimate.Cost) { scale(c, func(money.Cents) money.Cents { return 1 }) }, "divisions", 0},
	{"total x10", func(_ *estimate.Context, c *estimate.Cost) {
		c.Total.Low, c.Total.Medium, c.Total.High = c.Total.Low*10, c.Total.Medium*10, c.Total.High*10
	}, "total.low", 0},
	{"everything x10", func(_ *estimate.Context, c *estimate.Cost) {
		scale(c, func(x money.Cents) money.Cents { return 10 * x })
	}, "divisions", 0},
	{"one unit price x10", func(_ *estimate.Context, c *estimate.Cost) {
		l := first(c)
		l.UnitMaterial = estimate.RateRange{Low: 10 * l.UnitMaterial.Low, Medium: 10 * l.UnitMaterial.Medium, High: 10 * l.UnitMaterial.High}
		l.MaterialCost = fixed(l.UnitMaterial.Low.Times(l.Quantity * (1 + l.WastePct/100)))
		resum(c)
	}, "divisions", 0},
	{"a line that is not its factors", func(_ *estimate.Context, c *estimate.Cost) {
		first(c).MaterialCost = fixed(first(c).MaterialCost.Low + 5000)
		resum(c)
	}, "divisions", 0},
	{"division not its lines", func(_ *estimate.Context, c *estimate.Cost) {
		for i := range c.Divisions {
			if len(c.Divisions[i].Lines) > 0 {
				c.Divisions[i].Total.Low += 100000
				return
			}
		}
	}, "divisions", 0},
	{"subtotal not its divisions", func(_ *estimate.Context, c *estimate.Cost) { c.Subtotals.Materials.Low += 100000 }, "subtotals.materials", 0},
	{"fewer lines than said", func(_ *estimate.Context, c *estimate.Cost) { c.LineCount += 7 }, "boqLineItemCount", 0},
	{"a line dropped", func(_ *estimate.Context, c *estimate.Cost) {
		for i := range c.Divisions {
			if n := len(c.Divisions[i].Lines); n > 0 {
				c.Divisions[i].Lines = c.Divisions[i].Lines[:n-1]
				c.LineCount--
				resum(c)
				return
			}
		}
	}, "divisions", 0},
	{"a line twice", func(_ *estimate.Context, c *estimate.Cost) {
		for i := range c.Divisions {
			if d := &c.Divisions[i]; len(d.Lines) > 0 {
				d.Lines = append(d.Lines, d.Lines[0])
				c.LineCount++
				resum(c)
				return
			}
		}
	}, "divisions", 0},
	{"zero-priced line", func(_ *estimate.Context, c *estimate.Cost) {
		l := first(c)
		l.MaterialCost, l.LaborCost, l.Equipment, l.LaborHours, l.HoursPerUnit = fixed(0), fixed(0), fixed(0), 0, 0
		l.UnitMaterial = estimate.RateRange{}
		resum(c)
	}, "divisions", 0},
	{"doubled quantity", func(_ *estimate.Context, c *estimate.Cost) {
		l := first(c)
		l.Quantity *= 2
		l.LaborHours *= 2
		l.MaterialCost, l.LaborCost, l.Equipment = fixed(2*l.MaterialCost.Low), fixed(2*l.LaborCost.Low), fixed(2*l.Equipment.Low)
		resum(c)
	}, "divisions", 0},
	{"hours by the division, not the task", func(_ *estimate.Context, c *estimate.Cost) {
		l := first(c)
		l.HoursPerUnit *= 12
		l.LaborHours *= 12
		l.LaborCost = fixed(l.LaborRate.Low.Times(l.LaborHours))
		resum(c)
	}, "divisions", 0},
	{"hours that are not quantity times hours", func(_ *estimate.Context, c *estimate.Cost) {
		first(c).LaborHours += 20
		c.Subtotals.LaborHours += 20
	}, "divisions", 0},
	{"a bare wage for a rate", func(_ *estimate.Context, c *estimate.Cost) {
		l := first(c)
		l.LaborRate = estimate.RateRange{Low: l.LaborRate.Low / 2, Medium: l.LaborRate.Medium / 2, High: l.LaborRate.High / 2}
		l.LaborCost = fixed(l.LaborRate.Low.Times(l.LaborHours))
		resum(c)
	}, "divisions", 0},
	{"reversed percentiles of the total", func(_ *estimate.Context, c *estimate.Cost) {
		c.Total.Medium, c.Total.High = c.Total.High, c.Total.Medium
	}, "total", 0},
	{"reversed percentiles of a line", func(_ *estimate.Context, c *estimate.Cost) {
		l := first(c)
		l.TotalCost.High = l.TotalCost.Low - 1
	}, "divisions", 0},
	{"doubled overhead", func(_ *estimate.Context, c *estimate.Cost) {
		a := &c.Adjustments
		a.CompanyOverhead = a.CompanyOverhead.Add(a.CompanyOverhead)
		total(c)
	}, "adjustments.companyOverhead", 0},
	{"overhead of another profile", func(_ *estimate.Context, c *estimate.Cost) { c.Adjustments.OverheadPct += 0.1 }, "adjustments", 0},
	{"profit before overhead", func(_ *estimate.Context, c *estimate.Cost) {
		a := &c.Adjustments
		a.Profit = fixed(c.Subtotals.Subtotal.Low.Scale(a.ProfitPct))
		total(c)
	}, "adjustments.profit", 0},
	{"contingency inside the base", func(_ *estimate.Context, c *estimate.Cost) {
		c.Adjustments.Contingency = fixed(c.Total.Low.Scale(0.1))
		c.Total = c.Total.Add(c.Adjustments.Contingency)
	}, "total.low", 0},
	{"missing tax", func(_ *estimate.Context, c *estimate.Cost) {
		c.Adjustments.Tax = fixed(0)
		total(c)
	}, "adjustments.tax", 0},
	{"tax on labor too", func(_ *estimate.Context, c *estimate.Cost) {
		a := &c.Adjustments
		a.Tax = fixed(a.Tax.Low + c.Subtotals.Labor.Low.Scale(a.TaxPct))
		total(c)
	}, "adjustments.tax", 0},
	{"tax of another state", func(_ *estimate.Context, c *estimate.Cost) { c.Adjustments.TaxPct += 0.02 }, "adjustments.tax", 0},
	{"permits marked up five times", func(_ *estimate.Context, c *estimate.Cost) {
		c.Adjustments.Permits = fixed(20*c.Adjustments.Permits.Low + 500000)
		total(c)
	}, "adjustments.permitCosts", 0},
	{"permits by owner and priced", func(in *estimate.Context, c *estimate.Cost) {
		clarified := *in.Clarification
		clarified.Brief.Exclusions = append(clarified.Brief.Exclusions, "Permit fees (by owner)")
		in.Clarification = &clarified
		c.Adjustments.Permits = fixed(50000)
		total(c)
	}, "adjustments.permitCosts", 0},
	{"excluded division priced", func(in *estimate.Context, _ *estimate.Cost) {
		scope := *in.Scope
		scope.Divisions = append([]estimate.ScopeSection{}, scope.Divisions...)
		for i := range scope.Divisions {
			if len(scope.Divisions[i].Items) > 0 {
				scope.Divisions[i].Status = estimate.Excluded
				break
			}
		}
		in.Scope = &scope
	}, "divisions", 0},
	{"the place applied twice", func(_ *estimate.Context, c *estimate.Cost) {
		c.Adjustments.LocationAdjustment = fixed(c.Subtotals.Subtotal.Low.Scale(0.12))
		total(c)
	}, "adjustments.locationAdjustment", 0},
	{"a tenth of the usual size at the same price", func(in *estimate.Context, _ *estimate.Cost) {
		scope := *in.Scope
		scope.Sqft /= 12
		in.Scope = &scope
	}, "total.low", 0},
	{"no lines at all", func(_ *estimate.Context, c *estimate.Cost) { *c = estimate.Cost{Total: fixed(1000000)} }, "divisions", 30},
}

func TestPlantedErrorsFail(t *testing.T) {
	t.Parallel()
	for _, tt := range planted {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := sample.Scoped(t, "kitchen")
			c := priced(t, in)
			tt.slip(&in, &c)
			limit := agent.PassMark - 1
			if tt.atMax > 0 {
				limit = tt.atMax
			}
			s := rubric().Judge(in, &c)
			if s.Score > limit || s.Passed {
				t.Errorf("score %d, want at most %d", s.Score, limit)
			}
			critique := s.Critique()
			if len(critique.Find(tt.path)) == 0 {
				t.Errorf("no finding at %s: %s", tt.path, s.Feedback)
			}
			if critique.WhyWrong == "" || len(critique.Issues) == 0 || strings.TrimSpace(critique.Issues[0]) == "" {
				t.Errorf("the critic has nothing to say: %+v", critique)
			}
		})
	}
}
