package montecarlo

import (
	"fmt"
	"slices"
	"strings"

	"truecost.dev/shared/estimate/catalog"
)

// A rule weighs the catalogue's probability by what is known of the job: 0 when
// nothing can trigger the risk. It says why either way.
type rule func(j *job) (weight float64, why string)

// rules by risk. A risk without one is relevant to its project types as it is.
var rules = map[string]rule{
	"R001": both(scope("finishes are opened", "0241", "0929"), older(catalog.PriceYear-25)),
	"R002": both(unless("levelling is a line", "035416"), scope("floors are laid", "0930", "0962", "0964", "0965", "0968")),
	"R003": both(unless("the panel is a line", "2624"), both(eased("new circuits are lines", "262726.13", "262726.14"), both(scope("electrical work", "26"), older(1980)))),
	"R004": both(eased("new supply and drain are lines", "221116.10", "221316.10"), both(scope("plumbing work", "22"), older(1975))),
	"R005": both(unless("abatement is a line", "028200.2"), both(scope("old materials are disturbed", "0241", "0731"), older(1981))),
	"R006": both(unless("lead-safe work is a line", "0283"), both(scope("painted surfaces are disturbed", "0241", "08", "0991", "0746"), older(1978))),
	"R007": mentioned("Damp or staining", "mold", "mould", "mildew", "damp", "stain", "leak", "water damage", "moisture", "musty"),
	"R008": scope("work in the ground", "31", "0330", "0711"),
	"R009": scope("footings or excavation", "31", "0330"),
	"R010": scope("excavation", "31", "33", "0330"),
	"R011": both(eased("structural engineering is a line", "013100.20"),
		scope("structure is changed", "061100.10", "061100.13", "061100.14", "061100.21", "0617", "0512", "024119.18", "024119.32")),
	"R017": scope("long-lead items", "0641", "08", "235", "238", "2624", "1236", "1130"),
	"R018": scope("made-to-order items", "0641", "1236", "0881"),
	"R019": permitted, "R020": permitted, "R021": permitted,
	"R023": wet, "R024": winter, "R025": heat,
	"R026": scope("roofing", "0731", "0741", "0754"),
	"R027": both(scope("roofing", "0731", "0741"), older(1960)),
	"R028": scope("cladding or openings", "07", "08"),
	"R029": scope("cladding", "0746", "0473", "0421"),
	"R030": both(scope("openings", "08"), older(catalog.PriceYear-40)),
	"R031": scope("an existing deck is replaced", "024119.26"),
	"R032": scope("heating and cooling", "23"),
	"R033": scope("mechanical equipment", "22", "23", "26"),
	"R034": scope("gas, vent or condensate", "22", "23"),
	"R036": scope("a new service connection", "33"),
	"R037": subcontracted("one of them may default"),
	"R040": silent("Occupation", "occupied", "vacant", "live in", "living in"),
	"R041": func(j *job) (float64, string) {
		if !j.unit {
			return 0, "The address names no unit."
		}
		// The catalogue's figure is over all addresses, few of which name one.
		return 5, "The address names a unit, so building rules are likely."
	},
	"R042": silent("Access", "long carry", "parking", "upstairs", "second floor", "2nd floor", "third floor", "3rd floor", "elevator"),
	"R048": scope("disposal", "0174", "0241"),
	"R049": scope("floors on a slab", "096", "0930"),
	"R051": both(scope("fixtures are moved", "221116.20", "221316.20"), slab),
	"R052": subcontracted("competing quotes may be lower; the ranges of the lines hold material and hours, not a subcontractor's margin"),
	"R053": scope("cladding at height", "0746", "0473", "0154"),
}

// both is relevant when both rules are; their weights multiply.
func both(a, b rule) rule {
	return func(j *job) (float64, string) {
		wa, whyA := a(j)
		if wa == 0 {
			return 0, whyA
		}
		wb, whyB := b(j)
		if wb == 0 {
			return 0, whyB
		}
		return wa * wb, strings.TrimSpace(whyA + " " + whyB)
	}
}

// scope is relevant when a priced line has one of the codes.
func scope(what string, prefixes ...string) rule {
	return func(j *job) (float64, string) {
		if code, ok := j.with(prefixes...); ok {
			return 1, fmt.Sprintf("The scope has %s: %s.", what, named(code))
		}
		return 0, "The scope has none of: " + what + "."
	}
}

// unless is irrelevant when a priced line covers the risk already.
func unless(what string, prefixes ...string) rule {
	return func(j *job) (float64, string) {
		if code, ok := j.with(prefixes...); ok {
			return 0, fmt.Sprintf("Priced already: %s (%s).", what, code)
		}
		return 1, ""
	}
}

// mentioned is relevant when the brief speaks of it. Where it does not, the
// clarification has found no sign of it.
func mentioned(what string, words ...string) rule {
	return func(j *job) (float64, string) {
		for _, w := range words {
			if strings.Contains(j.words, w) {
				return 1, fmt.Sprintf("%s: the brief speaks of %q.", what, w)
			}
		}
		return 0, what + ": the brief speaks of nothing of the kind."
	}
}

// silent is relevant when the brief says nothing: what it says is a factor on
// the hours of the lines already.
func silent(what string, words ...string) rule {
	return func(j *job) (float64, string) {
		for _, w := range words {
			if strings.Contains(j.words, w) {
				return 0, fmt.Sprintf("%s is known (%q) and priced in the hours.", what, w)
			}
		}
		return 1, what + " is not described, so the hours assume the usual."
	}
}

// eased halves a risk of which priced lines cover a part.
func eased(what string, prefixes ...string) rule {
	return func(j *job) (float64, string) {
		if code, ok := j.with(prefixes...); ok {
			return 0.5, fmt.Sprintf("Partly priced: %s (%s).", what, code)
		}
		return 1, ""
	}
}

// slabShare is how many houses stand on a slab. Assumed; about 4 in 10.
const slabShare = 0.4

func slab(j *job) (float64, string) {
	if strings.Contains(j.words, "slab") {
		return 1, "The brief speaks of a slab."
	}
	return slabShare, fmt.Sprintf("The floor below is not described; %.0f %% of houses stand on a slab.", 100*slabShare)
}

func subcontracted(what string) rule {
	return func(j *job) (float64, string) {
		if j.subs == 0 {
			return 0, "No line is subcontracted."
		}
		return 1, fmt.Sprintf("%d lines are subcontracted: %s.", j.subs, what)
	}
}

// older is relevant in a house built before the year. When the year is unknown
// the probability is that of a house taken at random.
func older(year int) rule {
	return func(j *job) (float64, string) {
		switch {
		case j.year == 0:
			share := builtBefore(year)
			return share, fmt.Sprintf("The year built is unknown; %.0f %% of houses were built before %d.", 100*share, year)
		case j.year < year:
			return 1, fmt.Sprintf("Built in %d, before %d.", j.year, year)
		}
		return 0, fmt.Sprintf("Built in %d, not before %d.", j.year, year)
	}
}

// stock is the share of US housing units built before a year. Source: American
// Community Survey 2022, table DP04, year structure built, rounded.
var stock = []struct {
	year  int
	share float64
}{{1900, 0}, {1940, 0.12}, {1950, 0.17}, {1960, 0.26}, {1970, 0.36}, {1980, 0.51}, {1990, 0.64}, {2000, 0.77}, {2010, 0.91}, {2020, 0.99}, {2025, 1}}

func builtBefore(year int) float64 {
	for i := 1; i < len(stock); i++ {
		if a, b := stock[i-1], stock[i]; year <= b.year {
			f := max(0, float64(year-a.year)/float64(b.year-a.year))
			return a.share + f*(b.share-a.share)
		}
	}
	return 1
}

func permitted(j *job) (float64, string) {
	if !j.permit {
		return 0, "No permit is needed."
	}
	return 1, "The work needs a permit and inspections."
}

// exposed are the codes of work that rain and cold stop.
var exposed = []string{"0330", "0421", "0422", "0473", "0615", "0617", "0731", "0741", "0746", "0754", "0771", "085", "0816", "0832", "0991", "31", "32", "33"}

// usualLostDays is a month's loss in the average state, of about 21.
const usualLostDays = 4.0

func wet(j *job) (float64, string) {
	code, ok := j.with(exposed...)
	if !ok {
		return 0, "No work is exposed to weather."
	}
	if j.lost == nil || len(j.months) == 0 {
		return 1, fmt.Sprintf("Work is exposed to weather: %s.", named(code))
	}
	sum := 0.0
	for _, m := range j.months {
		sum += j.lost[m]
	}
	lost := sum / float64(len(j.months))
	return min(1.5, max(0.25, lost/usualLostDays)),
		fmt.Sprintf("Work is exposed to weather, and its months lose %.1f days each on average.", lost)
}

func winter(j *job) (float64, string) {
	if _, ok := j.with(exposed...); !ok {
		return 0, "No work is exposed to cold."
	}
	if j.winter == "none" || j.winter == "minimal" {
		return 0, "Winters of the place are mild."
	}
	return season(j, "winter", 11, 0, 1, 2)
}

func heat(j *job) (float64, string) {
	if _, ok := j.with(exposed...); !ok {
		return 0, "No work is exposed to heat."
	}
	if j.zone < '1' || j.zone > '3' {
		return 0, "Summers of the place are not extreme."
	}
	return season(j, "the hot months", 5, 6, 7, 8)
}

// season is relevant when the work probably runs in one of the months; a third
// when no start is known, as for a start taken at random.
func season(j *job, name string, in ...int) (float64, string) {
	if len(j.months) == 0 {
		return 1.0 / 3, "No start is given, so the work may fall into " + name + "."
	}
	for _, m := range in {
		if slices.Contains(j.months, m) {
			return 1, "The work probably runs into " + name + "."
		}
	}
	return 0, "The work probably does not run into " + name + "."
}
