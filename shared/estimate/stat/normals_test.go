package stat

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A million draws have the moments and the quantiles of the normal, out to one
// in ten thousand.
func TestNormalsAreNormal(t *testing.T) {
	t.Parallel()
	z := make([]float64, 1_000_001)
	NewNormals([32]byte{5}, 1).Fill(z)
	var m [5]float64
	for _, x := range z {
		for k, p := 1, x; k < 5; k, p = k+1, p*x {
			m[k] += p / float64(len(z))
		}
	}
	for k, want := range map[int]float64{1: 0, 2: 1, 3: 0, 4: 3} {
		if math.Abs(m[k]-want) > 0.02 {
			t.Errorf("moment %d = %.4f, want %.0f", k, m[k], want)
		}
	}
	Sort(z)
	for _, u := range []float64{1e-4, 0.001, 0.01, 0.1, 0.3, 0.5, 0.8, 0.9, 0.99, 0.999, 1 - 1e-4} {
		want := NormalQuantile(u)
		// Three standard errors of the order statistic.
		tolerance := 3 * math.Sqrt(u*(1-u)/float64(len(z))) * math.Sqrt(2*math.Pi) * math.Exp(want*want/2)
		if got := Percentile(z, u); math.Abs(got-want) > tolerance {
			t.Errorf("quantile %g = %.4f, want %.4f ± %.4f", u, got, want, tolerance)
		}
	}
}

func TestNormalsRepeatAndStreamsDiffer(t *testing.T) {
	t.Parallel()
	fill := func(stream uint64) []float64 {
		z := make([]float64, 100)
		NewNormals([32]byte{1}, stream).Fill(z)
		return z
	}
	if !slices.Equal(fill(3), fill(3)) {
		t.Error("one stream gave two sequences")
	}
	if slices.Equal(fill(3), fill(4)) {
		t.Error("two streams gave one sequence")
	}
}

// Cells join: the value never falls as the bits grow.
func TestNormalGrowsWithItsBits(t *testing.T) {
	t.Parallel()
	at := func(bits uint32) float64 {
		if isOuter(bits) {
			return exact(bits)
		}
		return inner(bits)
	}
	last := math.Inf(-1)
	for bits := uint64(0); bits < 1<<32; bits += 1 << 18 {
		for _, near := range []uint64{0, 1<<18 - 1} {
			if x := at(uint32(bits + near)); x < last {
				t.Fatalf("value at %#x = %g, below %g", bits+near, x, last)
			} else {
				last = x
			}
		}
	}
}

func TestSortAgreesWithSlices(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOf(rapid.Float64()).Draw(t, "xs")
		want := slices.Clone(xs)
		slices.Sort(want)
		ranks, sorted := RankSort(xs)
		got := slices.Clone(xs)
		Sort(got)
		if !slices.Equal(got, want) || !slices.Equal(sorted, want) {
			t.Fatalf("Sort(%v) = %v, RankSort = %v, want %v", xs, got, sorted, want)
		}
		for i, x := range xs {
			if at := want[int(ranks[i])-1]; at != x && want[int(ranks[i]+0.5)-1] != x {
				t.Fatalf("rank of %g in %v = %g", x, xs, ranks[i])
			}
		}
	})
}
