package report

import (
	"fmt"

	"truecost.dev/shared/estimate"
)

// assumptions are the conditions of the price.
func (r *report) assumptions() {
	r.section("Assumptions and exclusions", false)
	f, keep := r.doc.Final, func(texts []string) []string { return texts }
	if r.client {
		keep = publicAll
	}
	if f == nil {
		r.storedAssumptions(keep)
	} else {
		r.sub("The price assumes", 14)
		r.list(keep(f.Assumptions))
		r.sub("Included", 24)
		if r.client {
			r.included()
		} else {
			r.list(r.inclusions(keep))
		}
		r.sub("Not included", 14)
		r.exclusions(keep)
		r.sub("Allowances", 14)
		r.list(keep(f.Allowances))
		if !r.client {
			r.sources(f)
		}
		r.sub("Disclaimer", 14)
		r.list(keep(f.Disclaimers))
	}
	r.sub("Terms", 30)
	valid := 30
	if f != nil && f.Executive.ValidDays > 0 {
		valid = f.Executive.ValidDays
	}
	r.list([]string{
		fmt.Sprintf("This estimate is valid for %d days from its date. After that, prices are checked again.", valid),
		"A change of the scope is agreed in writing, with its price and its days, before it is built.",
		"The warranty of workmanship is the contract's; products carry the warranty of their makers.",
	})
}

// included tells a client what each category holds, with quantities and without
// prices.
func (r *report) included() {
	if r.doc.Bill == nil {
		r.paragraph(title(missing) + ".")
		return
	}
	var rows []row
	at := map[string]int{}
	for i := range r.doc.Bill.Items {
		v := &r.doc.Bill.Items[i]
		name := public(v.Description)
		if name == "" {
			continue
		}
		if v.Quantity > 0 && v.Unit != estimate.LumpSum && v.Unit != estimate.Hour && v.Unit != estimate.Day {
			name += " (" + number(v.Quantity) + " " + string(v.Unit) + ")"
		}
		group := category(v.Division, "")
		n, known := at[group]
		if !known {
			n = len(rows)
			at[group], rows = n, append(rows, row{cells: []string{group, name}})
			continue
		}
		rows[n].cells[1] += "; " + name
	}
	r.table([]column{{head: "Category", weight: 3}, {head: "What it holds", weight: 8}}, rows)
}

func (r *report) inclusions(keep func([]string) []string) []string {
	if r.doc.Assumptions == nil {
		return nil
	}
	return keep(r.doc.Assumptions.Inclusions)
}

// exclusions are printed by category where the document has them so.
func (r *report) exclusions(keep func([]string) []string) {
	a := r.doc.Assumptions
	if a == nil || len(a.Exclusions) == 0 {
		r.list(keep(r.doc.Final.Exclusions))
		return
	}
	for _, e := range a.Exclusions {
		r.need(14)
		r.text(title(e.Category), bodyText, navy)
		r.list(keep(e.Items))
	}
}

func (r *report) storedAssumptions(keep func([]string) []string) {
	a := r.doc.Assumptions
	if a == nil {
		r.paragraph(title(missing) + ".")
		return
	}
	r.list(keep(a.Items))
	r.sub("Included", 14)
	r.list(keep(a.Inclusions))
	r.sub("Not included", 14)
	for _, e := range a.Exclusions {
		r.text(title(e.Category), bodyText, navy)
		r.list(keep(e.Items))
	}
}

// sources says where the figures come from.
func (r *report) sources(f *estimate.Final) {
	r.sub("Sources", 24)
	var rows []row
	for _, p := range f.Sources {
		rows = append(rows, row{cells: []string{p.What, p.Source, or(p.Date), p.Level}})
	}
	r.table([]column{{head: "Figure", weight: 3}, {head: "Source", weight: 6}, {head: "Date", weight: 1.6}, {head: "Level", weight: 1.4}}, rows)
	if p := r.doc.Location; p != nil {
		r.paragraph(fmt.Sprintf("Local indexes (1.00 is the national average): labor %.2f, material %.2f, together %.2f, from the %s.", p.LaborIndex, p.MaterialIndex, p.LocationFactor, p.Level))
	}
}
