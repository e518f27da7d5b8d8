package planted

import (
	"encoding/json"
	"fmt"
	"strings"

	"truecost.dev/shared/estimate"
)

// resum makes every sum of a tampered cost right again, from its lines up, so
// that only the error itself can be seen and not that nothing adds up. Markups
// and tax stay as they are.
func resum(raw json.RawMessage) (json.RawMessage, error) {
	var c estimate.Cost
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, fmt.Errorf("add a cost up: %w", err)
	}
	c.LineCount = 0
	c.Subtotals = estimate.CostSubtotals{}
	s := &c.Subtotals
	for i := range c.Divisions {
		d := &c.Divisions[i]
		d.Material, d.Labor, d.Equipment, d.LaborHours, d.ItemCount = estimate.Range{}, estimate.Range{}, estimate.Range{}, 0, len(d.Lines)
		for j := range d.Lines {
			l := &d.Lines[j]
			l.TotalCost = l.MaterialCost.Add(l.LaborCost).Add(l.Equipment)
			d.Material, d.Labor, d.Equipment = d.Material.Add(l.MaterialCost), d.Labor.Add(l.LaborCost), d.Equipment.Add(l.Equipment)
			d.LaborHours += l.LaborHours
		}
		d.Total = d.Material.Add(d.Labor).Add(d.Equipment)
		s.Materials, s.Labor, s.Equipment = s.Materials.Add(d.Material), s.Labor.Add(d.Labor), s.Equipment.Add(d.Equipment)
		s.LaborHours += d.LaborHours
		c.LineCount += len(d.Lines)
	}
	s.Subtotal = s.Materials.Add(s.Labor).Add(s.Equipment)
	total(&c)
	return json.Marshal(c)
}

// retotal makes the total right again after a change of a markup,
// and the headline say it.
func retotal(raw json.RawMessage) (json.RawMessage, error) {
	var c estimate.Cost
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, fmt.Errorf("add a cost up: %w", err)
	}
	total(&c)
	return json.Marshal(c)
}

func total(c *estimate.Cost) {
	a, before := &c.Adjustments, c.Total.Low.Whole()
	a.Overhead = a.GeneralConditions.Add(a.Design).Add(a.CompanyOverhead)
	a.Total = a.LocationAdjustment.Add(a.Overhead).Add(a.Profit).Add(a.Tax).Add(a.Permits)
	a.LocalSubtotal = c.Subtotals.Subtotal.Add(a.LocationAdjustment)
	c.Total = c.Subtotals.Subtotal.Add(a.Total)
	c.Summary.Headline = strings.ReplaceAll(c.Summary.Headline, before, c.Total.Low.Whole())
}
