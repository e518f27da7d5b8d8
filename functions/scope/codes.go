package scope

import (
	"fmt"
	"math"
	"strings"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
	"truecost.dev/shared/estimate/takeoff"
)

// coverage grades the share of lines with a code of the catalogue; a line with
// no code, or one that does not exist, is grave (S10).
func coverage(_ estimate.Context, out *output) agent.Grade {
	const why = "A line without an item has no price of its own."
	var none, defaults []agent.Finding
	lines := 0
	each(out, func(d, i int, l *estimate.ScopeLine) {
		lines++
		switch {
		case catalog.IsDefaultCode(l.CostCode):
			if code := strings.TrimSuffix(strings.TrimPrefix(l.CostCode, "GEN-"), "-001"); catalog.DefaultItem(code, "ea") == nil {
				none = append(none, lookup(at(d, i, "costCode"), fmt.Sprintf("%s has the default of a division that does not exist.", l.Item), why, l.CostCode, "GEN-{division}-001"))
			}
			defaults = append(defaults, lookup(at(d, i, "costCode"), fmt.Sprintf("%s matched no item.", l.Item), why, l.CostCode, "an item of the catalogue"))
		case catalog.ItemByCode(l.CostCode) == nil:
			none = append(none, lookup(at(d, i, "costCode"), fmt.Sprintf("%s has no code of the catalogue.", l.Item), why, l.CostCode, "an item of the catalogue"))
		}
	})
	if lines == 0 {
		return agent.Missing()
	}
	if len(none) > 0 {
		return agent.Gate(append(none, defaults...)...)
	}
	share := 1 - float64(len(defaults))/float64(lines)
	if math.Abs(share-out.Completeness.CodeCoverage) > 0.005 {
		return agent.Gate(append(defaults, wrong("completeness.costCodeCoverage", "The coverage is not the share of coded lines.", "Readers trust the share.", out.Completeness.CodeCoverage, math.Round(share*10000)/10000))...)
	}
	for _, step := range []struct{ least, score float64 }{{0.99, 100}, {0.90, 85}, {0.75, 65}, {0.50, 45}} {
		if share >= step.least {
			return agent.Partial(step.score, defaults...)
		}
	}
	return agent.Gate(defaults...)
}

// fidelity checks that a line carries the figures of its item: name, trade,
// price between low and high, pace within 0.3 to 3 times the catalogue (R10),
// waste of 0 to 20 percent (S14), and words that have something to do with it.
func fidelity(in estimate.Context, out *output) agent.Grade {
	var off []agent.Finding
	each(out, func(d, i int, l *estimate.ScopeLine) {
		it := catalog.ItemByCode(l.CostCode)
		if it == nil || l.TakeoffUnit == estimate.Allowance {
			return
		}
		if l.CodeName != it.Name {
			off = append(off, wrong(at(d, i, "costCodeDescription"), "The description is of another item.", "Readers go by the words.", l.CodeName, it.Name))
		}
		if l.Trade != catalog.TradeName(it.Trade) {
			off = append(off, wrong(at(d, i, "primaryTrade"), "The trade is not that of the item.", "The trade decides the rate.", l.Trade, catalog.TradeName(it.Trade)))
		}
		if p := l.MaterialPerUnit.Float(); !within(p, it.MatLow*0.999-1e-4, it.MatHigh*1.001+1e-4) {
			off = append(off, wrong(at(d, i, "materialCostPerUnit"), "The price is out of the range of the item.", "It is multiplied by the quantity.", p, fmt.Sprintf("%g to %g", it.MatLow, it.MatHigh)))
		}
		free := l.HoursPerUnit == 0 && strings.Contains(l.ValidationNote, "excluded by the brief")
		if !free && !within(l.HoursPerUnit, 0.3*it.HoursTyp, 3*it.HoursTyp) {
			off = append(off, wrong(at(d, i, "laborHoursPerUnit"), "The hours are not the pace of the task.", "Labor is hours at a rate.", l.HoursPerUnit, fmt.Sprintf("%g to %g", 0.3*it.HoursTyp, 3*it.HoursTyp)))
		}
		if !within(l.WastePct, 0, 20) {
			off = append(off, wrong(at(d, i, "wastePercent"), "The waste is out of range.", "Waste is bought and thrown away.", l.WastePct, "0 to 20"))
		}
		if !within(l.CodeConfidence, 0, 1) || !within(l.Confidence, 0, 1) {
			off = append(off, wrong(at(d, i, "confidence"), "A confidence is not a fraction.", "Ranges are made from it.", l.Confidence, "0 to 1"))
		}
	})
	off = append(off, unrated(in, out)...)
	if len(off) > 0 {
		return agent.Gate(off...)
	}
	return doubtful(out)
}

// unrated finds lines whose trade the place has no rate for (L4), once the place
// is known.
func unrated(in estimate.Context, out *output) []agent.Finding {
	if in.Location == nil || len(in.Location.LaborRates) == 0 {
		return nil
	}
	var off []agent.Finding
	each(out, func(d, i int, l *estimate.ScopeLine) {
		if l.LaborHours > 0 && in.Location.LaborRates[l.Trade] <= 0 {
			off = append(off, wrong(at(d, i, "primaryTrade"), "The place has no rate for the trade.", "Its hours would cost nothing.", l.Trade, "a trade of laborRates"))
		}
	})
	return off
}

// doubtful points at matches the matcher itself was unsure of.
func doubtful(out *output) agent.Grade {
	var weak []agent.Finding
	each(out, func(d, i int, l *estimate.ScopeLine) {
		if l.CodeSource != takeoff.ByDefault && l.CodeConfidence < 0.62 {
			weak = append(weak, lookup(at(d, i, "costCode"), fmt.Sprintf("%s is a weak match for %s.", l.CodeName, l.Item), "The wrong item has the wrong price.", l.CodeConfidence, "0.62"))
		}
	})
	return agent.Deduct(15, weak)
}

// arithmetic recomputes lines and sums: costs to the cent, hours to a thousandth.
func arithmetic(_ estimate.Context, out *output) agent.Grade {
	const why = "Sums that do not add up cannot be traced."
	var off []agent.Finding
	var material, equipment money.Cents
	hours, lines := 0.0, 0
	for d := range out.Divisions {
		s := &out.Divisions[d]
		var m, e money.Cents
		h := 0.0
		for i := range s.Items {
			l := &s.Items[i]
			if want := l.MaterialPerUnit.Times(l.TakeoffQty * (1 + l.WastePct/100)); l.MaterialCost != want {
				off = append(off, wrong(at(d, i, "estimatedMaterialCost"), "Material is not price times quantity and waste.", why, l.MaterialCost, want))
			}
			if want := l.TakeoffQty * l.HoursPerUnit; !within(l.LaborHours, want-0.001, want+0.001) {
				off = append(off, wrong(at(d, i, "estimatedLaborHours"), "Hours are not pace times quantity: waste is not worked.", why, l.LaborHours, want))
			}
			m, e, h = m+l.MaterialCost, e+l.EquipmentCost, h+l.LaborHours
		}
		if s.MaterialCost != m || s.EquipmentCost != e || !within(s.LaborHours, h-0.01, h+0.01) || s.ItemCount != len(s.Items) {
			off = append(off, wrong(fmt.Sprintf("divisions[%d].subtotalMaterialCost", d), "A subtotal is not the sum of its lines.", why, s.MaterialCost, m))
		}
		material, equipment, hours, lines = material+m, equipment+e, hours+h, lines+len(s.Items)
	}
	if out.MaterialCost != material || out.EquipmentCost != equipment || !within(out.LaborHours, hours-0.01, hours+0.01) {
		off = append(off, wrong("preliminaryMaterialCost", "A total is not the sum of the divisions.", why, out.MaterialCost, material))
	}
	if out.TotalItems != lines {
		off = append(off, wrong("totalLineItems", "The count of lines is wrong.", why, out.TotalItems, lines))
	}
	return gate(off)
}
