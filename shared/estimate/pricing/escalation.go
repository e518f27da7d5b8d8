package pricing

import (
	"fmt"
	"math"
	"time"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// escalation leads from the date of the prices to the mid-point of construction.
type escalation struct {
	labor, material float64 // factors, at least 1
	from, to        estimate.Date
	note            string // an assumption worth stating; empty when there is none
}

// maxEscalationYears bounds a start in the far future: beyond it a price says
// nothing.
const maxEscalationYears = 10

// escalate returns the factors between the middle of the price year and to. The
// yearly indexes hold at the middle of their year; between them prices grow by a
// constant rate, after the last one at the rate of the last year. Nothing is
// de-escalated.
func escalate(priceYear int, to estimate.Date) escalation {
	e := escalation{labor: 1, material: 1, from: estimate.NewDate(priceYear, time.July, 1), to: to}
	if !to.After(e.from.Time) {
		return e
	}
	rows := catalog.Escalations()
	last := rows[len(rows)-1].Year
	at := float64(to.Year()) + float64(to.YearDay()-1)/365.25 - 0.5
	if limit := float64(priceYear + maxEscalationYears); at > limit {
		at = limit
		e.note = fmt.Sprintf("Prices are escalated by %d years at most; the start lies later.", maxEscalationYears)
	} else if at > float64(last) {
		e.note = fmt.Sprintf("Cost indexes end in %d; later growth is taken at the rate of that year.", last)
	}
	labor := func(r catalog.Escalation) float64 { return r.Labor }
	material := func(r catalog.Escalation) float64 { return r.Material }
	e.labor = max(1, level(rows, labor, at)/level(rows, labor, float64(priceYear)))
	e.material = max(1, level(rows, material, at)/level(rows, material, float64(priceYear)))
	return e
}

// level returns the index at a year and its fraction, geometric between rows.
func level(rows []catalog.Escalation, of func(catalog.Escalation) float64, at float64) float64 {
	i := len(rows) - 2
	for i > 0 && float64(rows[i].Year) > at {
		i--
	}
	a, b := rows[i], rows[i+1]
	return of(a) * math.Pow(of(b)/of(a), (at-float64(a.Year))/float64(b.Year-a.Year))
}

// midpoint returns the middle of construction, and in words where its start
// comes from when the user gave none: then it is the one that the schedule assumes
// too.
func midpoint(c *estimate.Clarification, priceYear int, workingDays float64) (mid estimate.Date, assumed string) {
	var start estimate.Date
	switch {
	case c != nil && c.Brief.Timeline.Start != nil:
		start = *c.Brief.Timeline.Start
	case c != nil && !c.Timestamp.IsZero():
		start = estimate.AssumedStart(c.Timestamp)
		assumed = "No start date was given; prices are escalated for the start that the schedule assumes."
	default:
		return estimate.NewDate(priceYear, time.July, 1), "No start is known; prices are not escalated."
	}
	return estimate.DateOf(start.AddDate(0, 0, int(math.Round(workingDays/2*7/5)))), assumed
}
