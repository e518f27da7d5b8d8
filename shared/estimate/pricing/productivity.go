package pricing

import (
	"regexp"
	"strings"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// factor is a condition of the job that multiplies hours.
type factor struct {
	*catalog.Productivity
	covers func(trade, division string) bool
}

// Limits of the product of all factors on one line.
const minProductivity, maxProductivity = 0.70, 2.50

// conditions are recognised only where the brief says so.
var conditions = []struct {
	id     string
	says   *regexp.Regexp
	unless *regexp.Regexp
	covers func(trade, division string) bool
}{
	{"P09", regexp.MustCompile(`(?i)\boccupied\b|liv(e|ing) in (the|their|our) (house|home) during`), regexp.MustCompile(`(?i)\b(un|not )occupied|\bvacant\b`), interior},
	{"P10", regexp.MustCompile(`(?i)\bunoccupied|\bnot occupied|\bvacant\b`), nil, interior},
	{"P15", regexp.MustCompile(`(?i)\b(second|2nd)[ -](floor|stor(e)?y)\b|\bupstairs\b`), regexp.MustCompile(`(?i)\b(third|3rd)[ -]floor`), everywhere},
	{"P16", regexp.MustCompile(`(?i)\b(third|3rd|fourth|4th|fifth|5th)[ -]floor\b`), regexp.MustCompile(`(?i)\b(has|with|by) (an )?elevator`), everywhere},
	{"P25", regexp.MustCompile(`(?i)\b(night|evening|weekend|restricted|after)[ -](work|hours|only)\b`), nil, everywhere},
	{"P36", regexp.MustCompile(`(?i)\blong (material )?carry\b`), nil, everywhere},
	{"P37", regexp.MustCompile(`(?i)\bno (on-?site |street )?parking\b`), nil, everywhere},
	{"P43", regexp.MustCompile(`(?i)\blead[- ](safe|paint)\b|\basbestos\b`), regexp.MustCompile(`(?i)\b(no|without) (lead|asbestos)|asbestos[- ]free`), disturbing},
}

func everywhere(string, string) bool   { return true }
func interior(_, division string) bool { return !strings.Contains("04 31 32 33", division) }

// disturbing is work that breaks old surfaces open.
func disturbing(_, division string) bool { return division == "02" || division == "09" }

// Trades that the finish level makes slower or faster.
var finishTrades = map[string]bool{
	"tile": true, "painter": true, "drywall": true, "flooring": true, "cabinet": true, "countertop": true, "glazier": true,
}

func finishing(trade, division string) bool {
	return finishTrades[trade] || trade == "carpenter" && (division == "08" || division == "10" || division == "12")
}

// complexities and finishes name the factor of what the scope states.
var (
	complexities = map[string]string{"simple": "P26", "complex": "P28"}
	finishes     = map[string]string{"budget": "P29", "high_end": "P30", "luxury": "P31"}
)

// ageFactor returns the factor of a house built in a year; empty when it has
// none or the year is not known.
func ageFactor(year int) string {
	switch {
	case year <= 0 || year > 1978:
		return ""
	case year < 1940:
		return "P13"
	}
	return "P14"
}

// factorsOf returns the conditions that hold for the job, in the order of the
// table. A remodel or a new building (P11, P12) is in the labor factor of the
// profile already, and so are the minimum charges of a single small bathroom.
func factorsOf(ctx estimate.Context) []factor {
	on := map[string]func(trade, division string) bool{
		complexities[ctx.Scope.Complexity]: everywhere,
		finishes[ctx.Scope.Finish]:         finishing,
	}
	if c := ctx.Clarification; c != nil {
		on[ageFactor(c.Brief.YearBuilt)] = everywhere
		brief := strings.Join(append([]string{c.Brief.Summary.Description, c.ProjectScope}, c.Brief.SpecialRequirements...), "\n")
		for _, cond := range conditions {
			if cond.says.MatchString(brief) && (cond.unless == nil || !cond.unless.MatchString(brief)) {
				on[cond.id] = cond.covers
			}
		}
	}
	var found []factor
	rows := catalog.Productivities()
	for i := range rows {
		if covers := on[rows[i].ID]; covers != nil {
			found = append(found, factor{&rows[i], covers})
		}
	}
	return found
}

// productivity returns the product of the factors that hold for a line and the
// labor factor of the profile, within its limits. A line that is measured in
// time is time already: no condition stretches it.
func (t *terms) productivity(trade, division string, unit estimate.Unit) float64 {
	product := t.profile.LaborFactor
	if !timed(unit) {
		for _, f := range t.factors {
			if f.covers(trade, division) {
				product *= f.Typ
			}
		}
	}
	return min(maxProductivity, max(minProductivity, product))
}

func timed(unit estimate.Unit) bool { return unit.Dimension() == "time" }

// setup returns by how much the hours of a trade on this job grow because it
// comes for little: P19 under 4 hours, P20 up to 16. The hours themselves never
// fall when the work grows: between the bands the charge of the band below
// holds until the work outgrows it.
func setup(hours float64) float64 {
	const half, two = 4, 16
	under, upTo := smallFactor("P19"), smallFactor("P20")
	switch {
	case hours <= 0:
		return 1
	case hours < half:
		return under
	case hours < two:
		return max(half*under, hours*upTo) / hours
	}
	return max(two*upTo, hours) / hours
}

func smallFactor(id string) float64 {
	for _, p := range catalog.Productivities() {
		if p.ID == id {
			return p.Typ
		}
	}
	return 1
}

// extra returns by how much the hours of a trade grow for set-up beyond what the
// usual job of the type has in its hours already. Where its crew comes for as
// little there, that trip is in the check price the hours were judged by, and a
// factor that is in a price must not be applied again.
func extra(hours, usual float64) float64 { return max(1, setup(hours)/setup(usual)) }

// usualHours are the hours of each trade on the usual job of a type, under its
// profile and no other condition.
func usualHours(p *catalog.ProjectType, laborFactor float64) map[string]float64 {
	bill, _, err := catalog.UsualBill(p, 0)
	if err != nil {
		return nil // a defect of the catalogue, which a test would find: every set-up is charged
	}
	hours := map[string]float64{}
	for _, portion := range bill {
		if unit := estimate.Unit(portion.Item.Unit); !timed(unit) {
			hours[portion.Item.Trade] += portion.Quantity * portion.Item.HoursTyp * laborFactor
		}
	}
	return hours
}
