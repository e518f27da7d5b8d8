package report

import (
	"strconv"
	"strings"
	"time"

	"truecost.dev/shared/estimate"
)

// weekHours is what a worker works in a week.
const weekHours = 40

// criticalPath names the activities that decide the finish, in order.
func criticalPath(t *estimate.Timeline) string {
	byID := map[string]*estimate.Task{}
	for i := range t.Tasks {
		byID[t.Tasks[i].ID] = &t.Tasks[i]
	}
	var names []string
	for _, id := range t.CriticalPath {
		if k := byID[id]; k != nil {
			names = append(names, strconv.Itoa(k.Number)+" "+k.Name)
		}
	}
	if len(names) == 0 {
		return missing
	}
	return strings.Join(names, " – ")
}

// crewLoading is how many hours of the activities fall into each week, and how
// many workers of forty hours that is. The hours of an activity are spread
// evenly over its weekdays.
func (r *report) crewLoading(t *estimate.Timeline) {
	hours := map[time.Time]float64{}
	first, last := time.Time{}, time.Time{}
	for i := range t.Tasks {
		k := &t.Tasks[i]
		days := weekdays(k.Start.Time, k.End.Time)
		for _, d := range days {
			monday := d.AddDate(0, 0, -(int(d.Weekday())+6)%7)
			hours[monday] += k.LaborHours / float64(len(days))
			if first.IsZero() || monday.Before(first) {
				first = monday
			}
			if monday.After(last) {
				last = monday
			}
		}
	}
	var rows []row
	for week := first; len(hours) > 0 && !week.After(last) && len(rows) < longest; week = week.AddDate(0, 0, 7) {
		rows = append(rows, row{cells: []string{day(estimate.Date{Time: week}), number(round1(hours[week])), number(round1(hours[week] / weekHours))}})
	}
	r.table([]column{{head: "Week of", weight: 2}, {head: "Labor hours", weight: 1, right: true}, {head: "Workers at 40 h", weight: 1, right: true}}, rows)
}

// longest bounds the weekdays of an activity and the weeks of a job: more is a
// mistake of the document.
const longest = 2000

// weekdays lists the days from Monday to Friday of a span.
func weekdays(from, to time.Time) []time.Time {
	var days []time.Time
	if from.IsZero() || to.IsZero() {
		return nil
	}
	for d := from; !d.After(to) && len(days) < longest; d = d.AddDate(0, 0, 1) {
		if d.Weekday() != time.Saturday && d.Weekday() != time.Sunday {
			days = append(days, d)
		}
	}
	return days
}
