package cost

import (
	"encoding/json"
	"strings"
	"testing"

	"truecost.dev/internal/accuracy"
	"truecost.dev/internal/sample"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
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

// The usual job of every type at the national average passes the judge.
func TestReferencePricesPass(t *testing.T) {
	t.Parallel()
	for i := range catalog.ProjectTypes() {
		p := &catalog.ProjectTypes()[i]
		in, err := accuracy.Reference(p)
		if err != nil {
			t.Fatal(err)
		}
		c := priced(t, in)
		if s := rubric().Judge(in, &c); s.Score < 85 {
			t.Errorf("%s: score %d: %s", p.Key, s.Score, s.Feedback)
		}
	}
}
