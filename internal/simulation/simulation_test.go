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
	firstFlag = flag.Uint64("first", 0, "the first of them")
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

// wanted is what happens in any few hundred seeds; a simulation in which it does
// not proves less than it says.
var wanted = []string{
	"answer", "claim", "dead letter", "fault: agent falls", "fault: dies", "fault: dies after", "fault: doubled", "fault: fails",
	"fault: freezes", "fault: late", "fault: lost", "fault: unheard", "late result", "manual retry", "renew", "run canceled",
	"run completed", "run failed", "run waiting_input", "take over",
}

// TestSeeds runs many seeds. One that breaks an invariant is printed, the first
// with its trace; -run 'TestSeed$' -seed N replays it.
func TestSeeds(t *testing.T) {
	var next atomic.Uint64
	var mu sync.Mutex // guards what follows
	sum, broken := Report{Seen: map[string]int{}}, 0
	began := time.Now()
	t.Run("on", func(t *testing.T) {
		for cpu := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint("cpu", cpu), func(t *testing.T) {
				t.Parallel()
				for n := next.Add(1) - 1; n < *seedsFlag; n = next.Add(1) - 1 {
					seed := *firstFlag + n
					r := live(t, PlotOf(seed), seed, NewRandom(seed))
					mu.Lock()
					sum.add(r)
					if len(r.Violations) > 0 {
						broken++
						complain(t, r, broken)
					}
					mu.Unlock()
				}
			})
		}
	})
	took := time.Since(began)
	t.Logf("%d seeds in %v, %.0f a second: %d deliveries, %d calls paid, %d crashes, %d faults at %d yield points, %v of virtual time, %d violations",
		*seedsFlag, took.Round(time.Millisecond), float64(*seedsFlag)/took.Seconds(),
		sum.Deliveries, sum.Calls, sum.Crashes, sum.Faults, sum.Yields, sum.Virtual.Round(time.Hour), broken)
	for _, what := range sorted(sum.Seen) {
		t.Logf("%8d  %s", sum.Seen[what], what)
	}
	for _, what := range wanted {
		if sum.Seen[what] == 0 && *seedsFlag >= 300 {
			t.Errorf("in %d seeds nothing was %q", *seedsFlag, what)
		}
	}
}

// complain prints what a seed broke, the first time with the whole story.
func complain(t *testing.T, r *Report, nth int) {
	t.Helper()
	const most = 20
	switch {
	case nth == 1:
		t.Errorf("seed %d (%s) breaks\n\t%s\nin\n%s", r.Seed, r.Plot, strings.Join(r.Violations, "\n\t"), r.Trace)
	case nth <= most:
		t.Errorf("seed %d (%s) breaks\n\t%s", r.Seed, r.Plot, strings.Join(r.Violations, "\n\t"))
	}
}

func (r *Report) add(o *Report) {
	r.Deliveries += o.Deliveries
	r.Calls += o.Calls
	r.Crashes += o.Crashes
	r.Faults += o.Faults
	r.Yields += o.Yields
	r.Virtual += o.Virtual
	for what, n := range o.Seen {
		r.Seen[what] += n
	}
}

// A seed is worth something only if it says everything.
func TestDeterminism(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
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
