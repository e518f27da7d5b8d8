package locality

import (
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
)

// parts is how the fixed fee of a class divides, in shares that sum to 1. The
// fee of the table includes plan review and trade permits where the class has
// them, so the parts are carved out of it and never added to it: work without
// plumbing saves the plumbing part. The shares are a judgement of ours.
type parts struct {
	building, review, inspection, electrical, plumbing, mechanical float64
}

var feeParts = map[string]parts{
	"none":       {},
	"minor":      {building: 0.75, inspection: 0.25},
	"standard":   {building: 0.34, review: 0.18, inspection: 0.12, electrical: 0.13, plumbing: 0.13, mechanical: 0.10},
	"structural": {building: 0.40, review: 0.28, inspection: 0.14, electrical: 0.06, plumbing: 0.06, mechanical: 0.06},
	"commercial": {building: 0.40, review: 0.28, inspection: 0.14, electrical: 0.06, plumbing: 0.06, mechanical: 0.06},
	"demolition": {building: 0.75, inspection: 0.25},
	"new":        {building: 1},
}

// typicalPermitPct is what permits cost nationally, percent of the contract of a
// remodel: the standard class at the national price of a kitchen, 220 and 1.0
// percent of about 74,000. The fees of the table hold there; a state is as dear
// as its own burden to this one.
const typicalPermitPct = 1.3

// permits returns the fees of a class, scaled by how dear permission is in the
// state. The fixed fee is at least the usual minimum of the state, unless no
// permit is needed. unknown reports that the class is not in the table and the
// standard one was taken.
func permits(class string, s *catalog.State) (costs estimate.PermitCosts, unknown bool) {
	fee := catalog.PermitByClass(class)
	if fee == nil {
		fee, unknown = catalog.PermitByClass("standard"), true
	}
	level := s.PermitPct / typicalPermitPct
	fixed := fee.Base * level
	if fee.Class != "none" && fee.Class != "new" {
		fixed = max(fixed, s.PermitMin)
	}
	share := feeParts[fee.Class]
	of := func(part float64) money.Cents { return money.FromFloat(fixed * part) }
	costs = estimate.PermitCosts{
		Base: of(share.building), PlanReview: of(share.review), Inspection: of(share.inspection),
		Electrical: of(share.electrical), Plumbing: of(share.plumbing), Mechanical: of(share.mechanical),
		Percentage: round5(fee.Pct / 100 * level), Class: fee.Class,
	}
	if fee.Class == "new" { // the percentage of a new house already contains impact and connection fees
		costs.Percentage = round5(fee.Pct / 100)
	}
	return costs, unknown
}
