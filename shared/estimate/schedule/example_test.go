package schedule_test

import (
	"fmt"
	"time"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/schedule"
)

func ExampleCPM() {
	times, duration, _ := schedule.CPM([]schedule.Node{
		{ID: "demolition", Duration: 2},
		{ID: "cabinets ordered", Duration: 20},
		{ID: "drywall", Duration: 4, Links: []schedule.Link{{On: "demolition"}}},
		{ID: "cabinets set", Duration: 3, Links: []schedule.Link{{On: "drywall", Lag: 1}, {On: "cabinets ordered"}}},
	})
	fmt.Println(duration, "days; drywall may slip by", times[2].Float)
	// Output: 23 days; drywall may slip by 13
}

func ExampleAddWorkingDays() {
	wednesday := estimate.NewDate(2026, time.November, 25)
	fmt.Println(schedule.AddWorkingDays(wednesday, 1)) // Thanksgiving, the day after, a weekend
	// Output: 2026-11-30
}
