package cost

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// profileOf returns the contract profile of the job; without a scope the one the
// cost names.
func profileOf(in estimate.Context, c *output) catalog.Markup {
	name := c.Adjustments.MarkupProfile
	if in.Scope != nil {
		if p := catalog.ProjectTypeByKey(in.Scope.ProjectKey); p != nil {
			name = p.MarkupProfile
		}
	}
	if m := catalog.MarkupByProfile(name); m != nil {
		return *m
	}
	return catalog.Markup{LaborFactor: 1, MaterialFactor: 1}
}

// contractTax is what states raise on the contract price, as a fraction.
func contractTax(in estimate.Context, a *estimate.Adjustments) float64 {
	switch a.TaxBase {
	case "contract":
		return a.TaxPct
	case "contract65":
		return 0.65 * a.TaxPct
	case "materials_plus_excise":
		return 0.02
	case "materials_plus_contract_tax":
		if in.Scope != nil {
			if p := catalog.ProjectTypeByKey(in.Scope.ProjectKey); p != nil && p.PermitClass == "commercial" {
				return 0.035
			}
		}
	}
	return 0
}

// materialTax is the tax that stands on the material of the lines, in dollars.
// Allowances cover their tax.
func materialTax(c *output) float64 {
	a := &c.Adjustments
	if !strings.HasPrefix(a.TaxBase, "materials") {
		return 0
	}
	taxed := 0.0
	for _, l := range c.Lines {
		if l.Unit != estimate.Allowance {
			taxed += l.MaterialCost.Low.Float()
		}
	}
	return taxed * a.TaxPct
}

// markups rebuilds general conditions, overhead and profit from the lines, in
// their order, with the percentages of the profile or of the user (C3).
func markups(in estimate.Context, c *output) agent.Grade {
	a := &c.Adjustments
	const why = "Each markup is on the cost below it: general conditions, overhead, profit."
	var found []agent.Finding
	near := func(path, issue string, got, want float64) {
		if math.Abs(got-want) > 1+1e-3*math.Abs(want) {
			found = append(found, wrong(path, issue, why, fmt.Sprintf("%.2f", got), fmt.Sprintf("%.2f", want)))
		}
	}
	direct := c.Subtotals.Subtotal.Low.Float() + materialTax(c)
	general, design := a.GeneralConditionsPct*direct, a.DesignPct*direct
	overhead := a.OverheadPct * (direct + design + general)
	near("adjustments.generalConditions.low", "General conditions are not their percentage of the direct cost.", a.GeneralConditions.Low.Float(), general)
	near("adjustments.design.low", "The design fee is not its percentage of the direct cost.", a.Design.Low.Float(), design)
	near("adjustments.companyOverhead.low", "Company overhead is not its percentage of direct cost, design and general conditions.", a.CompanyOverhead.Low.Float(), overhead)
	near("adjustments.profit.low", "Profit is not its percentage of cost with overhead.", a.Profit.Low.Float(), a.ProfitPct*(direct+design+general+overhead))
	found = append(found, percentages(in, c)...)
	return gateIf(found)
}

// percentages compares the rates with the profile of the job and the wishes of
// the user.
func percentages(in estimate.Context, c *output) []agent.Finding {
	a := &c.Adjustments
	var found []agent.Finding
	const why = "The profile is the contract the work is done under."
	same := func(path string, got, want float64) {
		if math.Abs(got-want) > 1e-6 {
			found = append(found, wrong(path, "The percentage is neither the profile's nor the user's.", why, got, want))
		}
	}
	p := profileOf(in, c)
	if in.Scope == nil || catalog.ProjectTypeByKey(in.Scope.ProjectKey) == nil {
		return claimed(a, p)
	}
	if a.MarkupProfile != p.Profile {
		found = append(found, wrong("adjustments.markupProfile", "The profile is not that of the kind of project.", why, a.MarkupProfile, p.Profile))
	}
	overhead, profit, contingency := p.OverheadPct/100, p.ProfitPct/100, 0.0
	if in.Clarification != nil && in.Clarification.Brief.Preferences != nil {
		wish := in.Clarification.Brief.Preferences
		set := func(into, value *float64) {
			if value != nil {
				*into = max(0, *value)
			}
		}
		set(&overhead, wish.Overhead)
		set(&profit, wish.Profit)
		set(&contingency, wish.Contingency)
	}
	same("adjustments.generalConditionsPercentage", a.GeneralConditionsPct, p.GeneralConditionsPct/100)
	same("adjustments.overheadPercentage", a.OverheadPct, overhead)
	same("adjustments.profitPercentage", a.ProfitPct, profit)
	same("adjustments.contingencyPercentage", a.ContingencyPct, contingency)
	return found
}

// claimed compares the rates with the profile the cost itself names, where the
// job is not known. A rate that the cost says the user set is his.
func claimed(a *estimate.Adjustments, p catalog.Markup) []agent.Finding {
	if p.Profile == "" {
		return nil
	}
	var found []agent.Finding
	for _, rate := range []struct {
		path, name string
		got, want  float64
	}{
		{"adjustments.generalConditionsPercentage", "general conditions", a.GeneralConditionsPct, p.GeneralConditionsPct / 100},
		{"adjustments.overheadPercentage", "overhead", a.OverheadPct, p.OverheadPct / 100},
		{"adjustments.profitPercentage", "profit", a.ProfitPct, p.ProfitPct / 100},
	} {
		users := slices.Contains(a.UserPreferences, fmt.Sprintf("%s %.4g %%", rate.name, 100*rate.got))
		if !users && math.Abs(rate.got-rate.want) > 1e-6 {
			found = append(found, wrong(rate.path, "The percentage is neither that of the profile named nor one the user set.", "The profile is the contract the work is done under.", rate.got, rate.want))
		}
	}
	return found
}

// tax rebuilds the sales tax: on materials or on the contract, once (C9).
func tax(in estimate.Context, c *output) agent.Grade {
	a := &c.Adjustments
	var found []agent.Finding
	if in.Location != nil {
		if a.TaxBase != in.Location.Tax.Base {
			found = append(found, wrong("adjustments.taxBase", "The tax is on another base than the state's.", "Tax is due on materials or on the contract, never on both.", a.TaxBase, in.Location.Tax.Base))
		}
		if off(a.TaxPct, in.Location.Tax.Fraction) > 1e-6 {
			found = append(found, wrong("adjustments.taxPercentage", "The rate of tax is not that of the place.", "Tax is what the place raises.", a.TaxPct, in.Location.Tax.Fraction))
		}
	}
	onMaterial := materialTax(c)
	price := c.Subtotals.Subtotal.Low.Float() + onMaterial + a.Overhead.Low.Float() + a.Profit.Low.Float()
	due := contractTax(in, a) * price
	if a.TaxBase == "materials_plus_contract_tax" && price <= 10_000 {
		due = 0
	}
	if want, got := onMaterial+due, a.Tax.Low.Float(); math.Abs(got-want) > 1+0.002*want {
		issue := "The sales tax is not what is due."
		if got == 0 {
			issue = "The sales tax is missing."
		}
		found = append(found, wrong("adjustments.tax.low", issue, "Tax is paid, once.", fmt.Sprintf("%.2f", got), fmt.Sprintf("%.2f", want)))
	}
	return gateIf(found)
}

// permits compares the permits with the fee of their class (C12).
func permits(in estimate.Context, c *output) agent.Grade {
	a := &c.Adjustments
	got := a.Permits.Low.Float()
	if namesPermits(in) {
		if got != 0 {
			return agent.Gate(wrong("adjustments.permitCosts.low", "Permits are excluded and priced.", "An exclusion that names permits removes them (R8).", a.Permits.Low, 0))
		}
		return agent.Full()
	}
	if got == 0 && in.Clarification == nil && in.Scope == nil {
		f := wrong("adjustments.permitCosts.low", "No permit is priced.", "Somebody has to pull it.", 0, "a fee, or an exclusion that names permits")
		f.Fix, f.HowToFix = agent.AskUser, "Confirm that the permits are left to someone else."
		return agent.Partial(60, f)
	}
	class := a.PermitClass
	if in.Scope != nil {
		if p := catalog.ProjectTypeByKey(in.Scope.ProjectKey); p != nil {
			class = p.PermitClass
		}
	}
	fee := catalog.PermitByClass(class)
	if fee == nil {
		return agent.Partial(0, wrong("adjustments.permitClass", "The class of the permit is not known.", "The fee follows the class.", class, "a class of the catalogue"))
	}
	// A state may be two and a half times as dear as the catalogue, and has a
	// minimum of up to $400.
	const dearest, minimum = 4, 500
	contract := (c.Total.Low - a.Permits.Low).Float()
	usual := fee.Base + fee.Pct/100*contract
	low, high := 0.2*usual, dearest*usual
	if usual > 0 {
		high += minimum
	}
	if got < low-0.01 || got > high+0.01 {
		return agent.Gate(wrong("adjustments.permitCosts.low", "The permits are not those of the class of the work.", "Fees stand outside the markups, at cost.",
			a.Permits.Low, fmt.Sprintf("%.2f to %.2f", low, high)))
	}
	return agent.Full()
}

// namesPermits reports whether the scope leaves permits to someone else.
func namesPermits(in estimate.Context) bool {
	var words []string
	if in.Clarification != nil {
		words = append(words, in.Clarification.Brief.Exclusions...)
	}
	if in.Scope != nil {
		words = append(words, in.Scope.Exclusions...)
		for _, d := range in.Scope.Divisions {
			words = append(words, d.OwnerItems...)
		}
	}
	for _, w := range words {
		for word := range strings.FieldsSeq(strings.ToLower(w)) {
			if strings.HasPrefix(strings.Trim(word, "(),."), "permit") {
				return true
			}
		}
	}
	return false
}
