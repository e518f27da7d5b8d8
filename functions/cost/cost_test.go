package cost

import (
	"encoding/json"
	"strings"
	"testing"

	"truecost.dev/internal/sample"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
	"truecost.dev/shared/estimate/takeoff"
	"truecost.dev/shared/fault"
)

func priced(t testing.TB, in estimate.Context) estimate.Cost {
	t.Helper()
	c, err := work(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestWeightsSumTo100(t *testing.T) {
	t.Parallel()
	sum := 0
	for _, c := range rubric() {
		sum += c.Weight
	}
	if sum != 100 || len(rubric()) < 10 {
		t.Errorf("%d criteria with weights of %d, want at least 10 of 100", len(rubric()), sum)
	}
}

func TestCleanCostsPass(t *testing.T) {
	t.Parallel()
	for _, name := range sample.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := sample.Scoped(t, name)
			c := priced(t, in)
			s := rubric().Judge(in, &c)
			if s.Score < 85 {
				t.Errorf("score %d, want at least 85: %s", s.Score, s.Feedback)
			}
			k, _ := compare(in, &c)
			t.Logf("%s: %s, %d lines, %.0f h, of its kind %.2f, score %d; %s", name, c.Total.Low.Whole(), c.LineCount, c.Subtotals.LaborHours, k.priced/k.usual, s.Score, s.Feedback)
		})
	}
}

// A judge without context judges what stands in the output itself.
func TestJudgesWithoutContext(t *testing.T) {
	t.Parallel()
	in := sample.Scoped(t, "kitchen")
	c := priced(t, in)
	if s := rubric().Judge(estimate.Context{}, &c); s.Score < 85 {
		t.Errorf("score without context %d, want at least 85: %s", s.Score, s.Feedback)
	}
}

func TestEmptyOutput(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{"empty": `{}`, "divisions alone": `{"divisions":[]}`} {
		var c estimate.Cost
		if err := json.Unmarshal([]byte(raw), &c); err != nil {
			t.Fatal(err)
		}
		for _, in := range []estimate.Context{{}, sample.Scoped(t, "deck")} {
			if s := rubric().Judge(in, &c); s.Score > 30 {
				t.Errorf("%s: score %d, want at most 30", name, s.Score)
			}
		}
	}
}

// The output survives its way through JSON: the scorer judges what it reads.
func TestScoreSurvivesJSON(t *testing.T) {
	t.Parallel()
	in := sample.Scoped(t, "addition")
	c := priced(t, in)
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var back estimate.Cost
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if a, b := rubric().Judge(in, &c), rubric().Judge(in, &back); a.Score != b.Score {
		t.Errorf("score %d, after JSON %d: %s", a.Score, b.Score, b.Feedback)
	}
}

func TestFeedbackIsAnswered(t *testing.T) {
	t.Parallel()
	in := sample.Scoped(t, "bathroom")
	good := priced(t, in)
	bad := priced(t, in)
	bad.Total.Low *= 10
	s := rubric().Judge(in, &bad)
	feedback := s.Critique()
	feedback.PreviousOutput, _ = json.Marshal(bad)
	c, err := work(in, &feedback)
	if err != nil {
		t.Fatal(err)
	}
	if c.Total.Low != good.Total.Low {
		t.Errorf("total after feedback = %v, want %v", c.Total.Low, good.Total.Low)
	}
	if len(c.Revisions) != len(feedback.Findings) || len(c.Revisions) == 0 {
		t.Fatalf("%d revisions for %d findings", len(c.Revisions), len(feedback.Findings))
	}
	for _, r := range c.Revisions {
		if r.Path == "total.low" && !strings.Contains(r.Action, "was ") {
			t.Errorf("revision of the total: %q, want what it was and is", r.Action)
		}
	}
}

func TestMissingInputIsInvalid(t *testing.T) {
	t.Parallel()
	if _, err := work(estimate.Context{}, nil); fault.KindOf(err) != fault.Invalid {
		t.Errorf("work({}) = %v, want fault.Invalid", err)
	}
}

// The national check prices of the catalogue, at index 1.00 and 6.9 % tax on
// materials, with the default quantities. They hold without the charge for
// small quantities: where pricing makes one, a price may be that much above.
func TestReferencePrices(t *testing.T) {
	t.Parallel()
	const exact, withSetup = 0.0015, 0.08
	within := 0
	for i := range catalog.ProjectTypes() {
		p := &catalog.ProjectTypes()[i]
		in := reference(t, p)
		c := priced(t, in)
		ratio := c.Total.Low.Float()/p.CheckPrice - 1
		t.Logf("%-22s %10.0f of %10.0f  %+.2f %%", p.Key, c.Total.Low.Float(), p.CheckPrice, 100*ratio)
		high := exact
		if strings.Contains(strings.Join(c.Summary.Assumptions, " "), "P19, P20") {
			high = withSetup
		}
		if ratio < -exact || ratio > high {
			t.Errorf("%s: %v is %+.2f %% from the check price %.0f, want -%.2f to +%.2f %%", p.Key, c.Total.Low, 100*ratio, p.CheckPrice, 100*exact, 100*high)
		}
		if ratio < 0.02 {
			within++
		}
		if s := rubric().Judge(in, &c); s.Score < 85 {
			t.Errorf("%s: score %d: %s", p.Key, s.Score, s.Feedback)
		}
	}
	if n := len(catalog.ProjectTypes()); within < n-2 {
		t.Errorf("%d of %d project types are within 2 %% of their check price, want all but two", within, n)
	}
}

// reference is the usual job of a type at the national average, in the price
// year, by the finish whose price point is typical.
func reference(t testing.TB, p *catalog.ProjectType) estimate.Context {
	t.Helper()
	bill, area, err := takeoff.Usual(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	rates := map[string]money.Rate{}
	for _, trade := range catalog.Trades() {
		rates[catalog.TradeName(trade.Key)] = money.RateFrom(trade.Rate)
	}
	fee := catalog.PermitByClass(p.PermitClass)
	loc := estimate.Location{
		City: "Anywhere", State: "US", LaborRates: rates, LaborIndex: 1, MaterialIndex: 1, LocationFactor: 1, PriceYear: catalog.PriceYear,
		Tax: estimate.SalesTax{Fraction: 0.069, Base: "materials"}, Level: "national",
		Permits: estimate.PermitCosts{Class: fee.Class, Base: money.FromFloat(fee.Base), Percentage: fee.Pct / 100},
	}
	s := estimate.Scope{ProjectKey: p.Key, Finish: "mid_range", Complexity: "moderate", Sqft: area}
	for point := range strings.SplitSeq(p.PricePoints, ";") {
		if level, column, _ := strings.Cut(point, ":"); column == "typ" && level != "budget" {
			s.Finish = level
		}
	}
	if s.Finish == "high_end" { // the hours of the reference are without the factor of the finish
		s.Finish = "mid_range"
	}
	byDivision := map[string][]estimate.ScopeLine{}
	for i, portion := range bill {
		unit := estimate.Unit(portion.Item.Unit)
		division := portion.Item.Division
		byDivision[division] = append(byDivision[division], estimate.ScopeLine{
			ID: division + "-" + string(rune('A'+i%26)) + string(rune('a'+i/26)), Item: portion.Item.Name,
			Quantity: portion.Quantity, Unit: unit, TakeoffQty: portion.Quantity, TakeoffUnit: unit, QuantitySource: "stated",
			CostCode: portion.Item.Code, CodeConfidence: 1, Trade: catalog.TradeName(portion.Item.Trade), Confidence: 1, Source: "user_input",
		})
	}
	for _, d := range catalog.Divisions() {
		section := estimate.ScopeSection{Code: d.Code, Name: d.Name, Status: estimate.NotApplicable, Items: byDivision[d.Code]}
		if len(section.Items) > 0 {
			section.Status = estimate.Included
		}
		s.Divisions = append(s.Divisions, section)
	}
	return estimate.Context{EstimateID: "est-reference", Location: &loc, Scope: &s}
}
