package location

import (
	"slices"
	"testing"

	"truecost.dev/internal/sample"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
)

// The contractor's own rates win over the tables, with their source, and the
// scorer holds the output to them.
func TestContractorsOwnRates(t *testing.T) {
	t.Parallel()
	in := sample.Clarified(t, "kitchen", func(c *estimate.Clarification) {
		c.Brief.Contractor = &estimate.Contractor{LaborRates: map[string]money.Rate{"electrician": money.RateFrom(30), "painter": money.RateFrom(160)}}
	})
	out, err := work(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.LaborRates["electrician"]; got != money.RateFrom(30) {
		t.Errorf("rate of the electrician = %v, want the contractor's 30", got)
	}
	sourced := func(p estimate.Provenance) bool { return p.What == "laborRates.electrician" && p.Level == "contractor" }
	if !slices.ContainsFunc(out.Provenance, sourced) {
		t.Errorf("provenance does not name the contractor's rate: %v", out.Provenance)
	}
	if s := judge(in, out); !s.Passed {
		t.Errorf("own rates score %d, want a pass: %s", s.Score, s.Feedback)
	}
	out.LaborRates["electrician"] = money.RateFrom(66)
	s := judge(in, out)
	if c := s.Critique(); s.Passed || len(c.Find("laborRates.electrician")) == 0 {
		t.Errorf("a table rate in place of the contractor's scores %d without a finding", s.Score)
	}
}
