package stat

import "math"

// Dist is a distribution of one uncertain value. Implementations are
// comparable, so equal distributions share one Table.
type Dist interface {
	// Quantile returns the value below which the share u lies; u outside
	// [0, 1] is taken as the nearer end.
	Quantile(u float64) float64
	Mean() float64
	SD() float64
}

// Constant returns the distribution of a value that is certain.
func Constant(x float64) Dist { return constant(x) }

type constant float64

func (c constant) Quantile(float64) float64 { return float64(c) }
func (c constant) Mean() float64            { return float64(c) }
func (c constant) SD() float64              { return 0 }

// PERT returns the beta distribution on [a, b] with mode m and shape 4, the
// usual form for a judged range. Limits in the wrong order are put in order, a
// mode outside them is moved to the nearer one, and an empty or non-finite
// range gives the constant m.
func PERT(a, m, b float64) Dist {
	a, m, b, ok := ordered(a, m, b)
	if !ok {
		return constant(m)
	}
	return pert{a, m, b}
}

type pert struct{ a, m, b float64 }

// shape returns alpha and beta of the beta distribution.
func (p pert) shape() (alpha, beta float64) {
	w := p.b - p.a
	return 1 + 4*(p.m-p.a)/w, 1 + 4*(p.b-p.m)/w
}

func (p pert) Quantile(u float64) float64 {
	alpha, beta := p.shape()
	return p.a + (p.b-p.a)*betaQuantile(alpha, beta, u)
}

func (p pert) Mean() float64 { return (p.a + 4*p.m + p.b) / 6 }

func (p pert) SD() float64 {
	mean := p.Mean()
	return math.Sqrt((mean - p.a) * (p.b - mean) / 7)
}

// Triangular returns the triangular distribution on [a, b] with mode m. Its
// arguments are repaired as those of PERT.
func Triangular(a, m, b float64) Dist {
	a, m, b, ok := ordered(a, m, b)
	if !ok {
		return constant(m)
	}
	return triangular{a, m, b}
}

type triangular struct{ a, m, b float64 }

func (t triangular) Quantile(u float64) float64 {
	u = unit(u)
	w := t.b - t.a
	if u*w < t.m-t.a {
		return t.a + math.Sqrt(u*w*(t.m-t.a))
	}
	return t.b - math.Sqrt((1-u)*w*(t.b-t.m))
}

func (t triangular) Mean() float64 { return (t.a + t.m + t.b) / 3 }

func (t triangular) SD() float64 {
	a, m, b := t.a, t.m, t.b
	return math.Sqrt((a*a + m*m + b*b - a*m - a*b - m*b) / 18)
}

// Lognormal returns the lognormal distribution with these percentiles, the form
// for a price with a long right tail. Both must be positive; else, and when they
// are equal, it is the constant p10.
func Lognormal(p10, p90 float64) Dist {
	if !(p10 > 0) || !(p90 > 0) || p10 == p90 || math.IsInf(p10, 0) || math.IsInf(p90, 0) {
		return constant(p10)
	}
	if p10 > p90 {
		p10, p90 = p90, p10
	}
	return lognormal{mu: (math.Log(p10) + math.Log(p90)) / 2, sigma: math.Log(p90/p10) / (2 * z90)}
}

// z90 is the standard normal quantile of 0.90.
const z90 = 1.2815515655446004

type lognormal struct{ mu, sigma float64 }

func (l lognormal) Quantile(u float64) float64 {
	return math.Exp(l.mu + l.sigma*NormalQuantile(u))
}

func (l lognormal) Mean() float64 { return math.Exp(l.mu + l.sigma*l.sigma/2) }

func (l lognormal) SD() float64 {
	return l.Mean() * math.Sqrt(math.Expm1(l.sigma*l.sigma))
}

// ordered puts limits and mode in order; ok is false when no range is left.
func ordered(a, m, b float64) (lo, mode, hi float64, ok bool) {
	if b < a {
		a, b = b, a
	}
	finite := !math.IsNaN(a+m+b) && !math.IsInf(a, 0) && !math.IsInf(b, 0)
	if !finite || b-a <= 1e-12*math.Max(math.Abs(a), math.Abs(b)) {
		return a, m, b, false
	}
	return a, math.Min(b, math.Max(a, m)), b, true
}

func unit(u float64) float64 { return math.Min(1, math.Max(0, u)) }
