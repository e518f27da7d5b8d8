package accuracy_test

import (
	"math"
	"testing"
	"time"

	"truecost.dev/internal/accuracy"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/montecarlo"
)

// A job without a start has one assumed start: prices are escalated to the
// middle of the usual working time after the day on which the schedule begins.
func TestOneAssumedStart(t *testing.T) {
	t.Parallel()
	kind := catalog.ProjectTypes()[0]
	for _, ordered := range []time.Time{
		time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC), time.Date(2026, 2, 2, 23, 0, 0, 0, time.UTC), // of Washington's Birthday
		time.Date(2026, 12, 31, 12, 0, 0, 0, time.UTC),
	} {
		c, err := accuracy.Job(&kind, "mid_range", 1)
		if err != nil {
			t.Fatal(err)
		}
		c.Timestamp = ordered
		ctx, _, err := accuracy.Estimate(c, montecarlo.Options{})
		if err != nil {
			t.Fatal(err)
		}
		half := int(math.Round(kind.WorkingDays / 2 * 7 / 5))
		begin := estimate.DateOf(ctx.Cost.Midpoint.AddDate(0, 0, -half))
		if late := ctx.Timeline.Start.Sub(begin.Time).Hours() / 24; !ctx.Timeline.StartAssumed || late < 0 || late > 1 {
			t.Errorf("ordered on %s: priced for a start on %s, planned for %s", estimate.DateOf(ordered), begin, ctx.Timeline.Start)
		}
	}
}
