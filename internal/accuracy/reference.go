package accuracy

import (
	"fmt"
	"slices"
	"strings"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
)

// referenceTax is the sales tax on materials that the check prices are made at.
const referenceTax = 0.069

// Reference returns what the cost agent knows of the usual job of a project type
// at the national average: index 1.00, 6.9 % tax on materials, in the price
// year, at the finish whose price point is typical, without conditions. A
// formula that cannot be evaluated is a defect of the catalogue and an error.
func Reference(p *catalog.ProjectType) (estimate.Context, error) {
	bill, area, err := catalog.UsualBill(p, 0)
	if err != nil {
		return estimate.Context{}, fmt.Errorf("take the usual bill: %w", err)
	}
	s := estimate.Scope{ProjectKey: p.Key, Finish: typicalFinish(p), Complexity: "moderate", Sqft: area}
	byDivision := map[string][]estimate.ScopeLine{}
	for i, portion := range bill {
		d := portion.Item.Division
		byDivision[d] = append(byDivision[d], referenceLine(fmt.Sprintf("%s-%03d", d, i+1), portion))
	}
	for _, d := range catalog.Divisions() {
		section := estimate.ScopeSection{Code: d.Code, Name: d.Name, Status: estimate.NotApplicable, Items: byDivision[d.Code]}
		if len(section.Items) > 0 {
			section.Status = estimate.Included
		}
		s.Divisions = append(s.Divisions, section)
	}
	return estimate.Context{EstimateID: "est-reference", Location: nation(p), Scope: &s}, nil
}

func referenceLine(id string, p catalog.Portion) estimate.ScopeLine {
	unit := estimate.Unit(p.Item.Unit)
	return estimate.ScopeLine{
		ID: id, Item: p.Item.Name, Quantity: p.Quantity, Unit: unit, TakeoffQty: p.Quantity, TakeoffUnit: unit,
		QuantitySource: "stated", CostCode: p.Item.Code, CodeConfidence: 1, Trade: catalog.TradeName(p.Item.Trade),
		Confidence: 1, Source: "user_input",
	}
}

// typicalFinish is a finish level that picks the typical price without a factor
// on the hours: mid-range, or a level that the type has to itself.
func typicalFinish(p *catalog.ProjectType) string {
	for point := range strings.SplitSeq(p.PricePoints, ";") {
		level, column, _ := strings.Cut(point, ":")
		if column == "typ" && !slices.Contains([]string{"budget", "high_end", "luxury"}, level) {
			return level
		}
	}
	return "mid_range"
}

// nation is the place whose indexes are 1.00.
func nation(p *catalog.ProjectType) *estimate.Location {
	rates := map[string]money.Rate{}
	for _, trade := range catalog.Trades() {
		rates[catalog.TradeName(trade.Key)] = money.RateFrom(trade.Rate)
	}
	fee := catalog.PermitByClass(p.PermitClass)
	return &estimate.Location{
		City: "Anywhere", State: "US", LaborRates: rates, LaborIndex: 1, MaterialIndex: 1, LocationFactor: 1,
		PriceYear: catalog.PriceYear, Level: "national",
		Tax:     estimate.SalesTax{Fraction: referenceTax, Base: "materials"},
		Permits: estimate.PermitCosts{Class: fee.Class, Base: money.FromFloat(fee.Base), Percentage: fee.Pct / 100},
	}
}
