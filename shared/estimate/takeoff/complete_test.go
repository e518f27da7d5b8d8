package takeoff

import (
	"slices"
	"strings"
	"testing"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// withPrefix returns the first item of the catalogue whose code has the prefix.
func withPrefix(t *testing.T, prefix string) *catalog.Item {
	t.Helper()
	for i := range catalog.Items() {
		if it := &catalog.Items()[i]; strings.HasPrefix(it.Code, prefix) {
			return it
		}
	}
	t.Fatalf("no item of the catalogue has a code %s…", prefix)
	return nil
}

// bill is a scope with these codes, all divisions included.
func bill(project string, codes ...string) (s *estimate.Scope, have map[string]bool, status map[string]string) {
	have, status = map[string]bool{}, map[string]string{}
	for _, c := range codes {
		have[c] = true
	}
	for _, d := range catalog.Divisions() {
		status[d.Code] = estimate.Included
	}
	return &estimate.Scope{ProjectType: project}, have, status
}

// Every rule is raised by every code that raises it, met by every code that
// meets it, and silent where its division is somebody's decision or its kind of
// project is another.
func TestEveryRuleOfCompleteness(t *testing.T) {
	t.Parallel()
	tk := &taker{in: &estimate.Clarification{}}
	for _, n := range needs {
		kind := "whole_house_remodel"
		if n.kinds != "" {
			kind = strings.Fields(n.kinds)[0]
		}
		for _, when := range n.when {
			raises := withPrefix(t, when).Code
			meets := func(prefix string) bool { return strings.HasPrefix(raises, prefix) }
			if slices.ContainsFunc(n.then, meets) {
				continue // this one brings it along
			}
			s, have, status := bill(kind, raises)
			if got := tk.missing(s, have, status); !slices.Contains(got, n.missing) {
				t.Errorf("%s alone, %s: missing %q, want %q", raises, kind, got, n.missing)
			}
			for _, then := range n.then {
				s, have, status := bill(kind, raises, withPrefix(t, then).Code)
				if got := tk.missing(s, have, status); slices.Contains(got, n.missing) {
					t.Errorf("%s with %s: missing %q", raises, then, n.missing)
				}
			}
			for _, decided := range []string{estimate.Excluded, estimate.ByOwner} {
				s, have, status := bill(kind, raises)
				status[n.division] = decided
				if got := tk.missing(s, have, status); slices.Contains(got, n.missing) {
					t.Errorf("%s with division %s %s: missing %q", raises, n.division, decided, n.missing)
				}
			}
			if n.kinds != "" {
				s, have, status := bill("other", raises)
				if got := tk.missing(s, have, status); slices.Contains(got, n.missing) {
					t.Errorf("%s in another kind of project: missing %q", raises, n.missing)
				}
			}
		}
	}
}

// A wet room that is only a tub and its valve lacks all that estimating practice
// asks of one; in full it lacks nothing.
func TestWetRoomNeeds(t *testing.T) {
	t.Parallel()
	tk := &taker{in: &estimate.Clarification{}}
	bare := []string{"224119.10", "224123.10", "093013.11"}
	got := strings.Join(tk.missing(bill("bathroom_remodel", bare...)), "; ")
	for _, want := range []string{"demolition", "rough-in", "waterproofing", "backer", "exhaust", "GFCI"} {
		if !strings.Contains(got, want) {
			t.Errorf("tub and tile alone: missing %q, want %s too", got, want)
		}
	}
	full := append(bare, "024119.15", "017400.31", "221116.10", "221316.10", "093013.21", "092900.13", "233423.10", "262726.11", "092900.12", "099123.14")
	for _, code := range full {
		if catalog.ItemByCode(code) == nil {
			t.Fatalf("%s is no item", code)
		}
	}
	if got := tk.missing(bill("bathroom_remodel", full...)); len(got) != 0 {
		t.Errorf("in full: missing %q, want nothing", got)
	}
}
