package takeoff

import (
	"fmt"
	"slices"
	"strings"

	"truecost.dev/shared/estimate"
)

// Verdicts on a quantity.
const (
	Validated         = "validated"
	Estimated         = "estimated"
	NeedsVerification = "needs_verification"
	Discrepancy       = "discrepancy"
)

// gauge is a quantity that the drawing shows, and the items it is the measure
// of. Lines of one gauge are summed before they are compared: two floors of one
// room are one floor.
type gauge struct {
	name      string
	codes     []string // prefixes of cost codes
	surface   surface  // what the words of a line must be about
	low, high float64  // what the sum of the lines may be, in the unit of the item
	whole     bool     // below low is a discrepancy too; else a part may be meant
	unit      estimate.Unit
}

// surface is what a line about board or paint covers, by its words.
type surface int

const (
	anySurface surface = iota
	walls              // or not said
	ceiling
	both
)

func surfaceOf(text string) surface {
	text = " " + strings.ToLower(text) // a word "wall", not the end of drywall
	c, w := strings.Contains(text, "ceiling"), strings.Contains(text, " wall")
	switch {
	case c && w:
		return both
	case c:
		return ceiling
	default:
		return walls
	}
}

// gauges lists what the drawing can tell, with the tolerances of estimating
// practice (S4–S8): floors 10 percent, trim and cabinets 15, tops 20, counts
// exact. Cabinets cover floor, walls and base trim, so the lower bounds leave
// them out.
func (g *geometry) gauges() []gauge {
	var all []gauge
	add := func(ok bool, x gauge) {
		if ok {
			all = append(all, x)
		}
	}
	bare := max(0, g.floor-2*g.baseCabinet)
	add(g.floor > 0, gauge{name: "floor", codes: []string{"093013.10", "093013.13", "0962", "0964", "0965", "0968"}, low: 0.85 * bare, high: 1.10 * g.floor, whole: true, unit: estimate.SquareFoot})
	add(g.floor > 0, gauge{name: "floor removed", codes: []string{"024119.13", "024119.14", "024119.16"}, low: 0.85 * bare, high: 1.10 * g.floor, unit: estimate.SquareFoot})
	add(g.floor > 0, gauge{name: "floor preparation", codes: []string{"035416", "061600.12", "061600.13", "096000"}, low: 0.85 * bare, high: 1.10 * g.floor, unit: estimate.SquareFoot})
	add(g.floor > 0, gauge{name: "ceiling", codes: []string{"092900.11", "099123.11", "095113"}, low: 0.90 * g.floor, high: 1.10 * g.floor, unit: estimate.SquareFoot})
	add(g.floor > 0, gauge{name: "ceiling paint", codes: []string{"099123.14"}, surface: ceiling, low: 0.90 * g.floor, high: 1.10 * g.floor, unit: estimate.SquareFoot})
	add(g.walls > 0, gauge{name: "wall board", codes: []string{"092900.10", "092900.12"}, surface: walls, low: 0.70 * g.walls, high: 1.15 * g.walls, unit: estimate.SquareFoot})
	add(g.walls > 0, gauge{name: "wall paint", codes: []string{"099123.10", "099123.14"}, surface: walls, low: 0.60 * g.walls, high: 1.15 * g.walls, unit: estimate.SquareFoot})
	trim := max(0, g.perimeter-g.doorWidths)
	add(trim > 0, gauge{name: "base trim", codes: []string{"062000.10"}, low: 0.80 * max(0, trim-g.baseCabinet), high: 1.15 * trim, unit: estimate.LinearFoot})
	add(trim > 0, gauge{name: "shoe molding", codes: []string{"062000.13"}, low: 0.80 * max(0, trim-g.baseCabinet), high: 1.15 * trim, unit: estimate.LinearFoot})
	return append(all, g.furnishings()...)
}

// furnishings are the gauges of cabinets, tops, openings and fixtures.
func (g *geometry) furnishings() []gauge {
	var all []gauge
	add := func(have float64, slack float64, x gauge) {
		if have > 0 {
			x.low, x.high = have*(1-slack), have*(1+slack)
			all = append(all, x)
		}
	}
	lf, sf, ea := estimate.LinearFoot, estimate.SquareFoot, estimate.Each
	add(g.baseCabinet, 0.15, gauge{name: "base cabinets", codes: []string{"064100.10", "064100.20", "064100.30"}, whole: true, unit: lf})
	add(g.wallCabinet, 0.15, gauge{name: "wall cabinets", codes: []string{"064100.11", "064100.21", "064100.31"}, whole: true, unit: lf})
	add(g.counter, 0.20, gauge{name: "countertop", codes: []string{"123640", "123661.10"}, whole: true, unit: sf})
	add(g.splash, 0.20, gauge{name: "backsplash", codes: []string{"093013.12"}, whole: true, unit: sf})
	add(float64(g.windows), 0, gauge{name: "windows", codes: []string{"0852", "085313.1", "0854"}, unit: ea})
	add(float64(g.doors), 0, gauge{name: "doors", codes: []string{"081416", "0816", "0832"}, unit: ea})
	add(1.5*float64(g.openings), 1/3.0, gauge{name: "casings, one or both sides", codes: []string{"062000.11"}, unit: ea})
	add(float64(g.toilets), 0, gauge{name: "toilets", codes: []string{"224113"}, whole: true, unit: ea})
	add(float64(g.lavatories), 0, gauge{name: "lavatories", codes: []string{"224116.10", "224116.11", "224116.12"}, whole: true, unit: ea})
	add(float64(g.tubs), 0, gauge{name: "bathtubs", codes: []string{"224119.10", "224119.11"}, whole: true, unit: ea})
	return all
}

// measures reports whether a line is of the gauge.
func (x *gauge) measures(l *estimate.ScopeLine) bool {
	if l.TakeoffUnit != x.unit || l.QuantitySource == Allowance || l.CodeSource == ByDefault {
		return false
	}
	switch s := surfaceOf(l.Item); {
	case x.surface == anySurface, x.surface == s, x.surface == walls && s == both:
	default:
		return false
	}
	for _, c := range x.codes {
		if strings.HasPrefix(l.CostCode, c) {
			return true
		}
	}
	return false
}

// check compares the lines with the drawing. A drawing without a scale can tell
// nothing.
func (t *taker) check(s *estimate.Scope) {
	if !t.geometry.known {
		return
	}
	for _, x := range t.geometry.gauges() {
		var lines []*estimate.ScopeLine
		sum := 0.0
		for i := range s.Divisions {
			for j := range s.Divisions[i].Items {
				if l := &s.Divisions[i].Items[j]; x.measures(l) {
					lines = append(lines, l)
					sum += l.TakeoffQty
				}
			}
		}
		if slices.ContainsFunc(lines, func(l *estimate.ScopeLine) bool { return x.surface == walls && surfaceOf(l.Item) == both }) {
			x.low, x.high = x.low+0.9*t.geometry.floor, x.high+1.1*t.geometry.floor
		}
		for _, l := range lines {
			x.judge(l, sum)
		}
	}
}

// judge gives its verdict on a line of the gauge, whose lines sum to sum.
func (x *gauge) judge(l *estimate.ScopeLine, sum float64) {
	const slack = 1e-9
	both := fmt.Sprintf("%s: stated %s %s, drawing %s", x.name, number(sum), x.unit, x.span())
	switch {
	case sum > x.high+slack || x.whole && sum < x.low-slack:
		l.Confidence *= 0.7
		if l.Validation != NeedsVerification {
			l.Validation = Discrepancy
		}
		l.ValidationNote = join(l.ValidationNote, both+", they disagree; the stated quantity is kept")
	case sum < x.low-slack:
		l.ValidationNote = join(l.ValidationNote, both+", so a part of it is meant")
	case l.Validation == Estimated:
		l.Validation = Validated
		l.ValidationNote = join(l.ValidationNote, both)
	}
	l.Confidence = float64(int(l.Confidence*100+0.5)) / 100
}

func (x *gauge) span() string {
	if x.high-x.low < 1e-9 {
		return number(x.high)
	}
	return number(x.low) + " to " + number(x.high)
}
