package cost

import (
	"slices"
	"strings"
	"testing"

	"truecost.dev/internal/sample"
	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/locality"
	"truecost.dev/shared/estimate/money"
	"truecost.dev/shared/estimate/takeoff"
)

// Prices and rates far from the tables pass where they are the contractor's own,
// and only there.
func TestContractorsOwnFigures(t *testing.T) {
	t.Parallel()
	in := sample.Scoped(t, "bathroom")
	var code string
	for _, d := range in.Scope.Divisions {
		for i := range d.Items {
			if d.Code == "09" && d.Status == estimate.Included && code == "" && d.Items[i].MaterialPerUnit > 0 {
				code = d.Items[i].CostCode
			}
		}
	}
	own := &estimate.Contractor{
		LaborRates: map[string]money.Rate{"plumber": money.RateFrom(150)},
		Prices:     map[string]money.Rate{code: money.RateFrom(0.05)},
	}
	in.Clarification.Brief.Contractor = own
	place := locality.LocateFor(own, in.Clarification.Brief.Location, takeoff.ProjectType(in.Clarification).PermitClass, locality.Auto)
	in.Location = &place
	out, err := work(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := family().Rubric.Judge(in, &out); !s.Passed {
		t.Errorf("the contractor's own figures score %d, want a pass: %s", s.Score, s.Feedback)
	}
	in.Clarification.Brief.Contractor = nil
	s := family().Rubric.Judge(in, &out)
	slip := func(f agent.Finding) bool { return strings.HasSuffix(f.Path, ".unitMaterialCost.low") }
	if c := s.Critique(); s.Passed || !slices.ContainsFunc(c.Findings, slip) {
		t.Errorf("%s at 5 cents without a contractor who says so scores %d, want a finding", code, s.Score)
	}
}
