package pricing

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/locality"
	"truecost.dev/shared/estimate/money"
	"truecost.dev/shared/fault"
)

// national is a place where every index is 1.00: practice's reference.
func national() *estimate.Location {
	rates := map[string]money.Rate{}
	for _, t := range catalog.Trades() {
		rates[catalog.TradeName(t.Key)] = money.RateFrom(t.Rate)
	}
	return &estimate.Location{
		City: "Anywhere", State: "KS", LaborRates: rates, LaborIndex: 1, MaterialIndex: 1, LocationFactor: 1,
		Tax: estimate.SalesTax{Fraction: 0.069, Base: "materials"}, Level: "national", PriceYear: catalog.PriceYear, Confidence: 0.8,
	}
}

func line(id, code string, qty float64) estimate.ScopeLine {
	item := catalog.ItemByCode(code)
	return estimate.ScopeLine{
		ID: id, Item: item.Name, Quantity: qty, TakeoffQty: qty, Unit: estimate.Unit(item.Unit), TakeoffUnit: estimate.Unit(item.Unit),
		QuantitySource: "stated", CostCode: code, CodeConfidence: 0.95, Trade: catalog.TradeName(item.Trade),
		Confidence: 0.9, Source: "user_input", Validation: "estimated", WastePct: item.WastePct,
	}
}

// bath is a small job with every kind of line: self-performed and subcontracted
// work, material sold by area and by the piece, a default and an allowance.
func bath() estimate.Context {
	return estimate.Context{
		EstimateID: "est-bath", Location: national(),
		Clarification: &estimate.Clarification{
			Timestamp: time.Date(2026, 2, 10, 9, 0, 0, 0, time.UTC),
			Brief:     estimate.Brief{Timeline: estimate.Wishes{Start: day(2025, 7, 1)}},
		},
		Scope: &estimate.Scope{
			ProjectKey: "whole_house_remodel", Finish: "mid_range", Complexity: "moderate", Sqft: 80, Confidence: 0.9,
			Divisions: []estimate.ScopeSection{
				{Code: "02", Status: estimate.Included, Items: []estimate.ScopeLine{line("02-001", "024119.14", 35)}},
				{Code: "09", Status: estimate.Included, Items: []estimate.ScopeLine{
					line("09-001", "093013.10", 35), line("09-002", "099123.14", 160),
					{
						ID: "09-003", Item: "Mural", Quantity: 1, TakeoffQty: 1, Unit: estimate.Each, TakeoffUnit: estimate.Each, CostCode: "GEN-09-001",
						MaterialPerUnit: money.RateFrom(300), HoursPerUnit: 5, Trade: "painter", CodeConfidence: 0.3, Confidence: 0.5, Source: "inferred",
					},
				}},
				{Code: "10", Status: estimate.Included, Items: []estimate.ScopeLine{{
					ID: "10-001", Item: "Mirror allowance", Quantity: 450, TakeoffQty: 450, Unit: estimate.Allowance, TakeoffUnit: estimate.Allowance,
					CostCode: "GEN-10-001", QuantitySource: "allowance", Trade: "carpenter", Confidence: 0.7, Source: "standard_allowance",
				}}},
				{Code: "22", Status: estimate.Included, Items: []estimate.ScopeLine{line("22-001", "224113.10", 1), line("22-002", "224119.10", 1)}},
				{Code: "26", Status: estimate.Excluded, Items: []estimate.ScopeLine{line("26-001", "262726.11", 4)}, OwnerItems: []string{"Receptacles"}},
			},
		},
	}
}

func day(y int, m time.Month, d int) *estimate.Date {
	date := estimate.NewDate(y, m, d)
	return &date
}

func price(t interface {
	Helper()
	Fatalf(string, ...any)
}, ctx estimate.Context,
) estimate.Cost {
	t.Helper()
	c, err := Price(ctx)
	if err != nil {
		t.Fatalf("Price: %v", err)
	}
	return c
}

func find(t *testing.T, c estimate.Cost, id string) estimate.CostLine {
	t.Helper()
	for _, l := range c.Lines {
		if l.ID == id {
			return *l
		}
	}
	t.Fatalf("no line %s", id)
	return estimate.CostLine{}
}

func TestPriceNeedsScopeAndPlace(t *testing.T) {
	t.Parallel()
	whole := bath()
	empty := *whole.Scope
	empty.Divisions = whole.Scope.Divisions[4:]
	for name, ctx := range map[string]estimate.Context{
		"nothing":       {},
		"no place":      {Scope: whole.Scope},
		"no scope":      {Location: whole.Location},
		"nothing to do": {Scope: &empty, Location: whole.Location},
	} {
		if _, err := Price(ctx); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: Price = %v, want fault.Invalid", name, err)
		}
	}
}

func TestPriceReconciles(t *testing.T) {
	t.Parallel()
	c := price(t, bath())
	for _, b := range slices.Concat(c.CheckSums(), c.CheckRanges(), estimate.CheckExclusions(bath(), &c)) {
		t.Errorf("%s %s: %s, found %s, want %s", b.Rule, b.Path, b.Issue, b.Observed, b.Expected)
	}
	if len(c.Divisions) != 24 || c.LineCount != 7 {
		t.Errorf("%d divisions, %d lines; want 24 and 7", len(c.Divisions), c.LineCount)
	}
	if c.Adjustments.Escalation != 0 && c.Midpoint.Before(c.PriceDate.Time) {
		t.Errorf("escalation %v before the price date", c.Adjustments.Escalation)
	}
}

func TestExcludedWorkCostsNothing(t *testing.T) {
	t.Parallel()
	c := price(t, bath())
	for _, d := range c.Divisions {
		if d.Code == "26" && (d.Total.Low != 0 || len(d.Lines) != 0 || d.Status != estimate.Excluded) {
			t.Errorf("excluded division 26 = %+v, want no lines and no cost", d)
		}
	}
}

func TestAllowanceKeepsItsAmount(t *testing.T) {
	t.Parallel()
	ctx := bath()
	ctx.Location.MaterialIndex, ctx.Clarification.Brief.Timeline.Start = 1.2, day(2027, 1, 4)
	if got := find(t, price(t, ctx), "10-001").TotalCost.Low; got != 45000 {
		t.Errorf("allowance of $450 = %v, want $450.00", got)
	}
}

func TestPermits(t *testing.T) {
	t.Parallel()
	local := estimate.PermitCosts{Class: "standard", Base: 10000, Percentage: 0.01, Electrical: 3000, Plumbing: 4000, Mechanical: 2000, PlanReview: 5000, Inspection: 1000}
	tests := []struct {
		name   string
		change func(*estimate.Context)
		fixed  money.Cents // without the percentage; -1 for none at all
	}{
		{"plumbing alone", func(*estimate.Context) {}, 20000},
		{"with wiring", func(c *estimate.Context) { c.Scope.Divisions[4].Status = estimate.Included }, 23000},
		{"permits excluded", func(c *estimate.Context) { c.Clarification.Brief.Exclusions = []string{"Permit fees (by owner)"} }, -1},
		{"excluded by the scope", func(c *estimate.Context) { c.Scope.Exclusions = []string{"building permit"} }, -1},
		{"an item by owner", func(c *estimate.Context) { c.Scope.Divisions[4].OwnerItems = []string{"Permits and inspections"} }, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx := bath()
			ctx.Location.Permits = local
			tt.change(&ctx)
			c := price(t, ctx)
			got := c.Adjustments.Permits.Low
			contract := c.Total.Low - got
			want := tt.fixed + contract.Scale(0.01)
			if tt.fixed < 0 {
				want = 0
			}
			if diff := got - want; diff < -1 || diff > 1 {
				t.Errorf("permits = %v, want %v", got, want)
			}
		})
	}
}

func TestPermitClassNone(t *testing.T) {
	t.Parallel()
	ctx := bath()
	ctx.Scope.ProjectKey = "flooring_lvp"
	if got := price(t, ctx).Adjustments.Permits.Low; got != 0 {
		t.Errorf("permits of class none = %v, want 0", got)
	}
}

func TestTaxBases(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		base            string
		onLines, onRest float64 // rate on material, rate on the contract
	}{
		{"materials", 0.08, 0},
		{"contract", 0, 0.08},
		{"contract65", 0, 0.052},
		{"materials_plus_excise", 0.08, 0.02},
		{"materials_plus_contract_tax", 0.08, 0}, // residential work is exempt
		{"none", 0, 0},
	} {
		t.Run(tt.base, func(t *testing.T) {
			t.Parallel()
			ctx := bath()
			ctx.Location.Tax = estimate.SalesTax{Fraction: 0.08, Base: tt.base}
			c := price(t, ctx)
			allowance := find(t, c, "10-001").MaterialCost.Low
			taxed := (c.Subtotals.Materials.Low - allowance).Float() * tt.onLines
			a := c.Adjustments
			price := (c.Total.Low - a.Permits.Low).Float() - taxed*0 - a.Tax.Low.Float()
			if tt.onLines > 0 { // the tax on materials is part of the contract
				price += taxed
			}
			if want := taxed + price*tt.onRest; math.Abs(a.Tax.Low.Float()-want) > 0.05 {
				t.Errorf("tax = %v, want %.2f", a.Tax.Low, want)
			}
		})
	}
}

func TestEscalation(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		to              *estimate.Date
		labor, material float64
		note            bool
	}{
		{day(2024, 1, 1), 1, 1, false},
		{day(2025, 7, 1), 1, 1, false},
		{day(2026, 7, 2), 1.034, 1.032, false},
		{day(2028, 7, 1), 1.034 * 1.034 * 1.034, 1.032 * 1.032 * 1.032, true},
		{day(9000, 1, 1), math.Pow(1.034, 10), math.Pow(1.032, 10), true},
	} {
		e := escalate(2025, *tt.to)
		if math.Abs(e.labor-tt.labor) > 2e-4 || math.Abs(e.material-tt.material) > 2e-4 || (e.note != "") != tt.note {
			t.Errorf("escalate(2025, %s) = %.4f, %.4f, %q; want %.4f, %.4f, note %t", tt.to, e.labor, e.material, e.note, tt.labor, tt.material, tt.note)
		}
	}
}

func TestEscalationIsReported(t *testing.T) {
	t.Parallel()
	now, later := bath(), bath()
	now.Clarification.Brief.Timeline.Start, later.Clarification.Brief.Timeline.Start = day(2024, 1, 1), day(2027, 3, 1)
	before, after := price(t, now), price(t, later)
	if before.Adjustments.Escalation != 0 {
		t.Errorf("escalation before the price date = %v, want 0", before.Adjustments.Escalation)
	}
	grew := after.Subtotals.Subtotal.Low - before.Subtotals.Subtotal.Low
	if diff := after.Adjustments.Escalation - grew; diff < -10 || diff > 10 {
		t.Errorf("escalation = %v, but the lines grew by %v", after.Adjustments.Escalation, grew)
	}
}

func TestConditionsAreReadFromTheBrief(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*estimate.Context)
		want   []string
	}{
		{"nothing said", func(*estimate.Context) {}, nil},
		{"old house", func(c *estimate.Context) { c.Clarification.Brief.YearBuilt = 1925 }, []string{"P13"}},
		{"post-war house", func(c *estimate.Context) { c.Clarification.Brief.YearBuilt = 1960 }, []string{"P14"}},
		{"modern house", func(c *estimate.Context) { c.Clarification.Brief.YearBuilt = 2001 }, nil},
		{"complex and luxurious", func(c *estimate.Context) { c.Scope.Complexity, c.Scope.Finish = "complex", "luxury" }, []string{"P28", "P31"}},
		{"occupied", func(c *estimate.Context) {
			c.Clarification.Brief.SpecialRequirements = []string{"The house stays occupied"}
		}, []string{"P09"}},
		{"unoccupied", func(c *estimate.Context) { c.Clarification.Brief.Summary.Description = "Unoccupied unit" }, []string{"P10"}},
		{"upstairs", func(c *estimate.Context) { c.Clarification.Brief.Summary.Description = "Second-floor hall bath" }, []string{"P15"}},
	}
	for _, tt := range tests {
		ctx := bath()
		tt.change(&ctx)
		var got []string
		for _, f := range factorsOf(ctx) {
			got = append(got, f.ID)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: factors %v, want %v", tt.name, got, tt.want)
		}
		c := price(t, ctx)
		for _, id := range tt.want {
			if !strings.Contains(strings.Join(c.Summary.Assumptions, "\n"), id) {
				t.Errorf("%s: the assumptions do not name %s", tt.name, id)
			}
		}
	}
}

func TestExcludedInstallation(t *testing.T) {
	t.Parallel()
	ctx := bath()
	ctx.Scope.Divisions = append(ctx.Scope.Divisions, estimate.ScopeSection{Code: "11", Status: estimate.Included, Items: []estimate.ScopeLine{line("11-001", "113013.10", 1)}})
	if got := find(t, price(t, ctx), "11-001").LaborHours; got <= 0 {
		t.Fatalf("range with installation: %v h, want some", got)
	}
	ctx.Clarification.Brief.Exclusions = []string{"Appliance installation"}
	got := find(t, price(t, ctx), "11-001")
	if got.LaborHours != 0 || got.LaborCost.Low != 0 || got.MaterialCost.Low == 0 {
		t.Errorf("range without installation: %v h, labor %v, material %v; want the material alone", got.LaborHours, got.LaborCost.Low, got.MaterialCost.Low)
	}
}

// Ordering of places (R11): labor and material apart, once.
func TestPlacesAreOrdered(t *testing.T) {
	t.Parallel()
	at := func(zip, city, state string) money.Cents {
		ctx := bath()
		loc := locality.Locate(estimate.Address{Zip: zip, City: city, State: state}, "standard", locality.Auto)
		ctx.Location = &loc
		return price(t, ctx).Subtotals.Subtotal.Low
	}
	ny, denver, houston := at("10001", "New York", "NY"), at("80202", "Denver", "CO"), at("77002", "Houston", "TX")
	if ny <= denver || denver <= houston {
		t.Errorf("New York %v, Denver %v, Houston %v: want them falling", ny, denver, houston)
	}
}

func TestUncertaintyFollowsEvidence(t *testing.T) {
	t.Parallel()
	relative := func(change func(*estimate.ScopeLine)) float64 {
		ctx := bath()
		l := &ctx.Scope.Divisions[1].Items[0]
		change(l)
		got := find(t, price(t, ctx), "09-001").TotalCost
		return float64(got.High) / float64(got.Low)
	}
	firm := relative(func(l *estimate.ScopeLine) { l.QuantitySource = "measured" })
	for name, change := range map[string]func(*estimate.ScopeLine){
		"inferred":       func(l *estimate.ScopeLine) { l.Source = "inferred" },
		"low confidence": func(l *estimate.ScopeLine) { l.Confidence = 0.4 },
		"poor match":     func(l *estimate.ScopeLine) { l.CodeConfidence = 0.4 },
		"allowance":      func(l *estimate.ScopeLine) { l.QuantitySource = "allowance" },
		"discrepancy":    func(l *estimate.ScopeLine) { l.Validation = "discrepancy" },
	} {
		if got := relative(change); got <= firm {
			t.Errorf("%s: P90 is %.3f of the estimate, measured %.3f; want it wider", name, got, firm)
		}
	}
}

func TestFlaggedItemIsWider(t *testing.T) {
	t.Parallel()
	ctx := bath()
	ctx.Clarification.Scope = map[string]estimate.ScopeDivision{"div09_finishes": {Items: []estimate.ScopeItem{{ID: "09-001"}}}}
	before := find(t, price(t, ctx), "09-001")
	ctx.Clarification.Flags.LowConfidence = []estimate.LowConfidence{{Field: "csiScope.div09_finishes.items[0]", Confidence: 0.3}}
	after := find(t, price(t, ctx), "09-001")
	if after.TotalCost.High <= before.TotalCost.High || after.Confidence != "low" {
		t.Errorf("flagged: P90 %v (%s), before %v; want wider and low", after.TotalCost.High, after.Confidence, before.TotalCost.High)
	}
}

// A correlated total is wider than independent lines and narrower than the sum
// of their percentiles.
func TestTotalIsCombined(t *testing.T) {
	t.Parallel()
	c := price(t, bath())
	sumHigh := money.Cents(0)
	for _, l := range c.Lines {
		sumHigh += l.TotalCost.High
	}
	if got := c.Subtotals.Subtotal.High; got >= sumHigh {
		t.Errorf("P90 of the subtotal = %v, not below the sum of P90s %v", got, sumHigh)
	}
	parts := []moment{{100, 20}, {100, 20}, {100, 20}}
	if a, b := combine(0, parts).sd, combine(betweenLines, parts).sd; b <= a {
		t.Errorf("combine with correlation: sd %v, independent %v; want wider", b, a)
	}
}

func TestPriceIsDeterministic(t *testing.T) {
	t.Parallel()
	a, _ := json.Marshal(price(t, bath()))
	b, _ := json.Marshal(price(t, bath()))
	if string(a) != string(b) {
		t.Error("two prices of one context differ")
	}
}

func TestPreferences(t *testing.T) {
	t.Parallel()
	base := price(t, bath())
	with := func(p estimate.Preferences) estimate.Cost {
		ctx := bath()
		ctx.Clarification.Brief.Preferences = &p
		return price(t, ctx)
	}
	f := func(x float64) *float64 { return &x }
	tests := []struct {
		name string
		p    estimate.Preferences
		sign int
		warn bool
	}{
		{"less overhead", estimate.Preferences{Overhead: f(0.05)}, -1, false},
		{"more overhead", estimate.Preferences{Overhead: f(0.35)}, 1, false},
		{"absurd overhead", estimate.Preferences{Overhead: f(0.95)}, 1, true},
		{"less profit", estimate.Preferences{Profit: f(0.02)}, -1, false},
		{"absurd profit", estimate.Preferences{Profit: f(1)}, 1, true},
		{"no waste", estimate.Preferences{Waste: f(1)}, -1, false},
		{"more waste", estimate.Preferences{Waste: f(1.25)}, 1, false},
		{"contingency is not in the total", estimate.Preferences{Contingency: f(0.05)}, 0, false},
		{"negative profit", estimate.Preferences{Profit: f(-1)}, -1, true},
	}
	for _, tt := range tests {
		c := with(tt.p)
		if got := cmpSign(c.Total.Low, base.Total.Low); got != tt.sign {
			t.Errorf("%s: total %v after %v, want direction %d", tt.name, c.Total.Low, base.Total.Low, tt.sign)
		}
		if warned := strings.Contains(strings.Join(c.Warnings, " "), "preferred"); warned != tt.warn {
			t.Errorf("%s: warned %t, want %t (%v)", tt.name, warned, tt.warn, c.Warnings)
		}
	}
	c := with(estimate.Preferences{Contingency: f(0.05)}).Adjustments
	if !c.ContingencyFixed || c.Contingency.Low != base.Total.Low.Scale(0.05) {
		t.Errorf("fixed contingency = %v (%t), want 5 %% of %v", c.Contingency.Low, c.ContingencyFixed, base.Total.Low)
	}
}

func cmpSign(a, b money.Cents) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// jobs draws whole jobs.
func jobs() *rapid.Generator[estimate.Context] {
	return rapid.Custom(func(t *rapid.T) estimate.Context {
		ctx := estimate.Context{EstimateID: "est-rapid", Location: national(), Clarification: &estimate.Clarification{}}
		ctx.Location.MaterialIndex = rapid.Float64Range(0.9, 1.2).Draw(t, "material index")
		states := []string{"materials", "contract", "contract65", "none", "materials_plus_excise"}
		ctx.Location.Tax = estimate.SalesTax{Fraction: rapid.Float64Range(0, 0.11).Draw(t, "tax"), Base: rapid.SampledFrom(states).Draw(t, "base")}
		ctx.Clarification.Brief.Timeline.Start = day(2024+rapid.IntRange(0, 5).Draw(t, "year"), 3, 1)
		types := catalog.ProjectTypes()
		s := &estimate.Scope{
			ProjectKey: types[rapid.IntRange(0, len(types)-1).Draw(t, "type")].Key,
			Finish:     rapid.SampledFrom([]string{"budget", "mid_range", "high_end", "luxury"}).Draw(t, "finish"),
			Complexity: rapid.SampledFrom([]string{"simple", "moderate", "complex"}).Draw(t, "complexity"),
		}
		byDivision := map[string][]estimate.ScopeLine{}
		items := catalog.Items()
		for i := range rapid.IntRange(1, 25).Draw(t, "lines") {
			item := items[rapid.IntRange(0, len(items)-1).Draw(t, "item")]
			l := line(item.Division+"-"+string(rune('a'+i)), item.Code, rapid.Float64Range(0.5, 900).Draw(t, "quantity"))
			l.Confidence = rapid.Float64Range(0, 1).Draw(t, "confidence")
			byDivision[item.Division] = append(byDivision[item.Division], l)
		}
		for _, d := range catalog.Divisions() {
			section := estimate.ScopeSection{Code: d.Code, Status: estimate.NotApplicable, Items: byDivision[d.Code]}
			if len(section.Items) > 0 {
				section.Status = estimate.Included
			}
			s.Divisions = append(s.Divisions, section)
		}
		ctx.Scope = s
		return ctx
	})
}

func TestEveryPriceReconciles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ctx := jobs().Draw(t, "job")
		c := price(t, ctx)
		for _, b := range slices.Concat(c.CheckSums(), c.CheckRanges(), estimate.CheckExclusions(ctx, &c)) {
			t.Errorf("%s %s: %s, found %s, want %s", b.Rule, b.Path, b.Issue, b.Observed, b.Expected)
		}
	})
}

func TestOrderOfLinesChangesOnlyTheirOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ctx := jobs().Draw(t, "job")
		before := price(t, ctx)
		for i := range ctx.Scope.Divisions {
			slices.Reverse(ctx.Scope.Divisions[i].Items)
		}
		slices.Reverse(ctx.Scope.Divisions)
		after := price(t, ctx)
		for i := range after.Divisions {
			slices.Reverse(after.Divisions[i].Lines)
		}
		a, _ := json.Marshal(before)
		b, _ := json.Marshal(after)
		if string(a) != string(b) {
			t.Errorf("the order of the lines changed more than their order:\n%s\n%s", a, b)
		}
	})
}

// R13, C7: more work, a better finish and a dearer place never cost less.
func TestPriceIsMonotone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ctx := jobs().Draw(t, "job")
		before := price(t, ctx).Total.Low
		switch what := rapid.SampledFrom([]string{"quantity", "finish", "material", "labor"}).Draw(t, "what"); what {
		case "quantity":
			for i := range ctx.Scope.Divisions {
				if items := ctx.Scope.Divisions[i].Items; len(items) > 0 {
					items[0].TakeoffQty *= rapid.Float64Range(1, 3).Draw(t, "factor")
					break
				}
			}
		case "finish":
			ladder := []string{"budget", "mid_range", "high_end", "luxury"}
			i := slices.Index(ladder, ctx.Scope.Finish)
			ctx.Scope.Finish = ladder[min(3, i+1)]
		case "material":
			ctx.Location.MaterialIndex *= 1.05
		case "labor":
			for name := range ctx.Location.LaborRates {
				ctx.Location.LaborRates[name] = money.RateFrom(ctx.Location.LaborRates[name].Float() * 1.05)
			}
		}
		after := price(t, ctx).Total.Low
		if after < before-2 {
			t.Errorf("total fell from %v to %v", before, after)
		}
	})
}
