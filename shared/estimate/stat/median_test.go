package stat

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestMedianKeepsItsPercentiles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		mid := rapid.Float64Range(0.01, 1e5).Draw(t, "p50")
		low := mid * rapid.Float64Range(0.2, 0.999).Draw(t, "p10/p50")
		high := mid * rapid.Float64Range(1.001, 5).Draw(t, "p90/p50")
		d := Median(low, mid, high)
		for u, want := range map[float64]float64{0.1: low, 0.5: mid, 0.9: high} {
			if got := d.Quantile(u); math.Abs(got-want) > 1e-6*want {
				t.Errorf("Median(%g, %g, %g).Quantile(%g) = %g, want %g", low, mid, high, u, got, want)
			}
		}
	})
}

// The moments in closed form agree with the quantiles, integrated by the
// midpoint rule.
func TestMedianMoments(t *testing.T) {
	t.Parallel()
	for _, p := range [][3]float64{{80, 100, 150}, {90, 100, 111}, {50, 100, 101}, {0.9, 1, 1.6}} {
		d := Median(p[0], p[1], p[2])
		const n = 200_000
		mean, second := 0.0, 0.0
		for i := range n {
			x := d.Quantile((float64(i) + 0.5) / n)
			mean += x / n
			second += x * x / n
		}
		sd := math.Sqrt(second - mean*mean)
		if math.Abs(d.Mean()-mean) > 1e-3*mean || math.Abs(d.SD()-sd) > 1e-2*sd {
			t.Errorf("Median(%v): mean %g, sd %g; integrated %g, %g", p, d.Mean(), d.SD(), mean, sd)
		}
	}
}

func TestMedianOfNoRange(t *testing.T) {
	t.Parallel()
	for _, p := range [][3]float64{{1, 1, 1}, {0, 1, 2}, {-1, 1, 2}, {math.NaN(), 1, 2}, {0.5, 1, math.Inf(1)}} {
		if d := Median(p[0], p[1], p[2]); d.SD() != 0 || d.Quantile(0.9) != 1 {
			t.Errorf("Median(%v) = %v, want the constant 1", p, d)
		}
	}
	if got, want := Median(2, 1, 0.5), Median(0.5, 1, 2); got != want {
		t.Errorf("Median of percentiles out of order = %v, want %v", got, want)
	}
}
