package estimate

import (
	"fmt"

	"truecost.dev/shared/estimate/money"
)

// Breach is one identity of the domain that does not hold.
type Breach struct {
	Rule     string // R5, R6, R7, R8
	Path     string // JSON path in the output that was checked
	Observed string
	Expected string
	Issue    string // a sentence
}

// tolerance of a sum: a cent for rounding. Outputs add up to the cent; the cent
// is for those that went through binary floating point elsewhere.
const tolerance money.Cents = 1

type ledger struct{ breaches []Breach }

func (l *ledger) add(rule, path, observed, expected, issue string) {
	l.breaches = append(l.breaches, Breach{rule, path, observed, expected, issue})
}

// equal notes a breach of R6 unless got is want, to the cent.
func (l *ledger) equal(path string, got, want money.Cents, issue string) {
	if d := got - want; d < -tolerance || d > tolerance {
		l.add("R6", path, got.String(), want.String(), issue)
	}
}

// CheckSums returns where the parts of a cost do not make its whole (R6): lines
// their divisions, divisions the subtotals, subtotals and adjustments the total.
func (c *Cost) CheckSums() []Breach {
	l := &ledger{}
	var all [4]money.Cents
	count := 0
	for i := range c.Divisions {
		sums := l.division(&c.Divisions[i], fmt.Sprintf("divisions[%d]", i))
		for j := range all {
			all[j] += sums[j]
		}
		count += len(c.Divisions[i].Lines)
	}
	if count != c.LineCount {
		l.add("R6", "boqLineItemCount", fmt.Sprint(c.LineCount), fmt.Sprint(count), "The number of lines is not the number of lines there are.")
	}
	s, a := &c.Subtotals, &c.Adjustments
	l.equal("subtotals.materials.low", s.Materials.Low, all[0], "The materials are not the sum of the lines.")
	l.equal("subtotals.labor.low", s.Labor.Low, all[1], "The labor is not the sum of the lines.")
	l.equal("subtotals.equipment.low", s.Equipment.Low, all[2], "The equipment is not the sum of the lines.")
	l.equal("subtotals.subtotal.low", s.Subtotal.Low, all[3], "The subtotal is not the sum of the lines.")
	l.equal("adjustments.overhead.low", a.Overhead.Low, money.Sum(a.GeneralConditions.Low, a.Design.Low, a.CompanyOverhead.Low),
		"Overhead is not general conditions, design and company overhead together.")
	l.equal("adjustments.totalAdjustments.low", a.Total.Low, money.Sum(a.LocationAdjustment.Low, a.Overhead.Low, a.Profit.Low, a.Tax.Low, a.Permits.Low),
		"The adjustments do not add up.")
	l.equal("total.low", c.Total.Low, money.Sum(s.Materials.Low, s.Labor.Low, s.Equipment.Low, a.LocationAdjustment.Low, a.Overhead.Low, a.Profit.Low, a.Permits.Low, a.Tax.Low),
		"Materials, labor, equipment, location, overhead, profit, permits and tax do not make the total.")
	return l.breaches
}

// division checks one division and returns the sums of its lines: material,
// labor, equipment, total.
func (l *ledger) division(d *CostDivision, path string) (sums [4]money.Cents) {
	for i := range d.Lines {
		line := &d.Lines[i]
		parts := money.Sum(line.MaterialCost.Low, line.LaborCost.Low, line.Equipment.Low)
		l.equal(fmt.Sprintf("%s.lineItems[%d].totalCost.low", path, i), line.TotalCost.Low, parts,
			"A line is not its material, labor and equipment.")
		sums[0] += line.MaterialCost.Low
		sums[1] += line.LaborCost.Low
		sums[2] += line.Equipment.Low
		sums[3] += line.TotalCost.Low
	}
	l.equal(path+".materialSubtotal.low", d.Material.Low, sums[0], "The material of a division is not the sum of its lines.")
	l.equal(path+".laborSubtotal.low", d.Labor.Low, sums[1], "The labor of a division is not the sum of its lines.")
	l.equal(path+".equipmentSubtotal.low", d.Equipment.Low, sums[2], "The equipment of a division is not the sum of its lines.")
	l.equal(path+".divisionTotal.low", d.Total.Low, sums[3], "A division is not the sum of its lines.")
	return sums
}

// CheckRanges returns the ranges of a cost that are not 0 ≤ low ≤ medium ≤ high
// (R7).
func (c *Cost) CheckRanges() []Breach {
	l := &ledger{}
	for i := range c.Divisions {
		d := &c.Divisions[i]
		path := fmt.Sprintf("divisions[%d]", i)
		for j := range d.Lines {
			line, at := &d.Lines[j], fmt.Sprintf("%s.lineItems[%d]", path, j)
			l.ordered(at+".materialCost", line.MaterialCost)
			l.ordered(at+".laborCost", line.LaborCost)
			l.ordered(at+".equipmentCost", line.Equipment)
			l.ordered(at+".totalCost", line.TotalCost)
			l.ordered(at+".unitMaterialCost", Range{money.Cents(line.UnitMaterial.Low), money.Cents(line.UnitMaterial.Medium), money.Cents(line.UnitMaterial.High)})
			l.ordered(at+".laborRate", Range{money.Cents(line.LaborRate.Low), money.Cents(line.LaborRate.Medium), money.Cents(line.LaborRate.High)})
		}
		l.ordered(path+".materialSubtotal", d.Material)
		l.ordered(path+".laborSubtotal", d.Labor)
		l.ordered(path+".equipmentSubtotal", d.Equipment)
		l.ordered(path+".divisionTotal", d.Total)
	}
	l.ordered("subtotals.materials", c.Subtotals.Materials)
	l.ordered("subtotals.labor", c.Subtotals.Labor)
	l.ordered("subtotals.equipment", c.Subtotals.Equipment)
	l.ordered("subtotals.subtotal", c.Subtotals.Subtotal)
	l.ordered("adjustments.overhead", c.Adjustments.Overhead)
	l.ordered("adjustments.profit", c.Adjustments.Profit)
	l.ordered("adjustments.permitCosts", c.Adjustments.Permits)
	l.ordered("adjustments.tax", c.Adjustments.Tax)
	l.ordered("adjustments.contingency", c.Adjustments.Contingency)
	l.ordered("total", c.Total)
	return l.breaches
}

func (l *ledger) ordered(path string, r Range) {
	if !r.Ordered() {
		l.add("R7", path, fmt.Sprintf("%v, %v, %v", r.Low, r.Medium, r.High), "0 ≤ low ≤ medium ≤ high", "The percentiles of a range are out of order.")
	}
}

// CheckExclusions returns what is priced and must not be (R8): lines of
// divisions that are not included, lines the scope does not have. Without a
// scope only the status in the cost itself is checked.
func CheckExclusions(ctx Context, c *Cost) []Breach {
	l := &ledger{}
	status, known := map[string]string{}, map[string]bool{}
	if ctx.Scope != nil {
		for _, s := range ctx.Scope.Divisions {
			status[s.Code] = s.Status
			for i := range s.Items {
				known[s.Code+"/"+s.Items[i].ID] = true
			}
		}
	}
	for i := range c.Divisions {
		d := &c.Divisions[i]
		path := fmt.Sprintf("divisions[%d]", i)
		was := d.Status
		if s, ok := status[d.Code]; ok {
			was = s
		}
		if was != Included && (len(d.Lines) > 0 || d.Total.High != 0) {
			l.add("R8", path+".lineItems", fmt.Sprintf("%d lines for %v", len(d.Lines), d.Total.Low), "no lines and no cost", fmt.Sprintf("Division %s is %s and is priced.", d.Code, was))
			continue
		}
		for j := range d.Lines {
			if ctx.Scope != nil && !known[d.Code+"/"+d.Lines[j].ID] {
				l.add("R8", fmt.Sprintf("%s.lineItems[%d]", path, j), d.Lines[j].ID, "a line of the scope", "A line is priced that the scope does not have.")
			}
		}
	}
	return l.breaches
}
