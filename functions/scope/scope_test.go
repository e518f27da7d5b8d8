package scope

import (
	"encoding/json"
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
