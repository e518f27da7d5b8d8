package stat_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"truecost.dev/shared/estimate/stat"
)

func TestDistributions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		d         stat.Dist
		mean, sd  float64
		quantiles map[float64]float64
	}{
		{"PERT", stat.PERT(80, 100, 150), 105, 12.677314, map[float64]float64{.1: 89.043535, .5: 103.825886, .8: 116.258796, .9: 122.727027, 0: 80, 1: 150}},
		{"Triangular", stat.Triangular(80, 100, 150), 110, 14.719601, map[float64]float64{
			.1: 91.832160, .5: 108.166999, .8: 123.542487, .9: 131.291713,
			0.7415648788: 119.924712, 0.1599103929: 94.962438, 0.2786011303: 99.749470, 0.3441907165: 102.090372, 0.0380301685: 87.296728,
		}},
		{"Lognormal", stat.Lognormal(85, 130), 106.573250, 17.788, map[float64]float64{.1: 85, .5: 105.118980, .8: 120.856950, .9: 130}},
		{"Constant", stat.Constant(7), 7, 0, map[float64]float64{0: 7, .3: 7, 1: 7}},
		{"PERT without a range", stat.PERT(3, 3, 3), 3, 0, map[float64]float64{.9: 3}},
		{"PERT out of order", stat.PERT(150, 100, 80), 105, 12.677314, map[float64]float64{.5: 103.825886}},
		{"Triangular with NaN", stat.Triangular(math.NaN(), 4, 5), 4, 0, map[float64]float64{.5: 4}},
		{"Lognormal of zero", stat.Lognormal(0, 5), 0, 0, map[float64]float64{.5: 0}},
	}
	for _, tt := range tests {
		if got := tt.d.Mean(); math.Abs(got-tt.mean) > 1e-6*math.Max(1, tt.mean) {
			t.Errorf("%s: Mean() = %.9g, want %.9g", tt.name, got, tt.mean)
		}
		if got := tt.d.SD(); math.Abs(got-tt.sd) > 1e-3 {
			t.Errorf("%s: SD() = %.9g, want %.9g", tt.name, got, tt.sd)
		}
		for u, want := range tt.quantiles {
			if got := tt.d.Quantile(u); math.Abs(got-want) > 2e-6 {
				t.Errorf("%s: Quantile(%g) = %.9g, want %.9g", tt.name, u, got, want)
			}
		}
	}
}

func TestNormal(t *testing.T) {
	t.Parallel()
	for u, want := range map[float64]float64{.5: 0, .9: 1.2815515655, .975: 1.9599639845, .1: -1.2815515655, .0001: -3.7190164855} {
		if got := stat.NormalQuantile(u); math.Abs(got-want) > 1e-9 {
			t.Errorf("NormalQuantile(%g) = %.12g, want %.12g", u, got, want)
		}
		if got := stat.NormalCDF(want); math.Abs(got-u) > 1e-10 {
			t.Errorf("NormalCDF(%g) = %.12g, want %g", want, got, u)
		}
	}
	if got := stat.CopulaRho(0.3); math.Abs(got-0.312869) > 1e-6 {
		t.Errorf("CopulaRho(0.3) = %g, want 0.312869", got)
	}
}

func TestJudgedKeepsItsPercentiles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		likely := rapid.Float64Range(0.5, 2).Draw(t, "likely")
		low := likely * (1 - rapid.Float64Range(0.02, 0.4).Draw(t, "below"))
		high := likely * (1 + rapid.Float64Range(0.02, 1.0).Draw(t, "above"))
		d := stat.Judged(low, likely, high)
		if got := d.Quantile(.9); math.Abs(got-high) > 2e-3*(high-low) {
			t.Fatalf("Judged(%g, %g, %g): P90 = %g", low, likely, high, got)
		}
		if d.Quantile(0) < 0 {
			t.Fatalf("Judged(%g, %g, %g) reaches %g", low, likely, high, d.Quantile(0))
		}
		if got := d.Quantile(.1); d.Quantile(0) > 0 && math.Abs(got-low) > 2e-3*(high-low) {
			t.Fatalf("Judged(%g, %g, %g): P10 = %g", low, likely, high, got)
		}
	})
	if d := stat.Judged(1, 1, 1); d.SD() != 0 || d.Mean() != 1 {
		t.Errorf("Judged(1, 1, 1) = mean %g, sd %g, want the constant 1", d.Mean(), d.SD())
	}
}

func TestQuantilesGrow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Float64Range(-100, 100).Draw(t, "a")
		m := a + rapid.Float64Range(0, 50).Draw(t, "up")
		b := m + rapid.Float64Range(0.1, 50).Draw(t, "further")
		u := rapid.Float64Range(0, 1).Draw(t, "u")
		v := rapid.Float64Range(u, 1).Draw(t, "v")
		for _, d := range []stat.Dist{stat.PERT(a, m, b), stat.Triangular(a, m, b)} {
			x, y := d.Quantile(u), d.Quantile(v)
			if x > y+1e-9 || x < a-1e-9 || y > b+1e-9 {
				t.Fatalf("%T on [%g, %g, %g]: Quantile(%g) = %g, Quantile(%g) = %g", d, a, m, b, u, x, v, y)
			}
		}
	})
}

func TestTableFollowsItsDistribution(t *testing.T) {
	t.Parallel()
	for _, d := range []stat.Dist{stat.PERT(80, 100, 150), stat.PERT(0, 0.013, 1), stat.Triangular(80, 100, 150), stat.Lognormal(85, 130)} {
		table := stat.Tabulate(d)
		for z := -3.0; z <= 3; z += 0.173 {
			want := d.Quantile(stat.NormalCDF(z))
			if got := table.At(z); math.Abs(got-want) > 5e-3*d.SD() {
				t.Errorf("%v at score %.3f = %g, want %g", d, z, got, want)
			}
		}
		if got, want := table.At(9), table.At(4); got != want {
			t.Errorf("%v beyond the table = %g, want its end %g", d, got, want)
		}
	}
}

func TestCholesky(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		r       [][]float64
		repairs bool
	}{
		{"identity", [][]float64{{1, 0}, {0, 1}}, false},
		{"equal", [][]float64{{1, .3, .3}, {.3, 1, .3}, {.3, .3, 1}}, false},
		{"impossible", [][]float64{{1, .9, -.9}, {.9, 1, .9}, {-.9, .9, 1}}, true},
		{"singular", [][]float64{{1, 1}, {1, 1}}, true},
		{"beyond one", [][]float64{{1, 500}, {500, 1}}, true},
	}
	for _, tt := range tests {
		l, shrink := stat.Cholesky(tt.r)
		if (shrink < 1) != tt.repairs {
			t.Errorf("Cholesky(%s): shrink = %g, repaired want %v", tt.name, shrink, tt.repairs)
		}
		if shrink < 0.01 {
			shrink = 0
		}
		for i := range l {
			for j := range l {
				got := 0.0
				for k := range l {
					got += l[i][k] * l[j][k]
				}
				want := shrink * tt.r[i][j]
				if i == j {
					want = 1
				}
				if math.Abs(got-want) > 1e-12 {
					t.Errorf("Cholesky(%s): (L·Lᵀ)[%d][%d] = %g, want %g", tt.name, i, j, got, want)
				}
			}
		}
	}
}

func TestSamples(t *testing.T) {
	t.Parallel()
	xs := []float64{10, 20, 30, 40, 50}
	for p, want := range map[float64]float64{0: 10, .1: 14, .5: 30, .8: 42, 1: 50, 2: 50, -1: 10} {
		if got := stat.Percentile(xs, p); math.Abs(got-want) > 1e-12 {
			t.Errorf("Percentile(%v, %g) = %g, want %g", xs, p, got, want)
		}
	}
	if got := stat.Percentile(nil, .5); got != 0 {
		t.Errorf("Percentile(nil) = %g, want 0", got)
	}
	if mean, sd := stat.Moments(xs); mean != 30 || math.Abs(sd-15.811388) > 1e-6 {
		t.Errorf("Moments(%v) = %g, %g, want 30, 15.811388", xs, mean, sd)
	}
	if got, want := stat.Ranks([]float64{3, 1, 3, 2}), []float64{3.5, 1, 3.5, 2}; !slices.Equal(got, want) {
		t.Errorf("Ranks = %v, want %v", got, want)
	}
	if got := stat.Spearman([]float64{1, 2, 3, 4}, []float64{1, 8, 27, 64}); math.Abs(got-1) > 1e-12 {
		t.Errorf("Spearman of a growing function = %g, want 1", got)
	}
	if got := stat.Pearson([]float64{1, 2, 3}, []float64{5, 5, 5}); got != 0 {
		t.Errorf("Pearson with a constant = %g, want 0", got)
	}
}

func TestNewRandRepeats(t *testing.T) {
	t.Parallel()
	seed := [32]byte{1, 2, 3}
	a, b, other := stat.NewRand(seed, 1), stat.NewRand(seed, 1), stat.NewRand(seed, 2)
	same := 0
	for range 100 {
		x := a.Uint64()
		if y := b.Uint64(); x != y {
			t.Fatalf("two streams of one seed and number differ: %d, %d", x, y)
		}
		if x == other.Uint64() {
			same++
		}
	}
	if same > 0 {
		t.Errorf("streams 1 and 2 agree %d times of 100", same)
	}
}

func BenchmarkPERTQuantile(b *testing.B) {
	d := stat.PERT(80, 100, 150)
	for b.Loop() {
		d.Quantile(0.37)
	}
}

func BenchmarkTableAt(b *testing.B) {
	t := stat.Tabulate(stat.PERT(80, 100, 150))
	for b.Loop() {
		t.At(0.37)
	}
}

func BenchmarkTabulate(b *testing.B) {
	d := stat.PERT(80, 100, 150)
	for b.Loop() {
		stat.Tabulate(d)
	}
}
