package accuracy_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"truecost.dev/internal/accuracy"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/montecarlo"
)

// anyJob draws an order of any type, finish and size from a quarter to four
// times the usual.
func anyJob() *rapid.Generator[*estimate.Clarification] {
	return rapid.Custom(func(t *rapid.T) *estimate.Clarification {
		types := catalog.ProjectTypes()
		p := &types[rapid.IntRange(0, len(types)-1).Draw(t, "type")]
		c, err := accuracy.Job(p, rapid.SampledFrom(accuracy.Finishes).Draw(t, "finish"), rapid.Float64Range(0.25, 4).Draw(t, "size"))
		if err != nil {
			t.Fatal(err)
		}
		return c
	})
}

func priced(t *rapid.T, c *estimate.Clarification) *estimate.Cost {
	t.Helper()
	ctx, err := accuracy.Price(c)
	if err != nil {
		t.Fatal(err)
	}
	return ctx.Cost
}

// each changes every line of an order.
func each(c *estimate.Clarification, change func(*estimate.ScopeItem)) {
	for _, d := range catalog.Divisions() {
		for i := range c.Scope[d.Key].Items {
			change(&c.Scope[d.Key].Items[i])
		}
	}
}

// The order of the lines changes no price.
func TestPermutedLinesCostTheSame(t *testing.T) {
	unraced(t)
	rapid.Check(t, func(t *rapid.T) {
		c := anyJob().Draw(t, "job")
		before := priced(t, c).Total
		for _, d := range catalog.Divisions() {
			section := c.Scope[d.Key]
			section.Items = rapid.Permutation(section.Items).Draw(t, d.Code)
			c.Scope[d.Key] = section
		}
		if after := priced(t, c).Total; after != before {
			t.Fatalf("total %+v, in another order %+v", before, after)
		}
	})
}

// Nor does it change the risk or the schedule.
func TestReversedLinesGoThroughThePipelineTheSame(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"kitchen_major", "bath_midrange", "deck_wood", "windows_vinyl", "bedroom_remodel"} {
		c := job{project: key, finish: 1, size: 1}.order(t)
		before, _, err := accuracy.Estimate(c, montecarlo.Options{Iterations: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range catalog.Divisions() {
			slices.Reverse(c.Scope[d.Key].Items)
		}
		after, _, err := accuracy.Estimate(c, montecarlo.Options{Iterations: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if before.Risk.TotalCost != after.Risk.TotalCost || before.Timeline.Duration != after.Timeline.Duration {
			t.Errorf("%s: risk %+v, %v days; in another order %+v, %v", key, before.Risk.TotalCost, before.Timeline.Duration, after.Risk.TotalCost, after.Timeline.Duration)
		}
	}
}

// Spellings of a unit, and units of one dimension, change nothing.
func TestSpeltUnitsCostTheSame(t *testing.T) {
	unraced(t)
	spellings := map[estimate.Unit][]string{
		"ea": {"EA", "each", "pcs", "Each."}, "lf": {"LF", "lin. ft", "linear feet", "Lineal Ft", "L.F."},
		"sf": {"SF", "sq ft", "Sq. Ft.", "square-feet", "S.F.", "ft²", "SQFT"}, "cy": {"CY", "cubic yards", "cu. yd"},
		"sq": {"SQ", "squares"}, "hr": {"hrs", "Hours"}, "ls": {"LS", "lump sum", "Lot"},
	}
	rapid.Check(t, func(t *rapid.T) {
		c := anyJob().Draw(t, "job")
		before := priced(t, c)
		each(c, func(it *estimate.ScopeItem) {
			if names := spellings[it.Unit]; names != nil {
				raw := fmt.Sprintf("%q", rapid.SampledFrom(names).Draw(t, "unit"))
				if err := json.Unmarshal([]byte(raw), &it.Unit); err != nil {
					t.Fatal(err)
				}
			}
			if it.Unit == estimate.SquareFoot && rapid.Bool().Draw(t, "square yards") {
				it.Quantity, it.Unit = it.Quantity/9, estimate.SquareYard
			}
		})
		after := priced(t, c)
		if d := after.Total.Low - before.Total.Low; d < -2 || d > 2 { // a quantity over 9 times 9 may lose its last bit
			t.Fatalf("total %v, with other spellings of the units %v", before.Total.Low, after.Total.Low)
		}
	})
}

// Twice the work is at most twice the direct cost, and exactly twice the
// material; set-ups and minimum charges do not grow with it.
func TestCostScales(t *testing.T) {
	unraced(t)
	rapid.Check(t, func(t *rapid.T) {
		c := anyJob().Draw(t, "job")
		k := rapid.Float64Range(1, 5).Draw(t, "factor")
		once := priced(t, c)
		each(c, func(it *estimate.ScopeItem) { it.Quantity *= k })
		more := priced(t, c)
		cents := 0.02 * float64(once.LineCount) // of rounding
		m, want := more.Subtotals.Materials.Low.Float(), k*once.Subtotals.Materials.Low.Float()
		if math.Abs(m-want) > k*cents {
			t.Fatalf("%.2f times the work: material %.2f, want %.2f", k, m, want)
		}
		d, once1 := more.Subtotals.Subtotal.Low.Float(), once.Subtotals.Subtotal.Low.Float()
		if d > k*once1+k*cents || d < once1-cents {
			t.Fatalf("%.2f times the work: direct cost %.2f after %.2f", k, d, once1)
		}
	})
}

// What is by owner, excluded or not applicable costs nothing and leaves the price
// of the rest alone, but for set-ups of its trades and the permit.
func TestLeftOutDivisionsBind(t *testing.T) {
	unraced(t)
	rapid.Check(t, func(t *rapid.T) {
		c := anyJob().Draw(t, "job")
		var included []catalog.Division
		for _, d := range catalog.Divisions() {
			if c.Scope[d.Key].Status == estimate.Included {
				included = append(included, d)
			}
		}
		if len(included) < 2 {
			t.Skip("nothing would be left")
		}
		before := priced(t, c)
		out := included[rapid.IntRange(0, len(included)-1).Draw(t, "division")]
		section := c.Scope[out.Key]
		section.Status = rapid.SampledFrom([]string{estimate.Excluded, estimate.ByOwner, estimate.NotApplicable}).Draw(t, "status")
		c.Scope[out.Key] = section
		ctx, err := accuracy.Price(c)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(ctx.Cost.Divisions, func(d estimate.CostDivision) bool { return d.Code == out.Code })
		if d := ctx.Cost.Divisions[i]; d.Total.Low != 0 || len(d.Lines) != 0 || d.Status != section.Status {
			t.Fatalf("division %s is %s and costs %v in %d lines", out.Code, section.Status, d.Total.Low, len(d.Lines))
		}
		if got := len(ctx.Scope.Divisions[i].OwnerItems); got != len(section.Items) {
			t.Fatalf("division %s: %d items are shown as not priced, want all %d", out.Code, got, len(section.Items))
		}
		if ctx.Cost.Total.Low >= before.Total.Low {
			t.Fatalf("without division %s: %v, with it %v", out.Code, ctx.Cost.Total.Low, before.Total.Low)
		}
	})
}
