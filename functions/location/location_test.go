package location

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"truecost.dev/internal/sample"
	"truecost.dev/shared/a2a"
	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
	"truecost.dev/shared/fault"
)

func judge(in estimate.Context, out estimate.Location) agent.Score {
	return family().Rubric.Judge(in, &out)
}

func TestWeightsSumToHundred(t *testing.T) {
	t.Parallel()
	sum := 0
	for _, c := range rubric() {
		sum += c.Weight
	}
	if sum != 100 {
		t.Errorf("weights sum to %d, want 100", sum)
	}
}

func TestRealInputsPass(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"kitchen", "bathroom", "deck", "addition"} {
		in := sample.Clarified(t, name)
		out, err := work(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s := judge(in, out); s.Score < 85 {
			t.Errorf("%s scores %d, want at least 85: %s", name, s.Score, s.Feedback)
		}
	}
}

func TestEmptyOutputsFail(t *testing.T) {
	t.Parallel()
	for _, in := range []estimate.Context{{}, sample.Clarified(t, "kitchen")} {
		if s := judge(in, estimate.Location{}); s.Score > 30 {
			t.Errorf("an empty output scores %d, want at most 30", s.Score)
		}
	}
}

// TestNothingButTheOutput judges without the context: what needs it is passed
// over, and the output neither fails nor panics for it.
func TestNothingButTheOutput(t *testing.T) {
	t.Parallel()
	out, err := work(sample.Clarified(t, "kitchen"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := judge(estimate.Context{}, out); s.Score < 85 {
		t.Errorf("without a context: %d: %s", s.Score, s.Feedback)
	}
}

func TestPlantedErrorsAreFound(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		plant  func(*estimate.Location)
		path   string
		slight bool // a slight fault: found, and it need not fail the output
	}{
		{"no rates", func(l *estimate.Location) { l.LaborRates = nil }, "laborRates", false},
		{"another city", func(l *estimate.Location) { l.City = "Aspen" }, "city", false},
		{"no permits", func(l *estimate.Location) { l.Permits = estimate.PermitCosts{} }, "permitCosts.permitClass", false},
		{"a fee of the whole contract", func(l *estimate.Location) { l.Permits.Percentage = 1.077 }, "permitCosts.buildingPermitPercentage", false},
		{"no weather", func(l *estimate.Location) { l.Weather = estimate.Weather{} }, "weatherFactors", false},
		{"forty days in January", func(l *estimate.Location) { l.Weather.LostDays[0] = 40 }, "weatherFactors.lostDaysByMonth[0]", false},
		{"a trade without a rate", func(l *estimate.Location) { delete(l.LaborRates, "plumber") }, "laborRates.plumber", false},
		{"a negative rate", func(l *estimate.Location) { l.LaborRates["hvac"] = money.RateFrom(-3) }, "laborRates.hvac", false},
		{"a minor trade without a rate", func(l *estimate.Location) { delete(l.LaborRates, "glazier") }, "laborRates.glazier", true},
		{"swapped trades", func(l *estimate.Location) {
			l.LaborRates["electrician"], l.LaborRates["general_labor"] = l.LaborRates["general_labor"], l.LaborRates["electrician"]
		}, "laborRates.electrician", false},
		{"bare wages", func(l *estimate.Location) {
			for _, tr := range catalog.Trades() {
				if tr.Rate > 0 {
					l.LaborRates[catalog.TradeName(tr.Key)] = money.RateFrom(tr.CrewWage * l.LaborIndex)
				}
			}
		}, "laborRates.electrician", false},
		{"local factor applied twice", func(l *estimate.Location) {
			for name, r := range l.LaborRates {
				l.LaborRates[name] = money.RateFrom(r.Float() * 1.25)
			}
		}, "laborRates.plumber", false},
		{"another ZIP", func(l *estimate.Location) { l.Zip = "10001" }, "zipCode", false},
		{"wrong state", func(l *estimate.Location) { l.State = "NY" }, "state", false},
		{"wrong city", func(l *estimate.Location) { l.City = "Boise" }, "city", true},
		{"unknown region", func(l *estimate.Location) { l.Region = "Everywhere" }, "region", true},
		{"factor out of range", func(l *estimate.Location) { l.LocationFactor = 1.9 }, "locationFactor", false},
		{"factor of another base", func(l *estimate.Location) { l.LocationFactor *= 0.8 }, "locationFactor", false},
		{"no factor", func(l *estimate.Location) { l.LocationFactor = 0 }, "locationFactor", false},
		{"factor not a number", func(l *estimate.Location) { l.LocationFactor = math.NaN() }, "locationFactor", false},
		{"material index of labor", func(l *estimate.Location) { l.MaterialIndex = 1.4 }, "materialIndex", false},
		{"tax in percent", func(l *estimate.Location) { l.Tax.Fraction = 7.86 }, "salesTax.rate", false},
		{"tax of another state", func(l *estimate.Location) { l.Tax.Fraction = 0.01 }, "salesTax.rate", false},
		{"tax on the contract", func(l *estimate.Location) { l.Tax.Base = "contract" }, "salesTax.base", false},
		{"permit fee without sense", func(l *estimate.Location) { l.Permits.Base = -1 }, "permitCosts.buildingPermitBase", false},
		{"permit class of a house", func(l *estimate.Location) { l.Permits.Class = "new" }, "permitCosts.permitClass", true},
		{"permits as percent", func(l *estimate.Location) { l.Permits.Percentage = 1.4 }, "permitCosts", true},
		{"weather of the moon", func(l *estimate.Location) { l.Weather.LostDays = [12]float64{} }, "weatherFactors.lostDaysByMonth", true},
		{"weather of Alaska", func(l *estimate.Location) { l.Weather.LostDays[0] = 20 }, "weatherFactors.lostDaysByMonth[0]", true},
		{"unknown winter", func(l *estimate.Location) { l.Weather.WinterImpact = "mild" }, "weatherFactors.winterImpact", true},
		{"no level", func(l *estimate.Location) { l.Level = "" }, "fallbackLevel", true},
		{"stale year", func(l *estimate.Location) { l.PriceYear = 2019 }, "priceYear", true},
		{"no sources", func(l *estimate.Location) { l.Provenance = nil }, "provenance", true},
		{"no analysis", func(l *estimate.Location) { l.Analysis = "Fine." }, "analysis", true},
		{"analysis of another place", func(l *estimate.Location) { l.Analysis = strings.ReplaceAll(l.Analysis, "1.032", "0.777") }, "analysis", true},
		{"false confidence", func(l *estimate.Location) { l.Confidence = 1 }, "confidence", true},
		{"union without members", func(l *estimate.Location) { l.Union, l.UnionStatus = true, "union" }, "unionStatus", true},
	}
	in := sample.Clarified(t, "kitchen")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, err := work(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			tt.plant(&out)
			s := judge(in, out)
			if s.Passed && !tt.slight {
				t.Errorf("score %d passes: %s", s.Score, s.Feedback)
			}
			c := s.Critique()
			if len(c.Find(tt.path)) == 0 {
				t.Errorf("no finding at %s; got %+v", tt.path, c.Findings)
			}
		})
	}
}

func TestContradictoryAddressMustBeReported(t *testing.T) {
	t.Parallel()
	in := sample.Clarified(t, "kitchen")
	in.Clarification.Brief.Location.State = "NY"
	out, err := work(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := judge(in, out); !s.Passed {
		t.Errorf("a reported contradiction scores %d, want a pass: %s", s.Score, s.Feedback)
	}
	out.NeedsReview = false
	s := judge(in, out)
	c := s.Critique()
	if len(c.Find("needsReview")) == 0 {
		t.Errorf("a silent contradiction has no finding")
	}
}

func TestPrimaryActsOnFeedback(t *testing.T) {
	t.Parallel()
	in := sample.Clarified(t, "kitchen")
	in.Clarification.Brief.Location.State = "NY"
	first, err := work(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	feedback := &agent.Critique{Findings: []agent.Finding{
		{Path: "state", Fix: agent.Relookup, HowToFix: "look again"},
		{Path: "laborRates.plumber", Fix: agent.Recompute},
		{Path: "city", Fix: agent.AskUser, HowToFix: "ask for the street"},
	}}
	second, err := work(in, feedback)
	if err != nil {
		t.Fatal(err)
	}
	if first.State != "CO" || second.State != "NY" {
		t.Errorf("states %s then %s, want CO then NY", first.State, second.State)
	}
	if len(second.Revisions) != 3 || !second.NeedsReview {
		t.Errorf("revisions %+v, review %t; want one for each finding and a review", second.Revisions, second.NeedsReview)
	}
}

func TestPrimaryNeedsTheClarification(t *testing.T) {
	t.Parallel()
	if _, err := work(estimate.Context{}, nil); fault.KindOf(err) != fault.Invalid {
		t.Errorf("work({}) = %v, want an invalid input", err)
	}
}

func TestServeEndToEnd(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../testdata/kitchen.json")
	if err != nil {
		t.Fatal(err)
	}
	specs := Agents()
	out, err := specs[0].Serve(t.Context(), a2a.Request{Input: text})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		output json.RawMessage
		low    int
		high   int
	}{{out, 85, 100}, {json.RawMessage(`{}`), 0, 30}, {json.RawMessage(`[]`), 0, 30}} {
		scored, err := specs[1].Serve(t.Context(), a2a.Request{Input: text, Output: tt.output, Agent: "location"})
		if err != nil {
			t.Fatal(err)
		}
		var s agent.Score
		if err := json.Unmarshal(scored, &s); err != nil {
			t.Fatal(err)
		}
		if s.Score < tt.low || s.Score > tt.high {
			t.Errorf("score of %.30s = %d, want %d to %d", tt.output, s.Score, tt.low, tt.high)
		}
	}
}

func TestAnyZipPasses(t *testing.T) {
	t.Parallel()
	base := sample.Clarified(t, "kitchen")
	prefixes := catalog.Prefixes()
	rapid.Check(t, func(t *rapid.T) {
		p := prefixes[rapid.IntRange(0, len(prefixes)-1).Draw(t, "prefix")]
		clarification := *base.Clarification
		clarification.Brief.Location = estimate.Address{Zip: p.Zip3 + rapid.StringMatching(`[0-9]{2}`).Draw(t, "rest"), City: p.City, State: p.State}
		clarification.Brief.ProjectType = rapid.SampledFrom([]string{"kitchen_remodel", "addition", "deck_patio", "other"}).Draw(t, "kind")
		in := estimate.Context{Clarification: &clarification}
		out, err := work(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s := judge(in, out); s.Score < 85 {
			t.Fatalf("%s %s scores %d: %s", clarification.Brief.Location.Zip, p.State, s.Score, s.Feedback)
		}
	})
}
