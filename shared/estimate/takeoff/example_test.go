package takeoff_test

import (
	"fmt"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/takeoff"
)

func ExampleTake() {
	s := takeoff.Take(&estimate.Clarification{
		Brief: estimate.Brief{ProjectType: "kitchen_remodel", Summary: estimate.Summary{Finish: "mid_range", Sqft: 180}},
		Scope: map[string]estimate.ScopeDivision{"div12_furnishings": {Status: estimate.Included, Items: []estimate.ScopeItem{
			{ID: "12-001", Item: "Quartz tops on the base cabinets", Quantity: 20, Unit: estimate.LinearFoot, Confidence: 0.9},
		}}},
	}, nil)
	line := s.Divisions[11].Items[0]
	fmt.Println(line.CostCode, line.CodeName, line.TakeoffQty, line.TakeoffUnit)
	fmt.Println(line.ValidationNote)
	// Output:
	// 123640.10 Quartz countertop, fabricated 42.5 sf
	// 20 lf taken as 42.5 sf: a countertop is 25.5 in deep
}
