package location

import (
	"encoding/json"
	"os"
	"testing"

	"pgregory.net/rapid"

	"truecost.dev/internal/sample"
	"truecost.dev/shared/a2a"
	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
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
