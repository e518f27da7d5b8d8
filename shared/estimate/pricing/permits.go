package pricing

import (
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
)

// permit is what permission costs: a fixed fee and a share of the contract.
type permit struct {
	class string
	fixed float64
	share float64
	note  string
}

// tradePermits are the divisions whose absence saves the fee of their trade.
var tradePermits = []struct {
	division string
	fee      func(estimate.PermitCosts) money.Cents
}{
	{"22", func(p estimate.PermitCosts) money.Cents { return p.Plumbing }},
	{"23", func(p estimate.PermitCosts) money.Cents { return p.Mechanical }},
	{"26", func(p estimate.PermitCosts) money.Cents { return p.Electrical }},
}

// permitFor returns the fee of the class of the work. The place tells the fees
// of the class it expects; for another class its level is carried over. Fees of
// trades count only when the division of the trade is in the scope (included).
func permitFor(class string, local estimate.PermitCosts, included map[string]bool, waived bool) permit {
	fee := catalog.PermitByClass(class)
	if fee == nil {
		fee = catalog.PermitByClass("standard")
	}
	p := permit{class: fee.Class}
	switch {
	case waived:
		p.note = "Permits are not in the price: they are excluded or the owner's."
	case fee.Class == "none":
		p.note = "The work normally needs no permit."
	case local.Class == fee.Class:
		p.share = local.Percentage
		p.fixed = (local.Base + local.PlanReview + local.Impact + local.Inspection).Float()
		for _, trade := range tradePermits {
			if included[trade.division] {
				p.fixed += trade.fee(local).Float()
			}
		}
	default:
		level := 1.0
		if usual := catalog.PermitByClass(local.Class); usual != nil && usual.Pct > 0 && local.Percentage > 0 && local.Class != "new" {
			level = local.Percentage * 100 / usual.Pct
		}
		p.fixed, p.share = fee.Base*level, fee.Pct/100*level
	}
	return p
}
