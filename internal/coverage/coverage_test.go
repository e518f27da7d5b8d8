package coverage

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
)

func TestBandHoldsWhatItClaims(t *testing.T) {
	t.Parallel()
	counts, err := Run(2, 1, 50)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := Print(&table, counts); err != nil {
		t.Fatal(err)
	}
	all := &counts[0]
	if !all.Holds() || all.Truths < 2000 {
		t.Errorf("P10 to P90 holds %.1f %% of %d truths, want %.0f to %.0f %%\n%s", 100*all.Share(), all.Truths, 100*Least, 100*Most, table.String())
	}
	if p50 := part(all.Below50, all.Truths); p50 < 0.40 || p50 > 0.60 {
		t.Errorf("%.1f %% of the truths lie below P50, want 40 to 60 %%\n%s", 100*p50, table.String())
	}
}

// A band that is half as wide, or one that ignores the risks, must not hold.
func TestCountFails(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	right, narrow := &Count{}, &Count{}
	for range 5000 {
		truth := 100_000 + 10_000*rng.NormFloat64()
		band := func(half float64) estimate.Percentiles {
			at := func(z float64) money.Cents { return money.FromFloat(100_000 + 10_000*z*half) }
			return estimate.Percentiles{P10: at(-z90), P50: at(0), P80: at(0.8416), P90: at(z90)}
		}
		right.add(band(1), truth)
		narrow.add(band(0.5), truth)
	}
	if !right.Holds() {
		t.Errorf("the right band holds %.3f", right.Share())
	}
	if narrow.Holds() {
		t.Errorf("half the band holds %.3f", narrow.Share())
	}
}

// The world keeps to what is published: a factor has the percentiles of its
// range, and a risk strikes as often as it says.
func TestWorldKeepsToWhatIsPublished(t *testing.T) {
	t.Parallel()
	span := estimate.Triangle{Low: 0.8, Likely: 1, High: 1.4}
	for z, want := range map[float64]float64{-z90: 0.8, 0: 1, z90: 1.4} {
		if got := factor(span, z); math.Abs(got-want) > 1e-9 {
			t.Errorf("factor at %.2f = %g, want %g", z, got, want)
		}
	}
	w := newWorld(rand.New(rand.NewPCG(3, 4)))
	k := &estimate.RiskItem{Probability: 0.3, CostLow: 100, CostMode: 200, CostHigh: 600, Group: "concealed"}
	struck, sum := 0, 0.0
	const n = 40_000
	for range n {
		if x := w.strike(k, &shared{w.rng, map[string]float64{}}, 1, 0); x > 0 {
			struck++
			sum += x
		}
	}
	if got := part(struck, n); math.Abs(got-0.3) > 0.01 {
		t.Errorf("a risk of 30 %% struck in %.3f", got)
	}
	if mean := sum / float64(struck); math.Abs(mean-3) > 0.05 { // of $1, $2 and $6
		t.Errorf("mean impact = %.3f, want 3", mean)
	}
}
