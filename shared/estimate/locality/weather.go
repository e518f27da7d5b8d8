package locality

import (
	"fmt"
	"math"
	"time"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// workDays of a month and a year, the base of the lost days in the tables.
const (
	workDaysMonth = 21
	workDaysYear  = 12 * workDaysMonth
)

// frostInches is the usual depth of footings by IECC climate zone, a judgement
// of ours: codes set it by county.
var frostInches = map[byte]float64{'1': 0, '2': 6, '3': 12, '4': 24, '5': 36, '6': 48, '7': 72, '8': 100}

// winters names what winter does to exterior work, by climate zone.
var winters = map[byte]string{
	'1': "none", '2': "none", '3': "minimal", '4': "minimal", '5': "moderate", '6': "severe", '7': "severe", '8': "severe",
}

// weather returns the expected lost days of the state and what follows from
// them. Seasonal is the factor by which exterior work takes longer on the
// average of a year: working days over working days less the lost ones, at most
// 1.30.
func weather(s *catalog.State) estimate.Weather {
	w := estimate.Weather{LostDays: s.LostDays()}
	zone := s.ClimateZone[0]
	w.WinterImpact, w.FrostDepth = winters[zone], frostInches[zone]
	lost := sum(w.LostDays)
	w.Seasonal = math.Round(min(1.30, workDaysYear/(workDaysYear-lost))*100) / 100
	worst := worstMonth(w.LostDays)
	w.Reason = fmt.Sprintf("Exterior work loses about %.0f of %d working days a year, most in %s (%.1f of %d); climate zone %s.",
		lost, workDaysYear, time.Month(worst+1), w.LostDays[worst], workDaysMonth, s.ClimateZone)
	return w
}

func sum(days [12]float64) float64 {
	t := 0.0
	for _, d := range days {
		t += d
	}
	return t
}

func worstMonth(days [12]float64) int {
	worst := 0
	for m, d := range days {
		if d > days[worst] {
			worst = m
		}
	}
	return worst
}
