package main

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// series are the values of the rounds.
type series []float64

func (s series) at(q float64) float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

func (s series) median() float64 { return s.at(0.5) }

// text is the median with the least and the most.
func (s series) text(format string) string {
	if len(s) == 1 {
		return fmt.Sprintf(format, s[0])
	}
	return fmt.Sprintf(format+" ("+format+"–"+format+")", s.median(), slices.Min(s), slices.Max(s))
}

func durations(list []time.Duration) series {
	s := make(series, len(list))
	for i, d := range list {
		s[i] = float64(d) / float64(time.Millisecond)
	}
	return s
}

// line fits y = a + b·x by least squares and returns how much of the variance of
// y it explains.
func line(x, y series) (a, b, r2 float64) {
	n := float64(len(x))
	var sx, sy, sxx, sxy, syy float64
	for i := range x {
		sx, sy = sx+x[i], sy+y[i]
		sxx, sxy, syy = sxx+x[i]*x[i], sxy+x[i]*y[i], syy+y[i]*y[i]
	}
	b = (n*sxy - sx*sy) / (n*sxx - sx*sx)
	a = (sy - b*sx) / n
	r := (n*sxy - sx*sy) / math.Sqrt((n*sxx-sx*sx)*(n*syy-sy*sy))
	return a, b, r * r
}
