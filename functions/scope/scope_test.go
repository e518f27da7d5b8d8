package scope

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
	"truecost.dev/shared/estimate/locality"
	"truecost.dev/shared/estimate/takeoff"
	"truecost.dev/shared/fault"
)

// take returns the clean output of a job.
func take(t testing.TB, in estimate.Context) estimate.Scope {
	t.Helper()
	out, err := work(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func judge(in estimate.Context, out estimate.Scope) agent.Score {
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
		s := judge(in, take(t, in))
		t.Logf("%s: %d", name, s.Score)
		if s.Score < 85 {
			t.Errorf("%s scores %d, want at least 85: %s", name, s.Score, s.Feedback)
		}
	}
}

func TestEmptyOutputsFail(t *testing.T) {
	t.Parallel()
	for _, in := range []estimate.Context{{}, sample.Clarified(t, "kitchen")} {
		if s := judge(in, estimate.Scope{}); s.Score > 30 {
			t.Errorf("an empty output scores %d, want at most 30", s.Score)
		}
	}
}

// TestNothingButTheOutput judges without the context: what needs it is passed
// over, and the output neither fails nor panics for it.
func TestNothingButTheOutput(t *testing.T) {
	t.Parallel()
	if s := judge(estimate.Context{}, take(t, sample.Clarified(t, "kitchen"))); s.Score < 85 {
		t.Errorf("without a context: %d: %s", s.Score, s.Feedback)
	}
}

// Lines of the kitchen: division 06 is the sixth, its first line the base
// cabinets.
const (
	cabinets = "divisions[5].lineItems[0]."
	finishes = "divisions[8].lineItems"
)

func TestPlantedErrorsAreFound(t *testing.T) {
	t.Parallel()
	base := func(s *estimate.Scope) *estimate.ScopeLine { return &s.Divisions[5].Items[0] }
	tests := []struct {
		name   string
		plant  func(*estimate.Scope)
		path   string
		slight bool // found, and it need not fail the output
	}{
		{"no divisions", func(s *estimate.Scope) { s.Divisions = nil }, "divisions", false},
		{"another finish", func(s *estimate.Scope) { s.Finish = "luxury" }, "finishLevel", false},
		{"ten times the area", func(s *estimate.Scope) { s.Sqft *= 10 }, "totalSqft", false},
		{"exclusions lost", func(s *estimate.Scope) { s.Exclusions = nil }, "exclusions", false},
		{"a division missing", func(s *estimate.Scope) { s.Divisions = s.Divisions[:23] }, "divisions", false},
		{"excluded division included", func(s *estimate.Scope) { s.Divisions[14].Status = "included" }, "divisions[14].status", false},
		{"no lines", func(s *estimate.Scope) {
			for i := range s.Divisions {
				s.Divisions[i].Items = nil
			}
			s.TotalItems = 0
		}, "divisions", false},
		{"a lost line", func(s *estimate.Scope) { s.Divisions[8].Items = s.Divisions[8].Items[1:] }, finishes, false},
		{"an invented line", func(s *estimate.Scope) {
			s.Divisions[8].Items = append(s.Divisions[8].Items, s.Divisions[8].Items[0])
			s.Divisions[8].Items[len(s.Divisions[8].Items)-1].ID = "09-999"
		}, finishes, false},
		{"excluded work with lines", func(s *estimate.Scope) { s.Divisions[14].Items = s.Divisions[8].Items[:1] }, "divisions[14].lineItems", false},
		{"excluded work with a cost", func(s *estimate.Scope) { s.Divisions[14].MaterialCost = 1e6 }, "divisions[14].subtotalMaterialCost", false},
		{"zero quantity", func(s *estimate.Scope) { base(s).TakeoffQty = 0 }, cabinets + "takeoffQuantity", false},
		{"negative quantity", func(s *estimate.Scope) { base(s).TakeoffQty = -17 }, cabinets + "takeoffQuantity", false},
		{"quantity not a number", func(s *estimate.Scope) { base(s).TakeoffQty = math.NaN() }, cabinets + "takeoffQuantity", false},
		{"stated quantity changed", func(s *estimate.Scope) { base(s).Quantity = 170 }, cabinets + "quantity", false},
		{"meters taken for feet", func(s *estimate.Scope) { base(s).TakeoffQty *= 3.28 }, cabinets + "takeoffQuantity", false},
		{"another unit than the item", func(s *estimate.Scope) { base(s).TakeoffUnit = estimate.Each }, cabinets + "takeoffUnit", false},
		{"unknown unit", func(s *estimate.Scope) { base(s).TakeoffUnit = "furlong" }, cabinets + "takeoffUnit", false},
		{"uncoded line", func(s *estimate.Scope) { base(s).CostCode = "" }, cabinets + "costCode", false},
		{"code that does not exist", func(s *estimate.Scope) { base(s).CostCode = "064100.99" }, cabinets + "costCode", false},
		{"coverage embellished", func(s *estimate.Scope) {
			base(s).CostCode, base(s).CodeSource = "GEN-06-001", takeoff.ByDefault
		}, "completeness.costCodeCoverage", false},
		{"trade of another item", func(s *estimate.Scope) { base(s).Trade = "plumber" }, cabinets + "primaryTrade", false},
		{"price times ten", func(s *estimate.Scope) { base(s).MaterialPerUnit *= 10 }, cabinets + "materialCostPerUnit", false},
		{"hours of another task", func(s *estimate.Scope) { base(s).HoursPerUnit = 0.05 }, cabinets + "laborHoursPerUnit", false},
		{"waste on made-to-order cabinets", func(s *estimate.Scope) { base(s).WastePct = 40 }, cabinets + "wastePercent", false},
		{"waste on labor", func(s *estimate.Scope) { base(s).LaborHours *= 1.1 }, cabinets + "estimatedLaborHours", false},
		{"line cost", func(s *estimate.Scope) { base(s).MaterialCost++ }, cabinets + "estimatedMaterialCost", false},
		{"subtotal", func(s *estimate.Scope) { s.Divisions[5].MaterialCost += 100 }, "divisions[5].subtotalMaterialCost", false},
		{"total", func(s *estimate.Scope) { s.MaterialCost -= 100 }, "preliminaryMaterialCost", false},
		{"total hours", func(s *estimate.Scope) { s.LaborHours *= 2 }, "preliminaryMaterialCost", false},
		{"line count", func(s *estimate.Scope) { s.TotalItems = 15 }, "totalLineItems", false},
		{"unknown verdict", func(s *estimate.Scope) { base(s).Validation = "fine" }, cabinets + "quantityValidation", false},
		{"flag not heard", func(s *estimate.Scope) { s.Divisions[8].Items[2].Validation = takeoff.Validated }, "divisions[8].lineItems[2].quantityValidation", false},
		{"doubt without a reason", func(s *estimate.Scope) { s.Divisions[8].Items[2].ValidationNote = "" }, "divisions[8].lineItems[2].quantityValidationNote", false},
		{"half a floor that counts as measured", func(s *estimate.Scope) {
			s.Divisions[8].Items[3].TakeoffQty = 60
		}, finishes + "[3].quantityValidation", false},
		{"another project", func(s *estimate.Scope) { s.ProjectType = "garage" }, "projectType", false},
		{"unknown project key", func(s *estimate.Scope) { s.ProjectKey = "castle" }, "projectKey", false},
		{"work that was forgotten", func(s *estimate.Scope) { s.Completeness.Missing = append(s.Completeness.Missing, "dumpster") }, "completeness.missingItems[0]", true},
		{"no class", func(s *estimate.Scope) { s.Class = 0 }, "estimateClass", true},
		{"no summary", func(s *estimate.Scope) { s.Summary = "" }, "summary", true},
		{"a weak match", func(s *estimate.Scope) { base(s).CodeConfidence = 0.5 }, cabinets + "costCode", true},
		{"the same work twice", func(s *estimate.Scope) {
			s.Divisions[5].Items[1].Item, s.Divisions[5].Items[1].CostCode = base(s).Item, base(s).CostCode
		}, "divisions[5].lineItems[1].item", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := sample.Clarified(t, "kitchen")
			out := take(t, in)
			tt.plant(&out)
			s := judge(in, out)
			if s.Passed && !tt.slight {
				t.Errorf("score %d passes: %s", s.Score, s.Feedback)
			}
			if c := s.Critique(); len(c.Find(tt.path)) == 0 {
				t.Errorf("no finding at %s; got %+v", tt.path, c.Findings)
			}
		})
	}
}

func TestPrimaryActsOnFeedback(t *testing.T) {
	t.Parallel()
	in := sample.Clarified(t, "kitchen")
	first := take(t, in)
	previous, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}
	second, err := work(in, &agent.Critique{PreviousOutput: previous, Findings: []agent.Finding{
		{Path: cabinets + "costCode", Fix: agent.Relookup},
		{Path: "divisions[8].lineItems[3].quantity", Fix: agent.AskUser, Issue: "which rooms get the floor?", HowToFix: "ask which rooms"},
		{Path: "preliminaryMaterialCost", Fix: agent.Recompute},
		{Path: "divisions[99].lineItems[3].costCode", Fix: agent.Relookup},
	}})
	if err != nil {
		t.Fatal(err)
	}
	was, is := first.Divisions[5].Items[0], second.Divisions[5].Items[0]
	if is.CostCode == was.CostCode || !strings.HasPrefix(is.CostCode, "064100") {
		t.Errorf("relookup of %s gave %s, want another cabinet", was.CostCode, is.CostCode)
	}
	if got := second.Divisions[8].Items[3]; got.Validation != takeoff.NeedsVerification || !strings.Contains(got.ValidationNote, "which rooms") {
		t.Errorf("line to ask about: %s %q, want it marked with the question", got.Validation, got.ValidationNote)
	}
	if len(second.Revisions) != 4 || !second.NeedsReview {
		t.Errorf("revisions %+v, review %t; want one for each finding and a review", second.Revisions, second.NeedsReview)
	}
	if s := judge(in, second); !s.Passed {
		t.Errorf("the corrected output scores %d: %s", s.Score, s.Feedback)
	}
}

func TestEveryTradeHasALocalRate(t *testing.T) {
	t.Parallel()
	in := sample.Clarified(t, "kitchen")
	out := take(t, in)
	place := locality.Locate(in.Clarification.Brief.Location, "standard", locality.Auto)
	in.Location = &place
	if s := judge(in, out); s.Score < 85 {
		t.Errorf("with the place: %d: %s", s.Score, s.Feedback)
	}
	delete(place.LaborRates, "cabinet_installer")
	s := judge(in, out)
	c := s.Critique()
	if s.Passed || len(c.Find(cabinets+"primaryTrade")) == 0 {
		t.Errorf("a trade without a rate scores %d: %s", s.Score, s.Feedback)
	}
}

func TestWiderLookOfUnmatchedLines(t *testing.T) {
	t.Parallel()
	in := sample.Clarified(t, "kitchen")
	d := in.Clarification.Scope["div09_finishes"]
	d.Items = append(d.Items, estimate.ScopeItem{ID: "09-100", Item: "Bespoke limewash parlor mural on reclaimed lath, paint artist", Quantity: 100, Unit: estimate.SquareFoot, Confidence: 0.8, Source: "user_input"})
	in.Clarification.Scope["div09_finishes"] = d
	first := take(t, in)
	n := len(first.Divisions[8].Items) - 1
	if got := first.Divisions[8].Items[n].CostCode; got != "GEN-09-001" {
		t.Fatalf("first look = %s, want the default of the division", got)
	}
	s := judge(in, first)
	c := s.Critique()
	second, err := work(in, &c)
	if err != nil {
		t.Fatal(err)
	}
	if got := second.Divisions[8].Items[n].CostCode; !strings.HasPrefix(got, "0991") {
		t.Errorf("wider look = %s, want a paint", got)
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
	}{{out, 85, 100}, {json.RawMessage(`{}`), 0, 30}, {json.RawMessage(`{"divisions":[{"lineItems":"x"}]}`), 0, 30}} {
		scored, err := specs[1].Serve(t.Context(), a2a.Request{Input: text, Output: tt.output, Agent: "scope"})
		if err != nil {
			t.Fatal(err)
		}
		var s agent.Score
		if err := json.Unmarshal(scored, &s); err != nil {
			t.Fatal(err)
		}
		if s.Score < tt.low || s.Score > tt.high {
			t.Errorf("score of %.30s = %d, want %d to %d: %s", tt.output, s.Score, tt.low, tt.high, s.Feedback)
		}
	}
}

// TestAnyQuantitiesAreJudged takes off jobs with arbitrary quantities and units:
// no output of the primary may be a gate for its own scorer.
func TestAnyQuantitiesAreJudged(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../testdata/kitchen.json")
	if err != nil {
		t.Fatal(err)
	}
	units := []estimate.Unit{"ea", "lf", "sf", "cy", "sq", "hr", "ls", "allowance", "set", "gal", "furlong"}
	rapid.Check(t, func(t *rapid.T) {
		in, err := agent.EstimateContext(a2a.Request{Input: text})
		if err != nil {
			t.Fatal(err)
		}
		for _, division := range catalog.Divisions() {
			d := in.Clarification.Scope[division.Key]
			if len(d.Items) == 0 {
				continue
			}
			if rapid.IntRange(0, 3).Draw(t, "leave out") > 0 {
				in.Clarification.Scope[division.Key] = estimate.ScopeDivision{Code: d.Code, Name: d.Name, Status: estimate.NotApplicable}
				continue
			}
			for i := range d.Items {
				if rapid.IntRange(0, 5).Draw(t, "change") == 0 {
					d.Items[i].Quantity = rapid.Float64Range(0.01, 5000).Draw(t, "quantity")
					d.Items[i].Unit = rapid.SampledFrom(units).Draw(t, "unit")
				}
			}
		}
		out, err := work(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range judge(in, out).Breakdown {
			switch j.Criterion {
			case "division_status", "lines_complete", "excluded_work_unpriced", "unit_conversion", "catalogue_fidelity", "arithmetic":
				for _, f := range j.Findings {
					if f.Fix == agent.Recompute {
						t.Fatalf("%s: %+v", j.Criterion, f)
					}
				}
			}
		}
	})
}
