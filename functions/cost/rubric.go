package cost

import (
	"fmt"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
)

type (
	criterion = agent.Criterion[estimate.Context, estimate.Cost]
	output    = estimate.Cost
)

// rubric judges a cost. What makes the total wrong is a gate; what makes it less
// believable costs points.
func rubric() agent.Rubric[estimate.Context, estimate.Cost] {
	return agent.Rubric[estimate.Context, estimate.Cost]{
		criterion{Name: "subtotals_correct", Weight: 12, Check: sums},
		criterion{Name: "cost_ranges_valid", Weight: 10, Check: ranges},
		criterion{Name: "line_items_costed", Weight: 8, Check: costed},
		criterion{Name: "rest_of_the_figures", Weight: 2, Check: rest},
		criterion{Name: "line_arithmetic", Weight: 8, Check: arithmetic},
		criterion{Name: "unit_prices_plausible", Weight: 10, Check: unitPrices},
		criterion{Name: "labor_hours_plausible", Weight: 8, Check: hours},
		criterion{Name: "labor_rates_local", Weight: 6, Check: laborRates},
		criterion{Name: "exclusions_respected", Weight: 8, Check: exclusions},
		criterion{Name: "markups_in_order", Weight: 8, Check: markups},
		criterion{Name: "sales_tax", Weight: 5, Check: tax},
		criterion{Name: "permits", Weight: 3, Check: permits},
		criterion{Name: "price_of_the_kind", Weight: 4, Check: ofItsKind},
		criterion{Name: "location_applied_once", Weight: 2, Check: located},
		criterion{Name: "labor_share", Weight: 2, Check: laborShare},
		criterion{Name: "summary_quality", Weight: 2, Check: summary},
		criterion{Name: "prices_of_the_year", Weight: 1, Check: dated},
		criterion{Name: "belongs_to_estimate", Weight: 1, Check: belongs},
	}
}

func belongs(in estimate.Context, c *output) agent.Grade { return agent.Belongs(in, c.EstimateID) }

// wrong is a finding about a figure that the primary can compute again.
func wrong(path, issue, why string, observed, expected any) agent.Finding {
	return agent.Finding{
		Path: path, Observed: fmt.Sprint(observed), Expected: fmt.Sprint(expected), Issue: issue, Why: why,
		HowToFix: "Compute " + path + " again from quantity, catalogue, place and profile.", Fix: agent.Recompute,
	}
}

// broken turns breaches of an identity into findings.
func broken(breaches []estimate.Breach, why string) []agent.Finding {
	var found []agent.Finding
	for _, b := range breaches {
		found = append(found, wrong(b.Path, b.Issue, why+" ("+b.Rule+")", b.Observed, b.Expected))
	}
	return found
}

// gateIf is a gate when there are findings, else full marks.
func gateIf(found []agent.Finding) agent.Grade {
	if len(found) > 0 {
		return agent.Gate(found...)
	}
	return agent.Full()
}

func sums(_ estimate.Context, c *output) agent.Grade {
	if len(c.Divisions) == 0 || c.Total.Low == 0 && c.LineCount == 0 {
		return agent.Missing(wrong("divisions", "There is no priced work.", "Without lines there is no estimate.", "none", "24 divisions with the lines of the scope"))
	}
	found := broken(c.CheckSums(), "An amount that its parts do not make cannot be trusted.")
	if c.Subtotals.Subtotal.Low <= 0 {
		found = append(found, wrong("subtotals.subtotal.low", "The work costs nothing.", "Permits and markups alone are no estimate.", c.Subtotals.Subtotal.Low, "more than zero"))
	}
	if c.Total.Low <= 0 {
		found = append(found, wrong("total.low", "The total is not a price.", "Work costs something.", c.Total.Low, "more than zero"))
	}
	if want := len(catalog.Divisions()); len(c.Divisions) != want {
		found = append(found, wrong("divisions", "Divisions are missing.", "Every division has a status, priced or not.", len(c.Divisions), want))
	}
	return gateIf(found)
}

// widest is the largest ratio of P90 to P50 of a total that says anything.
const widest = 2.0

func ranges(_ estimate.Context, c *output) agent.Grade {
	if found := broken(c.CheckRanges(), "Percentiles grow."); len(found) > 0 {
		return agent.Gate(found...)
	}
	t := c.Total
	var found []agent.Finding
	if t.High <= t.Low {
		return agent.Gate(wrong("total.high", "The total has no range.", "No estimate is certain.", t.High, "more than "+t.Low.String()))
	} else if float64(t.High) > widest*float64(t.Low) {
		found = append(found, wrong("total.high", "The range of the total says nothing.", "Beyond twice the estimate the input cannot be estimated.", t.High, "at most "+t.Low.Scale(widest).String()))
	}
	var sum money.Cents
	open := 0
	for _, l := range c.Lines {
		sum += l.TotalCost.High
		if l.TotalCost.High > l.TotalCost.Low {
			open++
		}
	}
	// Few lines may turn out dear together; that many do not.
	const several = 5
	if open >= several && c.Subtotals.Subtotal.High >= sum {
		return agent.Gate(wrong("subtotals.subtotal.high", "The P90 of the lines were added up.", "Not every line turns out dear at once; the sum of P90s is not the P90 of the sum.", c.Subtotals.Subtotal.High, "less than "+sum.String()))
	}
	return agent.Deduct(40, found)
}

// scopeLines returns the lines to be priced by their ids; ok is false without a
// scope.
func scopeLines(in estimate.Context) (lines map[string]*estimate.ScopeLine, ok bool) {
	if in.Scope == nil {
		return nil, false
	}
	lines = map[string]*estimate.ScopeLine{}
	for d := range in.Scope.Divisions {
		if section := &in.Scope.Divisions[d]; section.Status == estimate.Included {
			for i := range section.Items {
				lines[section.Items[i].ID] = &section.Items[i]
			}
		}
	}
	return lines, true
}

// at is the path of a line.
func at(c *output, division int, l *estimate.CostLine) string {
	for i := range c.Divisions[division].Lines {
		if &c.Divisions[division].Lines[i] == l {
			return fmt.Sprintf("divisions[%d].lineItems[%d]", division, i)
		}
	}
	return fmt.Sprintf("divisions[%d]", division)
}

// costed looks whether every line of the scope is priced, once, for its
// quantity (C15).
func costed(in estimate.Context, c *output) agent.Grade {
	want, known := scopeLines(in)
	var grave, unclear []agent.Finding
	seen := map[string]bool{}
	for d, l := range c.Lines {
		path := at(c, d, l)
		if seen[l.ID] {
			grave = append(grave, wrong(path+".lineItemId", "A line is priced twice.", "It would be paid twice.", l.ID, "each line once"))
		}
		seen[l.ID] = true
		grave = append(grave, quantity(path, l, want[l.ID])...)
		unclear = append(unclear, unsure(path, l)...)
	}
	if known {
		for _, section := range in.Scope.Divisions {
			for i := range section.Items {
				if id := section.Items[i].ID; want[id] != nil && !seen[id] {
					grave = append(grave, wrong("divisions", "A line of the scope is not priced.", "What is built is paid for.", "no "+id, id))
				}
			}
		}
	}
	if len(grave) > 0 {
		return agent.Gate(append(grave, unclear...)...)
	}
	return agent.Deduct(15, unclear)
}

// quantity returns what is gravely wrong with the amount of a line: no price, or
// another quantity than that of the scope (nil when it is not known).
func quantity(path string, l *estimate.CostLine, s *estimate.ScopeLine) []agent.Finding {
	var found []agent.Finding
	if l.TotalCost.Low <= 0 && l.Quantity != 0 {
		found = append(found, wrong(path+".totalCost", "An included line costs nothing.", "Included work costs something.", l.TotalCost.Low, "more than zero"))
	}
	if s != nil {
		if qty, ok := estimate.Convert(s.TakeoffQty, s.TakeoffUnit, l.Unit); ok && off(l.Quantity, qty) > 0.005 {
			found = append(found, wrong(path+".quantity", "The quantity is not that of the scope.", "Price follows quantity.", l.Quantity, qty))
		}
	}
	return found
}

// unsure returns what only a person can settle about a line, or what it lacks.
func unsure(path string, l *estimate.CostLine) []agent.Finding {
	var found []agent.Finding
	if l.Quantity == 0 {
		f := wrong(path+".quantity", "A line has no quantity and is not in the price.", "Included work costs something.", 0, "a quantity")
		f.Fix, f.HowToFix = agent.AskUser, "Ask for the quantity of "+l.Description+"."
		found = append(found, f)
	}
	if l.Provenance.Source == "" {
		found = append(found, wrong(path+".provenance", "A price has no source.", "A price without a source cannot be checked.", "none", "catalogue, allowance or default"))
	}
	return found
}

// off is the relative distance of two figures.
func off(got, want float64) float64 {
	switch {
	case got == want:
		return 0
	case want == 0:
		return 1
	case got > want:
		return got/want - 1
	}
	return 1 - got/want
}

func exclusions(in estimate.Context, c *output) agent.Grade {
	return gateIf(broken(estimate.CheckExclusions(in, c), "What is excluded costs nothing."))
}

func located(in estimate.Context, c *output) agent.Grade {
	a := &c.Adjustments
	var found []agent.Finding
	if a.LocationAdjustment.Low != 0 {
		found = append(found, wrong("adjustments.locationAdjustment.low", "The place is applied a second time.", "Rates and indexes are local already (R11).", a.LocationAdjustment.Low, 0))
	}
	if in.Location != nil && off(a.LocationFactor, in.Location.LocationFactor) > 0.005 {
		found = append(found, wrong("adjustments.locationFactor", "The factor is not that of the place.", "It explains the local prices.", a.LocationFactor, in.Location.LocationFactor))
	}
	return gateIf(found)
}
