package risk

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"truecost.dev/internal/sample"
	"truecost.dev/shared/a2a"
	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/intake"
	"truecost.dev/shared/estimate/montecarlo"
	"truecost.dev/shared/fault"
)

func output(t *testing.T, ctx estimate.Context) estimate.Risk {
	t.Helper()
	r, err := simulate(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRealJobs(t *testing.T) {
	t.Parallel()
	contingencies := map[float64]string{}
	for _, name := range sample.Names() {
		ctx := sample.Priced(t, name)
		r := output(t, ctx)
		mc := &r.MonteCarlo
		if r.Base != ctx.Cost.Total.Low || r.Contingency.Dollars != mc.P80-r.Base {
			t.Errorf("%s: base %v, P80 %v, contingency %v", name, r.Base, mc.P80, r.Contingency.Dollars)
		}
		if pct := r.Contingency.Recommended; pct < 3 || pct > 25 {
			t.Errorf("%s: contingency %.2f %%, want 3 to 25", name, pct)
		}
		if other, same := contingencies[r.Contingency.Recommended]; same {
			t.Errorf("%s and %s have the same contingency %.2f %%", name, other, r.Contingency.Recommended)
		}
		contingencies[r.Contingency.Recommended] = name
		if d := off(mc.P50, r.Base); d > 0.10 {
			t.Errorf("%s: P50 lies %.1f %% from the base, want at most 10", name, 100*d)
		}
		s := rubric().Judge(ctx, &r)
		if s.Score < 85 {
			t.Errorf("%s: score %d, want at least 85: %s", name, s.Score, s.Feedback)
		}
		for _, k := range r.AllRisks {
			if k.Why == "" {
				t.Errorf("%s: %s does not say why it is relevant", name, k.ID)
			}
		}
		t.Logf("%s: base %v P50 %v P80 %v, contingency %.2f %%, score %d", name, r.Base, mc.P50, mc.P80, r.Contingency.Recommended, s.Score)
	}
}

func TestSameJobSameNumbers(t *testing.T) {
	t.Parallel()
	ctx := sample.Priced(t, "bathroom")
	want := output(t, ctx)
	other := sample.Priced(t, "bathroom")
	other.EstimateID, other.Clarification.EstimateID = "another", "another"
	other.Clarification.Timestamp = other.Clarification.Timestamp.Add(time.Hour)
	other.Now = time.Unix(1, 0)
	got := output(t, other)
	got.EstimateID = want.EstimateID
	a, _ := json.Marshal(want)
	b, _ := json.Marshal(got)
	if string(a) != string(b) {
		t.Errorf("the same job under two ids gives different documents:\n%s\n%s", a, b)
	}
	for d := range other.Cost.Divisions {
		lines := other.Cost.Divisions[d].Lines
		for i, k := 0, len(lines)-1; i < k; i, k = i+1, k-1 {
			lines[i], lines[k] = lines[k], lines[i]
		}
	}
	got = output(t, other)
	got.EstimateID = want.EstimateID
	if b, _ := json.Marshal(got); string(a) != string(b) {
		t.Error("permuted lines give another document")
	}
}

func TestEmptyOutputFails(t *testing.T) {
	t.Parallel()
	for _, ctx := range []estimate.Context{{}, sample.Priced(t, "deck")} {
		if s := rubric().Judge(ctx, &estimate.Risk{}); s.Score > 30 {
			t.Errorf("{} scores %d, want at most 30", s.Score)
		}
	}
}

func TestWeightsSumTo100(t *testing.T) {
	t.Parallel()
	sum := 0
	for _, c := range rubric() {
		sum += c.Weight
	}
	if sum != 100 || len(rubric()) < 10 {
		t.Errorf("%d criteria weigh %d, want at least 10 that weigh 100", len(rubric()), sum)
	}
}

// planted are errors that the rubric must find, and where.
var planted = []struct {
	name string
	path string
	ruin func(r *estimate.Risk)
}{
	{"flat histogram", "monteCarlo.histogram", func(r *estimate.Risk) {
		for i := range r.MonteCarlo.Histogram {
			r.MonteCarlo.Histogram[i].Count, r.MonteCarlo.Histogram[i].Percentage, r.MonteCarlo.Counts[i] = r.MonteCarlo.Iterations/20, 5, r.MonteCarlo.Iterations/20
		}
	}},
	{"spread of independent lines", "monteCarlo.stdDev", func(r *estimate.Risk) { r.MonteCarlo.StdDev = r.MonteCarlo.IndependentStdDev }},
	{"a level nobody publishes", "riskLevel", func(r *estimate.Risk) { r.Level = "Very low" }},
	{"percentiles reversed", "monteCarlo.p", func(r *estimate.Risk) { r.MonteCarlo.P50, r.MonteCarlo.P90 = r.MonteCarlo.P90, r.MonteCarlo.P50 }},
	{"P10 over P50", "monteCarlo.p25", func(r *estimate.Risk) { r.MonteCarlo.P10 = r.MonteCarlo.P50 + 1 }},
	{"max under P90", "monteCarlo.max", func(r *estimate.Risk) { r.MonteCarlo.Max = r.MonteCarlo.P80 }},
	{"summary tab disagrees", "confidenceRange.p80", func(r *estimate.Risk) { r.Confidence.P80 += 100 }},
	{"total disagrees", "totalCostMonteCarlo.p50", func(r *estimate.Risk) { r.TotalCost.P50 -= 100 }},
	{"contingency ten times", "contingency.dollarAmount", func(r *estimate.Risk) { r.Contingency.Dollars *= 10 }},
	{"contingency from P90", "contingency.dollarAmount", func(r *estimate.Risk) { r.Contingency.Dollars = r.MonteCarlo.P90 - r.Base }},
	{"contingency off by a cent", "monteCarlo.recommendedContingency", func(r *estimate.Risk) { r.MonteCarlo.Recommended++ }},
	{"contingency as a fraction", "contingency.recommended", func(r *estimate.Risk) { r.Contingency.Recommended /= 100 }},
	{"base is not the total", "baseCost", func(r *estimate.Risk) { r.Base = r.Base.Scale(1.1) }},
	{"base with contingency in it", "baseCost", func(r *estimate.Risk) { r.Base += r.Contingency.Dollars }},
	{"histogram loses a count", "monteCarlo.histogram_counts", func(r *estimate.Risk) { r.MonteCarlo.Histogram[3].Count--; r.MonteCarlo.Counts[3]-- }},
	{"histogram forms disagree", "monteCarlo.histogram[4].count", func(r *estimate.Risk) { r.MonteCarlo.Counts[4]++ }},
	{"histogram with a gap", "monteCarlo.histogram[7]", func(r *estimate.Risk) { r.MonteCarlo.Histogram[7].Low += 5000 }},
	{"ten bins", "monteCarlo.histogram", func(r *estimate.Risk) { r.MonteCarlo.Histogram = r.MonteCarlo.Histogram[:10] }},
	{"histogram percent as fractions", "monteCarlo.histogram", func(r *estimate.Risk) {
		for i := range r.MonteCarlo.Histogram {
			r.MonteCarlo.Histogram[i].Percentage /= 100
		}
	}},
	{"shares of second moments", "monteCarlo.topRiskContributors", func(r *estimate.Risk) { r.MonteCarlo.Contributors[0].Share += 0.3 }},
	{"shares cut to five", "monteCarlo.topRiskContributors", func(r *estimate.Risk) { r.MonteCarlo.Contributors = r.MonteCarlo.Contributors[:5] }},
	{"a risk with two shares", "allRisks[0].varianceContribution", func(r *estimate.Risk) { r.AllRisks[0].Share += 0.2 }},
	{"a thousand iterations", "monteCarlo.iterations", func(r *estimate.Risk) { r.MonteCarlo.Iterations = 1000 }},
	{"no seed", "monteCarlo.seed", func(r *estimate.Risk) { r.MonteCarlo.Seed = "42" }},
	{"irrelevant risk", "allRisks", func(r *estimate.Risk) {
		r.AllRisks = append(r.AllRisks, estimate.RiskItem{ID: "R044", Item: "Base-building system conflict", Probability: 0.25})
	}},
	{"probability in percent", "allRisks[0].probability", func(r *estimate.Risk) { r.AllRisks[0].Probability *= 100 }},
	{"probability of another job", "allRisks[0].probability", func(r *estimate.Risk) { r.AllRisks[0].Probability /= 2 }},
	{"risk dropped", "allRisks", func(r *estimate.Risk) { r.AllRisks = r.AllRisks[1:] }},
	{"top risk not in the register", "topRisks[0].id", func(r *estimate.Risk) { r.TopRisks = append([]estimate.RiskItem{{ID: "R099"}}, r.TopRisks...) }},
	{"estimating error counted twice", "allRisks", func(r *estimate.Risk) {
		r.AllRisks = append(r.AllRisks, estimate.RiskItem{ID: "R039", Item: "Unit price or productivity misjudged", Probability: 0.5})
	}},
	{"risk listed twice", "allRisks", func(r *estimate.Risk) { r.AllRisks = append(r.AllRisks, r.AllRisks[0]) }},
	{"impacts reversed", "allRisks[1].costImpactLikely", func(r *estimate.Risk) {
		r.AllRisks[1].CostLow, r.AllRisks[1].CostHigh = r.AllRisks[1].CostHigh, r.AllRisks[1].CostLow
	}},
	{"independent lines", "monteCarlo.stdDev", func(r *estimate.Risk) { r.MonteCarlo.StdDev = r.MonteCarlo.IndependentStdDev - 1 }},
	{"correlation zero", "monteCarlo.averageCorrelation", func(r *estimate.Risk) { r.MonteCarlo.Correlation = 0 }},
	{"mean is not that of the parts", "monteCarlo.mean", func(r *estimate.Risk) { r.MonteCarlo.Mean = r.MonteCarlo.Mean.Scale(1.03) }},
	{"one dollar", "baseCost", func(r *estimate.Risk) { r.Base = 100 }},
}

// tenfold multiplies the whole distribution and keeps every identity.
func tenfold(r *estimate.Risk) {
	mc := &r.MonteCarlo
	for _, p := range []*estimate.Percentiles{&mc.Percentiles, &r.TotalCost} {
		p.P10, p.P50, p.P80, p.P90 = 10*p.P10, 10*p.P50, 10*p.P80, 10*p.P90
	}
	r.Confidence = estimate.ConfidenceRange{P50: mc.P50, P80: mc.P80, P90: mc.P90, Low: mc.P10, Likely: mc.P50, High: mc.P90}
	mc.Mean, mc.AnalyticMean, mc.StdDev, mc.Min, mc.Max = 10*mc.Mean, 10*mc.AnalyticMean, 10*mc.StdDev, 10*mc.Min, 10*mc.Max
	mc.MinValue, mc.MaxValue, mc.Recommended = mc.Min, mc.Max, mc.P80-r.Base
	r.Contingency.Dollars = mc.Recommended
	r.Contingency.Recommended = math.Round(10000*mc.Recommended.Float()/r.Base.Float()) / 100
	for i := range mc.Edges {
		mc.Edges[i] *= 10
	}
	for i := range mc.Histogram {
		mc.Histogram[i].Low, mc.Histogram[i].High = mc.Edges[i], mc.Edges[i+1]
	}
}

func TestPlantedErrors(t *testing.T) {
	t.Parallel()
	ctx := sample.Priced(t, "kitchen")
	clean, err := json.Marshal(output(t, ctx))
	if err != nil {
		t.Fatal(err)
	}
	// Each must be found without doing the whole work again and comparing.
	checks := slices.DeleteFunc(rubric(), func(c agent.Criterion[estimate.Context, estimate.Risk]) bool { return c.Name == "follows_from_cost" })
	for _, tt := range planted {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var r estimate.Risk
			if err := json.Unmarshal(clean, &r); err != nil {
				t.Fatal(err)
			}
			tt.ruin(&r)
			s := checks.Judge(ctx, &r)
			c := s.Critique()
			if s.Score >= agent.PassMark || len(c.Find(tt.path)) == 0 {
				t.Errorf("score %d, findings at %q: %v; want under 80 and at least one\n%s", s.Score, tt.path, c.Find(tt.path), s.Feedback)
			}
		})
	}
}

// An output that agrees with itself and with nothing else.
func TestAnotherPriceFails(t *testing.T) {
	t.Parallel()
	ctx := sample.Priced(t, "deck")
	r := output(t, ctx)
	tenfold(&r)
	s := rubric().Judge(ctx, &r)
	if c := s.Critique(); s.Score >= agent.PassMark || len(c.Find("monteCarlo.p80")) == 0 {
		t.Errorf("ten times the price scores %d: %s", s.Score, s.Feedback)
	}
}

func TestIndependentRunFails(t *testing.T) {
	t.Parallel()
	ctx := sample.Priced(t, "kitchen")
	independent := montecarlo.Independent
	r, err := montecarlo.Simulate(ctx, intake.Stream(ctx.Clarification, "risk"), montecarlo.Options{Correlation: &independent})
	if err != nil {
		t.Fatal(err)
	}
	s := rubric().Judge(ctx, &r)
	if c := s.Critique(); s.Score >= agent.PassMark || len(c.Find("monteCarlo.stdDev"))+len(c.Find("monteCarlo.averageCorrelation")) == 0 {
		t.Errorf("independent sampling scores %d: %s", s.Score, s.Feedback)
	}
}

func TestPrimaryActsOnFeedback(t *testing.T) {
	t.Parallel()
	ctx := sample.Priced(t, "deck")
	first := output(t, ctx)
	first.MonteCarlo.Iterations, first.MonteCarlo.Correlation = 500, 0
	s := rubric().Judge(ctx, &first)
	c := s.Critique()
	second, err := simulate(ctx, &c)
	if err != nil {
		t.Fatal(err)
	}
	if second.MonteCarlo.Iterations < 2*montecarlo.Iterations {
		t.Errorf("iterations = %d after the finding, want at least %d", second.MonteCarlo.Iterations, 2*montecarlo.Iterations)
	}
	if len(second.Revisions) != len(c.Findings) {
		t.Errorf("%d revisions for %d findings", len(second.Revisions), len(c.Findings))
	}
	if s := rubric().Judge(ctx, &second); s.Score < 85 {
		t.Errorf("the revised output scores %d: %s", s.Score, s.Feedback)
	}
}

func TestAgents(t *testing.T) {
	t.Parallel()
	specs := Agents()
	for i, want := range []string{"risk", "risk_scorer", "risk_critic"} {
		if specs[i].Name != want {
			t.Errorf("agent %d is %s, want %s", i, specs[i].Name, want)
		}
	}
	if _, err := specs[0].Serve(t.Context(), a2a.Request{EstimateID: "x", Input: json.RawMessage(`{}`)}); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "cost_output") {
		t.Errorf("risk without a cost = %v, want an invalid cost_output", err)
	}
	raw, err := specs[1].Serve(t.Context(), a2a.Request{Input: json.RawMessage(`{}`), Output: json.RawMessage(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	var s agent.Score
	if err := json.Unmarshal(raw, &s); err != nil || s.Score > 30 || s.Passed {
		t.Errorf("risk_scorer of {} = %s, %v, want at most 30", raw, err)
	}
}

func BenchmarkSimulate(b *testing.B) {
	t := new(testing.T)
	ctx := sample.Priced(t, "kitchen")
	for b.Loop() {
		if _, err := simulate(ctx, nil); err != nil {
			b.Fatal(err)
		}
	}
}
