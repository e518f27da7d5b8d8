package final

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"truecost.dev/internal/sample"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/synthesis"
	"truecost.dev/shared/fault"
)

func concluded(t testing.TB, in estimate.Context) estimate.Final {
	t.Helper()
	f, err := work(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func noContingency(c *estimate.Clarification) {
	if c.Brief.Preferences != nil {
		c.Brief.Preferences.Contingency = nil
	}
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

func TestCleanConclusionsPass(t *testing.T) {
	t.Parallel()
	for _, name := range sample.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := sample.Planned(t, name, noContingency)
			f := concluded(t, in)
			if s := rubric().Judge(in, &f); s.Score < 85 {
				t.Errorf("score %d, want at least 85: %s", s.Score, s.Feedback)
			}
			e := f.Executive
			if e.TotalCost != in.Risk.MonteCarlo.P80 && e.Contingency != 0 {
				t.Errorf("total = %v, want P80 %v", e.TotalCost, in.Risk.MonteCarlo.P80)
			}
			t.Logf("%s", f.Summary)
		})
	}
}

// R5, R6: the root repeats the conclusion to the cent.
func TestRootReconciles(t *testing.T) {
	t.Parallel()
	for _, name := range sample.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := sample.Planned(t, name)
			f := concluded(t, in)
			r := synthesis.Root(in, f)
			for _, b := range r.CheckRoot(&f) {
				t.Errorf("%s %s: %s, found %s, want %s", b.Rule, b.Path, b.Issue, b.Observed, b.Expected)
			}
			raw, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{
				"projectName", "address", "projectType", "scope", "squareFootage", "totalCost", "p50", "p80", "p90", "contingencyPct", "timelineWeeks",
				"monteCarloIterations", "costDrivers", "laborAnalysis", "schedule", "cost_breakdown", "risk_analysis", "bill_of_quantities", "assumptions",
				"cad_data", "costItemsCount", "costItemsCollectionPath", "internalNotes", "clientTotal", "base_total", "max_percentage", "csi_division",
			} {
				if !strings.Contains(string(raw), `"`+key+`":`) {
					t.Errorf("the root has no %s", key)
				}
			}
			if strings.Contains(string(raw), "null") {
				t.Errorf("the root has a null: %.200s", raw[strings.Index(string(raw), "null")-60:])
			}
		})
	}
}

var legalID = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,220}__(material|labor|equipment)$`)

func TestCostItems(t *testing.T) {
	t.Parallel()
	in := sample.Planned(t, "kitchen")
	in.Cost.Divisions[5].Lines[0].ID = "06/001 ü"
	in.Cost.Divisions[5].Lines[1].ID = "06-001--"
	items := synthesis.CostItems(in.Cost)
	seen := map[string]bool{}
	var sum [3]float64
	for _, item := range items {
		if !legalID.MatchString(item.ID) || seen[item.ID] {
			t.Errorf("id %q is not legal or not unique", item.ID)
		}
		seen[item.ID] = true
		switch i := slices.Index([]string{"material", "labor", "equipment"}, item.Category); i {
		case -1:
			t.Errorf("category %q", item.Category)
		default:
			sum[i] += item.TotalCost.Low.Float()
		}
	}
	s := in.Cost.Subtotals
	for i, want := range []float64{s.Materials.Low.Float(), s.Labor.Low.Float(), s.Equipment.Low.Float()} {
		if d := sum[i] - want; d > 0.005 || d < -0.005 {
			t.Errorf("items of category %d sum to %.2f, want %.2f", i, sum[i], want)
		}
	}
}

func TestFixedContingency(t *testing.T) {
	t.Parallel()
	share := 0.05
	in := sample.Planned(t, "kitchen", func(c *estimate.Clarification) {
		c.Brief.Preferences = &estimate.Preferences{Contingency: &share}
	})
	f := concluded(t, in)
	b := f.Breakdown
	if !b.ContingencyFixed || b.Contingency != b.BeforeContingency.Scale(share) || b.ContingencyPct != 5 {
		t.Errorf("contingency = %v (%.2f %%, fixed %t), want 5 %% of %v", b.Contingency, b.ContingencyPct, b.ContingencyFixed, b.BeforeContingency)
	}
	if !strings.Contains(f.Summary, "fixed by the user") {
		t.Errorf("the summary does not say who fixed the contingency: %s", f.Summary)
	}
	if s := rubric().Judge(in, &f); s.Score < 85 {
		t.Errorf("score %d: %s %v", s.Score, s.Feedback, s.Findings())
	}
}

// Outputs that are missing are said to be missing; nothing takes their place.
func TestPartialConclusion(t *testing.T) {
	t.Parallel()
	in := sample.Planned(t, "deck", noContingency)
	in.Risk, in.Timeline = nil, nil
	f := concluded(t, in)
	if f.Breakdown.Contingency != 0 || f.Executive.Duration != "not available" || !f.NeedsReview {
		t.Errorf("contingency %v, duration %q, review %t; want none, not available, true", f.Breakdown.Contingency, f.Executive.Duration, f.NeedsReview)
	}
	if f.DataQuality.Completeness >= 1 {
		t.Errorf("completeness = %v, want less than 1", f.DataQuality.Completeness)
	}
	if s := rubric().Judge(in, &f); s.Score < 85 {
		t.Errorf("score %d: %s %v", s.Score, s.Feedback, s.Findings())
	}
	if _, err := work(estimate.Context{}, nil); fault.KindOf(err) != fault.Invalid {
		t.Errorf("work({}) = %v, want fault.Invalid", err)
	}
}

func TestJudgesWithoutContext(t *testing.T) {
	t.Parallel()
	f := concluded(t, sample.Planned(t, "deck"))
	if s := rubric().Judge(estimate.Context{}, &f); s.Score < 85 {
		t.Errorf("score without context %d: %s", s.Score, s.Feedback)
	}
}

func TestEmptyOutput(t *testing.T) {
	t.Parallel()
	for _, in := range []estimate.Context{{}, sample.Planned(t, "deck")} {
		if s := rubric().Judge(in, &estimate.Final{}); s.Score > 30 {
			t.Errorf("score of {} = %d, want at most 30", s.Score)
		}
	}
}

func TestFeedbackIsAnswered(t *testing.T) {
	t.Parallel()
	in := sample.Planned(t, "deck")
	bad := concluded(t, in)
	bad.Executive.TotalCost *= 2
	s := rubric().Judge(in, &bad)
	feedback := s.Critique()
	feedback.PreviousOutput, _ = json.Marshal(bad)
	f, err := work(in, &feedback)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Revisions) != len(feedback.Findings) || len(f.Revisions) == 0 {
		t.Fatalf("%d revisions for %d findings", len(f.Revisions), len(feedback.Findings))
	}
	for _, r := range f.Revisions {
		if r.Path == "executiveSummary.totalCost" && !strings.Contains(r.Action, "was ") {
			t.Errorf("revision of the total: %q", r.Action)
		}
	}
}
