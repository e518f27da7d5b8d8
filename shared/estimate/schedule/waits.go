package schedule

import (
	"strings"

	"truecost.dev/shared/estimate"
)

// wait is time that passes without a crew, in calendar days.
type wait struct{ low, likely, high float64 }

// permitWaits by permit class. Source: schedule_logic of the catalogue.
var permitWaits = map[string]wait{
	"minor": {1, 2, 3}, "demolition": {1, 3, 5}, "standard": {5, 10, 15}, "structural": {15, 25, 40}, "commercial": {15, 25, 40}, "new": {20, 40, 60},
}

// designWaits by complexity of the project. Source: as above, 5–40 days.
var designWaits = map[string]wait{"simple": {4, 7, 10}, "moderate": {7, 14, 21}, "complex": {14, 28, 40}}

// lead is a class of goods that must be ordered ahead.
type lead struct {
	id       string
	name     string
	wait     wait
	before   int // the activity that installs it
	prefixes []string
}

// leads in calendar days; of the classes before one activity the longest
// counts, so each has its own order. Source: schedule_logic of the catalogue;
// entry doors and equipment assumed.
var leads = []lead{
	{"cabinets-custom", "custom cabinets", wait{60, 75, 90}, cabinets, []string{"064100.30", "064100.31", "064100.42", "064100.62"}},
	{"cabinets", "semi-custom cabinets", wait{30, 40, 50}, cabinets, []string{"064100.20", "064100.21", "064100.40", "064100.41", "064100.50", "064100.61", "064100.96"}},
	{"cabinets-stock", "stock cabinets", wait{5, 7, 10}, cabinets, []string{"064100.10", "064100.11", "064100.60", "064100.70", "064100.95", "GEN-06"}},
	{"windows", "windows", wait{25, 35, 50}, openings, []string{"085"}},
	{"doors", "exterior doors", wait{10, 21, 35}, openings, []string{"0816", "0832", "0836", "0841"}},
	{"hvac", "heating and cooling equipment", wait{7, 14, 28}, hvacTrim, []string{"2354", "2381", "2384"}},
	{"panel", "electrical panel", wait{7, 14, 35}, electricalRough, []string{"2624", "2632"}},
	{"appliances", "built-in appliances", wait{21, 35, 60}, appliances, []string{"113013.2"}},
}

// ordered returns the classes of goods in the bill: for each activity that
// installs some, the one with the longest wait.
func ordered(c *estimate.Cost) []lead {
	longest := map[int]int{}
	for _, line := range c.Lines {
		for i, l := range leads {
			if !hasPrefix(line.CostCode, l.prefixes) {
				continue
			}
			if k, ok := longest[l.before]; !ok || leads[k].wait.likely < l.wait.likely {
				longest[l.before] = i
			}
		}
	}
	var list []lead
	for i, l := range leads {
		if k, ok := longest[l.before]; ok && k == i {
			list = append(list, l)
		}
	}
	return list
}

// stone are counters that are templated after the cabinets stand.
var stone = []string{"123640", "123661.10", "123661.21"}

func hasStone(c *estimate.Cost) bool {
	for _, line := range c.Lines {
		if hasPrefix(line.CostCode, stone) {
			return true
		}
	}
	return false
}

func hasPrefix(code string, prefixes []string) bool {
	code = strings.ReplaceAll(code, " ", "")
	for _, p := range prefixes {
		if strings.HasPrefix(code, p) {
			return true
		}
	}
	return false
}
