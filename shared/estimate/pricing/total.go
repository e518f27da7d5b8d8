package pricing

import (
	"fmt"
	"math"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
)

// total writes subtotals, adjustments and the total. Every adjustment but the
// permits grows with the lines, so its Medium and High keep its share of them;
// permits are applied for once and stay (R6).
func (t *terms) total(c *estimate.Cost, ctx estimate.Context, lines []*priced) {
	var all []estimate.CostLine
	for _, d := range c.Divisions {
		all = append(all, d.Lines...)
	}
	s := &c.Subtotals
	s.Materials, s.Labor, s.Equipment, s.Subtotal = subtotals(lines, all)
	s.LaborHours = round6(sum(each(lines, func(p *priced) float64 { return p.built.hours })))

	k := t.markups.on(sum(each(lines, func(p *priced) float64 { return p.built.direct })))
	tax := sum(each(lines, func(p *priced) float64 { return p.shown.tax })) + t.taxes.due(k.price, ctx.Location.Tax.Base)
	included := map[string]bool{}
	for _, p := range lines {
		included[p.division] = true
	}
	fee := permitFor(t.project.PermitClass, ctx.Location.Permits, included, excludes(ctx, permitWords))
	t.assume("%s", fee.note)

	grown := func(dollars float64) estimate.Range { return inProportion(dollars, s.Subtotal) }
	a := estimate.Adjustments{
		LocationFactor: ctx.Location.LocationFactor, LocalSubtotal: s.Subtotal,
		OverheadPct: t.markups.overhead, CompanyOverhead: grown(k.overhead),
		GeneralConditionsPct: t.markups.general, GeneralConditions: grown(k.general),
		DesignPct: t.markups.design, Design: grown(k.design),
		ProfitPct: t.markups.profit, Profit: grown(k.profit),
		Permits: estimate.Fixed(money.FromFloat(fee.fixed + fee.share*k.price)), PermitClass: fee.class,
		TaxPct: ctx.Location.Tax.Fraction, TaxBase: ctx.Location.Tax.Base, Tax: grown(tax),
		MarkupProfile: t.profile.Profile, UserPreferences: append([]string{}, t.preferences...),
		Escalation: money.FromFloat(sum(each(lines, t.escalated))),
	}
	a.Overhead = a.GeneralConditions.Add(a.Design).Add(a.CompanyOverhead)
	a.Total = a.Overhead.Add(a.Profit).Add(a.Tax).Add(a.Permits)
	c.Total = s.Subtotal.Add(a.Total)
	if s.Subtotal.Low > 0 {
		perDollar := float64(c.Total.Low-a.Permits.Low) / float64(s.Subtotal.Low)
		a.PricePerDirectDollar = math.Round(perDollar*1e8) / 1e8
	}
	if t.contingency != nil {
		a.ContingencyFixed, a.ContingencyPct = true, *t.contingency
		a.Contingency = estimate.Fixed(c.Total.Low.Scale(*t.contingency))
	}
	c.Adjustments = a
}

// inProportion spreads an amount as whole is spread.
func inProportion(dollars float64, whole estimate.Range) estimate.Range {
	low := money.FromFloat(dollars)
	r := estimate.Fixed(low)
	if whole.Low > 0 {
		r.Medium = max(low, low.Scale(float64(whole.Medium)/float64(whole.Low)))
		r.High = max(r.Medium, low.Scale(float64(whole.High)/float64(whole.Low)))
	}
	return r
}

// escalated returns how much of a line is escalation.
func (t *terms) escalated(p *priced) float64 {
	if p.doubts.allowance {
		return 0
	}
	goods, labor := p.shown.equipment, p.shown.labor
	if !p.ownPrice {
		goods += p.shown.material
	}
	if p.ownRate {
		labor = 0
	}
	return goods*(1-1/t.esc.material) + labor*(1-1/t.esc.labor)
}

// trust writes how far the cost can be believed.
func (t *terms) trust(c *estimate.Cost, ctx estimate.Context, lines []*priced) {
	worth := map[string]float64{"high": 0.9, "medium": 0.7, "low": 0.4}
	confidence := 0.0
	for _, p := range lines {
		confidence += worth[p.confidence()]
		if p.item != nil && !p.doubts.allowance {
			c.ExactItems++
		}
	}
	n := float64(len(lines))
	c.EstimatedItems = len(lines) - c.ExactItems
	c.LineConfidence = round4(confidence / n)
	c.Confidence = round4(0.3*float64(c.ExactItems)/n + 0.3*clamp01(ctx.Location.Confidence) +
		0.2*clamp01(ctx.Scope.Confidence) + 0.2*min(1, n/20))
}

// flaggedLines returns the ids of the scope items that the clarifier marked as
// doubtful, csiScope.div10_specialties.items[0].
func flaggedLines(c *estimate.Clarification) map[string]bool {
	ids := map[string]bool{}
	if c == nil {
		return ids
	}
	for _, flag := range c.Flags.LowConfidence {
		for _, d := range catalog.Divisions() {
			var i int
			if n, _ := fmt.Sscanf(flag.Field, "csiScope."+d.Key+".items[%d]", &i); n == 1 {
				if items := c.Scope[d.Key].Items; i >= 0 && i < len(items) {
					ids[items[i].ID] = true
				}
			}
		}
	}
	return ids
}
