package catalog

import "strings"

// Grade is the price point of finish-sensitive material: low, typ or high.
type Grade string

// The grades, cheapest first.
const (
	Low     Grade = "low"
	Typical Grade = "typ"
	High    Grade = "high"
)

// usualGrade is the grade of a finish level where the project type names none.
var usualGrade = map[string]Grade{"budget": Low, "mid_range": Typical, "high_end": High, "luxury": High}

// Grade returns the price point of a finish level on jobs of the type. A type
// whose items are themselves upscale names typ for high_end.
func (p *ProjectType) Grade(finish string) Grade {
	for point := range strings.SplitSeq(p.PricePoints, ";") {
		if level, g, ok := strings.Cut(point, ":"); ok && level == finish {
			return Grade(g)
		}
	}
	if g, ok := usualGrade[finish]; ok {
		return g
	}
	return Typical
}

// Material returns the national price of the item's material per unit at a
// grade; the finish level moves only what is finish-sensitive.
func (i *Item) Material(g Grade) float64 {
	switch {
	case !i.FinishSensitive:
		return i.MatTyp
	case g == Low:
		return i.MatLow
	case g == High:
		return i.MatHigh
	}
	return i.MatTyp
}
