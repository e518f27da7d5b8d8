package report

import (
	"fmt"
	"strings"

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

// holding is what a category holds: each thing once, with all there is of it.
type holding struct {
	category string
	names    []string // in order, with the unit of each beside it
	units    []string
	sums     map[string]float64 // quantity by name and unit
}

func (h *holding) add(name string, v *estimate.RootBillItem) {
	unit := string(v.Unit)
	if v.Unit == estimate.LumpSum || v.Unit == estimate.Allowance || v.Unit == estimate.Hour || v.Unit == estimate.Day {
		unit = "" // how much of it is no matter of the client's
	}
	key := name + "\x00" + unit
	if _, known := h.sums[key]; !known {
		h.names, h.units = append(h.names, name), append(h.units, unit)
	}
	h.sums[key] += v.Quantity
}

func (h *holding) String() string {
	list := make([]string, len(h.names))
	for i, name := range h.names {
		list[i] = name
		if unit := h.units[i]; unit != "" && h.sums[name+"\x00"+unit] > 0 {
			list[i] += " (" + number(h.sums[name+"\x00"+unit]) + " " + unit + ")"
		}
	}
	return strings.Join(list, "; ")
}

// included tells a client what each category holds, with quantities and without
// prices.
func (r *report) included() {
	if r.doc.Bill == nil {
		r.paragraph(title(missing) + ".")
		return
	}
	var rows []row
	var held []holding
	at := map[string]int{}
	for i := range r.doc.Bill.Items {
		v := &r.doc.Bill.Items[i]
		name := public(v.Description)
		if name == "" {
			continue
		}
		group := category(v.Division, "")
		n, known := at[group]
		if !known {
			n = len(held)
			at[group], held = n, append(held, holding{category: group, sums: map[string]float64{}})
		}
		held[n].add(name, v)
	}
	for i := range held {
		rows = append(rows, row{cells: []string{held[i].category, held[i].String()}})
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
		rows = append(rows, row{cells: []string{spaced(p.What), p.Source, or(p.Date), p.Level}})
	}
	r.table([]column{{head: "Figure", weight: 3}, {head: "Source", weight: 6}, {head: "Date", weight: 1.6}, {head: "Level", weight: 1.4}}, rows)
	if p := r.doc.Location; p != nil {
		r.paragraph(fmt.Sprintf("Local indexes (1.00 is the national average): labor %.2f, material %.2f, together %.2f. They are those of the place's level %s.", p.LaborIndex, p.MaterialIndex, p.LocationFactor, p.Level))
	}
}
