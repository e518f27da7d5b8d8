package cost

import (
	"fmt"
	"math"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// sizeExponent says that a small job costs more per square foot.
const sizeExponent = 0.75

// Ratios to the usual price. Beyond the first pair something is wrong, beyond
// the second it needs a reason.
const (
	leastRatio, mostRatio = 0.3, 3.0
	lowRatio, highRatio   = 0.6, 1.8
)

// thin is the share of the usual lines below which a low price is the scope's
// doing, not the price's.
const thin = 0.5

// comparison of a price with the usual price of its kind.
type comparison struct {
	usual    float64 // dollars, for the divisions both have
	priced   float64 // dollars, the same divisions
	coverage float64 // lines priced per usual line
}

// ofItsKind compares the price with that of a usual job of the kind, at the size,
// finish and place of this one (C6, C14). Divisions that only one of them has
// are left out.
func ofItsKind(in estimate.Context, c *output) agent.Grade {
	k, ok := compare(in, c)
	if !ok {
		return agent.Full()
	}
	// More lines than usual may be more work and cost more; but work that is only
	// written down in smaller lines does not.
	ratio, dear := k.priced/k.usual, k.priced/(k.usual*max(1, k.coverage))
	f := wrong("total.low", "The price is far from that of such a job.", "A price outside the market is a slip in scope, quantity or unit price.",
		fmt.Sprintf("%.0f in the divisions compared, %.2f of the usual", k.priced, ratio),
		fmt.Sprintf("%.0f, between %.1f and %.1f of it", k.usual, leastRatio, mostRatio))
	switch {
	case dear > mostRatio, ratio < leastRatio && k.coverage >= thin:
		return agent.Gate(f)
	case ratio < leastRatio:
		f.Fix, f.HowToFix = agent.AskUser, "Confirm that the scope is meant to hold so few lines."
		return agent.Partial(60, f)
	case ratio < lowRatio && k.coverage >= thin, dear > highRatio:
		f.Issue, f.Fix, f.HowToFix = "The price differs from that of such a job.", agent.AskUser, "Confirm the quantities of the largest lines."
		return agent.Partial(70, f)
	}
	return agent.Full()
}

func compare(in estimate.Context, c *output) (k comparison, ok bool) {
	if in.Scope == nil || c.Subtotals.Subtotal.Low <= 0 {
		return k, false
	}
	p := catalog.ProjectTypeByKey(in.Scope.ProjectKey)
	if p == nil {
		return k, false
	}
	bill, area, err := catalog.UsualBill(p, 0)
	if err != nil {
		return k, false
	}
	lines := map[string]int{}
	for d := range c.Divisions {
		lines[c.Divisions[d].Code] = len(c.Divisions[d].Lines)
	}
	all, common := 0.0, 0.0
	usual := map[string]int{} // lines of the usual bill, by division
	for _, portion := range bill {
		all += direct(portion, portion.Item.MatTyp)
		if division := portion.Item.Division; lines[division] > 0 {
			common += direct(portion, portion.Item.Material(p.GradeOf(in.Scope.Finish, portion.Item)))
			usual[division]++
		}
	}
	if common == 0 || all == 0 {
		return k, false
	}
	priced, pricedLines, usualLines := 0.0, 0, 0
	for i := range c.Divisions {
		if d := &c.Divisions[i]; usual[d.Code] > 0 {
			priced += d.Total.Low.Float()
			pricedLines += lines[d.Code]
			usualLines += usual[d.Code]
		}
	}
	k.coverage = float64(pricedLines) / float64(usualLines)
	k.usual = p.CheckPrice * common / all * scaled(in, area)
	k.priced = priced / c.Subtotals.Subtotal.Low.Float() * c.Total.Low.Float() * unmarked(in, p)
	return k, true
}

// unmarked brings a price with the user's own overhead and profit to the usual
// ones: what he asks for is his affair, and no slip in the price (R13).
func unmarked(in estimate.Context, p *catalog.ProjectType) float64 {
	m := catalog.MarkupByProfile(p.MarkupProfile)
	if in.Clarification == nil || in.Clarification.Brief.Preferences == nil || m == nil {
		return 1
	}
	factor := 1.0
	for _, set := range []struct {
		user  *float64
		usual float64
	}{
		{in.Clarification.Brief.Preferences.Overhead, m.OverheadPct / 100},
		{in.Clarification.Brief.Preferences.Profit, m.ProfitPct / 100},
	} {
		if set.user != nil && *set.user >= 0 {
			factor *= (1 + set.usual) / (1 + *set.user)
		}
	}
	return factor
}

// scaled brings a national price at an area to the size and the place of the job.
func scaled(in estimate.Context, area float64) float64 {
	factor := 1.0
	if area > 0 && in.Scope.Sqft > 0 {
		factor = math.Pow(in.Scope.Sqft/area, sizeExponent)
	}
	if in.Location != nil && in.Location.LocationFactor > 0 {
		factor *= in.Location.LocationFactor
	}
	return factor
}

// direct is the national cost of a line of the usual bill, for comparing
// divisions with each other.
func direct(p catalog.Portion, material float64) float64 {
	rate := 0.0
	if t := catalog.TradeByKey(p.Item.Trade); t != nil {
		rate = t.Rate
	}
	return p.Quantity * (material*(1+p.Item.WastePct/100) + p.Item.HoursTyp*rate + p.Item.Equipment)
}
