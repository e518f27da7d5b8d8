package cost

import (
	"fmt"
	"math"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
)

// arithmetic recomputes each line from its own quantity, rates and hours (C1,
// C10), to the cent and what the four decimals of a rate are worth.
func arithmetic(_ estimate.Context, c *output) agent.Grade {
	var found []agent.Finding
	expect := func(path string, got money.Cents, qty float64, rate money.Rate, issue string) {
		want := rate.Times(qty)
		slack := money.Cents(1 + math.Ceil(math.Abs(qty)*0.005) + math.Ceil(math.Abs(rate.Float())*0.0001))
		if d := got - want; d < -slack || d > slack {
			found = append(found, wrong(path, issue, "A line must be what its factors make.", got, want))
		}
	}
	for d, l := range c.Lines {
		path := at(c, d, l)
		expect(path+".materialCost.low", l.MaterialCost.Low, l.Quantity*(1+l.WastePct/100), l.UnitMaterial.Low, "Material is not quantity with waste times unit price.")
		expect(path+".laborCost.low", l.LaborCost.Low, l.LaborHours, l.LaborRate.Low, "Labor is not hours times rate.")
		if math.Abs(l.LaborHours-l.Quantity*l.HoursPerUnit) > 0.01+1e-5*l.LaborHours+1e-6*l.Quantity {
			found = append(found, wrong(path+".laborHours", "Hours are not quantity times hours per unit.", "Waste and markup never multiply hours.", l.LaborHours, l.Quantity*l.HoursPerUnit))
		}
	}
	total := 0.0
	for _, l := range c.Lines {
		total += l.LaborHours
	}
	if math.Abs(total-c.Subtotals.LaborHours) > 0.01 {
		found = append(found, wrong("subtotals.totalLaborHours", "The hours are not the sum of the lines.", "The schedule is made from them.", c.Subtotals.LaborHours, total))
	}
	return gateIf(found)
}

// Bounds of what pricing may do to a national price.
const (
	slack          = 1.03 // rounding
	fastestPerYear = 1.06 // escalation

	// Material indexes of the country, where the place is not known.
	cheapestPlace, dearestPlace = 0.90, 1.20
)

// growth returns by how much prices may have grown up to the mid-point.
func growth(c *output) float64 {
	years := c.Midpoint.Sub(c.PriceDate.Time).Hours() / 24 / 365.25
	return math.Pow(fastestPerYear, math.Min(15, math.Max(0, years)))
}

// markup returns by how much a subcontractor may raise material and labor.
func markup(l *estimate.CostLine) (material, labor float64) {
	trade := catalog.TradeByName(l.Trade)
	if !l.Subcontract || trade == nil {
		return 1, 1
	}
	return 1 + trade.SubOnMatPct/100, 1 + trade.SubOnLaborPct/100
}

// unitPrices compares the unit material with the catalogue's low and high at the
// place (C5).
func unitPrices(in estimate.Context, c *output) agent.Grade {
	lines, _ := scopeLines(in)
	cheap, dear := cheapestPlace, dearestPlace
	if in.Location != nil && in.Location.MaterialIndex > 0 {
		cheap, dear = in.Location.MaterialIndex, in.Location.MaterialIndex
	}
	profile := profileOf(in, c)
	var found []agent.Finding
	for d, l := range c.Lines {
		low, high, known := nationalPrice(l, lines[l.ID])
		if !known {
			continue
		}
		sub, _ := markup(l)
		if own, ok := in.Own().Price(l.CostCode); ok && catalog.ItemByCode(l.CostCode) != nil {
			if got := l.UnitMaterial.Low.Float(); math.Abs(got-own.Float()*sub) > 0.01 {
				found = append(found, wrong(at(c, d, l)+".unitMaterialCost.low", "A unit price is not the contractor's own.",
					"His prices come before those of the catalogue.", l.UnitMaterial.Low, fmt.Sprintf("%.2f", own.Float()*sub)))
			}
			continue
		}
		low *= cheap * profile.MaterialFactor * sub / slack
		high *= dear * profile.MaterialFactor * sub * growth(c) * slack
		if got := l.UnitMaterial.Low.Float(); got < low-0.01 || got > high+0.01 {
			found = append(found, wrong(at(c, d, l)+".unitMaterialCost.low", "A unit price lies outside the catalogue's range at this place.",
				"A price nobody charges is a slip.", l.UnitMaterial.Low, fmt.Sprintf("%.2f to %.2f", low, high)))
		}
	}
	return gateIf(found)
}

// dated checks that the prices are those of the catalogue, and that they were
// carried forward in time (C11).
func dated(_ estimate.Context, c *output) agent.Grade {
	var found []agent.Finding
	if year := c.PriceDate.Year(); year != catalog.PriceYear {
		found = append(found, wrong("priceDate", "The prices are not those of the catalogue's year.", "A stale price is escalated by too little or too much.", c.PriceDate, catalog.PriceYear))
	}
	if c.Adjustments.Escalation != 0 && c.Midpoint.Before(c.PriceDate.Time) {
		found = append(found, wrong("escalatedTo", "Prices are escalated to a date before their own.", "Work is paid for at its mid-point.", c.Midpoint, "after "+c.PriceDate.String()))
	}
	return gateIf(found)
}

// nationalPrice returns the range of the national unit price of a line's
// material; known is false for an allowance and where nothing is known.
func nationalPrice(l *estimate.CostLine, s *estimate.ScopeLine) (low, high float64, known bool) {
	if l.Unit == estimate.Allowance {
		return 0, 0, false
	}
	if item := catalog.ItemByCode(l.CostCode); item != nil && estimate.Unit(item.Unit) == l.Unit {
		return item.MatLow, item.MatHigh, true
	}
	if s != nil {
		price := s.MaterialPerUnit.Float()
		return price, price, true
	}
	return 0, 0, false
}

// Hours of a task against those of the catalogue (R10).
const leastHours, mostHours = 0.3, 3.0

func hours(in estimate.Context, c *output) agent.Grade {
	lines, _ := scopeLines(in)
	var found []agent.Finding
	for d, l := range c.Lines {
		s := lines[l.ID]
		usual := 0.0
		if s != nil {
			usual = s.HoursPerUnit
		}
		if item := catalog.ItemByCode(l.CostCode); item != nil && estimate.Unit(item.Unit) == l.Unit {
			usual = item.HoursTyp
		}
		got := l.HoursPerUnit
		installed := got > 0 || s == nil || s.HoursPerUnit > 0
		if l.Unit == estimate.Allowance || usual == 0 && got == 0 || !installed || got == 0 && l.Trade == "appliance_installer" {
			continue
		}
		if got < leastHours*usual || got > mostHours*usual {
			found = append(found, wrong(at(c, d, l)+".unitLaborHours", "The hours per unit are not those of the task.",
				"Hours follow the task, within 0.3 to 3 times the catalogue (R10).", got, fmt.Sprintf("%.4g to %.4g", leastHours*usual, mostHours*usual)))
		}
	}
	return gateIf(found)
}

// laborRates compares each rate with the burdened local rate of its trade.
func laborRates(in estimate.Context, c *output) agent.Grade {
	if in.Location == nil {
		return agent.Full()
	}
	var found []agent.Finding
	for d, l := range c.Lines {
		local := in.Location.LaborRates[l.Trade].Float()
		if trade := catalog.TradeByName(l.Trade); local == 0 && trade != nil {
			local = in.Location.LaborRates[catalog.TradeName(trade.Key)].Float()
		}
		if local == 0 && l.LaborHours > 0 && catalog.TradeByName(l.Trade) == nil {
			found = append(found, wrong(at(c, d, l)+".primaryTrade", "Nobody has a rate for the trade.", "Its hours cannot be priced.", l.Trade, "a trade of laborRates"))
		}
		if local == 0 || l.LaborHours == 0 {
			continue
		}
		_, sub := markup(l)
		low, high := local*sub/slack, local*sub*growth(c)*slack
		if got := l.LaborRate.Low.Float(); got < low || got > high {
			found = append(found, wrong(at(c, d, l)+".laborRate.low", "The rate is not the burdened rate of the trade at this place.",
				"A bare wage or a foreign rate misses the cost of labor.", l.LaborRate.Low, fmt.Sprintf("%.2f to %.2f", low, high)))
		}
	}
	return gateIf(found)
}

// laborShares are the usual shares of labor in the direct cost, percent, by the
// beginning of the project key.
var laborShares = []struct {
	key       string
	low, high float64
}{
	{"kitchen", 20, 40},
	{"bath_addition", 35, 50},
	{"bath", 30, 50},
	{"primary_suite", 35, 50},
	{"roof", 35, 50},
	{"paint", 60, 75},
}

// laborShare looks at the mix of a whole job (C4); a few lines have any mix. A
// scope may differ from the usual one by ten points.
func laborShare(in estimate.Context, c *output) agent.Grade {
	const whole, tolerated = 12, 10
	if in.Scope == nil || c.LineCount < whole || c.Subtotals.Subtotal.Low <= 0 {
		return agent.Full()
	}
	share := 100 * float64(c.Subtotals.Labor.Low) / float64(c.Subtotals.Subtotal.Low)
	for _, band := range laborShares {
		if len(in.Scope.ProjectKey) < len(band.key) || in.Scope.ProjectKey[:len(band.key)] != band.key {
			continue
		}
		if share < band.low-tolerated || share > band.high+tolerated {
			return agent.Partial(50, wrong("subtotals.labor.low", "The share of labor is unusual for this kind of work.", "It may show a slip in hours or in unit prices.",
				fmt.Sprintf("%.0f %%", share), fmt.Sprintf("%.0f to %.0f %%", band.low, band.high)))
		}
		break
	}
	return agent.Full()
}
