package montecarlo_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
	"truecost.dev/shared/estimate/montecarlo"
	"truecost.dev/shared/fault"
)

// bath is a hand-made bill of a small bathroom: code, trade, material, labor.
func bath(t *testing.T) estimate.Context {
	t.Helper()
	usual := estimate.Triangle{Low: 0.85, Likely: 1, High: 1.25}
	sure := estimate.Triangle{Low: 0.95, Likely: 1, High: 1.06}
	c := &estimate.Cost{Confidence: 0.8}
	c.Adjustments.PricePerDirectDollar, c.Adjustments.PermitClass = 1.42, "standard"
	c.Adjustments.GeneralConditions = estimate.Fixed(64000)
	var direct money.Cents
	for _, l := range []struct {
		division, code, trade string
		material, labor       money.Cents
	}{
		{"02", "024119.14", "general_labor", 0, 52000},
		{"06", "064100.60", "cabinet_installer", 78000, 21000},
		{"09", "093013.10", "tile_setter", 61000, 92000},
		{"09", "093013.11", "tile_setter", 84000, 121000},
		{"22", "224113.10", "plumber", 45000, 23000},
		{"22", "224119.10", "plumber", 76000, 48000},
		{"26", "262726.11", "electrician", 9000, 31000},
	} {
		if n := len(c.Divisions); n == 0 || c.Divisions[n-1].Code != l.division {
			c.Divisions = append(c.Divisions, estimate.CostDivision{Code: l.division, Name: "Division"})
		}
		d := &c.Divisions[len(c.Divisions)-1]
		d.Lines = append(d.Lines, estimate.CostLine{
			ID: l.code, CostCode: l.code, Description: l.code, Trade: l.trade, Subcontract: l.division == "22",
			MaterialCost: estimate.Fixed(l.material), LaborCost: estimate.Fixed(l.labor), TotalCost: estimate.Fixed(l.material + l.labor),
			LaborHours: l.labor.Float() / 50, Uncertainty: estimate.LineUncertainty{Material: usual, Labor: usual, Quantity: sure},
		})
		direct += l.material + l.labor
		c.Subtotals.LaborHours += l.labor.Float() / 50
	}
	c.Total = estimate.Fixed(direct.Scale(1.42) + 22000)
	clarification := &estimate.Clarification{}
	clarification.Brief.ProjectType, clarification.Brief.YearBuilt = "bathroom_remodel", 1965
	return estimate.Context{EstimateID: "e", Cost: c, Clarification: clarification, Scope: &estimate.Scope{ProjectKey: "bath_midrange"}}
}

func TestFactorsAtOneGiveTheBase(t *testing.T) {
	t.Parallel()
	ctx := bath(t)
	m := montecarlo.FromCost(ctx)
	if got := money.FromFloat(m.Base()); got != ctx.Cost.Total.Low {
		t.Errorf("Base() = %v, want %v", got, ctx.Cost.Total.Low)
	}
	for _, l := range ctx.Cost.Lines {
		l.Uncertainty = estimate.LineUncertainty{}
	}
	r := montecarlo.FromCost(ctx).Run([32]byte{}, 200)
	for _, x := range []float64{r.Totals[0], r.Totals[199]} {
		if got := money.FromFloat(x); got != ctx.Cost.Total.Low {
			t.Errorf("certain lines cost %v, want the base %v", got, ctx.Cost.Total.Low)
		}
	}
}

func TestSimulateIdentities(t *testing.T) {
	t.Parallel()
	ctx := bath(t)
	r, err := montecarlo.Simulate(ctx, [32]byte{5}, montecarlo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mc := &r.MonteCarlo
	if r.Contingency.Dollars != mc.P80-r.Base || mc.Recommended != r.Contingency.Dollars {
		t.Errorf("contingency %v, recommended %v, P80 - base %v", r.Contingency.Dollars, mc.Recommended, mc.P80-r.Base)
	}
	sum, shares := 0, 0.0
	for i, b := range mc.Histogram {
		sum += b.Count
		if i > 0 && b.Low != mc.Histogram[i-1].High {
			t.Errorf("bin %d begins at %v, the one before ends at %v", i, b.Low, mc.Histogram[i-1].High)
		}
	}
	for _, c := range mc.Contributors {
		shares += c.Share
	}
	if len(mc.Histogram) != montecarlo.Bins || sum != mc.Iterations || math.Abs(shares-1) > 0.001 {
		t.Errorf("%d bins hold %d of %d; shares sum to %g", len(mc.Histogram), sum, mc.Iterations, shares)
	}
	if !mc.Converged || mc.Iterations < montecarlo.Iterations || off(mc.Mean, mc.AnalyticMean) > 0.01 || mc.StdDev < mc.IndependentStdDev {
		t.Errorf("converged %v, %d iterations, mean %v of %v, sd %v over %v", mc.Converged, mc.Iterations, mc.Mean, mc.AnalyticMean, mc.StdDev, mc.IndependentStdDev)
	}
	if r.Labor == nil || len(r.Labor.ByTrade) != 5 || r.Labor.P10 >= r.Labor.P90 {
		t.Errorf("labor = %+v, want five trades and a spread", r.Labor)
	}
	labor := 0.0
	for _, k := range r.Labor.TopRisks {
		labor += k.Share
	}
	if math.Abs(labor-1) > 0.001 {
		t.Errorf("shares of the trades sum to %g, want 1", labor)
	}
	again, _ := montecarlo.Simulate(ctx, [32]byte{5}, montecarlo.Options{})
	a, _ := json.Marshal(r)
	b, _ := json.Marshal(again)
	if string(a) != string(b) {
		t.Error("the same seed gives another document")
	}
}

func off(a, b money.Cents) float64 { return math.Abs(a.Float()/b.Float() - 1) }

func TestContingencyFollowsTheHouse(t *testing.T) {
	t.Parallel()
	var last money.Cents
	for _, year := range []int{2015, 0, 1965} {
		ctx := bath(t)
		ctx.Clarification.Brief.YearBuilt = year
		r, err := montecarlo.Simulate(ctx, [32]byte{5}, montecarlo.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Contingency.Dollars <= last {
			t.Errorf("built %d: contingency %v, want more than %v of the newer house", year, r.Contingency.Dollars, last)
		}
		last = r.Contingency.Dollars
	}
}

func TestRegister(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(ctx *estimate.Context)
		in     string // relevant afterwards
		out    string // not relevant afterwards
	}{
		{"old house", func(*estimate.Context) {}, "R001 R004 R005 R006", "R012 R014 R038 R039"},
		{"new house", func(c *estimate.Context) { c.Clarification.Brief.YearBuilt = 2019 }, "R002 R016", "R001 R003 R004 R005 R006"},
		{"condo", func(c *estimate.Context) { c.Clarification.Brief.Location.Unit = "4B" }, "R041", ""},
		{"house", func(*estimate.Context) {}, "", "R041"},
		{"no permit", func(c *estimate.Context) { c.Cost.Adjustments.PermitClass = "none" }, "", "R020"},
		{"no subcontractors", func(c *estimate.Context) {
			for _, l := range c.Cost.Lines {
				l.Subcontract = false
			}
		}, "", "R037 R052"},
		{"damp", func(c *estimate.Context) { c.Clarification.Brief.Summary.Description = "Stains at the tub" }, "R007", ""},
		{"nothing said of damp", func(*estimate.Context) {}, "", "R007"},
		{"occupied, so priced", func(c *estimate.Context) { c.Clarification.Brief.SpecialRequirements = []string{"House occupied"} }, "", "R040"},
		{"abatement priced", func(c *estimate.Context) { c.Cost.Divisions[0].Lines[0].CostCode = "028200.20" }, "", "R005"},
	}
	for _, tt := range tests {
		ctx := bath(t)
		tt.change(&ctx)
		in, out := montecarlo.Register(ctx)
		for id := range strings.FieldsSeq(tt.in) {
			if !slices.ContainsFunc(in, func(r montecarlo.Relevant) bool { return r.ID == id && r.Why != "" && r.Chance > 0 }) {
				t.Errorf("%s: %s is not relevant", tt.name, id)
			}
		}
		for id := range strings.FieldsSeq(tt.out) {
			if !slices.ContainsFunc(out, func(r estimate.ExcludedRisk) bool { return r.ID == id && r.Why != "" }) {
				t.Errorf("%s: %s was not left out with a reason", tt.name, id)
			}
		}
		for _, r := range in {
			if slices.ContainsFunc(out, func(x estimate.ExcludedRisk) bool { return x.ID == r.ID }) {
				t.Errorf("%s: %s is both in and out", tt.name, r.ID)
			}
		}
	}
}

func TestRegisterOfEveryKind(t *testing.T) {
	t.Parallel()
	for _, p := range catalog.ProjectTypes() {
		ctx := bath(t)
		ctx.Scope.ProjectKey = p.Key
		in, _ := montecarlo.Register(ctx)
		for _, r := range in {
			if r.Chance <= 0 || r.Chance > 1 || r.ProjectTypes != "all" && !slices.Contains(strings.Split(r.ProjectTypes, ","), p.RiskGroup) {
				t.Errorf("%s: %s with chance %g for %q", p.Key, r.ID, r.Chance, r.ProjectTypes)
			}
		}
	}
}

func TestSimulateRefuses(t *testing.T) {
	t.Parallel()
	empty := bath(t)
	empty.Cost.Divisions = nil
	free := bath(t)
	free.Cost.Total = estimate.Range{}
	for name, ctx := range map[string]estimate.Context{"no cost": {}, "no lines": empty, "no price": free} {
		if _, err := montecarlo.Simulate(ctx, [32]byte{}, montecarlo.Options{}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("Simulate with %s = %v, want invalid", name, err)
		}
	}
}

// A day of delay costs what the job pays by the day: its general conditions, and
// its supervision when that is a line of the bill.
func TestDelayCostsWhatIsBoughtByTime(t *testing.T) {
	t.Parallel()
	plain, supervised := bath(t), bath(t)
	line := estimate.CostLine{
		ID: "01-001", CostCode: "013100.10", Description: "Supervision", Trade: "supervisor", Unit: estimate.Hour,
		LaborCost: estimate.Fixed(96000), TotalCost: estimate.Fixed(96000),
	}
	supervised.Cost.Divisions[0].Lines = append(supervised.Cost.Divisions[0].Lines, line)
	lump := bath(t)
	line.Unit = estimate.LumpSum
	lump.Cost.Divisions[0].Lines = append(lump.Cost.Divisions[0].Lines, line)

	perDay := func(ctx estimate.Context) float64 { return montecarlo.FromCost(ctx).PerDay }
	const conditions = 640 / 1.42 // direct dollars of general conditions
	if got, want := perDay(supervised)/perDay(plain), (conditions+960)/conditions; math.Abs(got-want) > 1e-9 {
		t.Errorf("with supervision by the hour a day costs %.4f times as much, want %.4f", got, want)
	}
	if got, want := perDay(lump), perDay(plain); got != want {
		t.Errorf("with supervision as a lump sum a day costs %v, want %v", got, want)
	}
}
