package pricing

import (
	"strings"

	"truecost.dev/shared/estimate/catalog"
)

// grade is the price point of finish-sensitive material: low, typ or high.
type grade string

// usualGrade is the grade of a finish level where the project type names none.
var usualGrade = map[string]grade{"budget": "low", "mid_range": "typ", "high_end": "high", "luxury": "high"}

// gradeOf reads a list as budget:low;mid_range:typ. A project type whose items
// are themselves upscale names typ for high_end.
func gradeOf(points, finish string) grade {
	for point := range strings.SplitSeq(points, ";") {
		if level, g, ok := strings.Cut(point, ":"); ok && level == finish {
			return grade(g)
		}
	}
	if g, ok := usualGrade[finish]; ok {
		return g
	}
	return "typ"
}

// price returns the national price of an item's material per unit.
func (g grade) price(item *catalog.Item) float64 {
	switch {
	case !item.FinishSensitive:
		return item.MatTyp
	case g == "low":
		return item.MatLow
	case g == "high":
		return item.MatHigh
	}
	return item.MatTyp
}
