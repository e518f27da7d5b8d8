package locality

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
)

// rates returns the burdened $/h of one worker of every trade, by the name
// outputs use: the national crew average times the labor index.
func rates(laborIndex float64) map[string]money.Rate {
	local := map[string]money.Rate{}
	for _, t := range catalog.Trades() {
		if t.Rate > 0 {
			local[catalog.TradeName(t.Key)] = money.RateFrom(t.Rate * laborIndex)
		}
	}
	return local
}

// tolerance within which the index and the wage survey of a state agree about a
// trade (estimating practice §10, check L3).
const tolerance = 0.15

// burdenUS is the burden on which the national rates stand: the base of
// catalog.State.BurdenPct.
const burdenUS = 43.5

// odd is a trade whose surveyed wage in the state disagrees with the index.
type odd struct {
	trade string
	ratio float64 // survey over index, both burdened
}

// oddTrades compares, trade by trade, the wage survey of the state with the
// labor index of the state. The mix of a metro area is taken to be that of its
// state, so its own index does not enter. The rates keep the index: a survey of
// one trade in one state is the noisier of the two.
func oddTrades(p place) []odd {
	if p.state.Abbr == "" {
		return nil
	}
	var found []odd
	for _, t := range catalog.Trades() {
		survey, us := wages()[p.state.Abbr+t.Key], wages()["US"+t.Key]
		if survey == 0 || us == 0 {
			continue
		}
		ratio := survey / us * (1 + p.state.BurdenPct/100) / (1 + burdenUS/100) / p.state.LaborIndex
		if math.Abs(ratio-1) > tolerance {
			found = append(found, odd{catalog.TradeName(t.Key), ratio})
		}
	}
	return found
}

func oddWords(found []odd, state string) string {
	words := make([]string, len(found))
	for i, o := range found {
		words[i] = fmt.Sprintf("%s %+.0f %%", o.trade, (o.ratio-1)*100)
	}
	return fmt.Sprintf("The wage survey of %s differs from its labor index by more than 15 percent for: %s. The index is used.", state, strings.Join(words, ", "))
}

// wages are the surveyed wages carried to 2025, by area and trade key.
var wages = sync.OnceValue(func() map[string]float64 {
	m := map[string]float64{}
	for _, w := range catalog.Wages() {
		m[w.Area+w.Trade] = w.Mean2025
	}
	return m
})
