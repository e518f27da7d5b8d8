package stat

import "math"

// Median returns the distribution with these percentiles: lognormal below p50
// and lognormal above it, each side with its own spread. It is the form for a
// price or a rate of work whose middle, and not whose most frequent value, is
// known: a market's typical price. The median of a sum of such values stays near
// the sum of their medians, however skewed they are.
//
// The percentiles are put in order; if one is not positive or not finite, or
// all are equal, it is the constant p50.
func Median(p10, p50, p90 float64) Dist {
	low, mid, high, ok := ordered(p10, p50, p90)
	if !ok || low <= 0 {
		return constant(p50)
	}
	return halves{mid, math.Log(mid/low) / z90, math.Log(high/mid) / z90}
}

// halves is mid·exp(below·z) for a normal score z below zero and mid·exp(above·z)
// from zero on.
type halves struct{ mid, below, above float64 }

func (h halves) Quantile(u float64) float64 { return h.at(NormalQuantile(u)) }

// at is the value at a normal score.
func (h halves) at(z float64) float64 {
	if z < 0 {
		return h.mid * math.Exp(h.below*z)
	}
	return h.mid * math.Exp(h.above*z)
}

// half is the contribution of one side to the mean of exp(s·z), z normal:
// ∫ exp(s·z) φ(z) dz over z > 0 is exp(s²/2)·Φ(s), and by symmetry over z < 0 it
// is exp(s²/2)·Φ(-s).
func half(s, sign float64) float64 { return math.Exp(s*s/2) * NormalCDF(sign*s) }

func (h halves) Mean() float64 { return h.mid * (half(h.below, -1) + half(h.above, 1)) }

func (h halves) SD() float64 {
	mean := h.Mean() / h.mid
	second := half(2*h.below, -1) + half(2*h.above, 1)
	return h.mid * math.Sqrt(math.Max(0, second-mean*mean))
}
