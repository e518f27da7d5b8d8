package catalog

import (
	"strings"
	"sync"
)

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

// GradeOf returns the price point of an item at a finish level on jobs of the
// type. The price points of a type speak of the items of its usual bill; another
// item is graded by the level alone: semi-custom cabinets in an upscale kitchen,
// whose own are custom, are at the high end of semi-custom.
func (p *ProjectType) GradeOf(finish string, item *Item) Grade {
	if g, ok := usualGrade[finish]; ok && !ownItems()[ownItem{p.Key, item.Code}] {
		return g
	}
	return p.Grade(finish)
}

type ownItem struct{ project, code string }

// ownItems are the items of every usual bill.
var ownItems = sync.OnceValue(func() map[ownItem]bool {
	own := map[ownItem]bool{}
	for _, line := range AssemblyLines() {
		own[ownItem{line.ProjectKey, line.ItemCode}] = true
	}
	return own
})

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
