package catalog

import (
	"slices"
	"strings"
	"sync"
)

// DivisionDefault is the last resort for a line that matches no item: what one
// unit of anything in the division is assumed to cost. The figures are assumed,
// not observed.
type DivisionDefault struct {
	Division   string  `csv:"division"`
	Unit       string  `csv:"unit"` // what the figures are per
	Material   float64 `csv:"material"`
	Hours      float64 `csv:"hours"`
	Equipment  float64 `csv:"equipment"`
	Trade      string  `csv:"trade"`
	Confidence string  `csv:"confidence"`
}

// DivisionDefaults has one row for each of Divisions.
var DivisionDefaults = sync.OnceValue(func() []DivisionDefault { return load[DivisionDefault]("division_defaults") })

// DefaultCode returns the code of a division's default, GEN-09-001.
func DefaultCode(division string) string { return "GEN-" + division + "-001" }

// IsDefaultCode reports whether code is that of a division default.
func IsDefaultCode(code string) bool { return strings.HasPrefix(code, "GEN-") }

// DefaultItem returns the default of a division as an item per unit (canonical
// spelling), with its code. By unit:
//
//	that of the table   its figures
//	hours, days, …      the hours themselves, no material
//	a lump              one crew day: 8 hours and $250 of material
//	another             the middle item of the division in that unit, or the
//	                    figures of the table where it has none
//
// Low and high are half and twice the figure: it is a guess. It returns nil for
// a division that does not exist.
func DefaultItem(division, unit string) *Item {
	rows := DivisionDefaults()
	i := slices.IndexFunc(rows, func(d DivisionDefault) bool { return d.Division == division })
	if i < 0 {
		return nil
	}
	d := rows[i]
	material, hours, equipment := d.Material, d.Hours, d.Equipment
	per := unit
	if per == "set" {
		per = "ea"
	}
	time, isTime := hoursOf[per]
	switch {
	case isTime:
		material, hours, equipment = 0, time, 0
	case per == "ls" || per == "allowance":
		material, hours, equipment = crewDayMaterial, crewDayHours, 0
	case per != d.Unit:
		if m := medianItem(division, per); m != nil {
			material, hours, equipment = m.MatTyp, m.HoursTyp, m.Equipment
		}
	}
	return &Item{
		Code: DefaultCode(division), Section: division + " 00 00", Division: division, Name: "Work of division " + division + ", not in the catalogue",
		Unit: unit, MatLow: material / 2, MatTyp: material, MatHigh: material * 2,
		Trade: d.Trade, HoursLow: hours / 2, HoursTyp: hours, HoursHigh: hours * 2, Equipment: equipment, Confidence: "assumed",
	}
}

// A lump of unknown work is taken as one crew day.
const (
	crewDayHours    = 8
	crewDayMaterial = 250
)

// hoursOf are the working hours of a unit of time.
var hoursOf = map[string]float64{"hr": 1, "day": 8, "wk": 40, "mo": 173.33}

// medianItem returns the item of a division sold by unit whose cost, with an
// hour at $40, is in the middle; nil when there is none.
func medianItem(division, unit string) *Item {
	var same []*Item
	for i := range Items() {
		if it := &Items()[i]; it.Division == division && it.Unit == unit {
			same = append(same, it)
		}
	}
	if len(same) == 0 {
		return nil
	}
	cost := func(it *Item) float64 { return it.MatTyp + 40*it.HoursTyp + it.Equipment }
	slices.SortStableFunc(same, func(a, b *Item) int {
		switch {
		case cost(a) < cost(b):
			return -1
		case cost(a) > cost(b):
			return 1
		default:
			return 0
		}
	})
	return same[len(same)/2]
}
