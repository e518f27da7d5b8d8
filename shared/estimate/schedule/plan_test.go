package schedule

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/fault"
)

// bill is a cost of these catalogue codes with so many hours each.
func bill(hours float64, class string, codes ...string) estimate.Context {
	c := &estimate.Cost{}
	c.Adjustments.PermitClass = class
	for _, code := range codes {
		item := catalog.ItemByCode(code)
		division := estimate.CostDivision{Code: item.Division}
		division.Lines = []estimate.CostLine{{CostCode: code, Trade: catalog.TradeName(item.Trade), LaborHours: hours}}
		c.Divisions = append(c.Divisions, division)
		c.Subtotals.LaborHours += hours
	}
	clarification := &estimate.Clarification{Timestamp: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	clarification.Brief.Location.State = "OH"
	return estimate.Context{Cost: c, Clarification: clarification}
}

func TestPlanSmall(t *testing.T) {
	t.Parallel()
	tl, err := Plan(bill(13.6, "none", "024119.13", "096519.10"), [32]byte{})
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		id    string
		start string
		days  float64
	}{
		{"A00", "2026-03-16", 0},
		{"A04", "2026-03-16", 1},
		{"A06", "2026-03-17", 1},
		{"A23", "2026-03-18", 1},
		{"A36", "2026-03-19", 1},
	}
	if len(tl.Tasks) != len(want) {
		t.Fatalf("%d tasks, want %d: %+v", len(tl.Tasks), len(want), tl.Tasks)
	}
	for i, w := range want {
		if k := tl.Tasks[i]; k.ID != w.id || k.Start.String() != w.start || k.Duration != w.days {
			t.Errorf("task %d = %s on %s for %g days, want %+v", i, k.ID, k.Start, k.Duration, w)
		}
	}
	if tl.Duration != 4 || tl.End.String() != "2026-03-19" || len(tl.Milestones) < 4 {
		t.Errorf("%g days to %s with %d milestones, want 4 to 2026-03-19 with 4", tl.Duration, tl.End, len(tl.Milestones))
	}
}

// An activity that is absent hands its predecessors on, without their lags.
func TestPlanBridges(t *testing.T) {
	t.Parallel()
	tl, err := Plan(bill(10, "standard", "024119.13", "221116.10", "092900.10", "224113.10"), [32]byte{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"A02": {"A00"}, "A04": {"A02"}, "A06": {"A04"}, "A15": {"A06"}, "A18": {"A15"}, "A20": {"A18"}, "A28": {"A20"}, "A35": {"A28"}, "A36": {"A35"},
	}
	for _, k := range tl.Tasks {
		if on, ok := want[k.ID]; ok && !slices.Equal(k.Dependencies, on) {
			t.Errorf("%s waits for %v, want %v", k.ID, k.Dependencies, on)
		}
	}
	if len(tl.Tasks) != len(want)+1 {
		t.Errorf("%d tasks, want %d", len(tl.Tasks), len(want)+1)
	}
}

func TestLeadTimeDrives(t *testing.T) {
	t.Parallel()
	ctx := bill(10, "minor", "024119.10", "064100.20", "064100.30", "123640.10")
	tl, err := Plan(ctx, [32]byte{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(tl.CriticalPath, "A03-cabinets-custom") {
		t.Errorf("critical path %v, want the custom cabinets on it", tl.CriticalPath)
	}
	orders := 0
	for _, k := range tl.Tasks {
		if k.Wait > 0 && k.ID[:3] == "A03" {
			orders++
		}
	}
	if orders != 1 {
		t.Errorf("%d orders, want one: the longest wait before the cabinets", orders)
	}
}

// Any bill gives a sound network: acyclic, one start, one finish, no hour lost,
// no work on an idle day, a range that holds the plan.
func TestPlanOfAnyBill(t *testing.T) {
	t.Parallel()
	items := catalog.Items()
	classes := []string{"none", "minor", "standard", "structural", "new", "commercial", "demolition"}
	rapid.Check(t, func(t *rapid.T) {
		var codes []string
		for range rapid.IntRange(1, 25).Draw(t, "lines") {
			codes = append(codes, items[rapid.IntRange(0, len(items)-1).Draw(t, "item")].Code)
		}
		ctx := bill(rapid.Float64Range(0.1, 120).Draw(t, "hours"), rapid.SampledFrom(classes).Draw(t, "class"), codes...)
		start := estimate.DateOf(estimate.NewDate(2026, 1, 1).AddDate(0, 0, rapid.IntRange(0, 700).Draw(t, "start")))
		ctx.Clarification.Brief.Timeline.Start = &start
		tl, err := timeline(ctx, [32]byte{9}, 200)
		if err != nil {
			t.Fatal(err)
		}
		checkNetwork(t, &tl)
		hours := tl.ThroughHours
		for _, k := range tl.Tasks {
			hours += k.LaborHours
			if !IsWorkingDay(k.Start) || !IsWorkingDay(k.End) || k.Start.Before(start.Time) || k.End.Before(k.Start.Time) {
				t.Fatalf("%s runs from %s to %s", k.Name, k.Start, k.End)
			}
		}
		if math.Abs(hours-ctx.Cost.Subtotals.LaborHours) > 0.01*float64(len(tl.Tasks)) {
			t.Fatalf("%g hours scheduled of %g", hours, ctx.Cost.Subtotals.LaborHours)
		}
		if r := tl.DurationRange; r.Optimistic > tl.Duration || r.Optimistic > r.Expected || r.Expected > r.Pessimistic {
			t.Fatalf("range %+v round %g", r, tl.Duration)
		}
	})
}

func checkNetwork(t *rapid.T, tl *estimate.Timeline) {
	var nodes []Node
	followed := map[string]bool{}
	starts := 0
	for _, k := range tl.Tasks {
		n := Node{ID: k.ID, Duration: k.Duration}
		for _, l := range k.Links {
			n.Links = append(n.Links, Link{On: l.On, Relation: l.Relation, Lag: l.Lag})
			followed[l.On] = true
		}
		if len(n.Links) == 0 {
			starts++
		}
		nodes = append(nodes, n)
	}
	_, duration, err := CPM(nodes)
	if err != nil || duration != tl.Duration {
		t.Fatalf("CPM = %g, %v, want %g", duration, err, tl.Duration)
	}
	if starts != 1 || len(followed) != len(nodes)-1 {
		t.Fatalf("%d starts, %d of %d activities are followed", starts, len(followed), len(nodes))
	}
}

func TestPlanRefuses(t *testing.T) {
	t.Parallel()
	noHours := bill(0, "none", "024119.13")
	tooMany := bill(1e9, "none", "024119.13")
	negative := bill(-1, "none", "024119.13")
	noBrief := bill(1, "none", "024119.13")
	noBrief.Clarification = nil
	for name, ctx := range map[string]estimate.Context{"nothing": {}, "no hours": noHours, "a billion hours": tooMany, "negative hours": negative, "no clarification": noBrief} {
		if _, err := Plan(ctx, [32]byte{}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("Plan with %s = %v, want invalid", name, err)
		}
	}
}

func BenchmarkPlan(b *testing.B) {
	ctx := bill(20, "standard", "024119.13", "061100.11", "221116.10", "262726.10", "092900.10", "099123.14", "093013.10", "064100.20", "123640.10", "224113.10")
	for b.Loop() {
		if _, err := Plan(ctx, [32]byte{}); err != nil {
			b.Fatal(err)
		}
	}
}
