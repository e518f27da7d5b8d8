package simulation

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "the seed that TestSeed replays")
	seedsFlag = flag.Uint64("seeds", 300, "how many seeds TestSeeds runs")
)

// live runs a world in a bubble of its own.
func live(t *testing.T, plot *Plot, seed uint64, chaos Chaos) (r *Report) {
	t.Helper()
	synctest.Test(t, func(*testing.T) { r = New(plot, seed, chaos).Run() })
	return r
}

// TestSeed replays one seed; with -v it prints the trace.
func TestSeed(t *testing.T) {
	r := live(t, PlotOf(*seedFlag), *seedFlag, NewRandom(*seedFlag))
	t.Logf("%s\n%s", r.Plot, r.Trace)
	for _, v := range r.Violations {
		t.Error(v)
	}
}

// TestSeeds runs many seeds. The first that breaks an invariant is printed with
// its trace; -run 'TestSeed$' -seed N replays it.
func TestSeeds(t *testing.T) {
	var next atomic.Uint64
	var mu sync.Mutex
	var sum Report
	broken := 0
	began := time.Now()
	t.Run("workers", func(t *testing.T) {
		for range runtime.GOMAXPROCS(0) {
			t.Run("worker", func(t *testing.T) {
				t.Parallel()
				for seed := next.Add(1) - 1; seed < *seedsFlag; seed = next.Add(1) - 1 {
					r := live(t, PlotOf(seed), seed, NewRandom(seed))
					mu.Lock()
					sum.add(r)
					if len(r.Violations) > 0 {
						broken++
						if broken <= 20 {
							t.Errorf("seed %d (%s): %s", seed, r.Plot, strings.Join(r.Violations, "\n\t"))
						}
					}
					mu.Unlock()
				}
			})
		}
	})
	took := time.Since(began)
	t.Logf("%d seeds in %v (%.0f a second): %d deliveries, %d calls paid, %d crashes, %d faults at %d yield points, %v of virtual time, %d violations",
		*seedsFlag, took.Round(time.Millisecond), float64(*seedsFlag)/took.Seconds(),
		sum.Deliveries, sum.Calls, sum.Crashes, sum.Faults, sum.Yields, sum.Virtual.Round(time.Hour), broken)
	_ = fmt.Sprint
}

func (r *Report) add(o *Report) {
	r.Deliveries += o.Deliveries
	r.Calls += o.Calls
	r.Crashes += o.Crashes
	r.Faults += o.Faults
	r.Yields += o.Yields
	r.Virtual += o.Virtual
}

// A seed is worth something only if it says everything.
func TestDeterminism(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		first := live(t, PlotOf(seed), seed, NewRandom(seed))
		second := live(t, PlotOf(seed), seed, NewRandom(seed))
		if first.Trace != second.Trace {
			t.Errorf("seed %d (%s) has two traces: they part at %s", seed, first.Plot, parting(first.Trace, second.Trace))
		}
	}
}

func parting(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d:\n%s\n%s", i+1, x[i], y[i])
		}
	}
	return "the end of the shorter one"
}
