package cost

import (
	"fmt"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
)

// rest holds the figures that others work from against those they come from:
// counts and hours of the divisions, the ranges of the lines, what a direct
// dollar costs, and the confidence.
func rest(_ estimate.Context, c *output) agent.Grade {
	var found []agent.Finding
	const why = "The agents after this one work from it."
	need := func(ok bool, path, issue string, observed, expected any) {
		if !ok {
			found = append(found, wrong(path, issue, why, observed, expected))
		}
	}
	for i := range c.Divisions {
		d, hours := &c.Divisions[i], 0.0
		path := fmt.Sprintf("divisions[%d]", i)
		for j := range d.Lines {
			hours += d.Lines[j].LaborHours
			found = append(found, spread(fmt.Sprintf("%s.lineItems[%d].uncertainty", path, j), &d.Lines[j].Uncertainty)...)
		}
		need(d.ItemCount == len(d.Lines), path+".itemCount", "The count of lines is wrong.", d.ItemCount, len(d.Lines))
		need(d.LaborHours > hours-0.01 && d.LaborHours < hours+0.01, path+".laborHoursSubtotal", "The hours are not those of the lines.", d.LaborHours, hours)
	}
	found = append(found, wide(c)...)
	a := &c.Adjustments
	local := c.Subtotals.Subtotal.Low + a.LocationAdjustment.Low
	need(a.LocalSubtotal.Low == local, "adjustments.locationAdjustedSubtotal.low", "The local subtotal is not the subtotal at the place.", a.LocalSubtotal.Low, local)
	if direct := c.Subtotals.Subtotal.Low; direct > 0 && a.PricePerDirectDollar > 0 {
		whole := (c.Total.Low - a.Permits.Low).Float() / direct.Float()
		need(off(a.PricePerDirectDollar, whole) < 0.15, "adjustments.pricePerDirectDollar", "A direct dollar does not cost that much of the price.", a.PricePerDirectDollar, fmt.Sprintf("about %.3f", whole))
	}
	need(a.Escalation < c.Subtotals.Subtotal.Low, "adjustments.escalationIncluded", "The escalation is more than the lines it is part of.", a.Escalation, "a part of "+c.Subtotals.Subtotal.Low.String())
	need(c.Confidence >= 0 && c.Confidence <= 1, "confidence", "The confidence is not a share.", c.Confidence, "0 to 1")
	return gateIf(found)
}

// wide finds amounts whose P90 is so far from the estimate that it is a slip.
func wide(c *output) []agent.Finding {
	const most = 5
	var found []agent.Finding
	check := func(path string, r estimate.Range) {
		if r.Low > 0 && (r.High > most*r.Low || r.Medium > most*r.Low) {
			found = append(found, wrong(path+".high", "The P90 is many times the estimate.", "No range is that wide.", r.High, "at most "+(most*r.Low).String()))
		}
	}
	for i := range c.Divisions {
		d, path := &c.Divisions[i], fmt.Sprintf("divisions[%d]", i)
		check(path+".divisionTotal", d.Total)
		for j := range d.Lines {
			l, at := &d.Lines[j], fmt.Sprintf("%s.lineItems[%d]", path, j)
			check(at+".materialCost", l.MaterialCost)
			check(at+".laborCost", l.LaborCost)
			check(at+".totalCost", l.TotalCost)
		}
	}
	check("subtotals.materials", c.Subtotals.Materials)
	check("subtotals.labor", c.Subtotals.Labor)
	check("adjustments.overhead", c.Adjustments.Overhead)
	check("adjustments.profit", c.Adjustments.Profit)
	check("adjustments.tax", c.Adjustments.Tax)
	check("total", c.Total)
	return found
}

// spread finds a range of a line that is no range round 1.
func spread(path string, u *estimate.LineUncertainty) []agent.Finding {
	const least, most = 0.05, 5
	var found []agent.Finding
	for _, part := range []struct {
		name string
		t    estimate.Triangle
	}{{"material", u.Material}, {"labor", u.Labor}, {"quantity", u.Quantity}} {
		t := part.t
		if t == (estimate.Triangle{}) || least <= t.Low && t.Low <= t.Likely && t.Likely <= t.High && t.High <= most && t.Low <= 1 && 1 <= t.High {
			continue
		}
		found = append(found, wrong(path+"."+part.name, "The range of a line is none round its estimate.", "The simulation draws from it.", t, "low ≤ 1 ≤ high, in order"))
	}
	return found
}
