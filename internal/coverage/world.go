package coverage

import (
	"math"
	"math/rand/v2"
	"slices"

	"truecost.dev/shared/estimate"
)

// z90 is the normal quantile of 0.90.
const z90 = 1.2815515655446004

// idle are the groups of risks that strike before the site runs.
var idle = []string{"permit", "supply", "owner", "market"}

// A world decides what a job really costs. How strongly its lines hang together
// is drawn once: nobody knows it of a real job.
type world struct {
	rng                   *rand.Rand
	alike, trade, product float64 // shares of variance that all lines, a trade, a material have in common
	across                float64 // correlation of the markets of material, labor and quantity
	held                  float64 // share of a lost day that lengthens the job
}

func newWorld(rng *rand.Rand) *world {
	between := func(low, high float64) float64 { return low + (high-low)*rng.Float64() }
	w := &world{rng: rng, alike: between(0.15, 0.45), trade: between(0.15, 0.45), product: between(0.05, 0.35), across: between(0.4, 0.9), held: between(0.25, 0.75)}
	if sum := w.alike + w.trade + w.product; sum > 0.95 {
		w.alike, w.trade, w.product = 0.95*w.alike/sum, 0.95*w.trade/sum, 0.95*w.product/sum
	}
	return w
}

// shared keeps the score that things of one name have in common.
type shared struct {
	rng *rand.Rand
	of  map[string]float64
}

func (s *shared) score(name string) float64 {
	z, ok := s.of[name]
	if !ok {
		z = s.rng.NormFloat64()
		s.of[name] = z
	}
	return z
}

// truth returns what the job costs in the end: its lines at what happened to
// them, the risks that struck, and the price that follows from them.
func (w *world) truth(c *estimate.Cost, risks []estimate.RiskItem) float64 {
	common := w.rng.NormFloat64()
	market := func() float64 { return math.Sqrt(w.across)*common + math.Sqrt(1-w.across)*w.rng.NormFloat64() }
	ofMaterial, ofLabor, ofQuantity := market(), market(), market()
	names := &shared{w.rng, map[string]float64{}}
	var direct, material, labor [2]float64 // as estimated, as it was
	for _, l := range c.Lines {
		m := factor(l.Uncertainty.Material, w.score(ofMaterial, names, "material of "+l.Trade, l.CostCode))
		h := factor(l.Uncertainty.Labor, w.score(ofLabor, names, "labor of "+l.Trade, ""))
		q := factor(l.Uncertainty.Quantity, w.score(ofQuantity, names, "", ""))
		goods, wages, rest := l.MaterialCost.Low.Float(), l.LaborCost.Low.Float(), l.Equipment.Low.Float()
		for i, f := range [2][3]float64{{1, 1, 1}, {m * q, h * q, q}} {
			material[i] += goods * f[0]
			labor[i] += wages * f[1]
			direct[i] += goods*f[0] + wages*f[1] + rest*f[2]
		}
	}
	price := c.Total.Low.Float() + c.Adjustments.PricePerDirectDollar*(direct[1]-direct[0])
	days := math.Max(1, c.Subtotals.LaborHours/(3*8*0.85)) // of three workers
	day := w.held * c.Adjustments.GeneralConditions.Low.Float() / days
	grown := map[string]float64{"direct": ratio(direct), "material": ratio(material), "labor": ratio(labor)}
	for i := range risks {
		price += w.strike(&risks[i], names, grown[risks[i].CostBase], day)
	}
	return price
}

func ratio(x [2]float64) float64 {
	if x[0] == 0 {
		return 1
	}
	return x[1] / x[0]
}

// score is the standard normal score of a factor of a line.
func (w *world) score(market float64, names *shared, trade, product string) float64 {
	z, rest := math.Sqrt(w.alike)*market, 1-w.alike
	if trade != "" {
		z, rest = z+math.Sqrt(w.trade)*names.score(trade), rest-w.trade
	}
	if product != "" {
		z, rest = z+math.Sqrt(w.product)*names.score(product), rest-w.product
	}
	return z + math.Sqrt(math.Max(0, rest))*w.rng.NormFloat64()
}

// factor is a value whose P10, P50 and P90 are those of a range: a half of one
// normal below the middle, of another above it.
func factor(t estimate.Triangle, z float64) float64 {
	if t == (estimate.Triangle{}) {
		return 1
	}
	width := t.High - t.Likely
	if z < 0 {
		width = t.Likely - t.Low
	}
	return math.Max(0.1, t.Likely+width*z/z90)
}

// strike returns what a risk adds to the price: nothing, or an amount from the
// triangle of its range, and the days it costs on site. Risks of a group share
// half of what decides whether they strike.
func (w *world) strike(k *estimate.RiskItem, names *shared, grown, day float64) float64 {
	z := w.rng.NormFloat64()
	if k.Group != "" {
		z = math.Sqrt(0.5)*z + math.Sqrt(0.5)*names.score("group "+k.Group)
	}
	if share := math.Erfc(-z/math.Sqrt2) / 2; share >= k.Probability {
		return 0
	}
	u := w.rng.Float64()
	cost := triangle(k.CostLow.Float(), k.CostMode.Float(), k.CostHigh.Float(), u) * grown
	if !slices.Contains(idle, k.Group) {
		cost += triangle(k.DelayLow, k.DelayMode, k.DelayHigh, u) * day
	}
	return cost
}

// triangle is the quantile u of the triangular distribution.
func triangle(low, mode, high, u float64) float64 {
	width := high - low
	switch {
	case width <= 0:
		return mode
	case u*width < mode-low:
		return low + math.Sqrt(u*width*(mode-low))
	}
	return high - math.Sqrt((1-u)*width*(high-mode))
}
