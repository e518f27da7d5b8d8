package synthesis

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
	"truecost.dev/shared/fault"
)

func TestItemID(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 400)
	for _, tt := range []struct{ line, want string }{
		{"09-003", "09-003__material"},
		{"a.b_c", "a.b_c__material"},
		{"06/001", "06-001-c97b8719__material"},
	} {
		if got := ItemID(tt.line, "material"); got != tt.want {
			t.Errorf("ItemID(%q) = %q, want %q", tt.line, got, tt.want)
		}
	}
	if ItemID("06/001", "labor") == ItemID("06 001", "labor") || ItemID("06/001", "labor") == ItemID("06-001", "labor") {
		t.Error("two lines share the id of a document")
	}
	if got := ItemID(long, "labor"); len(got) > 250 {
		t.Errorf("ItemID of 400 characters has %d", len(got))
	}
}

// costs draws costs that add up, and a risk analysis of them.
func costs() *rapid.Generator[estimate.Context] {
	return rapid.Custom(func(t *rapid.T) estimate.Context {
		cents := func(name string) money.Cents { return money.Cents(rapid.Int64Range(0, 5_000_000).Draw(t, name)) }
		c := &estimate.Cost{}
		for i, d := range catalog.Divisions() {
			out := estimate.CostDivision{Code: d.Code, Name: d.Name, Status: estimate.Included, Lines: []estimate.CostLine{}}
			for j := range rapid.IntRange(0, 2).Draw(t, "lines") {
				l := estimate.CostLine{
					ID: d.Code + "-" + string(rune('a'+j)), Description: "Line", Quantity: 3, Trade: []string{"carpenter", "plumber", "painter"}[i%3], LaborHours: 2,
					MaterialCost: estimate.Fixed(cents("material") + 1), LaborCost: estimate.Fixed(cents("labor")), Equipment: estimate.Fixed(cents("equipment")),
				}
				l.TotalCost = l.MaterialCost.Add(l.LaborCost).Add(l.Equipment)
				out.Material, out.Labor, out.Equipment = out.Material.Add(l.MaterialCost), out.Labor.Add(l.LaborCost), out.Equipment.Add(l.Equipment)
				out.Total = out.Total.Add(l.TotalCost)
				out.Lines = append(out.Lines, l)
				c.LineCount++
			}
			s := &c.Subtotals
			s.Materials, s.Labor, s.Equipment, s.Subtotal = s.Materials.Add(out.Material), s.Labor.Add(out.Labor), s.Equipment.Add(out.Equipment), s.Subtotal.Add(out.Total)
			c.Divisions = append(c.Divisions, out)
		}
		a := &c.Adjustments
		a.GeneralConditions, a.CompanyOverhead = estimate.Fixed(cents("general")+1), estimate.Fixed(cents("overhead"))
		a.Overhead = a.GeneralConditions.Add(a.CompanyOverhead)
		a.Profit, a.Tax, a.Permits = estimate.Fixed(cents("profit")), estimate.Fixed(cents("tax")), estimate.Fixed(cents("permits"))
		a.Total = a.Overhead.Add(a.Profit).Add(a.Tax).Add(a.Permits)
		c.Total = c.Subtotals.Subtotal.Add(a.Total)
		ctx := estimate.Context{EstimateID: "est-rapid", Cost: c}
		if rapid.Bool().Draw(t, "fixed") {
			a.ContingencyFixed, a.ContingencyPct = true, rapid.Float64Range(0, 1).Draw(t, "contingency")
			a.Contingency = estimate.Fixed(c.Total.Low.Scale(a.ContingencyPct))
		}
		if rapid.Bool().Draw(t, "risk") {
			r := &estimate.Risk{Base: c.Total.Low}
			p := &r.MonteCarlo.Percentiles
			p.P10 = c.Total.Low.Scale(0.95)
			p.P50 = p.P10 + cents("p50")
			p.P80 = max(c.Total.Low, p.P50) + cents("p80")
			p.P90 = p.P80 + cents("p90")
			r.Contingency.Dollars = p.P80 - c.Total.Low
			ctx.Risk = r
		}
		return ctx
	})
}

// R5, R6: whatever the outputs, there is one total and everything makes it.
func TestOneTotal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ctx := costs().Draw(t, "outputs")
		f, err := Final(ctx)
		if err != nil {
			t.Fatal(err)
		}
		root := Root(ctx, f)
		breaches := slices.Concat(ctx.Cost.CheckSums(), f.CheckTotals(), f.CheckAgreement(ctx))
		if ctx.Cost.LineCount > 0 { // without a line no percentages sum to 100
			breaches = append(breaches, root.CheckRoot(&f)...)
		}
		for _, b := range breaches {
			t.Errorf("%s %s: %s, found %s, want %s", b.Rule, b.Path, b.Issue, b.Observed, b.Expected)
		}
		if root.TotalCost != f.Executive.TotalCost || root.ClientTotal != f.Breakdown.Total {
			t.Errorf("totals %v, %v, %v differ", root.TotalCost, root.ClientTotal, f.Breakdown.Total)
		}
	})
}

func TestFinalNeedsACost(t *testing.T) {
	t.Parallel()
	if _, err := Final(estimate.Context{}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("Final({}) = %v, want fault.Invalid", err)
	}
}
