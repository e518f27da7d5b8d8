package report

import (
	"fmt"

	"truecost.dev/shared/estimate/money"
)

// Shares of the total, in percent, that fall due when the contract is signed and
// when the work is complete; the milestones between share the rest evenly. They
// are a proposal, assumed: the contract decides.
const dueAtSigning, dueAtEnd = 10, 10

// due is a part of the total and when it is paid.
type due struct{ what, when string }

// payments divides the total, in whole dollars, over the milestones of the
// schedule; the parts add up to what the total shows. There are none without a
// total or without two milestones: a start and an end.
func (d *Document) payments() (terms []due, parts []amount) {
	total := d.Total()
	if total == nil || *total <= 0 || d.Timeline == nil || len(d.Timeline.Milestones) < 2 {
		return nil, nil
	}
	list := d.Timeline.Milestones[1:] // the first is the start, for which the contract is signed
	between := len(list) - 1
	add := func(what, when string, weight int) {
		terms = append(terms, due{what, when})
		parts = append(parts, amount{what, money.Cents(weight)})
	}
	rest := 100 - dueAtSigning - dueAtEnd
	if between == 0 {
		add("Contract signed", "before the start", dueAtSigning)
		add(or(public(list[0].Name)), day(list[0].Date), 100-dueAtSigning)
	} else {
		add("Contract signed", "before the start", dueAtSigning*between)
		for _, m := range list[:between] {
			add(or(public(m.Name)), day(m.Date), rest)
		}
		add(or(public(list[between].Name)), day(list[between].Date), dueAtEnd*between)
	}
	if !portion(parts, money.FromFloat(float64((*total+50)/100))) {
		return nil, nil
	}
	return terms, parts
}

// paymentSchedule proposes to a client when which part of the total is paid.
func (r *report) paymentSchedule() {
	r.sub("Payment schedule", 40)
	terms, parts := r.doc.payments()
	if terms == nil {
		r.paragraph(title(missing) + ".")
		return
	}
	var rows []row
	sum := money.Cents(0)
	for i, t := range terms {
		rows = append(rows, row{cells: []string{t.what, t.when, parts[i].cost.Whole()}})
		sum += parts[i].cost
	}
	rows = append(rows, row{strong: true, cells: []string{"All payments", "", sum.Whole()}})
	r.table([]column{{head: "When this is reached", weight: 5}, {head: "Date as planned", weight: 2.5}, {head: "Due", weight: 2, right: true}}, rows)
	r.note(fmt.Sprintf("A proposal, with %d %% when the contract is signed. The contract decides; some states limit what may be asked for at signing.", dueAtSigning))
}
