package schedule

import (
	"math"
	"slices"
	"testing"

	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/stat"
)

// The simulation of estimating practice §12.4: independent PERT durations.
func TestTrialsOfTheKitchen(t *testing.T) {
	t.Parallel()
	activities := []struct {
		id      string
		a, m, b float64
		on      []string
	}{
		{"A", 1, 2, 3, nil},
		{"B", 2, 3, 6, []string{"A"}},
		{"C", 1, 2, 5, []string{"A"}},
		{"D", 1, 1, 3, []string{"B", "C"}},
		{"E", 3, 4, 6, []string{"D"}},
		{"H", 15, 20, 30, nil},
		{"F", 2, 3, 4, []string{"E", "H"}},
		{"G", 8, 9, 12, []string{"F"}},
		{"I", 3, 4, 7, []string{"G"}},
	}
	var nodes []Node
	var durations []stat.Dist
	for _, a := range activities {
		n := Node{ID: a.id}
		for _, on := range a.on {
			n.Links = append(n.Links, Link{On: on})
		}
		nodes = append(nodes, n)
		durations = append(durations, stat.PERT(a.a, a.m, a.b))
	}
	net, err := newNetwork(nodes)
	if err != nil {
		t.Fatal(err)
	}
	rng := stat.NewRand([32]byte{1}, 0)
	tr := net.run(len(nodes), 50_000, func() {}, func(i int, _ float64) float64 { return durations[i].Quantile(rng.Float64()) })
	mean, sd := stat.Moments(tr.ends)
	for _, q := range []struct {
		what            string
		got, want, near float64
	}{
		{"mean", mean, 37.50, 0.15},
		{"sd", sd, 2.97, 0.15},
		{"P10", stat.Percentile(tr.ends, .1), 33.7, 0.15},
		{"P50", stat.Percentile(tr.ends, .5), 37.3, 0.15},
		{"P80", stat.Percentile(tr.ends, .8), 40.1, 0.15},
		{"P90", stat.Percentile(tr.ends, .9), 41.6, 0.15},
		{"criticality of the lead time", tr.criticality(5), 1, 0.001},
		{"criticality of the demolition", tr.criticality(0), 0, 0.001},
	} {
		if math.Abs(q.got-q.want) > q.near {
			t.Errorf("%s = %.3f, want %.2f ± %.3f", q.what, q.got, q.want, q.near)
		}
	}
	sum := 0.0
	for _, s := range tr.share {
		sum += s
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("shares of the variance sum to %g, want 1", sum)
	}
}

func TestDriving(t *testing.T) {
	t.Parallel()
	net, err := newNetwork([]Node{{ID: "a"}, {ID: "b", Links: []Link{{On: "a", Relation: StartToStart, Lag: 1}}}, {ID: "c", Links: []Link{{On: "b", Lag: 2}, {On: "a"}}}})
	if err != nil {
		t.Fatal(err)
	}
	times := make([]Times, 3)
	end := net.pass([]float64{2, 5, 3}, times)
	if got, want := net.criticalPath(times), []int{0, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("criticalPath = %v, want %v", got, want)
	}
	sum := 0.0
	net.driving(times, func(_ int, adds float64) { sum += adds })
	if sum != end || end != 11 {
		t.Errorf("what the path adds sums to %g, the end is %g, want 11", sum, end)
	}
}

// Every item of the catalogue has a place, and the places agree with its trade.
func TestEveryItemHasAPlace(t *testing.T) {
	t.Parallel()
	for _, item := range catalog.Items() {
		parts := place(item.Code, item.Division, item.Trade)
		sum := 0.0
		for _, p := range parts {
			sum += p.share
		}
		if len(parts) == 0 || math.Abs(sum-1) > 1e-9 {
			t.Errorf("place(%s) = %v, want shares that sum to 1", item.Code, parts)
		}
	}
	tests := []struct {
		code, division, trade string
		want                  int
	}{
		{"024119.13", "02", "general_labor", demolition},
		{"013100.10", "01", "supervisor", none},
		{"093013.10", "09", "tile_setter", tile},
		{"123640.10", "12", "countertop_installer", countertops},
		{"GEN-09-001", "09", "tile_setter", tile},
		{"GEN-26-001", "26", "electrician", electricalRough},
		{"GEN-13-001", "13", "general_labor", trim},
		{"", "07", "roofer", roofing},
		{"99", "99", "nobody", trim},
	}
	for _, tt := range tests {
		if got := place(tt.code, tt.division, tt.trade); got[0].activity != tt.want {
			t.Errorf("place(%q, %q, %q) = %v, want activity %d first", tt.code, tt.division, tt.trade, got, tt.want)
		}
	}
}
