package script

import (
	"fmt"
	"slices"
	"testing"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

func TestFateIsOfTheCallAlone(t *testing.T) {
	t.Parallel()
	busy, refuses, below := 0, 0, 0
	const calls = 10_000
	for i := range calls {
		id := runner.CallID("run~1", engine.StepID(fmt.Sprint(i)))
		f := Of(id)
		if again := Of(id); again != f {
			t.Fatalf("Of(%s) = %v, then %v", id, f, again)
		}
		if f.Score < 0 || f.Score > 100 || f.Pause < 0 || f.Pause > longestPause {
			t.Fatalf("Of(%s) = %+v, out of range", id, f)
		}
		busy += f.Busy
		if f.Refuses {
			refuses++
		}
		if f.Score < PassMark {
			below++
		}
	}
	for _, c := range []struct {
		what        string
		got, chance int
	}{{"busy", busy, busyChance}, {"refuses", refuses, refuseChance}, {"below", below, belowChance}} {
		if want := calls * c.chance / 100; c.got < want*3/4 || c.got > want*5/4 {
			t.Errorf("%s: %d of %d calls, want about %d", c.what, c.got, calls, want)
		}
	}
}

// Every end that is foretold is one that the flow can have.
func TestForetell(t *testing.T) {
	t.Parallel()
	codes := map[string]int{}
	for i := range 2000 {
		run := engine.RunID(fmt.Sprintf("e-%d", i), 1)
		e := Foretell(run)
		codes[e.Code]++
		if e.Failure() != (len(e.Passed()) < 6) || e.Failure() != (e.Code != "") || !slices.IsSorted(order(e.Passed())) {
			t.Fatalf("Foretell(%s) = %+v, which no run can be", run, e)
		}
		if !e.Failure() && len(e.Steps) < 12 {
			t.Fatalf("Foretell(%s) completes in %d steps, want 12 at least", run, len(e.Steps))
		}
		again := Foretell(engine.RunID(fmt.Sprintf("e-%d", i), 2), e.Passed()...)
		for _, n := range again.Nodes {
			if slices.Contains(e.Passed(), n.Name) {
				t.Fatalf("the run after %s works on %s, which it carries", run, n.Name)
			}
		}
	}
	for _, code := range []string{"", engine.CodeAgentFailed, engine.CodeValidationFailed, engine.CodeRetriesExhausted} {
		if codes[code] == 0 {
			t.Errorf("of 2000 runs none ends with %q: %v", code, codes)
		}
	}
}

// order returns the places of nodes in the flow.
func order(names []string) []int {
	flow := []string{"location", "scope", "cost", "risk", "timeline", "final"}
	places := make([]int, len(names))
	for i, name := range names {
		places[i] = slices.Index(flow, name)
	}
	return places
}
