package takeoff

import (
	"fmt"
	"math"
	"strings"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// Where a quantity comes from.
const (
	Measured  = "measured"
	Stated    = "stated"
	Formula   = "formula"
	Allowance = "allowance"
)

// dollarsFrom is the quantity from which an allowance or a lump sum is an amount
// of dollars: nobody sets aside a hundred lumps.
const dollarsFrom = 100

// rule brings a quantity from one kind of measure to another for some items, by
// a stated assumption.
type rule struct {
	from, to string // dimensions
	codes    []string
	factor   func(g *geometry) float64
	words    string
}

// The assumptions. A rule that is not here does not exist: the line needs
// verification instead.
var rules = []rule{
	{"length", "area", []string{"1236"}, fixed(25.5 / 12), "a countertop is 25.5 in deep"},
	{"area", "length", []string{"123623"}, fixed(12 / 25.5), "a countertop is 25.5 in deep"},
	{"length", "area", []string{"093013.12"}, fixed(1.5), "a backsplash is 18 in high"},
	{"length", "area", []string{"061100.11", "061100.12", "061100.23", "092216", "092900.10", "092900.12", "099123.10", "099123.14", "024119.18"}, height, "the wall is as high as the room"},
	{"volume", "area", []string{"033053.30", "033053.60"}, fixed(3 / 1.0), "the slab is 4 in thick"},
	{"volume", "area", []string{"033053.31"}, fixed(2), "the slab is 6 in thick"},
	{"area", "volume", []string{"033053.70"}, fixed(1 / 3.0), "the concrete is 4 in thick"},
	{"area", "volume", []string{"312323", "329113", "329113.20"}, fixed(1 / 3.0), "the layer is 4 in thick"},
	{"count", "area", []string{"088300"}, fixed(6), "a mirror is 24 by 36 in"},
	{"count", "area", []string{"123661.21"}, fixed(36 * 22 / 144.0), "a vanity top is 36 by 22 in"},
	{"count", "length", []string{"061100.20"}, fixed(32 / 12.0), "blocking spans two stud bays, 32 in"},
	{"count", "length", []string{"265100.12"}, fixed(2), "an under-cabinet light is 24 in long"},
	{"set", "count", nil, fixed(1), "a set counts as one"},
	{"count", "set", nil, fixed(1), "a set counts as one"},
}

func fixed(f float64) func(*geometry) float64 { return func(*geometry) float64 { return f } }
func height(g *geometry) float64              { return g.height }

// applies reports whether the rule serves item.
func (r *rule) applies(from estimate.Unit, it *catalog.Item) bool {
	if r.from != from.Dimension() || r.to != estimate.Unit(it.Unit).Dimension() {
		return false
	}
	if r.codes == nil {
		return true
	}
	for _, c := range r.codes {
		if strings.HasPrefix(it.Code, c) {
			return true
		}
	}
	return false
}

// taken is a quantity brought to the unit of an item.
type taken struct {
	quantity float64
	unit     estimate.Unit
	source   string
	note     string // the assumption, or why it needs verification
	verify   bool
	dollars  bool // the quantity is an amount that covers material and labor
}

// inDollars reports whether the quantity is an amount of money.
func inDollars(line *estimate.ScopeItem) bool {
	return line.Unit.Dimension() == "lump" && line.Quantity >= dollarsFrom
}

// convertible reports whether take can bring the line to the unit of it.
func convertible(line *estimate.ScopeItem, it *catalog.Item, g *geometry) bool {
	_, ok := take(line, it, g)
	return ok
}

// take brings the quantity of a line to the unit of an item; ok is false when
// neither a conversion nor a stated rule does.
func take(line *estimate.ScopeItem, it *catalog.Item, g *geometry) (taken, bool) {
	to := estimate.Unit(it.Unit)
	t := taken{unit: to, source: Stated}
	if line.Source == "cad_extraction" || line.Source == "annotation" {
		t.source = Measured
	}
	if inDollars(line) {
		return taken{quantity: line.Quantity, unit: estimate.Allowance, source: Allowance, dollars: true, note: "an amount of dollars that covers material and labor"}, true
	}
	if line.Unit.Dimension() == "lump" {
		return lump(line, it, g, t)
	}
	if q, ok := estimate.Convert(line.Quantity, line.Unit, to); ok {
		t.quantity = exact(q)
		return t, true
	}
	for i := range rules {
		if r := &rules[i]; r.applies(line.Unit, it) {
			t.quantity = exact(cubicFeet(line.Quantity, line.Unit, to) * r.factor(g))
			t.source, t.note = Formula, fmt.Sprintf("%s %s taken as %s %s: %s", number(line.Quantity), line.Unit, number(t.quantity), to, r.words)
			return t, true
		}
	}
	return taken{}, false
}

// cubicFeet brings the quantity of a rule to feet, square feet or cubic feet, or
// from cubic feet to the volume unit of the item, so that factors stay plain.
func cubicFeet(q float64, from, to estimate.Unit) float64 {
	switch from.Dimension() {
	case "volume":
		q, _ = estimate.Convert(q, from, estimate.CubicFoot)
	case "area":
		q, _ = estimate.Convert(q, from, estimate.SquareFoot)
	}
	if to.Dimension() == "volume" {
		q, _ = estimate.Convert(q, estimate.CubicFoot, to)
	}
	return q
}

// lump reads lumps of an item: pieces of what is sold by the piece, the typical
// quantity of the project for measured work.
func lump(line *estimate.ScopeItem, it *catalog.Item, g *geometry, t taken) (taken, bool) {
	t.source = Allowance
	switch t.unit.Dimension() {
	case "count", "set", "lump":
		t.quantity = line.Quantity
		if line.Unit == estimate.LumpSum && line.Quantity <= 1 {
			return t, true
		}
		t.note = fmt.Sprintf("%s %s counted as %s %s", number(line.Quantity), line.Unit, number(t.quantity), t.unit)
		return t, true
	}
	typical, why := g.typical(it)
	if typical <= 0 {
		return taken{}, false
	}
	t.quantity, t.source, t.verify = exact(line.Quantity*typical), Formula, true
	t.note = fmt.Sprintf("a lump of work measured in %s, taken as %s %s: %s", t.unit, number(t.quantity), t.unit, why)
	return t, true
}

// exact rounds off what binary arithmetic left behind, to a millionth.
func exact(q float64) float64 { return math.Round(q*1e6) / 1e6 }

// number prints a quantity without trailing zeros, at most two decimals.
func number(q float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", q), "0"), ".")
}
