package pricing

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
)

// summarise says in sentences what the figures say.
func (t *terms) summarise(c *estimate.Cost, lines []*priced) estimate.CostSummary {
	a, total := &c.Adjustments, c.Total
	s := estimate.CostSummary{
		Headline: fmt.Sprintf("%s for %d lines of work with %.0f hours of labor, before contingency.", total.Low.Whole(), c.LineCount, c.Subtotals.LaborHours),
		Range: fmt.Sprintf("The estimate is %s; prices, hours and quantities alone may take it to %s in one of five cases and to %s in one of ten.",
			total.Low.Whole(), total.Medium.Whole(), total.High.Whole()),
		Drivers:       drivers(c),
		Opportunities: t.savings(lines, a.PricePerDirectDollar),
		Assumptions: []string{
			fmt.Sprintf("Prices are those of %s, escalated to the mid-point of construction, %s (%s of the lines).", c.PriceDate, c.Midpoint, a.Escalation.Whole()),
			fmt.Sprintf("Labor is priced at the local burdened rates of %s, material at %.3f of the national price.", place(t.place), t.place.MaterialIndex),
			fmt.Sprintf("Markups of the profile %s: general conditions %s, design %s, overhead %s, profit %s on cost, in this order.",
				a.MarkupProfile, percent(a.GeneralConditionsPct), percent(a.DesignPct), percent(a.OverheadPct), percent(a.ProfitPct)),
			t.taxWords(a),
			fmt.Sprintf("Labor hours include the factor %.2f of the profile%s.", t.profile.LaborFactor, t.conditions()),
		},
		Disclaimers: []string{
			"The price is an estimate from catalogue prices, not an offer; quotes of trades may differ.",
			"Work that is not listed, hidden conditions and changes are not in the price.",
		},
	}
	if len(a.UserPreferences) > 0 {
		s.Assumptions = append(s.Assumptions, "Set by the user: "+strings.Join(a.UserPreferences, ", ")+".")
	}
	for _, text := range t.assumptions {
		if text != "" {
			s.Assumptions = append(s.Assumptions, text)
		}
	}
	return s
}

// ownWords says which figures of the contractor were used, and how; empty when
// none was.
func ownWords(lines []*priced) string {
	rates, codes := map[string]bool{}, map[string]bool{}
	for _, p := range lines {
		if p.ownRate && p.hours > 0 {
			rates[strings.ReplaceAll(p.name, "_", " ")] = true
		}
		if p.ownPrice {
			codes[p.scope.CostCode] = true
		}
	}
	var used []string
	if len(rates) > 0 {
		used = append(used, "rates of "+strings.Join(slices.Sorted(maps.Keys(rates)), ", "))
	}
	if len(codes) > 0 {
		used = append(used, "prices of "+strings.Join(slices.Sorted(maps.Keys(codes)), ", "))
	}
	if len(used) == 0 {
		return ""
	}
	return "The contractor's own figures hold as given, without index or escalation: " + strings.Join(used, "; ") + "."
}

func place(l *estimate.Location) string {
	if l.City == "" {
		return cmp.Or(l.State, "the national average")
	}
	return l.City + ", " + l.State
}

func (t *terms) taxWords(a *estimate.Adjustments) string {
	switch {
	case a.Tax.Low == 0:
		return "The state raises no sales tax on the work."
	case t.taxes.contract == 0:
		return fmt.Sprintf("Sales tax of %s is on materials, in the price of subcontractors too.", percent(a.TaxPct))
	case t.taxes.material == 0:
		return fmt.Sprintf("Sales tax of %s is on the contract price; materials are bought untaxed.", percent(t.taxes.contract))
	}
	return fmt.Sprintf("Sales tax of %s is on materials, and a contractor's tax of %s on the contract price.", percent(t.taxes.material), percent(t.taxes.contract))
}

// conditions lists the productivity factors in use.
func (t *terms) conditions() string {
	var used []string
	for _, f := range t.factors {
		used = append(used, fmt.Sprintf("%s %s %.2f", f.ID, f.Name, f.Typ))
	}
	if len(used) == 0 {
		return ""
	}
	return " and " + strings.Join(used, ", ")
}

// drivers names the five largest divisions and their share of the lines.
func drivers(c *estimate.Cost) []string {
	var priced []estimate.CostDivision
	for _, d := range c.Divisions {
		if d.Total.Low > 0 {
			priced = append(priced, d)
		}
	}
	slices.SortStableFunc(priced, func(a, b estimate.CostDivision) int { return cmp.Compare(b.Total.Low, a.Total.Low) })
	out := []string{}
	for _, d := range priced[:min(5, len(priced))] {
		share := 100 * float64(d.Total.Low) / float64(c.Subtotals.Subtotal.Low)
		out = append(out, fmt.Sprintf("%s: %s, %.0f %% of the direct cost.", d.Name, d.Total.Low.Whole(), share))
	}
	return out
}

// savings names the three lines whose next lower grade saves most.
func (t *terms) savings(lines []*priced, perDollar float64) []string {
	lower := map[catalog.Grade]catalog.Grade{catalog.High: catalog.Typical, catalog.Typical: catalog.Low}
	type saving struct {
		p      *priced
		grade  catalog.Grade // the next lower one
		amount float64
	}
	var found []saving
	for _, p := range lines {
		if p.item == nil || !p.item.FinishSensitive || p.doubts.allowance {
			continue
		}
		grade := t.gradeOf(p.item)
		next, price := lower[grade], p.item.Material(grade)
		if next == "" || price <= 0 {
			continue
		}
		share := 1 - p.item.Material(next)/price
		if amount := p.shown.material * share * perDollar; amount >= 50 {
			found = append(found, saving{p, next, amount})
		}
	}
	slices.SortStableFunc(found, func(a, b saving) int {
		return cmp.Or(cmp.Compare(b.amount, a.amount), strings.Compare(a.p.scope.ID, b.p.scope.ID))
	})
	out := []string{}
	words := map[catalog.Grade]string{catalog.Low: "budget", catalog.Typical: "mid-range"}
	for _, s := range found[:min(3, len(found))] {
		out = append(out, fmt.Sprintf("%s: %s material would save about %s.", s.p.scope.Item, words[s.grade], money.FromFloat(s.amount).Whole()))
	}
	return out
}
