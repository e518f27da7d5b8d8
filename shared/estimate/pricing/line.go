package pricing

import (
	"fmt"
	"math"
	"slices"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
)

// priced is a line while it is being priced.
type priced struct {
	scope    *estimate.ScopeLine
	division string
	item     *catalog.Item // nil for a division default
	trade    *catalog.Trade
	name     string // of the trade, as outputs spell it
	qty      float64
	unit     estimate.Unit
	work     work
	doubts   doubts

	hours     float64 // after conditions, before setup
	condition float64 // product of the factors
	built     buildup
	shown     shown
	sure      estimate.LineUncertainty

	ownPrice, ownRate bool // the contractor's: neither indexed nor escalated

	material, labor, equipment, total moment
}

// start reads a scope line: what it is, how much, and at which price.
func (t *terms) start(division string, s *estimate.ScopeLine) *priced {
	p := &priced{scope: s, division: division, item: catalog.ItemByCode(s.CostCode), qty: s.TakeoffQty, unit: s.TakeoffUnit}
	p.doubts = doubts{
		generic: p.item == nil, allowance: isAllowance(s), match: s.CodeConfidence, trust: s.Confidence,
		inferred:  s.Source == "inferred" || s.Source == "standard_allowance",
		unsettled: s.Validation == "discrepancy" || s.Validation == "needs_verification",
	}
	p.findTrade()
	if p.qty <= 0 || math.IsNaN(p.qty) || math.IsInf(p.qty, 0) {
		p.qty = 0
		t.warn("Line %s (%s) has no quantity and is not in the price.", s.ID, s.Item)
	}
	p.work = work{qty: p.qty, material: s.MaterialPerUnit.Float(), hours: s.HoursPerUnit, waste: s.WastePct / 100, tax: t.taxes.material}
	switch {
	case isAllowance(s):
		p.allow()
	case p.item == nil:
		if p.qty > 0 {
			p.work.equipment = s.EquipmentCost.Float() / p.qty
		}
		t.warn("Line %s (%s) is priced by the default of division %s.", s.ID, s.Item, division)
		t.local(p)
	default:
		t.catalogued(p)
		t.local(p)
	}
	return p
}

// isAllowance reports whether the line is an amount of money set aside, to be
// carried as it is.
func isAllowance(s *estimate.ScopeLine) bool { return s.TakeoffUnit == estimate.Allowance }

// allow carries an allowance at its amount, which covers labor, tax and
// delivery; only the markups of the contract come on top. Its quantity counts
// dollars, unless the scope prices its units.
func (p *priced) allow() {
	p.work.material = max(1, p.work.material)
	p.work.waste, p.work.tax, p.work.hours = 0, 0, 0
}

// catalogued takes price and hours from the catalogue, in the unit of the item.
func (t *terms) catalogued(p *priced) {
	item := p.item
	unit, _ := estimate.ParseUnit(item.Unit)
	qty, ok := estimate.Convert(p.qty, p.unit, unit)
	if !ok {
		p.doubts.unsettled = true
		t.warn("Line %s (%s) is measured in %s, its catalogue item in %s; the price of the scope is used.", p.scope.ID, p.scope.Item, p.unit, unit)
		return
	}
	p.qty, p.unit, p.work.qty = qty, unit, qty
	p.work.material, p.work.hours, p.work.equipment = item.Material(t.gradeOf(item)), item.HoursTyp, item.Equipment
	p.work.waste = item.WastePct / 100
	if p.scope.MaterialPerUnit > 0 && p.scope.HoursPerUnit == 0 {
		p.work.hours = 0 // the scope took the labor out: its installation is excluded (R8)
	}
}

// findTrade settles who does the work: the catalogue's trade, unless the scope
// names another crew that the catalogue knows.
func (p *priced) findTrade() {
	p.name = p.scope.Trade
	p.trade = catalog.TradeByName(p.name)
	if p.trade == nil && p.item != nil {
		p.trade, p.name = catalog.TradeByKey(p.item.Trade), catalog.TradeName(p.item.Trade)
	}
	if p.trade == nil {
		p.trade, p.name = catalog.TradeByKey("laborer"), catalog.TradeName("laborer")
	}
}

// local brings national prices to the place and to the mid-point of
// construction, and hours to the conditions of the job.
func (t *terms) local(p *priced) {
	w := &p.work
	if t.waste != nil && wasted(p) {
		w.waste = *t.waste
	}
	index := t.place.MaterialIndex
	if index <= 0 {
		index = 1
	}
	if price, ok := t.ownPrice(p); ok {
		w.material, p.ownPrice = price, true
	} else {
		w.material *= index * t.profile.MaterialFactor * t.esc.material
	}
	w.equipment *= t.esc.material
	if rate, ok := t.own.Rate(p.name, catalog.TradeName(p.trade.Key)); ok && p.trade.Key != "none" {
		w.rate, p.ownRate = rate.Float(), true
	} else {
		w.rate = t.rate(p) * t.esc.labor
	}
	p.condition = t.productivity(p.trade.Key, p.division, p.unit)
	w.hours *= p.condition
	p.hours = w.qty * w.hours
	if t.profile.SubMarkup && !p.trade.SelfPerformed && p.trade.Key != "none" {
		w.sub = subterms{material: p.trade.SubOnMatPct / 100, labor: p.trade.SubOnLaborPct / 100, equipment: subEquipment}
	}
}

// ownPrice returns the contractor's price of the material of a line, which is in
// the unit of the catalogue's item.
func (t *terms) ownPrice(p *priced) (dollars float64, ok bool) {
	price, ok := t.own.Price(p.scope.CostCode)
	if !ok || p.item == nil || estimate.Unit(p.item.Unit) != p.unit {
		return 0, false
	}
	return price.Float(), true
}

// wasted reports whether the user's waste holds for a line: material that is
// sold by length, area or volume and is not made to order.
func wasted(p *priced) bool {
	switch p.unit.Dimension() {
	case "length", "area", "volume":
		return p.item == nil || p.work.waste > 0
	}
	return false
}

// rate returns the local burdened rate of the line's trade in dollars an hour.
func (t *terms) rate(p *priced) float64 {
	if p.trade.Key == "none" {
		return 0
	}
	if r, ok := t.place.LaborRates[p.name]; ok && r > 0 {
		return r.Float()
	}
	if r, ok := t.place.LaborRates[catalog.TradeName(p.trade.Key)]; ok && r > 0 {
		return r.Float()
	}
	t.unrated = append(t.unrated, p.name)
	index := t.place.LaborIndex
	if index <= 0 {
		index = 1
	}
	return p.trade.Rate * index
}

// finish builds the price up and measures its uncertainty.
func (p *priced) finish() {
	p.built = p.work.build()
	p.shown = p.work.show(p.built)
	p.sure = p.doubts.factors(p.item, p.scope.QuantitySource)
	if p.doubts.allowance {
		p.sure.Quantity = estimate.Triangle{Low: 1, Likely: 1, High: 1}
	}
	q := momentOf(p.sure.Quantity, 1)
	m, l, e := momentOf(p.sure.Material, p.shown.material), momentOf(p.sure.Labor, p.shown.labor), moment{p.shown.equipment, 0}
	p.material, p.labor, p.equipment = m.times(q), l.times(q), e.times(q)
	p.total = combine(materialLabor, []moment{m, l, e}).times(q)
}

// line is the priced line as the output shows it.
func (p *priced) line(t *terms) estimate.CostLine {
	r := func(m moment, base float64) estimate.Range {
		medium, high := m.over(base)
		return estimate.Range{Low: money.FromFloat(base), Medium: money.FromFloat(medium), High: money.FromFloat(high)}
	}
	l := estimate.CostLine{
		ID: p.scope.ID, CostCode: p.scope.CostCode, Description: p.scope.Item, Quantity: p.qty, Unit: p.unit,
		WastePct: round4(p.work.waste * 100), Trade: p.name, HoursPerUnit: round6(p.work.hours), LaborHours: round6(p.built.hours),
		MaterialCost: r(p.material, p.shown.material), LaborCost: r(p.labor, p.shown.labor), Equipment: r(p.equipment, p.shown.equipment),
		Subcontract: p.work.sub != subterms{}, Confidence: p.confidence(), Uncertainty: p.sure,
	}
	l.TotalCost = r(p.total, p.shown.cost())
	l.TotalCost.Low = money.Sum(l.MaterialCost.Low, l.LaborCost.Low, l.Equipment.Low)
	l.TotalCost.Medium = max(l.TotalCost.Low, l.TotalCost.Medium)
	l.TotalCost.High = max(l.TotalCost.Medium, l.TotalCost.High)
	l.UnitMaterial = rates(p.work.material*(1+p.work.sub.material), p.material, p.shown.material)
	l.LaborRate = rates(p.work.rate*(1+p.work.sub.labor), p.labor, p.shown.labor)
	l.Provenance = p.provenance(t)
	return l
}

// rates spreads a price per unit as the amount it makes is spread.
func rates(per float64, m moment, base float64) estimate.RateRange {
	r := estimate.RateRange{Low: money.RateFrom(per), Medium: money.RateFrom(per), High: money.RateFrom(per)}
	if base > 0 {
		medium, high := m.over(base)
		r.Medium, r.High = money.RateFrom(per*medium/base), money.RateFrom(per*high/base)
	}
	return r
}

// confidence in words: low for a division default or a doubtful line.
func (p *priced) confidence() string {
	switch trust := min(p.doubts.match, p.doubts.trust); {
	case p.doubts.generic && !p.doubts.allowance, p.doubts.flagged, trust < 0.5, p.qty == 0:
		return "low"
	case p.doubts.allowance, p.doubts.inferred, p.doubts.unsettled, trust < 0.8:
		return "medium"
	}
	return "high"
}

func (p *priced) provenance(t *terms) estimate.Provenance {
	from := estimate.Provenance{What: p.scope.CostCode, Date: fmt.Sprint(t.place.PriceYear), Level: t.place.Level}
	switch {
	case p.doubts.allowance:
		from.Source = "allowance of the scope"
	case p.ownPrice:
		from.Source, from.Level = "the contractor's own price", "contractor"
	case p.item != nil:
		from.Source = fmt.Sprintf("TrueCost catalogue %s, %s price of %s (%s)", catalog.Version, t.gradeOf(p.item), p.item.Name, p.item.Confidence)
	default:
		from.Source = "default of division " + p.division + " from the scope"
	}
	return from
}

func round4(x float64) float64 { return math.Round(x*1e4) / 1e4 }
func round6(x float64) float64 { return math.Round(x*1e6) / 1e6 }

// sum adds in the order of size, so that equal sets have equal sums whatever
// the order of the lines.
func sum(xs []float64) float64 {
	sorted := slices.Sorted(slices.Values(xs))
	total := 0.0
	for _, x := range sorted {
		total += x
	}
	return total
}
