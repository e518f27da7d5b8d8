package simulation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Faults, doubled and lost messages and the number of workers must not show in
// what is left: I13, I14.
func TestOutcomeIsIndependent(t *testing.T) {
	t.Parallel()
	n := 0
	for seed := range uint64(120) {
		plot := PlotOf(seed)
		if !plot.Ends {
			continue
		}
		alone := *plot
		alone.Instances = 1
		calm := live(t, &alone, seed, None{})
		rough := live(t, plot, seed, NewRandom(seed))
		if len(calm.Violations) > 0 {
			t.Errorf("seed %d (%s) without faults: %v", seed, plot.Name, calm.Violations)
		}
		if rough.Faults > 0 {
			n++
		}
		if diff := cmp.Diff(calm.Outcome, rough.Outcome); diff != "" {
			t.Errorf("seed %d (%s) comes to another end (-without faults +with %d of them):\n%s", seed, plot.Name, rough.Faults, diff)
		}
	}
	if n < 20 {
		t.Errorf("%d worlds had faults, which proves little", n)
	}
}
