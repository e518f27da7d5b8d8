package report

import (
	"fmt"
	"slices"
	"strings"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// executive is the first page: what is priced, what it costs and what it means.
func (r *report) executive() {
	r.section("Executive summary", false)
	r.facts(r.keyFacts())
	d := r.doc
	if r.client {
		r.clientSummary()
		return
	}
	if d.Final == nil {
		r.paragraph("Summary: " + missing + ".")
		return
	}
	r.paragraph(d.Final.Summary)
	if d.Final.NeedsReview {
		r.sub("To be looked at before it is sent", 12)
		r.list(d.Final.ReviewReasons)
	}
}

// keyFacts are what both versions say of the work.
func (r *report) keyFacts() [][2]string {
	d := r.doc
	pairs := [][2]string{{"project", title(d.ProjectType)}}
	area := missing
	if d.Sqft != nil && *d.Sqft > 0 {
		area = number(*d.Sqft) + " sf"
	}
	if d.Final == nil {
		return append(pairs, [2]string{"floor area", area})
	}
	e := &d.Final.Executive
	pairs = append(
		pairs, [2]string{"location", or(e.Location)}, [2]string{"floor area", area}, [2]string{"finish level", title(e.Finish)},
		[2]string{"estimate class", class(e)}, [2]string{"valid", fmt.Sprintf("%d days from the date of this estimate", e.ValidDays)},
		[2]string{"start", day(e.Start)}, [2]string{"finish as planned", day(e.End)},
		[2]string{"duration", counted(e.Weeks, "week")}, [2]string{"finish to count on", day(r.finish())},
	)
	if !r.client {
		pairs = append(pairs, [2]string{"confidence", title(e.Confidence)})
	} else {
		pairs = append(pairs, [2]string{"likely cost", r.likely()})
	}
	return pairs
}

// finish is the day that the work is done by, with what may come between.
func (r *report) finish() estimate.Date {
	if t := r.doc.Timeline; t != nil && !t.Simulation.P80Finish.IsZero() {
		return t.Simulation.P80Finish
	}
	return r.doc.Final.Executive.End
}

// likely is the range from the median to the price that four of five cases keep.
func (r *report) likely() string {
	if r.doc.P50 == nil || r.doc.P80 == nil {
		return missing
	}
	return whole(r.doc.P50) + " to " + whole(r.doc.P80)
}

// class says how exact an estimate of its class is.
func class(e *estimate.ExecutiveSummary) string {
	for _, c := range catalog.Classes() {
		if c.Class == e.Class {
			return fmt.Sprintf("Class %d (AACE), accuracy %.0f to +%.0f %%", e.Class, c.LowMax, c.HighMax)
		}
	}
	return missing
}

// clientSummary says in plain words what the price means, when the work is done
// and what may change either.
func (r *report) clientSummary() {
	d := r.doc
	r.paragraph(fmt.Sprintf("The total project estimate is %s. It covers the work described in this report, with permits and fees%s. The likely cost is %s.",
		whole(d.Total()), r.reserve(), r.likely()))
	if text := public(d.Scope); text != "" {
		r.sub("The work", 12)
		r.paragraph(text)
	}
	r.sub("Milestones", 20)
	r.milestones()
	r.sub("What may change the price or the date", 20)
	r.plainRisks()
	r.sub("What we need from you", 12)
	r.list([]string{
		"A decision on the scope, on the exclusions and on the selections behind the allowances, before work is ordered.",
		"Your agreement to the payment schedule, or the one you wish.",
	})
}

// reserve says what the total holds beyond the base, where that is known.
func (r *report) reserve() string {
	f := r.doc.Final
	switch {
	case f == nil || f.Breakdown.Contingency <= 0:
		return ""
	case f.Breakdown.ContingencyFixed || f.Breakdown.Total != f.Executive.Range.P80:
		return ", and a reserve for what only shows once the work begins"
	}
	return ", and a reserve for what only shows once the work begins: in four cases of five the work costs no more"
}

func (r *report) milestones() {
	if r.doc.Timeline == nil || len(r.doc.Timeline.Milestones) == 0 {
		r.paragraph(title(missing) + ".")
		return
	}
	var rows []row
	for _, m := range r.doc.Timeline.Milestones {
		rows = append(rows, row{cells: []string{m.Name, day(m.Date), public(m.Description)}})
	}
	r.table([]column{{head: "Milestone", weight: 3}, {head: "Date", weight: 1.6}, {head: "Meaning", weight: 5}}, rows)
}

// plainRisks tells the largest risks and what is done about each, without
// figures.
func (r *report) plainRisks() {
	if r.doc.Risk == nil {
		r.paragraph(title(missing) + ".")
		return
	}
	var points []string
	items := slices.Clone(r.doc.Risk.TopRisks)
	for i := range r.doc.Risk.AllRisks {
		if !slices.ContainsFunc(items, func(v estimate.RiskItem) bool { return v.ID == r.doc.Risk.AllRisks[i].ID }) {
			items = append(items, r.doc.Risk.AllRisks[i])
		}
	}
	for i := range items {
		text := strings.TrimSuffix(public(items[i].Item), ".")
		if text == "" || len(points) == 6 {
			continue
		}
		text += "."
		if m := public(items[i].Mitigation); m != "" {
			text += " What we do about it: " + strings.TrimSuffix(m, ".") + "."
		}
		points = append(points, text)
	}
	r.list(points)
}
