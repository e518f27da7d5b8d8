package stat

import (
	"math"
	"sort"
	"sync"
)

// Judged returns the PERT distribution whose P10 and P90 are those given and
// whose mode is likely. A judge's low and high are percentiles, not limits: a
// PERT with them as limits would understate the spread. The limits found lie
// about twice as far from the mode as the percentiles.
//
// Values out of order are put in order; an empty range gives the constant
// likely. A likely value at or beyond a percentile is honoured as far as a PERT
// can: the percentile stays, the mode moves to the limit.
func Judged(p10, likely, p90 float64) Dist {
	low, mode, high, ok := ordered(p10, likely, p90)
	if !ok {
		return constant(likely)
	}
	if low >= 0 {
		return floored(low, mode, high)
	}
	return solved(low, mode, high)
}

// floored keeps a value that cannot be negative from becoming so: where the
// solved lower limit falls below zero, zero is the limit and P90 still holds.
func floored(low, mode, high float64) Dist {
	d := solved(low, mode, high)
	p, ok := d.(pert)
	if !ok || p.a >= 0 {
		return d
	}
	b := p.b
	for range 40 {
		next := b + high - pert{0, p.m, b}.Quantile(0.9)
		if math.Abs(next-b) < 1e-10*high {
			break
		}
		b = math.Max(next, high)
	}
	return PERT(0, p.m, b)
}

// solved finds the limits by the shape alone: a PERT on [0, 1] with mode r has
// percentiles q10(r) and q90(r), and (r-q10)/(q90-q10) grows with r.
func solved(low, mode, high float64) Dist {
	rows := shapes()
	want := (mode - low) / (high - low)
	k := sort.Search(len(rows), func(i int) bool { return rows[i].skew() >= want })
	var r, q10, q90 float64
	switch {
	case k == 0:
		r, q10, q90 = rows[0].mode, rows[0].q10, rows[0].q90
	case k == len(rows):
		last := rows[k-1]
		r, q10, q90 = last.mode, last.q10, last.q90
	default:
		s, t := rows[k-1], rows[k]
		f := (want - s.skew()) / (t.skew() - s.skew())
		r, q10, q90 = s.mode+f*(t.mode-s.mode), s.q10+f*(t.q10-s.q10), s.q90+f*(t.q90-s.q90)
	}
	width := (high - low) / (q90 - q10)
	a := low - q10*width
	return pert{a, a + r*width, a + width}
}

// shape is the PERT distribution on [0, 1] with this mode.
type shape struct {
	mode, q10, q90 float64
	scores         [scores]float64 // quantiles at the normal scores of a Table
}

func (s *shape) skew() float64 { return (s.mode - s.q10) / (s.q90 - s.q10) }

const shapeSteps = 64

// shapes holds the family once per process: every PERT is one of them, moved
// and stretched.
var shapes = sync.OnceValue(func() []shape {
	rows := make([]shape, shapeSteps+1)
	for i := range rows {
		p := pert{0, float64(i) / shapeSteps, 1}
		rows[i] = shape{mode: p.m, q10: p.Quantile(0.1), q90: p.Quantile(0.9)}
		for j := range rows[i].scores {
			rows[i].scores[j] = p.Quantile(NormalCDF(score(j)))
		}
	}
	return rows
})
