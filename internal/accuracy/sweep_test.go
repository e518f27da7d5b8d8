package accuracy_test

import (
	"flag"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"truecost.dev/internal/accuracy"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/money"
	"truecost.dev/shared/estimate/montecarlo"
	"truecost.dev/shared/estimate/takeoff"
)

var full = flag.Bool("full", false, "take every point of the sweep through the whole pipeline, not every eleventh")

// unraced leaves a sweep out where the race detector watches.
func unraced(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("one goroutine alone has no races")
	}
	t.Parallel()
}

// sizes are small, usual and large, in usual sizes.
var sizes = []float64{0.5, 1, 2}

// job is a point of the sweep.
type job struct {
	project string
	finish  int // of accuracy.Finishes
	size    int // of sizes
}

func (j job) String() string {
	return fmt.Sprintf("%s, %s, %g of the usual size", j.project, accuracy.Finishes[j.finish], sizes[j.size])
}

func (j job) order(t testing.TB) *estimate.Clarification {
	t.Helper()
	c, err := accuracy.Job(catalog.ProjectTypeByKey(j.project), accuracy.Finishes[j.finish], sizes[j.size])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// every returns all points.
func every() []job {
	var all []job
	for _, p := range catalog.ProjectTypes() {
		for f := range accuracy.Finishes {
			for s := range sizes {
				all = append(all, job{p.Key, f, s})
			}
		}
	}
	return all
}

// The same work at a better finish, or more of it, never costs less.
func TestSweepIsMonotone(t *testing.T) {
	unraced(t)
	total := map[job]money.Cents{}
	for _, j := range every() {
		ctx, err := accuracy.Price(j.order(t))
		if err != nil {
			t.Fatalf("%s: %v", j, err)
		}
		total[j] = ctx.Cost.Total.Low
		if ctx.Cost.ExactItems != ctx.Cost.LineCount {
			t.Errorf("%s: %d of %d lines are in the catalogue, want all", j, ctx.Cost.ExactItems, ctx.Cost.LineCount)
		}
	}
	for j, price := range total {
		if plainer := (job{j.project, j.finish - 1, j.size}); price < total[plainer] {
			t.Errorf("%s: %v, less than %v at the finish below", j, price, total[plainer])
		}
		if smaller := (job{j.project, j.finish, j.size - 1}); price <= total[smaller] {
			t.Errorf("%s: %v, no more than %v at the size below", j, price, total[smaller])
		}
	}
}

// A dearer place never makes the work cheaper.
func TestSweepOfPlaces(t *testing.T) {
	unraced(t)
	places := []estimate.Address{{Zip: "77002", City: "Houston", State: "TX"}, {Zip: "80202", City: "Denver", State: "CO"}, {Zip: "10001", City: "New York", State: "NY"}}
	for _, p := range catalog.ProjectTypes() {
		last := money.Cents(0)
		for _, place := range places {
			c := job{project: p.Key, finish: 1, size: 1}.order(t)
			c.Brief.Location = place
			ctx, err := accuracy.Price(c)
			if err != nil {
				t.Fatalf("%s in %s: %v", p.Key, place.City, err)
			}
			work := ctx.Cost.Subtotals.Subtotal.Low
			if work <= last {
				t.Errorf("%s in %s: %v, no more than %v in the cheaper place", p.Key, place.City, work, last)
			}
			last = work
		}
	}
}

// Every job goes through the whole pipeline: nothing fails, every number is
// finite, percentiles are ordered, and the identities hold.
func TestSweepOfThePipeline(t *testing.T) {
	unraced(t)
	points := every()
	if !*full {
		points = thinned(points, 11) // each type at least once
	}
	for _, j := range points {
		ctx, final, err := accuracy.Estimate(j.order(t), montecarlo.Options{Iterations: 1000})
		if err != nil {
			t.Fatalf("%s: %v", j, err)
		}
		for _, output := range []any{*ctx.Scope, *ctx.Cost, *ctx.Risk, *ctx.Timeline, final} {
			finite(t, j.String(), reflect.ValueOf(output))
		}
		p := ctx.Risk.TotalCost
		if p.P10 <= 0 || p.P10 >= p.P50 || p.P50 >= p.P80 || p.P80 >= p.P90 {
			t.Errorf("%s: percentiles %+v are not ordered", j, p)
		}
		if ctx.Timeline.Duration <= 0 {
			t.Errorf("%s: %v working days", j, ctx.Timeline.Duration)
		}
	}
}

// thinned keeps every nth point.
func thinned(points []job, n int) []job {
	var kept []job
	for i := 0; i < len(points); i += n {
		kept = append(kept, points[i])
	}
	return kept
}

// The usual job, in the words of its own description and lines, is recognised
// as its type or as a sibling of its kind.
func TestUsualJobsAreRecognised(t *testing.T) {
	t.Parallel()
	for _, p := range catalog.ProjectTypes() {
		c := job{project: p.Key, finish: 1, size: 1}.order(t)
		if got := takeoff.ProjectType(c); got.SchemaType != p.SchemaType {
			t.Errorf("%s (%s) is taken for %s", p.Key, p.Description, got.Key)
		}
	}
}

// finishOf is a finish level that a type is for.
func finishOf(p catalog.ProjectType) string {
	for _, finish := range accuracy.Finishes {
		if finish != "budget" && strings.Contains(p.FinishLevels, finish) {
			return finish
		}
	}
	return "mid_range"
}

// A brief that says type, size, finish and which divisions, and not a line, gets
// the assembly of its type: the price of the same job in full, with doubt.
func TestThinScopesArePricedByTheirAssembly(t *testing.T) {
	unraced(t)
	thin := 0
	for _, p := range catalog.ProjectTypes() {
		for s := range sizes {
			j := job{project: p.Key, finish: slices.Index(accuracy.Finishes, finishOf(p)), size: s}
			full, err := accuracy.Price(j.order(t))
			if err != nil {
				t.Fatalf("%s: %v", j, err)
			}
			c := j.order(t)
			for key, d := range c.Scope {
				d.Items = nil
				c.Scope[key] = d
			}
			if takeoff.ProjectType(c).Key != p.Key {
				continue // known by its lines, or a sibling
			}
			ctx, err := accuracy.Price(c)
			if err != nil {
				t.Errorf("%s, thin: %v", j, err)
				continue
			}
			thin++
			if want := full.Cost.Total.Low.Float(); (takeoff.UsualArea(&p) > 0 || s == 1) && math.Abs(ctx.Cost.Total.Low.Float()/want-1) > 0.01 {
				t.Errorf("%s: thin %v, in full %v", j, ctx.Cost.Total.Low, full.Cost.Total.Low)
			}
			if ctx.Cost.LineConfidence >= full.Cost.LineConfidence || ctx.Scope.Class < 4 {
				t.Errorf("%s: thin confidence %v, in full %v, class %d", j, ctx.Cost.LineConfidence, full.Cost.LineConfidence, ctx.Scope.Class)
			}
		}
	}
	if thin < 60 {
		t.Errorf("%d thin scopes were priced, want most", thin)
	}
}

// finite fails for any number within v that is not.
func finite(t *testing.T, name string, v reflect.Value) {
	t.Helper()
	switch v.Kind() { //nolint:exhaustive // the other kinds hold no float
	case reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			t.Fatalf("%s: the number %v", name, f)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			finite(t, name, field)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			finite(t, name, v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			finite(t, name, v.MapIndex(k))
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			finite(t, name, v.Elem())
		}
	}
}
