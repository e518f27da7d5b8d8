package takeoff

import (
	"testing"

	"pgregory.net/rapid"
)

func TestSlips(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"toilet", "toilet", 0},
		{"toliet", "toilet", 1},
		{"drywal", "drywall", 1},
		{"porcelin", "porcelain", 1},
		{"receptical", "receptacl", 2},
		{"", "tile", 4},
	} {
		if got := slips(tt.a, tt.b); got != tt.want {
			t.Errorf("slips(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestSlipsIsADistance(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-d]{0,7}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := slips(a, b)
		if d != slips(b, a) || (d == 0) != (a == b) || d < abs(len(a)-len(b)) || d > max(len(a), len(b)) {
			t.Fatalf("slips(%q, %q) = %d, back %d", a, b, d, slips(b, a))
		}
	})
}

// Words that are right, short, of another letter or near to two others are left
// as they are.
func TestNearestLeavesAlone(t *testing.T) {
	t.Parallel()
	v := vocabulary()
	for _, w := range []string{"tyle", "oilet", "r19", "2x4", "blorptangle", "zzzzz"} {
		if id, ok := v.nearest(w); ok {
			t.Errorf("nearest(%q) = word %d, want none", w, id)
		}
	}
	for w, id := range v.ids {
		if got, ok := v.nearest(w); len(w) >= leastSpelled && letters(w) && (!ok || got != id) {
			t.Errorf("nearest(%q) is another word than itself", w)
		}
	}
}
