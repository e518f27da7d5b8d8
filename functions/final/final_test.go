package final

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"truecost.dev/internal/sample"
	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
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

// planted are slips as they happen; each must fail and be named where it is.
var planted = []struct {
	name string
	slip func(in *estimate.Context, f *estimate.Final)
	path string
}{
	{"another place", func(_ *estimate.Context, f *estimate.Final) { f.Executive.Location = "Boston, MA" }, "executiveSummary.location"},
	{"another kind of project", func(_ *estimate.Context, f *estimate.Final) { f.Executive.ProjectType = "garage" }, "executiveSummary.projectType"},
	{"another class", func(_ *estimate.Context, f *estimate.Final) { f.Executive.Class = 1 }, "executiveSummary.estimateClass"},
	{"a confidence of seven", func(_ *estimate.Context, f *estimate.Final) { f.Confidence = 7 }, "confidence"},
	{"words of another duration", func(_ *estimate.Context, f *estimate.Final) { f.Executive.Duration = "4 weeks (20 working days)" }, "executiveSummary.duration"},
	{"no sources", func(_ *estimate.Context, f *estimate.Final) { f.Sources = nil }, "sources"},
	{"no disclaimers", func(_ *estimate.Context, f *estimate.Final) { f.Disclaimers = nil }, "disclaimers"},
	{"documents of three lines", func(_ *estimate.Context, f *estimate.Final) { f.CostItems.Count = 3 }, "granularCostItems.count"},
	{"alone: another end", func(in *estimate.Context, f *estimate.Final) {
		in.Timeline = nil
		f.Executive.End = f.Executive.Start
	}, "executiveSummary.endDate"},
	{"alone: a level nobody publishes", func(in *estimate.Context, f *estimate.Final) {
		in.Risk = nil
		f.Risk.Level = "Very low"
	}, "riskSummary.riskLevel"},
	{"alone: no contingency", func(in *estimate.Context, f *estimate.Final) {
		*in = estimate.Context{}
		b, e := &f.Breakdown, &f.Executive
		b.Contingency, e.Contingency, b.ContingencyPct, e.ContingencyPct = 0, 0, 0, 0
		b.Total, e.TotalCost = b.BeforeContingency, b.BeforeContingency
		e.CostPerSqft = money.FromFloat(e.TotalCost.Float() / e.Sqft)
	}, "executiveSummary.totalCost"},
	{"two totals", func(_ *estimate.Context, f *estimate.Final) { f.Executive.TotalCost += 100000 }, "executiveSummary.totalCost"},
	{"one-dollar total", func(_ *estimate.Context, f *estimate.Final) { f.Executive.TotalCost, f.Breakdown.Total = 100, 100 }, "costBreakdown.totalWithContingency"},
	{"the total of the client's ceiling", func(_ *estimate.Context, f *estimate.Final) { f.Breakdown.Total *= 2 }, "costBreakdown.totalWithContingency"},
	{"base not the cost", func(_ *estimate.Context, f *estimate.Final) {
		f.Breakdown.Materials += 100000
		f.Breakdown.Direct += 100000
		f.Breakdown.BeforeContingency += 100000
		f.Breakdown.Total += 100000
		f.Executive.BaseCost, f.Executive.TotalCost = f.Breakdown.BeforeContingency, f.Breakdown.Total
	}, "costBreakdown.materials"},
	{"missing tax", func(_ *estimate.Context, f *estimate.Final) { f.Breakdown.Taxes = 0 }, "costBreakdown"},
	{"doubled overhead", func(_ *estimate.Context, f *estimate.Final) { f.Breakdown.Overhead *= 2 }, "costBreakdown"},
	{"permits twice", func(_ *estimate.Context, f *estimate.Final) { f.Breakdown.Permits += 50000 }, "costBreakdown"},
	{"direct cost not its parts", func(_ *estimate.Context, f *estimate.Final) { f.Breakdown.Direct += 5000 }, "costBreakdown.directCostsSubtotal"},
	{"contingency of one's own", func(_ *estimate.Context, f *estimate.Final) {
		b := &f.Breakdown
		b.Contingency += 200000
		b.Total += 200000
		f.Executive.Contingency, f.Executive.TotalCost = b.Contingency, b.Total
	}, "costBreakdown.contingency"},
	{"contingency percent off", func(_ *estimate.Context, f *estimate.Final) { f.Executive.ContingencyPct += 4 }, "executiveSummary.contingencyPercent"},
	{"contingency said to be fixed", func(_ *estimate.Context, f *estimate.Final) { f.Breakdown.ContingencyFixed = true }, "costBreakdown.contingencyFixedByUser"},
	{"reversed percentiles", func(_ *estimate.Context, f *estimate.Final) {
		r := &f.Executive.Range
		r.P50, r.P90 = r.P90, r.P50
	}, "executiveSummary.confidenceRange"},
	{"percentiles of another run", func(_ *estimate.Context, f *estimate.Final) { f.Executive.Range.P80 += 50000 }, "executiveSummary.confidenceRange.p80"},
	{"price per foot wrong", func(_ *estimate.Context, f *estimate.Final) { f.Executive.CostPerSqft *= 3 }, "executiveSummary.costPerSqft"},
	{"an invented amount in the words", func(_ *estimate.Context, f *estimate.Final) { f.Summary += " You save $12,345." }, "summary"},
	{"words with another total", func(_ *estimate.Context, f *estimate.Final) {
		f.Summary = strings.ReplaceAll(f.Summary, f.Executive.TotalCost.Whole(), "$99,999")
	}, "summary"},
	{"another end date", func(_ *estimate.Context, f *estimate.Final) {
		f.Timeline.End = estimate.NewDate(2031, time.May, 5)
	}, "timeline.endDate"},
	{"another duration", func(_ *estimate.Context, f *estimate.Final) { f.Executive.Weeks += 4 }, "executiveSummary.durationWeeks"},
	{"exclusions not printed", func(in *estimate.Context, _ *estimate.Final) {
		c := *in.Clarification
		c.Brief.Exclusions = []string{"Window treatments"}
		in.Clarification = &c
	}, "exclusions"},
	{"no exclusions, no allowances", func(_ *estimate.Context, f *estimate.Final) { f.Exclusions, f.Allowances = nil, nil }, "exclusions"},
	{"an invented risk", func(_ *estimate.Context, f *estimate.Final) {
		f.Risk.TopRisks = append(f.Risk.TopRisks, "Meteorites (1 %, $1 to $2)")
	}, "riskSummary.topRisks"},
	{"another level of risk", func(_ *estimate.Context, f *estimate.Final) { f.Risk.Level = "None" }, "riskSummary.riskLevel"},
	{"a warning lost", func(in *estimate.Context, _ *estimate.Final) {
		cost := *in.Cost
		cost.Warnings = append(slices.Clone(cost.Warnings), "The price of the stone is a guess.")
		in.Cost = &cost
	}, "reviewReasons"},
	{"no class, no validity", func(_ *estimate.Context, f *estimate.Final) {
		f.Executive.Class, f.Executive.ClassReason, f.Executive.ValidDays = 0, "", 0
	}, "executiveSummary.estimateClass"},
	{"no sources, assumptions, disclaimers", func(_ *estimate.Context, f *estimate.Final) {
		f.Sources, f.Assumptions, f.Disclaimers = nil, nil, nil
	}, "sources"},
	{"a summary without particulars", func(_ *estimate.Context, f *estimate.Final) {
		f.Executive.ProjectType, f.Executive.Location, f.Executive.Confidence, f.Executive.Duration = "", "", "", ""
	}, "executiveSummary"},
}

func TestPlantedErrorsFail(t *testing.T) {
	t.Parallel()
	in := sample.Planned(t, "kitchen", noContingency)
	for _, tt := range planted {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := in
			f := concluded(t, in)
			tt.slip(&in, &f)
			s := rubric().Judge(in, &f)
			if s.Score >= agent.PassMark || s.Passed {
				t.Errorf("score %d, want below %d", s.Score, agent.PassMark)
			}
			critique := s.Critique()
			if len(critique.Find(tt.path)) == 0 {
				t.Errorf("no finding at %s: %s", tt.path, s.Feedback)
			}
			if critique.WhyWrong == "" || len(critique.HowToFix) == 0 {
				t.Errorf("the critic has nothing to say: %+v", critique)
			}
		})
	}
}
