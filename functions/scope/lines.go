package scope

import (
	"fmt"
	"math"
	"strings"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/takeoff"
)

// statuses checks that all 24 divisions are there, in order, as the input has
// them (S1).
func statuses(in estimate.Context, out *output) agent.Grade {
	const why = "The status decides what is priced."
	if len(out.Divisions) == 0 {
		return agent.Missing(wrong("divisions", "There are no divisions.", "Without them there is no scope.", 0, 24))
	}
	divisions := catalog.Divisions()
	if len(out.Divisions) != len(divisions) {
		return agent.Gate(wrong("divisions", "Divisions are missing or too many.", why, len(out.Divisions), len(divisions)))
	}
	var off []agent.Finding
	for i, d := range divisions {
		got := &out.Divisions[i]
		want := got.Status
		if in.Clarification != nil {
			want = in.Clarification.Scope[d.Key].Status
		}
		if got.Code != d.Code {
			off = append(off, wrong(fmt.Sprintf("divisions[%d].divisionCode", i), "The divisions are not the 24 in order.", why, got.Code, d.Code))
		}
		if known := strings.Contains("included excluded by_owner not_applicable", got.Status); got.Status == "" || !known || want != "" && got.Status != want {
			off = append(off, wrong(fmt.Sprintf("divisions[%d].status", i), "The status is not that of the input.", why, got.Status, want))
		}
	}
	return gate(off)
}

// linesComplete checks that every line of the included divisions is there once,
// and none was invented (S2).
func linesComplete(in estimate.Context, out *output) agent.Grade {
	const why = "A lost line is work for nothing, an invented one a price for nothing."
	if out.TotalItems == 0 && len(out.Divisions) > 0 {
		return agent.Missing(ask("divisions", "No line of work is there.", "Nothing can be priced.", "Ask what is to be built, line by line.", 0, "lines in the included divisions"))
	}
	var off []agent.Finding
	seen := map[string]bool{}
	each(out, func(d, i int, l *estimate.ScopeLine) {
		if l.ID == "" || seen[l.ID] {
			off = append(off, wrong(at(d, i, "id"), "The line has no id of its own.", "Lines are followed by id to the price.", l.ID, "a unique id"))
		}
		seen[l.ID] = true
	})
	if in.Clarification == nil {
		return gate(off)
	}
	stated := map[string]bool{}
	for i, d := range catalog.Divisions() {
		division := in.Clarification.Scope[d.Key]
		for _, it := range division.Items {
			stated[it.ID] = division.Status == estimate.Included
			if division.Status != estimate.Included || seen[it.ID] || leftOut(out, i, it.Item) {
				continue
			}
			off = append(off, wrong(fmt.Sprintf("divisions[%d].lineItems", i), fmt.Sprintf("The line %s %s is lost.", it.ID, it.Item), why, "none", it.ID))
		}
	}
	each(out, func(d, i int, l *estimate.ScopeLine) {
		if !stated[l.ID] {
			off = append(off, wrong(at(d, i, "id"), "The line is not among the included lines of the input.", why, l.ID, "a line of the input"))
		}
	})
	return gate(off)
}

// leftOut reports whether an item stands among those not priced, with the reason.
func leftOut(out *output, division int, item string) bool {
	if division >= len(out.Divisions) {
		return false
	}
	for _, o := range out.Divisions[division].OwnerItems {
		if takeoff.LeftOut(o, item) {
			return true
		}
	}
	return false
}

// excludedUnpriced checks that what is not included costs nothing (S13, R8).
func excludedUnpriced(_ estimate.Context, out *output) agent.Grade {
	const why = "Work that is left out must not be in the price."
	var off []agent.Finding
	for i := range out.Divisions {
		d := &out.Divisions[i]
		if d.Status == estimate.Included {
			continue
		}
		if len(d.Items) > 0 {
			off = append(off, wrong(fmt.Sprintf("divisions[%d].lineItems", i), fmt.Sprintf("Division %s is %s and has priced lines.", d.Code, d.Status), why, len(d.Items), 0))
		}
		if d.MaterialCost != 0 || d.EquipmentCost != 0 || d.LaborHours != 0 {
			off = append(off, wrong(fmt.Sprintf("divisions[%d].subtotalMaterialCost", i), fmt.Sprintf("Division %s is %s and costs something.", d.Code, d.Status), why, d.MaterialCost, 0))
		}
	}
	return gate(off)
}

// quantities checks that each quantity is the stated one, positive and of a
// known unit (S3).
func quantities(in estimate.Context, out *output) agent.Grade {
	stated := map[string]*estimate.ScopeItem{}
	if in.Clarification != nil {
		for _, d := range in.Clarification.Scope {
			for i := range d.Items {
				stated[d.Items[i].ID] = &d.Items[i]
			}
		}
	}
	var grave, slight []agent.Finding
	each(out, func(d, i int, l *estimate.ScopeLine) {
		if f, ok := misquantified(d, i, l, stated[l.ID]); ok {
			grave = append(grave, f)
		} else if l.TakeoffQty == 0 {
			slight = append(slight, ask(at(d, i, "quantity"), fmt.Sprintf("%s has no quantity.", l.Item), whyQuantity, "Ask how much of it there is.", 0, "more than 0"))
		}
	})
	if len(grave) > 0 {
		return agent.Gate(append(grave, slight...)...)
	}
	return agent.Deduct(20, slight)
}

const whyQuantity = "Every cost of the line is a multiple of its quantity."

// misquantified returns what is gravely wrong with the quantity of a line, given
// the line of the input (nil when that is not known).
func misquantified(d, i int, l *estimate.ScopeLine, stated *estimate.ScopeItem) (agent.Finding, bool) {
	unsettled := l.Validation == takeoff.NeedsVerification
	bad := func(member, issue string, observed, expected any) (agent.Finding, bool) {
		return wrong(at(d, i, member), issue, whyQuantity, observed, expected), true
	}
	switch {
	case !within(l.TakeoffQty, 0, 1e9) || !within(l.Quantity, 0, 1e9):
		return bad("takeoffQuantity", "The quantity is negative or not a number.", l.TakeoffQty, "a finite number above 0")
	case stated != nil && (l.Quantity != stated.Quantity || l.Unit != stated.Unit):
		return bad("quantity", "The quantity is not the one stated.", fmt.Sprint(l.Quantity, " ", l.Unit), fmt.Sprint(stated.Quantity, " ", stated.Unit))
	case l.TakeoffQty == 0 && l.Quantity > 0:
		return bad("takeoffQuantity", "The quantity was lost on the way to the unit of the item.", 0, l.Quantity)
	case l.TakeoffUnit.Dimension() == "":
		return bad("takeoffUnit", "The unit is unknown.", l.TakeoffUnit, "a unit of the catalogue")
	case unsettled:
		return agent.Finding{}, false
	case l.TakeoffQty == 0:
		return bad("quantityValidation", "A line without a quantity counts as good.", l.Validation, takeoff.NeedsVerification)
	case l.Unit.Dimension() == "":
		return bad("quantityValidation", "A line with an unknown unit counts as good.", l.Validation, takeoff.NeedsVerification)
	}
	return agent.Finding{}, false
}

// conversions checks that the quantity in the unit of the item is the stated
// one, converted (S15), and that an assumption in between is written down.
func conversions(_ estimate.Context, out *output) agent.Grade {
	const why = "A unit taken for another is wrong by a factor."
	var off []agent.Finding
	each(out, func(d, i int, l *estimate.ScopeLine) {
		want, plain := estimate.Convert(l.Quantity, l.Unit, l.TakeoffUnit)
		switch {
		case l.QuantitySource == takeoff.Allowance && l.TakeoffUnit == estimate.Allowance:
			if math.Abs(l.TakeoffQty-l.Quantity) > 0.005 {
				off = append(off, wrong(at(d, i, "takeoffQuantity"), "The allowance is not the amount stated.", why, l.TakeoffQty, l.Quantity))
			}
		case plain && math.Abs(l.TakeoffQty-want) > 0.005*want+1e-5:
			off = append(off, wrong(at(d, i, "takeoffQuantity"), fmt.Sprintf("%g %s are not %g %s.", l.Quantity, l.Unit, l.TakeoffQty, l.TakeoffUnit), why, l.TakeoffQty, want))
		case !plain && l.ValidationNote == "" && l.Unit.Dimension() != "lump":
			off = append(off, wrong(at(d, i, "quantityValidationNote"), fmt.Sprintf("%s became %s by no stated rule.", l.Unit, l.TakeoffUnit), why, "no note", "the assumption"))
		}
		if it := catalog.ItemByCode(l.CostCode); it != nil && l.TakeoffUnit != estimate.Allowance && string(l.TakeoffUnit) != it.Unit {
			off = append(off, wrong(at(d, i, "takeoffUnit"), fmt.Sprintf("%s is sold by another unit.", it.Name), why, l.TakeoffUnit, it.Unit))
		}
	})
	return gate(off)
}
