package pricing

import (
	"math"
	"testing"

	"truecost.dev/shared/estimate/catalog"
)

// The charge of a small bath fades with the work, and never so fast that more
// work takes fewer hours.
func TestBathFading(t *testing.T) {
	t.Parallel()
	f := bathFading()
	small, large := catalog.MarkupByProfile(smallBath).LaborFactor, catalog.MarkupByProfile("remodel_interior").LaborFactor
	if f.small != small || f.large != large || f.from < 100 || f.to <= f.from {
		t.Fatalf("fading %+v, want from %v to %v", f, small, large)
	}
	for _, tt := range []struct{ hours, want float64 }{
		{1, small},
		{f.from, small},
		{f.to, large},
		{4 * f.to, large},
		{(f.from + f.to) / 2, large + (small-large)*f.from/(f.from+f.to)},
	} {
		if got := f.at(tt.hours); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("at(%.1f h) = %v, want %v", tt.hours, got, tt.want)
		}
	}
	last := 0.0
	for h := 1.0; h < 2*f.to; h++ {
		total := h * f.at(h)
		if total <= last {
			t.Fatalf("at: %v h of work take %.2f h, no more than a little less work", h, total)
		}
		last = total
	}
}
