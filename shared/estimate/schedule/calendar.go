package schedule

import (
	"slices"
	"time"

	"truecost.dev/shared/estimate"
)

// Holidays returns the days of a year on which no work is done: the federal
// holidays of the United States on the days they are observed (Saturday moves
// to Friday, Sunday to Monday), and the day after Thanksgiving. New Year's Day
// of the next year counts when it is observed on 31 December.
func Holidays(year int) []estimate.Date {
	thanksgiving := weekday(year, time.November, time.Thursday, 4)
	list := []estimate.Date{
		weekday(year, time.January, time.Monday, 3),  // Martin Luther King Jr.
		weekday(year, time.February, time.Monday, 3), // Washington's Birthday
		lastMonday(year, time.May),                   // Memorial Day
		weekday(year, time.September, time.Monday, 1),
		weekday(year, time.October, time.Monday, 2),
		thanksgiving,
		after(thanksgiving, 1),
	}
	for _, fixed := range []estimate.Date{
		estimate.NewDate(year, time.January, 1),
		estimate.NewDate(year, time.June, 19),
		estimate.NewDate(year, time.July, 4),
		estimate.NewDate(year, time.November, 11),
		estimate.NewDate(year, time.December, 25),
		estimate.NewDate(year+1, time.January, 1),
	} {
		if day := observed(fixed); day.Year() == year {
			list = append(list, day)
		}
	}
	slices.SortFunc(list, func(a, b estimate.Date) int { return a.Compare(b.Time) })
	return list
}

func after(d estimate.Date, days int) estimate.Date { return estimate.DateOf(d.AddDate(0, 0, days)) }

func weekday(year int, month time.Month, day time.Weekday, nth int) estimate.Date {
	first := estimate.NewDate(year, month, 1)
	offset := (int(day) - int(first.Weekday()) + 7) % 7
	return after(first, offset+7*(nth-1))
}

func lastMonday(year int, month time.Month) estimate.Date {
	last := after(estimate.NewDate(year, month+1, 1), -1)
	return after(last, -((int(last.Weekday()) - int(time.Monday) + 7) % 7))
}

func observed(d estimate.Date) estimate.Date {
	switch d.Weekday() {
	case time.Saturday:
		return after(d, -1)
	case time.Sunday:
		return after(d, 1)
	default:
		return d
	}
}

// IsWorkingDay reports whether work is done on the day: Monday to Friday, no
// holiday.
func IsWorkingDay(d estimate.Date) bool {
	if w := d.Weekday(); w == time.Saturday || w == time.Sunday {
		return false
	}
	return !slices.ContainsFunc(Holidays(d.Year()), func(h estimate.Date) bool { return h.Equal(d.Time) })
}

// NextWorkingDay returns d, or the first working day after it.
func NextWorkingDay(d estimate.Date) estimate.Date {
	for !IsWorkingDay(d) {
		d = after(d, 1)
	}
	return d
}

// AddWorkingDays returns the working day n working days after d; for n = 0 it is
// NextWorkingDay(d). A negative n counts as 0.
func AddWorkingDays(d estimate.Date, n int) estimate.Date {
	d = NextWorkingDay(d)
	for range n {
		d = NextWorkingDay(after(d, 1))
	}
	return d
}

// calendar counts working days from the start of a job. It remembers what it
// has worked out, because a simulation asks the same days again and again.
type calendar struct{ days []estimate.Date }

func newCalendar(start estimate.Date) *calendar {
	return &calendar{days: []estimate.Date{NextWorkingDay(start)}}
}

// maxDays bounds a calendar: about twenty years.
const maxDays = 5000

// day returns the nth working day, the first being 0.
func (c *calendar) day(n int) estimate.Date {
	n = min(max(n, 0), maxDays)
	for len(c.days) <= n {
		c.days = append(c.days, NextWorkingDay(after(c.days[len(c.days)-1], 1)))
	}
	return c.days[n]
}

// within returns how many working days a wait of so many calendar days takes
// when it begins on the nth working day.
func (c *calendar) within(n, calendarDays int) int {
	until := after(c.day(n), calendarDays)
	count := 0
	for n+count < maxDays && c.day(n+count).Before(until.Time) {
		count++
	}
	return count
}
