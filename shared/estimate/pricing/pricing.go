package pricing

import (
	"slices"
	"strings"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
	"truecost.dev/shared/fault"
)

// Price computes the cost of the scope at the place: every line of the included
// divisions, and the total without contingency. A contingency that the user
// fixed is reported in the adjustments and not added.
//
// It needs ctx.Scope with at least one line to price and ctx.Location, else the
// error is fault.Invalid; the clarification brings preferences, dates, flags and
// conditions when it is there. The result depends on nothing else: equal
// contexts give equal bytes, and the order of the lines changes only their order.
func Price(ctx estimate.Context) (estimate.Cost, error) {
	if ctx.Scope == nil {
		return estimate.Cost{}, fault.New(fault.Invalid, "scope_output: the scope to price is missing")
	}
	if ctx.Location == nil {
		return estimate.Cost{}, fault.New(fault.Invalid, "location_output: the place to price at is missing")
	}
	t := termsOf(ctx)
	lines := t.price(ctx)
	if len(lines) == 0 {
		return estimate.Cost{}, fault.New(fault.Invalid, "scope_output.divisions: no included division has a line to price")
	}
	c := estimate.Cost{EstimateID: ctx.EstimateID, LineCount: len(lines), PriceDate: t.esc.from, Midpoint: t.esc.to}
	t.bill(&c, ctx.Scope, lines)
	t.total(&c, ctx, lines)
	t.trust(&c, ctx, lines)
	c.Summary = t.summarise(&c, lines)
	c.Warnings = append([]string{}, t.warnings...) // a list also when it is empty
	c.NeedsReview = len(t.warnings) > 0
	return c, nil
}

// price builds up every line of the included divisions. The hours of a trade are
// known only when all its lines are: then its set-up is charged.
func (t *terms) price(ctx estimate.Context) []*priced {
	flagged := flaggedLines(ctx.Clarification)
	var lines []*priced
	for _, section := range inOrder(ctx.Scope) {
		if section.Status != estimate.Included {
			continue
		}
		for i := range section.Items {
			p := t.start(section.Code, &section.Items[i])
			p.doubts.flagged = flagged[p.scope.ID]
			lines = append(lines, p)
		}
	}
	t.withoutInstallation(ctx, lines)
	t.fadeBath(lines)
	t.chargeSetup(lines)
	for _, p := range lines {
		p.finish()
	}
	t.assume("%s", ownWords(lines))
	slices.Sort(t.unrated)
	for _, name := range slices.Compact(t.unrated) {
		t.warn("The place has no rate for %s; the national rate times the labor index was used.", name)
	}
	slices.Sort(t.warnings)
	return lines
}

// inOrder returns the sections in the order of the divisions.
func inOrder(s *estimate.Scope) []estimate.ScopeSection {
	sections := slices.Clone(s.Divisions)
	slices.SortStableFunc(sections, func(a, b estimate.ScopeSection) int { return strings.Compare(a.Code, b.Code) })
	return sections
}

// withoutInstallation takes the labor out of appliances whose installation is
// excluded (R8).
func (t *terms) withoutInstallation(ctx estimate.Context, lines []*priced) {
	if !excludes(ctx, applianceWords) {
		return
	}
	for _, p := range lines {
		if p.trade.Key == "appliance" || p.division == "11" {
			p.work.hours, p.hours = 0, 0
			p.work.equipment = 0
		}
	}
	t.assume("Appliances are priced without their installation, which is excluded.")
}

// chargeSetup stretches the hours of trades that come for little, where a general
// contractor calls several of them. The percentages of a specialty firm are those
// of single small jobs, and a bathroom has its minimum charges in its labor factor.
func (t *terms) chargeSetup(lines []*priced) {
	if !t.profile.SubMarkup || t.project.SchemaType == bathroom {
		return
	}
	hours, condition := map[string][]float64{}, map[string]float64{}
	for _, p := range lines {
		if p.trade.Key != "none" && !timed(p.unit) {
			hours[p.trade.Key] = append(hours[p.trade.Key], p.hours)
			condition[p.trade.Key] = max(condition[p.trade.Key], p.condition)
		}
	}
	usual := usualHours(t.project, t.profile.LaborFactor)
	for _, p := range lines {
		if p.trade.Key != "none" && !timed(p.unit) {
			// The product of all factors stays within its limit on every line.
			p.work.hours *= min(extra(sum(hours[p.trade.Key]), usual[p.trade.Key]), maxProductivity/condition[p.trade.Key])
		}
	}
	var small []string
	for trade, h := range hours {
		if extra(sum(h), usual[trade]) > 1 {
			small = append(small, strings.ReplaceAll(catalog.TradeName(trade), "_", " "))
		}
	}
	if slices.Sort(small); len(small) > 0 {
		t.assume("Trades that come for less than two crew-days, and less than on the usual job of this kind, carry a set-up (P19, P20): %s.", strings.Join(small, ", "))
	}
}

// bill writes the divisions and their sums, all 24 in order.
func (t *terms) bill(c *estimate.Cost, s *estimate.Scope, lines []*priced) {
	status := map[string]string{}
	for _, section := range s.Divisions {
		status[section.Code] = section.Status
	}
	for _, d := range catalog.Divisions() {
		out := estimate.CostDivision{Code: d.Code, Name: d.Name, Status: status[d.Code], Lines: []estimate.CostLine{}}
		if out.Status == "" {
			out.Status = estimate.NotApplicable
		}
		var own []*priced
		for _, p := range lines {
			if p.division == d.Code {
				own = append(own, p)
				out.Lines = append(out.Lines, p.line(t))
			}
		}
		out.ItemCount = len(out.Lines)
		out.Material, out.Labor, out.Equipment, out.Total = subtotals(own, out.Lines)
		out.LaborHours = round6(sum(each(own, func(p *priced) float64 { return p.built.hours })))
		c.Divisions = append(c.Divisions, out)
	}
}

// subtotals adds up lines: their cents for Low, their correlated distribution
// for Medium and High.
func subtotals(own []*priced, lines []estimate.CostLine) (material, labor, equipment, total estimate.Range) {
	for i := range lines {
		material.Low += lines[i].MaterialCost.Low
		labor.Low += lines[i].LaborCost.Low
		equipment.Low += lines[i].Equipment.Low
	}
	total.Low = material.Low + labor.Low + equipment.Low
	widen(&material, moments(own, func(p *priced) moment { return p.material }))
	widen(&labor, moments(own, func(p *priced) moment { return p.labor }))
	widen(&equipment, moments(own, func(p *priced) moment { return p.equipment }))
	widen(&total, moments(own, func(p *priced) moment { return p.total }))
	return material, labor, equipment, total
}

// widen sets Medium and High of a range from the distribution of its parts.
func widen(r *estimate.Range, parts []moment) {
	medium, high := combine(betweenLines, parts).over(r.Low.Float())
	r.Medium = max(r.Low, money.FromFloat(medium))
	r.High = max(r.Medium, money.FromFloat(high))
}

func moments(lines []*priced, of func(*priced) moment) []moment {
	all := make([]moment, len(lines))
	for i, p := range lines {
		all[i] = of(p)
	}
	return all
}

func each(lines []*priced, of func(*priced) float64) []float64 {
	all := make([]float64, len(lines))
	for i, p := range lines {
		all[i] = of(p)
	}
	return all
}
