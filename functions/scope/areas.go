package scope

import (
	"fmt"
	"strings"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/takeoff"
)

// areas are the surfaces that must agree with the floor of the drawing: floor
// finishes and ceilings (S4, S6), by the prefixes of their codes.
var areas = []struct {
	name  string
	codes []string
}{
	{"floor finishes", []string{"093013.10", "093013.13", "0962", "0964", "0965", "0968"}},
	{"ceilings", []string{"092900.11", "099123.11", "095113"}},
}

// misjudged finds surfaces that count as validated although they are far from
// the floor of the drawing. It sums the lines itself, with wider limits than the
// take-off has, so that only a wrong verdict shows.
func misjudged(in estimate.Context, out *output) []agent.Finding {
	floor := drawnFloor(in)
	if floor == 0 {
		return nil
	}
	var off []agent.Finding
	for _, a := range areas {
		sum, first := 0.0, ""
		each(out, func(d, i int, l *estimate.ScopeLine) {
			if l.TakeoffUnit != estimate.SquareFoot || !starts(l.CostCode, a.codes) {
				return
			}
			sum += l.TakeoffQty
			if l.Validation == takeoff.Validated && first == "" {
				first = at(d, i, "quantityValidation")
			}
		})
		if first != "" && !within(sum/floor, 0.5, 1.3) {
			off = append(off, wrong(first, fmt.Sprintf("The %s count as validated and are far from the drawing.", a.name),
				"A slip in the take-off passes as a measurement.", fmt.Sprintf("%.0f sf", sum), fmt.Sprintf("about %.0f sf, or a discrepancy", floor)))
		}
	}
	return off
}

// drawnFloor is the floor of a drawing with a scale, in sf; else 0.
func drawnFloor(in estimate.Context) float64 {
	if in.Clarification == nil || !in.Clarification.CAD.Space.Scale.Detected {
		return 0
	}
	sum := 0.0
	for _, r := range in.Clarification.CAD.Space.Rooms {
		sum += max(r.Sqft, 0)
	}
	if sum == 0 {
		sum = in.Clarification.CAD.Space.Sqft
	}
	return sum
}

func starts(code string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(code, p) {
			return true
		}
	}
	return false
}
