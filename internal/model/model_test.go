package model_test

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"truecost.dev/internal/model"
)

var bound = flag.String("bound", "quick", "how far TestModel searches: quick, full or nightly")

// TestModel searches every scenario and expects every invariant to hold. The
// states are counted, so that a search which became small by accident is seen.
func TestModel(t *testing.T) {
	t.Parallel()
	bounds := map[string]struct {
		bound model.Bound
		least int // states in all
	}{
		"quick":   {model.Quick, 250_000},
		"full":    {model.Full, 1_000_000},
		"nightly": {model.Nightly, 50_000_000},
	}
	b, ok := bounds[*bound]
	if !ok {
		t.Fatalf("-bound %s is not one of quick, full, nightly", *bound)
	}
	limit := 0
	switch {
	case raced || testing.Short():
		limit, b.least = 5_000, 5_000
	case b.bound == model.Nightly:
		limit = 15_000_000
	}
	states := 0
	model.All(b.bound, model.Sound, limit, func(r model.Result) {
		states += r.States
		t.Log(r)
		if r.Violation != nil {
			t.Errorf("%s broke", r.Scenario)
		}
	})
	if states < b.least {
		t.Errorf("the search saw %d states, want at least %d", states, b.least)
	}
}

// TestMutants: the model finds what is wrong with a handler that is, names an
// invariant that this breaks, and its path replays.
func TestMutants(t *testing.T) {
	t.Parallel()
	for _, mutant := range model.Mutants() {
		t.Run(string(mutant), func(t *testing.T) {
			t.Parallel()
			found, s, o := kill(t, mutant)
			if found == nil {
				t.Fatalf("no scenario breaks; want %v", mutant.Breaks())
			}
			invariant, _, _ := strings.Cut(found.Broken, ":")
			if !slices.Contains(mutant.Breaks(), invariant) {
				t.Errorf("the search found %q, want one of %v", found.Broken, mutant.Breaks())
			}
			_, broken, err := model.Replay(s, o, found.Path)
			if err != nil || broken != found.Broken {
				t.Errorf("Replay(%s) = %q, %v, want %q", strings.Join(found.Path, "; "), broken, err, found.Broken)
			}
		})
	}
}

// kill searches the scenarios, without faults first, until one breaks.
func kill(t *testing.T, mutant model.Mutant) (*model.Violation, model.Scenario, model.Options) {
	t.Helper()
	for _, faultless := range []bool{true, false} {
		for _, s := range model.Scenarios() {
			o := model.Options{Faults: s.Faults[model.Quick], Mutant: mutant, Limit: 150_000}
			if faultless {
				o.Faults = model.Faults{}
			}
			if r := model.Search(s, o); r.Violation != nil {
				return r.Violation, s, o
			}
		}
	}
	return nil, model.Scenario{}, model.Options{}
}

// TestSearchRepeats: the same search sees the same states.
func TestSearchRepeats(t *testing.T) {
	t.Parallel()
	s := model.Scenarios()[1]
	o := model.Options{Faults: s.Faults[model.Quick], Limit: 3_000}
	first, second := model.Search(s, o), model.Search(s, o)
	if first.States != second.States || first.Transitions != second.Transitions {
		t.Errorf("Search(%s) = %d states, %d transitions and then %d, %d", s.Name, first.States, first.Transitions, second.States, second.Transitions)
	}
}

func TestReplayRefusesWhatCannotHappen(t *testing.T) {
	t.Parallel()
	s := model.Scenarios()[0]
	trace, broken, err := model.Replay(s, model.Options{}, []string{"deliver a.0.p", "lose a.0.s"})
	if err == nil || broken != "" || len(trace) != 2 {
		t.Errorf("Replay(…) = %d worlds, %q, %v, want two and an error", len(trace), broken, err)
	}
}
