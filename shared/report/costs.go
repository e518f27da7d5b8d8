package report

import (
	"fmt"
	"strconv"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
)

func (r *report) breakdown() {
	r.section("Cost breakdown", false)
	if r.client {
		r.clientCosts()
		return
	}
	b := r.doc.Breakdown
	if b == nil {
		r.paragraph(title(missing) + ".")
		return
	}
	r.sub("Direct cost by division", 20)
	var rows []row
	var parts []amount
	var material, labor, equipment, all money.Cents
	for i := range b.Divisions {
		v := &b.Divisions[i]
		rows = append(rows, row{cells: []string{v.Code, v.Name, v.Material.String(), v.Labor.String(), v.Equipment.String(), v.Total.String(), percent(v.Percentage)}})
		parts = append(parts, amount{v.Code + " " + v.Name, v.Total})
		material, labor, equipment, all = material+v.Material, labor+v.Labor, equipment+v.Equipment, all+v.Total
	}
	if len(rows) > 0 {
		rows = append(rows, row{strong: true, cells: []string{"", "Direct cost", material.String(), labor.String(), equipment.String(), all.String(), percent(100)}})
	}
	r.table([]column{
		{head: "Div.", weight: 1},
		{head: "Division", weight: 5},
		{head: "Material", weight: 2.4, right: true},
		{head: "Labor", weight: 2.4, right: true},
		{head: "Equipment", weight: 2.2, right: true},
		{head: "Total", weight: 2.5, right: true},
		{head: "Share", weight: 1.4, right: true},
	}, rows)
	r.bars(parts)
	r.sub("From the direct cost to the grand total", 60)
	r.buildUp()
}

// buildUp leads from the direct cost to the total.
func (r *report) buildUp() {
	b := r.doc.Breakdown
	rows := []row{
		{cells: []string{"Materials", "", b.Material.String(), percent(b.MaterialPct)}},
		{cells: []string{"Labor", "", b.Labor.String(), percent(b.LaborPct)}},
		{cells: []string{"Equipment", "", b.Equipment.String(), percent(b.EquipmentPct)}},
	}
	add := func(name, basis string, c money.Cents, pct float64) {
		rows = append(rows, row{cells: []string{name, basis, c.String(), percent(pct)}})
	}
	overhead, profit, tax, permits, contingency := "", "", "", "", ""
	if c := r.doc.Cost; c != nil {
		a := &c.Adjustments
		overhead = fmt.Sprintf("general conditions %s, design %s, company %s", a.GeneralConditions.Low, a.Design.Low, a.CompanyOverhead.Low)
		profit = percent(100*a.ProfitPct) + " of cost"
		tax = fmt.Sprintf("%.3g %% on %s", 100*a.TaxPct, a.TaxBase)
		permits = "permit class " + a.PermitClass + ", at cost"
	}
	if f := r.doc.Final; f != nil {
		contingency = fmt.Sprintf("%.1f %% of the base", f.Breakdown.ContingencyPct)
		if f.Breakdown.ContingencyFixed {
			contingency += ", fixed by the user"
		} else {
			contingency += ": P80 less base"
		}
		if v := f.Breakdown.LocationAdjustment; v != 0 {
			add("Location", "", v, 0)
		}
	}
	add("Overhead", overhead, b.Overhead, b.OverheadPct)
	add("Profit", profit, b.Profit, b.ProfitPct)
	add("Sales tax", tax, b.Tax, b.TaxPct)
	add("Permits", permits, b.Permits, b.PermitsPct)
	rows = append(rows, row{strong: true, cells: []string{"Base", "", (b.Total - b.Contingency).String(), percent(100 - b.ContingencyPct)}})
	add("Contingency", contingency, b.Contingency, b.ContingencyPct)
	total := missing
	if t := r.doc.Total(); t != nil {
		total = t.String()
	}
	rows = append(rows, row{strong: true, cells: []string{"Grand total", "", total, percent(100)}})
	r.table([]column{{head: "Part", weight: 3}, {head: "How", weight: 6}, {head: "Amount", weight: 2.4, right: true}, {head: "Share", weight: 1.4, right: true}}, rows)
	r.note("Contingency is drawn down by change orders against the risk register; what is left at the end is not profit until it is released.")
}

// clientCosts shows the total in categories.
func (r *report) clientCosts() {
	parts := r.doc.clientShares()
	if parts == nil {
		r.paragraph(title(missing) + ".")
		return
	}
	var rows []row
	sum := money.Cents(0)
	for _, a := range parts {
		sum += a.cost
	}
	for _, a := range parts {
		rows = append(rows, row{cells: []string{a.name, percent(100 * ratio(a.cost, max(1, sum))), a.cost.Whole()}})
	}
	rows = append(rows, row{strong: true, cells: []string{"Total project estimate", percent(100), sum.Whole()}})
	r.table([]column{{head: "Category", weight: 6}, {head: "Share", weight: 1.5, right: true}, {head: "Amount", weight: 2, right: true}}, rows)
	r.note("Each category holds its part of the whole cost of the work. Amounts are whole dollars.")
	r.bars(parts)
	r.paymentSchedule()
}

// bill is every line of the bill of quantities, on wide pages.
func (r *report) bill() {
	b := r.doc.Bill
	r.section("Bill of quantities", true)
	if b == nil || len(b.Items) == 0 {
		r.paragraph(title(missing) + ".")
		return
	}
	lines := r.costLines()
	var rows []row
	division := ""
	for i := range b.Items {
		v := &b.Items[i]
		if v.Division != division {
			division = v.Division
			rows = append(rows, row{group: true, cells: []string{r.divisionName(division)}})
		}
		hours, trade, waste, sure := missing, missing, missing, missing
		if i < len(lines) {
			l := lines[i]
			hours, trade, waste, sure = number(l.LaborHours), title(l.Trade), number(l.WastePct)+" %", l.Confidence
		}
		rows = append(rows, row{cells: []string{
			strconv.Itoa(v.Number), v.Description, number(v.Quantity), string(v.Unit), waste, rate(v.UnitCost), trade, hours,
			v.Material.String(), v.Labor.String(), v.Equipment.String(), v.Total.String(), sure,
		}})
	}
	for _, s := range []struct {
		name string
		cost money.Cents
	}{{"Subtotal", b.Subtotal}, {"Permits", b.Permits}, {"Overhead", b.Overhead}, {"Profit", b.Profit}, {"Sales tax", b.Tax}, {"Contingency", b.Contingency}} {
		rows = append(rows, row{strong: s.name == "Subtotal", cells: []string{"", s.name, "", "", "", "", "", "", "", "", "", s.cost.String()}})
	}
	total := b.Total
	if t := r.doc.Total(); t != nil {
		total = *t
	}
	rows = append(rows, row{strong: true, cells: []string{"", "Grand total", "", "", "", "", "", "", "", "", "", total.String()}})
	r.table([]column{
		{head: "No.", weight: 8},
		{head: "Description", weight: 52},
		{head: "Qty", weight: 15, right: true},
		{head: "Unit", weight: 10},
		{head: "Waste", weight: 11, right: true},
		{head: "Unit cost", weight: 18, right: true},
		{head: "Trade", weight: 22},
		{head: "Hours", weight: 13, right: true},
		{head: "Material", weight: 20, right: true},
		{head: "Labor", weight: 20, right: true},
		{head: "Equipment", weight: 18, right: true},
		{head: "Total", weight: 21, right: true},
		{head: "Confid.", weight: 15},
	}, rows)
	r.note("Unit cost is material, labor and equipment in a unit of the line, waste included, before markups and sales tax. Supplier prices: " + missing + ".")
}

// rate formats a price of a unit.
func rate(v money.Rate) string { return money.FromFloat(v.Float()).String() }

// costLines are the priced lines in the order of the bill; none when the bill is
// not theirs.
func (r *report) costLines() []*estimate.CostLine {
	if r.doc.Cost == nil {
		return nil
	}
	var lines []*estimate.CostLine
	for _, l := range r.doc.Cost.Lines {
		lines = append(lines, l)
	}
	if len(lines) != len(r.doc.Bill.Items) {
		return nil
	}
	return lines
}

func (r *report) divisionName(code string) string {
	if r.doc.Breakdown != nil {
		for i := range r.doc.Breakdown.Divisions {
			if v := &r.doc.Breakdown.Divisions[i]; v.Code == code {
				return "Division " + code + " – " + v.Name
			}
		}
	}
	return "Division " + or(code)
}
