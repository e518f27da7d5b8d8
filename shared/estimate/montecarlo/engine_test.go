package montecarlo_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"truecost.dev/shared/estimate/montecarlo"
	"truecost.dev/shared/estimate/stat"
)

// six is the kitchen of estimating practice §12.3: six judged lines, priced as
// they stand.
func six(c montecarlo.Correlation) *montecarlo.Model {
	m := &montecarlo.Model{Scale: 1, Correlation: c}
	for _, l := range []struct {
		name            string
		low, mode, high float64
	}{
		{"cabinets", 20000, 23000, 31000},
		{"counters", 5000, 6200, 9000},
		{"appliances", 7000, 8000, 10500},
		{"electrical", 5500, 6500, 10500},
		{"plumbing", 3200, 4000, 6800},
		{"finishes", 8000, 9300, 13000},
	} {
		m.Lines = append(m.Lines, montecarlo.Line{
			Name: l.name, Group: l.name, Trade: l.name, Code: l.name, Material: l.mode,
			MaterialFactor: stat.PERT(l.low/l.mode, 1, l.high/l.mode),
		})
	}
	return m
}

// flat is the correlation of the vectors: 0.30 between any two values.
var flat = montecarlo.Correlation{Any: 0.30, Trade: 0.30, Material: 0.30, Cross: 0.20}

func withEvents(m *montecarlo.Model) *montecarlo.Model {
	m.PerDay = 1
	m.Events = []montecarlo.Event{
		{ID: "1", Name: "event1", Probability: 0.30, Base: montecarlo.Direct, Delay: stat.Triangular(600, 2000, 5800)},
		{ID: "2", Name: "event2", Probability: 0.12, Base: montecarlo.Direct, Delay: stat.Triangular(1200, 3500, 10000)},
	}
	return m
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %.2f, want %.2f ± %.2f", what, got, want, tolerance)
	}
}

func TestCorrelatedTotal(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name               string
		model              *montecarlo.Model
		mean, sd           float64
		p10, p50, p80, p90 float64
	}{
		{"correlated", six(flat), 59580, 3808, 54785, 59336, 62829, 64710},
		{"independent", six(montecarlo.Independent), 59583, 2611, 56289, 59455, 61807, 63060},
		{"with events", withEvents(six(flat)), 61006, 4412, 55539, 60677, 64667, 66893},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := tt.model.Run([32]byte{7}, 100_000)
			near(t, "mean", r.Mean, tt.mean, 0.003*tt.mean)
			near(t, "sd", r.SD, tt.sd, 0.01*tt.sd)
			near(t, "P10", stat.Percentile(r.Totals, .1), tt.p10, 0.003*tt.p10)
			near(t, "P50", stat.Percentile(r.Totals, .5), tt.p50, 0.003*tt.p50)
			near(t, "P80", stat.Percentile(r.Totals, .8), tt.p80, 0.003*tt.p80)
			near(t, "P90", stat.Percentile(r.Totals, .9), tt.p90, 0.003*tt.p90)
			near(t, "analytic mean", r.AnalyticMean, r.Mean, 0.001*tt.mean)
		})
	}
	near(t, "base", six(flat).Base(), 57000, 1e-6)
}

func TestContingencyAndSensitivity(t *testing.T) {
	t.Parallel()
	r := withEvents(six(flat)).Run([32]byte{7}, 100_000)
	near(t, "P80 - base", stat.Percentile(r.Totals, .8)-57000, 7667, 0.003*64667)
	over := 0
	for _, x := range r.Totals {
		if x > 57000 {
			over++
		}
	}
	near(t, "share over base", float64(over)/float64(r.Iterations), 0.810, 0.005)
	spearman := map[string]float64{
		"cabinets": .70, "finishes": .52, "electrical": .51, "counters": .49, "appliances": .48, "plumbing": .48, "event2": .34, "event1": .30,
	}
	swing := map[string]float64{"cabinets": 5257, "finishes": 2372, "electrical": 2277, "counters": 1938, "appliances": 1684, "plumbing": 1667}
	shares := 0.0
	for _, c := range r.Components {
		shares += c.Share
		near(t, "Spearman of "+c.Name, c.Spearman, spearman[c.Name], 0.02)
		if want, ok := swing[c.Name]; ok {
			near(t, "swing of "+c.Name, c.High-c.Low, want, 0.01*want)
		}
	}
	near(t, "sum of shares", shares, 1, 1e-9)
}

func TestIndependentSD(t *testing.T) {
	t.Parallel()
	r := six(flat).Run([32]byte{1}, 10_000)
	near(t, "independent sd of six lines", r.IndependentSD, 2609.21, 0.01)
	near(t, "average correlation", r.Correlation, 0.29, 0.03)
	m := withEvents(house(40, montecarlo.Independent))
	r = m.Run([32]byte{1}, 50_000)
	near(t, "independent sd, formula against draws", r.IndependentSD, r.SD, 0.02*r.SD)
	near(t, "average correlation of independent lines", r.Correlation, 0, 0.01)
}

// house is a bill of n lines with every kind of uncertainty.
func house(n int, c montecarlo.Correlation) *montecarlo.Model {
	m := &montecarlo.Model{Scale: 1.5, Fixed: 220, Correlation: c}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		m.Lines = append(m.Lines, montecarlo.Line{
			Name: fmt.Sprint("line ", i), Group: fmt.Sprint("division ", i%9), Trade: fmt.Sprint("trade ", i%11), Code: fmt.Sprint("code ", i%(n-n/5)),
			Material: 100 + 900*rng.Float64(), Labor: 50 + 600*rng.Float64(), Equipment: 20,
			MaterialFactor: stat.Judged(.85, 1, 1.2+.001*float64(i)), LaborFactor: stat.Judged(.8, 1, 1.3), QuantityFactor: stat.Judged(.95, 1, 1.05),
		})
	}
	return m
}

func TestRunRepeats(t *testing.T) {
	t.Parallel()
	m := withEvents(house(30, montecarlo.Usual))
	want := m.Run([32]byte{3}, 2000)
	shuffled := *m
	shuffled.Lines = slices.Clone(m.Lines)
	shuffled.Events = slices.Clone(m.Events)
	slices.Reverse(shuffled.Lines)
	slices.Reverse(shuffled.Events)
	got := shuffled.Run([32]byte{3}, 2000)
	if !slices.Equal(got.Totals, want.Totals) {
		t.Error("a permuted bill drew other totals")
	}
	if !slices.Equal(got.Labor, want.Labor) {
		t.Error("a permuted bill drew other labor")
	}
	if other := m.Run([32]byte{4}, 2000); slices.Equal(other.Totals, want.Totals) {
		t.Error("another seed drew the same totals")
	}
}

func TestRunProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(5, 25).Draw(t, "lines")
		m := withEvents(house(n, montecarlo.Usual))
		r := m.Run([32]byte{byte(n)}, 1000)
		shares, mean := 0.0, m.Fixed
		for _, c := range r.Components {
			shares += c.Share
			mean += c.Mean
		}
		if math.Abs(shares-1) > 1e-9 {
			t.Fatalf("%d lines: shares sum to %g", n, shares)
		}
		if math.Abs(mean-r.Mean) > 1e-6*r.Mean {
			t.Fatalf("%d lines: means of the components sum to %g, the total's is %g", n, mean, r.Mean)
		}
		if !slices.IsSorted(r.Totals) || r.SD < 0.9*r.IndependentSD {
			t.Fatalf("%d lines: sorted %v, sd %g, independent %g", n, slices.IsSorted(r.Totals), r.SD, r.IndependentSD)
		}
	})
}

func TestNothingUncertain(t *testing.T) {
	t.Parallel()
	m := &montecarlo.Model{Scale: 1.4, Fixed: 100, Correlation: montecarlo.Usual, Lines: []montecarlo.Line{{Name: "slab", Material: 1000, Labor: 500}}}
	r := m.Run([32]byte{}, 100)
	if r.Mean != 2200 || r.SD != 0 || r.Totals[0] != r.Totals[99] {
		t.Errorf("a certain bill: mean %g, sd %g, from %g to %g; want 2200 throughout", r.Mean, r.SD, r.Totals[0], r.Totals[99])
	}
}

func TestImpossibleCorrelationIsRepaired(t *testing.T) {
	t.Parallel()
	m := house(10, montecarlo.Correlation{Any: 0.2, Trade: 0.1, Material: 3, Cross: 0.9})
	r := m.Run([32]byte{}, 1000)
	if r.Shrink >= 1 || math.IsNaN(r.SD) {
		t.Errorf("contradicting correlations: shrink %g, sd %g; want a repair", r.Shrink, r.SD)
	}
}

func BenchmarkRun(b *testing.B) {
	for _, n := range []int{50, 200} {
		m := withEvents(house(n, montecarlo.Usual))
		b.Run(fmt.Sprint(n, " lines"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Run([32]byte{1}, 10_000)
			}
		})
	}
}

// A run is the same whatever the number of processors.
//
//nolint:paralleltest // it sets the number of processors
func TestRunOnAnyNumberOfProcessors(t *testing.T) {
	m := withEvents(house(40, montecarlo.Usual))
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	want := m.Run([32]byte{9}, 3001)
	for _, n := range []int{2, 5} {
		runtime.GOMAXPROCS(n)
		if got := m.Run([32]byte{9}, 3001); !reflect.DeepEqual(got, want) {
			t.Errorf("a run on %d processors differs from one on a single one", n)
		}
	}
}
