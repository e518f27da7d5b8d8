package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"truecost.dev/shared/estimate"
)

// labor is the work by trades.
func (r *report) labor() {
	r.section("Labor", false)
	l := r.doc.Labor
	if l == nil {
		r.paragraph(title(missing) + ".")
		return
	}
	var rows []row
	for _, t := range l.Trades {
		rows = append(rows, row{cells: []string{title(t.Name), number(t.Hours), rate(t.Rate), t.Base.String(), t.Burden.String(), t.Total.String()}})
	}
	if len(rows) > 0 {
		rows = append(rows, row{strong: true, cells: []string{"Labor", number(l.Hours), "", l.Base.String(), l.Burden.String(), l.Total.String()}})
	}
	r.table([]column{
		{head: "Trade", weight: 4},
		{head: "Hours", weight: 1.6, right: true},
		{head: "Rate / h", weight: 1.8, right: true},
		{head: "Base wages", weight: 2.4, right: true},
		{head: "Burden", weight: 2.4, right: true},
		{head: "Total", weight: 2.4, right: true},
	}, rows)
	r.note("Rates are local and burdened; of a subcontractor's trade they hold his overhead and profit.")
	union := "Union share of the place: " + missing + "."
	if p := r.doc.Location; p != nil {
		union = fmt.Sprintf("Union share of the place: %.0f %% (%s). The wages contain it; there is no premium on top.", p.UnionShare, or(p.UnionStatus))
	}
	r.paragraph(fmt.Sprintf("Labor is %s of the total. The schedule takes %s. %s", percent(l.Pct), counted(l.Days, "working day"), union))
	if t := r.doc.Timeline; t != nil && t.ThroughHours > 0 {
		r.paragraph(fmt.Sprintf("Supervision and daily clean-up run through the job: %s hours.", number(t.ThroughHours)))
	}
}

// schedule is the plan of the work: in full where the timeline can be read, else
// what the root of the document says.
func (r *report) schedule() {
	r.section("Schedule", true)
	t := r.doc.Timeline
	if t == nil {
		r.storedSchedule()
		return
	}
	s := &t.Simulation
	r.facts([][2]string{
		{"start", startOf(t)},
		{"finish as planned", day(t.End)},
		{"duration", counted(t.Duration, "working day") + ", " + counted(float64(t.CalendarDays), "calendar day")},
		{"finish P50 | P80", day(s.P50Finish) + " | " + day(s.P80Finish)},
		{"duration P10 | P50 | P80 | P90", fmt.Sprintf("%s | %s | %s | %s working days", number(s.P10), number(s.P50), number(s.P80), number(s.P90))},
		{"weather", fmt.Sprintf("%s expected (%s risk)", counted(t.Weather.ExpectedDelay, "lost day"), or(t.Weather.Level))},
	})
	r.gantt(t)
	r.sub("Critical path", 14)
	r.paragraph(criticalPath(t))
	r.sub("Activities", 24)
	r.activities(t)
	r.sub("Crew loading", 24)
	r.crewLoading(t)
	if len(t.Risks) > 0 {
		r.sub("Risks of the schedule", 14)
		r.list(t.Risks)
	}
	if len(t.Assumptions) > 0 {
		r.sub("Notes", 14)
		r.list(t.Assumptions)
	}
}

func startOf(t *estimate.Timeline) string {
	if t.StartAssumed {
		return day(t.Start) + " (assumed)"
	}
	return day(t.Start)
}

func (r *report) activities(t *estimate.Timeline) {
	numbers := map[string]int{}
	for i := range t.Tasks {
		numbers[t.Tasks[i].ID] = t.Tasks[i].Number
	}
	phase := ""
	var rows []row
	for i := range t.Tasks {
		k := &t.Tasks[i]
		if k.Phase != phase {
			phase = k.Phase
			rows = append(rows, row{group: true, cells: []string{title(phase)}})
		}
		var after []string
		for _, on := range k.Dependencies {
			after = append(after, strconv.Itoa(numbers[on]))
		}
		critical := number(k.Float)
		if k.Critical {
			critical = "critical"
		}
		rows = append(rows, row{cells: []string{
			strconv.Itoa(k.Number), k.Name, title(cmp.Or(k.Trade, "none")), hours(k.Crew), hours(k.LaborHours), number(k.Duration),
			day(k.Start), day(k.End), strings.Join(after, ", "), critical, hours(k.WeatherDays), percent(100 * k.Criticality),
		}})
	}
	r.table([]column{
		{head: "No.", weight: 8},
		{head: "Activity", weight: 54},
		{head: "Trade", weight: 24},
		{head: "Crew", weight: 11, right: true},
		{head: "Hours", weight: 13, right: true},
		{head: "Days", weight: 12, right: true},
		{head: "Start", weight: 22},
		{head: "End", weight: 22},
		{head: "After", weight: 20},
		{head: "Float, days", weight: 16},
		{head: "Weather days", weight: 16, right: true},
		{head: "Criticality", weight: 19, right: true},
	}, rows)
}

// hours is a number, or a dash for none.
func hours(v float64) string {
	if v == 0 {
		return "–"
	}
	return number(v)
}

// storedSchedule prints the schedule at the root of a document, whose durations
// and days may be words.
func (r *report) storedSchedule() {
	s := r.doc.Schedule
	if s == nil {
		r.paragraph(title(missing) + ".")
		return
	}
	r.facts([][2]string{{"start", or(string(s.Start))}, {"finish", or(string(s.End))}, {"weeks", or(string(s.Weeks))}})
	var rows []row
	for _, t := range s.Tasks {
		rows = append(rows, row{cells: []string{or(string(t.Number)), or(string(t.Name)), or(string(t.Duration)), or(string(t.Start)), or(string(t.End))}})
	}
	r.table([]column{{head: "No.", weight: 1}, {head: "Activity", weight: 6}, {head: "Duration", weight: 2}, {head: "Start", weight: 2}, {head: "End", weight: 2}}, rows)
	if len(s.Notes) > 0 {
		r.list(s.Notes)
	}
}

// plan is what was measured from the drawing.
func (r *report) plan() {
	r.section("Plan and measurements", false)
	c := r.doc.CAD
	if c == nil {
		r.paragraph(title(missing) + ".")
		return
	}
	r.facts([][2]string{
		{"drawing", or(c.FileType)},
		{"measured by", title(c.Method)},
		{"confidence of the extraction", percent(100 * c.Confidence)},
		{"image of the plan", missing},
	})
	var rows []row
	for _, m := range c.Space.Rooms {
		size := missing
		if m.Dimensions.Length > 0 && m.Dimensions.Width > 0 {
			size = number(m.Dimensions.Length) + " × " + number(m.Dimensions.Width) + " ft"
		}
		check := ""
		if m.Verification {
			check = "to be verified"
		}
		rows = append(rows, row{cells: []string{m.Name, title(m.Type), size, number(m.Sqft), percent(100 * m.Confidence), check}})
	}
	r.table([]column{
		{head: "Room", weight: 4},
		{head: "Type", weight: 2.5},
		{head: "Size", weight: 2.5},
		{head: "Area, sf", weight: 1.6, right: true},
		{head: "Confidence", weight: 1.8, right: true},
		{head: "", weight: 2.2},
	}, rows)
	if c.Relations.Narrative != "" {
		r.paragraph(c.Relations.Narrative)
	}
}
