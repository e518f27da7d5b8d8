package estimate

import (
	"encoding/json"
	"strings"
)

// Unit is a unit of measure in its canonical spelling.
type Unit string

// The canonical units. LS is a lump sum; Allowance an amount of money set aside.
const (
	Each       Unit = "ea"
	LinearFoot Unit = "lf"
	SquareFoot Unit = "sf"
	CubicFoot  Unit = "cf"
	CubicYard  Unit = "cy"
	Square     Unit = "sq" // 100 sf of roof
	SquareYard Unit = "sy"
	Pound      Unit = "lb"
	Ton        Unit = "ton"
	Gallon     Unit = "gal"
	Hour       Unit = "hr"
	Day        Unit = "day"
	Week       Unit = "wk"
	Month      Unit = "mo"
	Set        Unit = "set"
	Allowance  Unit = "allowance"
	LumpSum    Unit = "ls"
)

var unitNames = map[string]Unit{
	"ea": Each, "each": Each, "pc": Each, "pcs": Each, "piece": Each, "pieces": Each, "count": Each, "unit": Each, "units": Each,
	"per_opening": Each, "opening": Each, "openings": Each, "per_fixture": Each, "fixture": Each, "fixtures": Each,
	"lf": LinearFoot, "linear_feet": LinearFoot, "linear_foot": LinearFoot, "lin_ft": LinearFoot, "ft": LinearFoot, "feet": LinearFoot,
	"linear_ft": LinearFoot, "lineal_feet": LinearFoot, "lineal_foot": LinearFoot, "lineal_ft": LinearFoot, "ln_ft": LinearFoot, "running_feet": LinearFoot,
	"sf": SquareFoot, "square_feet": SquareFoot, "square_foot": SquareFoot, "sq_ft": SquareFoot, "sqft": SquareFoot, "ft2": SquareFoot,
	"ft²": SquareFoot, "square_ft": SquareFoot, "sq_feet": SquareFoot, "sq_foot": SquareFoot,
	"cf": CubicFoot, "cubic_feet": CubicFoot, "cubic_foot": CubicFoot, "cu_ft": CubicFoot,
	"cy": CubicYard, "cubic_yards": CubicYard, "cubic_yard": CubicYard, "cu_yd": CubicYard, "yd3": CubicYard,
	"sq": Square, "square": Square, "squares": Square, "roofing_square": Square,
	"sy": SquareYard, "square_yards": SquareYard, "square_yard": SquareYard, "sq_yd": SquareYard,
	"lb": Pound, "lbs": Pound, "pound": Pound, "pounds": Pound, "ton": Ton, "tons": Ton,
	"gal": Gallon, "gallon": Gallon, "gallons": Gallon,
	"hr": Hour, "hrs": Hour, "hour": Hour, "hours": Hour, "day": Day, "days": Day, "wk": Week, "week": Week, "weeks": Week,
	"mo": Month, "month": Month, "months": Month, "set": Set, "sets": Set,
	"allowance": Allowance, "allow": Allowance, "ls": LumpSum, "lump_sum": LumpSum, "lot": LumpSum, "job": LumpSum,
}

// ParseUnit returns the canonical unit that s spells, in any case and with
// spaces, dots or hyphens; ok is false when it is none.
func ParseUnit(s string) (u Unit, ok bool) {
	key := strings.ToLower(strings.TrimSpace(s))
	key = strings.NewReplacer(" ", "_", "-", "_", ".", "").Replace(key)
	u, ok = unitNames[key]
	return u, ok
}

// UnmarshalJSON reads any spelling; one that is unknown is kept as it stands,
// for the reader to report.
func (u *Unit) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	if canonical, ok := ParseUnit(s); ok {
		*u = canonical
	} else {
		*u = Unit(s)
	}
	return nil
}

// conversions to a base unit of the same dimension.
var conversions = map[Unit]struct {
	dimension string
	size      float64
}{
	Each: {"count", 1}, LinearFoot: {"length", 1},
	SquareFoot: {"area", 1}, Square: {"area", 100}, SquareYard: {"area", 9},
	CubicFoot: {"volume", 1}, CubicYard: {"volume", 27}, Gallon: {"volume", 231.0 / 1728},
	Pound: {"mass", 1}, Ton: {"mass", 2000},
	Hour: {"time", 1}, Day: {"time", 8}, Week: {"time", 40}, Month: {"time", 173.33},
	Set: {"set", 1}, Allowance: {"lump", 1}, LumpSum: {"lump", 1},
}

// Convert returns how many units of to make up quantity of from; ok is false
// when they measure different things. A day is 8 working hours.
func Convert(quantity float64, from, to Unit) (converted float64, ok bool) {
	f, okF := conversions[from]
	t, okT := conversions[to]
	if !okF || !okT || f.dimension != t.dimension {
		return 0, false
	}
	return quantity * f.size / t.size, true
}

// Dimension names what u measures: count, length, area, volume, mass, time,
// set or lump; empty for an unknown unit.
func (u Unit) Dimension() string { return conversions[u].dimension }
