package location

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/locality"
	"truecost.dev/shared/estimate/money"
	"truecost.dev/shared/estimate/takeoff"
)

var taxBases = []string{"materials", "contract", "contract65", "materials_plus_contract_tax", "materials_plus_excise", "none"}

// taxRight checks rate and base (L7).
func taxRight(_ estimate.Context, out *output) agent.Grade {
	const why = "A wrong base taxes labor, or material twice."
	var off []agent.Finding
	if !within(out.Tax.Fraction, 0, 0.11) {
		off = append(off, wrong("salesTax.rate", "The rate is not a fraction from 0 to 0.11.", why, out.Tax.Fraction, "0 to 0.11"))
	}
	if !slices.Contains(taxBases, out.Tax.Base) {
		off = append(off, wrong("salesTax.base", "The base of the tax is unknown.", why, out.Tax.Base, strings.Join(taxBases, ", ")))
	}
	if s := catalog.StateByAbbr(out.State); s != nil && len(off) == 0 {
		if out.Tax.Base != s.SalesTaxBase {
			off = append(off, wrong("salesTax.base", "The base is not that of the state.", why, out.Tax.Base, s.SalesTaxBase))
		}
		if math.Abs(out.Tax.Fraction-s.SalesTaxPct/100) > 0.005 {
			off = append(off, wrong("salesTax.rate", "The rate is not that of the state.", why, out.Tax.Fraction, s.SalesTaxPct/100))
		}
	}
	if len(off) > 0 {
		return agent.Gate(off...)
	}
	return agent.Full()
}

// leastJob is the contract on which permits are judged when the kind of project
// is not known or a small one, whose minimum fees say little: from 0.3 to about
// 3 percent (L9).
const leastJob = 50000

// permitsRight checks class and amount of the fees.
func permitsRight(in estimate.Context, out *output) agent.Grade {
	p := out.Permits
	parts := map[string]money.Cents{
		"buildingPermitBase": p.Base, "electricalPermit": p.Electrical, "plumbingPermit": p.Plumbing, "mechanicalPermit": p.Mechanical,
		"planReviewFee": p.PlanReview, "impactFees": p.Impact, "inspectionFees": p.Inspection,
	}
	const why = "Fees are added to the price at cost."
	var off []agent.Finding
	fixed := money.Cents(0)
	for _, name := range []string{"buildingPermitBase", "electricalPermit", "plumbingPermit", "mechanicalPermit", "planReviewFee", "impactFees", "inspectionFees"} {
		fixed += parts[name]
		if !within(parts[name].Float(), 0, 10000) {
			off = append(off, wrong("permitCosts."+name, "The fee is negative or absurd.", why, parts[name], "0 to 10,000"))
		}
	}
	if len(off) > 0 {
		return agent.Gate(off...)
	}
	if catalog.PermitByClass(p.Class) == nil {
		return agent.Gate(wrong("permitCosts.permitClass", "The permit class is unknown.", why, p.Class, "a class of the fee table"))
	}
	job := float64(leastJob)
	if in.Clarification != nil {
		job = max(job, takeoff.ProjectType(in.Clarification).CheckPrice)
		if want := takeoff.ProjectType(in.Clarification).PermitClass; p.Class != want {
			return agent.Gate(wrong("permitCosts.permitClass", "The class does not fit the kind of project.", why, p.Class, want))
		}
	}
	if foreign := fees(in, out); len(foreign) > 0 {
		return agent.Gate(foreign...)
	}
	const dearest = 0.1 // of a contract
	if !within(p.Percentage, 0, dearest) {
		return agent.Gate(wrong("permitCosts.buildingPermitPercentage", "The fee is no small fraction of the contract.", why, p.Percentage, "0 to 0.1"))
	}
	share := (fixed.Float() + p.Percentage*job) / job
	if p.Class != "none" && p.Class != "new" && !within(share, 0.003, 0.035) {
		off = append(off, wrong("permitCosts", "Permits cost an unusual share of such a job.", why, fmt.Sprintf("%.2f %%", share*100), "0.3 to 3.5 %"))
	}
	return agent.Deduct(50, off)
}

// fees finds fees that are not those of the tables for the place.
func fees(in estimate.Context, out *output) []agent.Finding {
	if in.Clarification == nil {
		return nil
	}
	want := locality.Locate(in.Clarification.Brief.Location, out.Permits.Class, locality.Auto)
	if want.State != out.State {
		return nil // the other half of a contradictory address
	}
	var off []agent.Finding
	got, table := out.Permits, want.Permits
	for _, fee := range []struct {
		name      string
		got, want money.Cents
	}{
		{"buildingPermitBase", got.Base, table.Base},
		{"electricalPermit", got.Electrical, table.Electrical},
		{"plumbingPermit", got.Plumbing, table.Plumbing},
		{"mechanicalPermit", got.Mechanical, table.Mechanical},
		{"planReviewFee", got.PlanReview, table.PlanReview},
		{"impactFees", got.Impact, table.Impact},
		{"inspectionFees", got.Inspection, table.Inspection},
	} {
		if d := fee.got - fee.want; d < -100 || d > 100 { // a dollar
			off = append(off, wrong("permitCosts."+fee.name, "The fee is not that of the place.", "Fees are added to the price at cost.", fee.got, fee.want))
		}
	}
	return off
}

var winters = []string{"none", "minimal", "moderate", "severe"}

// weatherRight checks the lost days (L10) and what is derived from them.
func weatherRight(_ estimate.Context, out *output) agent.Grade {
	w := out.Weather
	const why = "Exterior work is scheduled by it."
	var off, grave []agent.Finding
	year := 0.0
	for m, days := range w.LostDays {
		year += days
		if !within(days, 0, 21) {
			grave = append(grave, wrong(fmt.Sprintf("weatherFactors.lostDaysByMonth[%d]", m), "A month has 21 working days to lose.", why, days, "0 to 21"))
		}
	}
	if year == 0 && w.WinterImpact == "" {
		grave = append(grave, wrong("weatherFactors", "There are no weather factors.", why, "none", "lost days by month"))
	}
	if len(grave) > 0 {
		return agent.Gate(grave...)
	}
	if !within(year, 10, 95) {
		off = append(off, wrong("weatherFactors.lostDaysByMonth", "The lost days of the year are out of what the country knows.", why, fmt.Sprintf("%.1f", year), "10 to 95"))
	}
	if s := catalog.StateByAbbr(out.State); s != nil && len(off) == 0 {
		for m, days := range s.LostDays() {
			if math.Abs(days-w.LostDays[m]) > 2 {
				off = append(off, wrong(fmt.Sprintf("weatherFactors.lostDaysByMonth[%d]", m), "The month does not fit the climate of the state.", why, w.LostDays[m], days))
			}
		}
	}
	if !slices.Contains(winters, w.WinterImpact) {
		off = append(off, wrong("weatherFactors.winterImpact", "The winter impact is not one of the published grades.", why, w.WinterImpact, strings.Join(winters, ", ")))
	}
	if !within(w.Seasonal, 0.8, 1.3) {
		off = append(off, wrong("weatherFactors.seasonalAdjustment", "The seasonal factor is out of range.", why, w.Seasonal, "0.8 to 1.3"))
	}
	if len(off) > 0 {
		return agent.Gate(off...)
	}
	return agent.Full()
}
