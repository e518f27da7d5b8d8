package estimate

import (
	"encoding/json"
	"fmt"
	"time"
)

// Date is a calendar day, written YYYY-MM-DD. It reads a date-time too and
// keeps its day.
type Date struct{ time.Time }

// NewDate returns the day.
func NewDate(year int, month time.Month, day int) Date {
	return Date{time.Date(year, month, day, 0, 0, 0, 0, time.UTC)}
}

// DateOf returns the day of t in t's own time zone.
func DateOf(t time.Time) Date { return NewDate(t.Year(), t.Month(), t.Day()) }

// ParseDate reads YYYY-MM-DD or an RFC 3339 date-time.
func ParseDate(s string) (Date, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339Nano, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil {
			return DateOf(t), nil
		}
	}
	return Date{}, fmt.Errorf("%q is not a date as 2026-05-04", s)
}

// String returns YYYY-MM-DD.
func (d Date) String() string { return d.Format(time.DateOnly) }

// MarshalJSON writes "YYYY-MM-DD", which parses as a date and as a date-time.
func (d Date) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads what ParseDate reads.
func (d *Date) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("a date is a string as %q, not %s", "2026-05-04", b)
	}
	parsed, err := ParseDate(s)
	*d = parsed
	return err
}

// AssumedStart is when a job begins whose order wishes no start: on the first
// Monday two weeks or more after the order.
func AssumedStart(ordered time.Time) Date {
	day := DateOf(ordered).AddDate(0, 0, 14)
	for day.Weekday() != time.Monday {
		day = day.AddDate(0, 0, 1)
	}
	return DateOf(day)
}
