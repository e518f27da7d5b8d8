package synthesis

import (
	"fmt"
	"hash/crc32"
	"regexp"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
)

// illegal are the characters that the id of a document must not have, or that
// readers would have to escape.
var illegal = regexp.MustCompile(`[^A-Za-z0-9_.-]`)

// maxID bounds the part of a document id that comes from outside.
const maxID = 200

// ItemID returns the id of the document of one category of a line,
// {lineItemId}__{category}. Characters that are not legal in an id are replaced;
// a short hash of the line's own id then keeps two lines apart.
func ItemID(line, category string) string {
	id := illegal.ReplaceAllString(line, "-")
	if id != line || len(id) > maxID {
		id = fmt.Sprintf("%s-%08x", id[:min(len(id), maxID)], crc32.ChecksumIEEE([]byte(line)))
	}
	return id + "__" + category
}

// CostItems returns the documents of the lines, material, labor and equipment
// apart, in the order of the lines. What costs nothing has no document.
func CostItems(c *estimate.Cost) []estimate.CostItem {
	items := []estimate.CostItem{}
	for d, l := range c.Lines {
		division := &c.Divisions[d]
		add := func(category, name string, qty float64, unit estimate.Unit, per estimate.RateRange, total estimate.Range) {
			if total.High == 0 {
				return
			}
			items = append(items, estimate.CostItem{
				ID: ItemID(l.ID, category), EstimateID: c.EstimateID, DivisionCode: division.Code, DivisionName: division.Name,
				LineItemID: l.ID, CostCode: l.CostCode, Description: l.Description, Category: category, Name: name,
				Quantity: qty, Unit: unit, UnitCost: per, TotalCost: total, Source: "cost_agent",
			})
		}
		add("material", l.Description, round2(l.Quantity*(1+l.WastePct/100)), l.Unit, l.UnitMaterial, l.MaterialCost)
		add("labor", l.Trade, l.LaborHours, estimate.Hour, l.LaborRate, l.LaborCost)
		add("equipment", "equipment for "+l.Description, l.Quantity, l.Unit, perUnit(l.Equipment, l.Quantity), l.Equipment)
	}
	return items
}

func perUnit(total estimate.Range, qty float64) estimate.RateRange {
	if qty <= 0 {
		return estimate.RateRange{}
	}
	rate := func(c money.Cents) money.Rate { return money.RateFrom(c.Float() / qty) }
	return estimate.RateRange{Low: rate(total.Low), Medium: rate(total.Medium), High: rate(total.High)}
}
