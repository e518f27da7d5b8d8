package catalog_test

import (
	"testing"

	"truecost.dev/shared/estimate/catalog"
)

func TestGradeOf(t *testing.T) {
	t.Parallel()
	const custom, semiCustom, tile = "064100.30", "064100.20", "093013.10"
	for _, tt := range []struct {
		project, finish, item string
		want                  catalog.Grade
	}{
		{"kitchen_upscale", "high_end", custom, catalog.Typical}, // its own items are upscale
		{"kitchen_upscale", "luxury", custom, catalog.High},
		{"kitchen_upscale", "high_end", semiCustom, catalog.High}, // another's are not
		{"kitchen_upscale", "budget", custom, catalog.Low},        // a level the type does not name
		{"kitchen_major", "mid_range", semiCustom, catalog.Typical},
		{"kitchen_major", "high_end", semiCustom, catalog.High},
		{"bath_midrange", "budget", tile, catalog.Low},
		{"bath_universal", "accessible", tile, catalog.Typical},
		{"bath_midrange", "", tile, catalog.Typical},
	} {
		p, it := catalog.ProjectTypeByKey(tt.project), catalog.ItemByCode(tt.item)
		if got := p.GradeOf(tt.finish, it); got != tt.want {
			t.Errorf("GradeOf(%s, %s of %s) = %s, want %s", tt.finish, it.Name, tt.project, got, tt.want)
		}
	}
}

// A better finish never picks a cheaper grade, for any item on any job.
func TestGradesRiseWithTheFinish(t *testing.T) {
	t.Parallel()
	for i := range catalog.ProjectTypes() {
		p := &catalog.ProjectTypes()[i]
		for j := range catalog.Items() {
			it, last := &catalog.Items()[j], 0.0
			for _, finish := range []string{"budget", "mid_range", "high_end", "luxury"} {
				price := it.Material(p.GradeOf(finish, it))
				if price < last {
					t.Fatalf("%s on %s: %v at %s, below %v at the level before", it.Name, p.Key, price, finish, last)
				}
				last = price
			}
		}
	}
}
