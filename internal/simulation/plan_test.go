package simulation

import (
	"testing"

	"pgregory.net/rapid"
)

// Any few faults at any points leave a chain as it would be without them. A plan
// that does not is shrunk to the faults that matter.
func TestFaultPlans(t *testing.T) {
	t.Parallel()
	kinds := []Kind{Fails, Unheard, Late, Dies, DiesAfter, Freezes, Lost, Doubled, AgentFalls}
	fault := rapid.Custom(func(t *rapid.T) Planned {
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		return Planned{rapid.IntRange(1, 120).Draw(t, "yield"), newFault(kind, rapid.Float64Range(0, 0.99).Draw(t, "length"))}
	})
	calm := map[uint64]*Report{}
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64Range(0, 9).Draw(rt, "seed")
		plan := Plan(rapid.SliceOfN(fault, 0, 6).Draw(rt, "plan"))
		if calm[seed] == nil {
			calm[seed] = live(t, chain(), seed, None{})
		}
		r := live(t, chain(), seed, plan)
		if len(r.Violations) > 0 {
			rt.Fatalf("%v\n%s", r.Violations, r.Trace)
		}
		if r.Outcome != calm[seed].Outcome {
			rt.Fatalf("it comes to another end:\n%s\nwanted\n%s\n%s", r.Outcome, calm[seed].Outcome, r.Trace)
		}
	})
}
