package cost

import (
	"testing"

	"truecost.dev/internal/sample"
	"truecost.dev/shared/estimate"
)

// Whatever overhead and profit the user asks for, the cost is judged by its
// work (R13).
func TestPreferencesBeyondReasonPass(t *testing.T) {
	t.Parallel()
	all := func(c *estimate.Clarification) {
		c.Brief.Preferences = &estimate.Preferences{Overhead: new(1.0), Profit: new(1.0), Contingency: new(1.0), Waste: new(2.0)}
	}
	none := func(c *estimate.Clarification) {
		c.Brief.Preferences = &estimate.Preferences{Overhead: new(0.0), Profit: new(0.0), Contingency: new(0.0), Waste: new(1.0)}
	}
	for _, name := range sample.Names() {
		for what, change := range map[string]sample.Change{"everything doubled": all, "nothing added": none} {
			in := sample.Scoped(t, name, change)
			out := priced(t, in)
			if s := family().Rubric.Judge(in, &out); !s.Passed {
				t.Errorf("%s, %s: %d: %s", name, what, s.Score, s.Feedback)
			}
		}
	}
}
