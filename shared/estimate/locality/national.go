package locality

import (
	"slices"
	"sync"

	"truecost.dev/shared/estimate/catalog"
)

func stateOrNational(abbr string) *catalog.State {
	if s := catalog.StateByAbbr(abbr); s != nil {
		return s
	}
	return nationalState()
}

// nationalState stands for a place whose state is unknown: every index 1.00 by
// definition, permits at the fees of the table, every other figure the median of
// the states. Its Abbr is empty.
var nationalState = sync.OnceValue(func() *catalog.State {
	median := func(of func(*catalog.State) float64) float64 {
		var xs []float64
		for _, s := range catalog.States() {
			xs = append(xs, of(&s))
		}
		slices.Sort(xs)
		return xs[len(xs)/2]
	}
	month := func(m int) float64 { return median(func(s *catalog.State) float64 { return s.LostDays()[m] }) }
	return &catalog.State{
		Name: "the United States", LocationIndex: 1, LaborIndex: 1, MaterialIndex: 1, SalesTaxBase: "materials", ClimateZone: "4A",
		SalesTaxPct:   median(func(s *catalog.State) float64 { return s.SalesTaxPct }),
		UnionSharePct: median(func(s *catalog.State) float64 { return s.UnionSharePct }),
		BurdenPct:     median(func(s *catalog.State) float64 { return s.BurdenPct }),
		PermitPct:     typicalPermitPct,
		Jan:           month(0), Feb: month(1), Mar: month(2), Apr: month(3), May: month(4), Jun: month(5),
		Jul: month(6), Aug: month(7), Sep: month(8), Oct: month(9), Nov: month(10), Dec: month(11),
	}
})
