package pricing

import (
	"math"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/stat"
)

// Spreads of a line about which nothing is known but its division, relative to
// the estimate.
const (
	blindLow, blindHigh           = 0.25, 0.45 // material
	blindHoursLow, blindHoursHigh = 0.30, 0.50
)

// openShare is how much of the range of a catalogue item is left for a line. The
// range spans places, firms, grades, seasons and conditions; the local index,
// the finish, the complexity, the age of the house and the size of the order
// are priced. Assumed. The range of a line that the catalogue does not know
// stays whole.
const openShare = 0.5

// gradeShare is how much of the open range of a finish-sensitive price is left:
// the finish level has chosen the grade, which is most of it. Assumed.
const gradeShare = 0.5

// quantitySpread is about the P10–P90 half-width of a quantity by its source.
var quantitySpread = map[string]float64{"measured": 0.03, "stated": 0.05, "formula": 0.08, "allowance": 0.15}

// doubts are what makes a line less certain than its prices alone (R12).
type doubts struct {
	generic   bool // a division default
	allowance bool
	inferred  bool    // the clarifier inferred it
	flagged   bool    // the clarifier named it as doubtful
	unsettled bool    // the quantity contradicts the drawing or could not be checked
	match     float64 // confidence of the cost code, 0–1
	trust     float64 // confidence of quantity and match, 0–1
}

// widen is the factor on the spread of prices and hours.
func (d doubts) widen() float64 {
	k := 1.0
	if d.inferred {
		k += 0.25
	}
	if d.allowance {
		k += 0.25
	}
	if d.flagged {
		k += 0.5
	}
	k += 0.5 * math.Max(0, 0.8-clamp01(d.match))
	return k + 0.5*math.Max(0, 0.8-clamp01(d.trust))
}

// factors returns the uncertainty of a line round its estimate.
func (d doubts) factors(item *catalog.Item, quantitySource string) estimate.LineUncertainty {
	low, high, hoursLow, hoursHigh := blindLow, blindHigh, blindHoursLow, blindHoursHigh
	if !d.generic && item != nil {
		low, high = spread(item.MatLow, item.MatTyp, item.MatHigh)
		hoursLow, hoursHigh = spread(item.HoursLow, item.HoursTyp, item.HoursHigh)
		if item.FinishSensitive {
			low, high = low*gradeShare, high*gradeShare
		}
	}
	k := d.widen()
	q, ok := quantitySpread[quantitySource]
	if !ok {
		q = quantitySpread["stated"]
	}
	if d.inferred {
		q += 0.06
	}
	if d.flagged {
		q += 0.08
	}
	if d.unsettled {
		q += 0.05
	}
	q += 0.15 * math.Max(0, 0.8-clamp01(d.trust))
	return estimate.LineUncertainty{
		Material: around(low*k, high*k),
		Labor:    around(hoursLow*k, hoursHigh*k),
		Quantity: around(q, q),
	}
}

// spread returns what is open of a range, relative to its middle.
func spread(low, typ, high float64) (below, above float64) {
	if typ <= 0 {
		return 0, 0
	}
	return openShare * (1 - low/typ), openShare * (high/typ - 1)
}

// around returns factors round 1, kept positive.
func around(below, above float64) estimate.Triangle {
	four := func(x float64) float64 { return math.Round(x*1e4) / 1e4 }
	return estimate.Triangle{Low: four(max(0.3, 1-below)), Likely: 1, High: four(min(4, 1+above))}
}

func clamp01(x float64) float64 { return min(1, max(0, x)) }

// Correlations of the parts of an estimate, from estimating practice.
const (
	betweenLines  = 0.30
	materialLabor = 0.20
)

// moment is mean and standard deviation of an amount.
type moment struct{ mean, sd float64 }

func momentOf(t estimate.Triangle, scale float64) moment {
	d := stat.Median(t.Low, t.Likely, t.High)
	return moment{d.Mean() * scale, d.SD() * scale}
}

// times is the product of two independent factors.
func (m moment) times(o moment) moment {
	v := m.mean*m.mean*o.sd*o.sd + o.mean*o.mean*m.sd*m.sd + m.sd*m.sd*o.sd*o.sd
	return moment{m.mean * o.mean, math.Sqrt(v)}
}

// combine adds amounts whose pairs have the correlation rho on average. The
// result does not depend on their order.
func combine(rho float64, parts []moment) moment {
	means, sds, squares := make([]float64, len(parts)), make([]float64, len(parts)), make([]float64, len(parts))
	for i, p := range parts {
		means[i], sds[i], squares[i] = p.mean, p.sd, p.sd*p.sd
	}
	s := sum(sds)
	return moment{sum(means), math.Sqrt((1-rho)*sum(squares) + rho*s*s)}
}

// Standard normal quantiles of 0.80 and 0.90.
const z80, z90 = 0.8416212335729143, 1.2815515655446004

// over returns the range of an amount whose deterministic figure is base: the
// P80 and P90 of the lognormal distribution with m's mean and spread, never
// below base.
func (m moment) over(base float64) (medium, high float64) {
	if m.mean <= 0 || base <= 0 {
		return base, base
	}
	s := math.Sqrt(math.Log1p(m.sd * m.sd / (m.mean * m.mean)))
	mu := math.Log(m.mean) - s*s/2
	medium = max(base, math.Exp(mu+z80*s))
	return medium, max(medium, math.Exp(mu+z90*s))
}
