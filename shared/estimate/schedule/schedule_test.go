package schedule_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/schedule"
	"truecost.dev/shared/fault"
)

// kitchen is the network of estimating practice §12.4 with likely durations.
func kitchen() []schedule.Node {
	fs := func(ids ...string) (links []schedule.Link) {
		for _, id := range ids {
			links = append(links, schedule.Link{On: id, Relation: schedule.FinishToStart})
		}
		return links
	}
	return []schedule.Node{
		{"A", 2, nil},
		{"B", 3, fs("A")},
		{"C", 2, fs("A")},
		{"D", 1, fs("B", "C")},
		{"E", 4, fs("D")},
		{"H", 20, nil},
		{"F", 3, fs("E", "H")},
		{"G", 9, fs("F")},
		{"I", 4, fs("G")},
	}
}

func TestCPM(t *testing.T) {
	t.Parallel()
	want := map[string]schedule.Times{
		"A": {0, 2, 10, 12, 10}, "B": {2, 5, 12, 15, 10}, "C": {2, 4, 13, 15, 11}, "D": {5, 6, 15, 16, 10}, "E": {6, 10, 16, 20, 10},
		"H": {0, 20, 0, 20, 0}, "F": {20, 23, 20, 23, 0}, "G": {23, 32, 23, 32, 0}, "I": {32, 36, 32, 36, 0},
	}
	nodes := kitchen()
	times, duration, err := schedule.CPM(nodes)
	if err != nil || duration != 36 {
		t.Fatalf("CPM = %g, %v, want 36", duration, err)
	}
	for i, n := range nodes {
		if times[i] != want[n.ID] {
			t.Errorf("%s: %v, want %v", n.ID, times[i], want[n.ID])
		}
	}
}

func TestCPMStartToStart(t *testing.T) {
	t.Parallel()
	times, duration, err := schedule.CPM([]schedule.Node{
		{ID: "plumbing", Duration: 4},
		{ID: "wiring", Duration: 2, Links: []schedule.Link{{On: "plumbing", Relation: schedule.StartToStart, Lag: 1}}},
		{ID: "inspection", Duration: 1, Links: []schedule.Link{{On: "plumbing"}, {On: "wiring", Lag: 2}}},
	})
	if err != nil || duration != 6 {
		t.Fatalf("CPM = %g, %v, want 6", duration, err)
	}
	want := []schedule.Times{{0, 4, 0, 4, 0}, {1, 3, 1, 3, 0}, {5, 6, 5, 6, 0}}
	for i := range want {
		if times[i] != want[i] {
			t.Errorf("activity %d: %v, want %v", i, times[i], want[i])
		}
	}
}

func TestCPMRefuses(t *testing.T) {
	t.Parallel()
	on := func(id string) []schedule.Link { return []schedule.Link{{On: id}} }
	tests := []struct {
		nodes []schedule.Node
		want  string
	}{
		{[]schedule.Node{{"A", 1, on("B")}, {"B", 1, on("C")}, {"C", 1, on("A")}}, "cycle"},
		{[]schedule.Node{{"A", 1, on("A")}}, "cycle"},
		{[]schedule.Node{{"A", 1, on("X")}}, "not in the network"},
		{[]schedule.Node{{"A", 1, nil}, {"A", 2, nil}}, "twice"},
		{[]schedule.Node{{"A", 1, nil}, {"B", 2, []schedule.Link{{On: "A", Relation: "FF"}}}}, "neither FS nor SS"},
	}
	for _, tt := range tests {
		_, _, err := schedule.CPM(tt.nodes)
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("CPM(%v) = %v, want an invalid %q", tt.nodes, err, tt.want)
		}
	}
}

func TestCPMProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 15).Draw(t, "activities")
		nodes := make([]schedule.Node, n)
		for i := range nodes {
			nodes[i] = schedule.Node{ID: string(rune('a' + i)), Duration: float64(rapid.IntRange(0, 9).Draw(t, "days"))}
			for j := range i {
				if rapid.IntRange(0, 3).Draw(t, "linked") == 0 {
					relation := rapid.SampledFrom([]string{schedule.FinishToStart, schedule.StartToStart}).Draw(t, "relation")
					nodes[i].Links = append(nodes[i].Links, schedule.Link{On: nodes[j].ID, Relation: relation, Lag: float64(rapid.IntRange(0, 2).Draw(t, "lag"))})
				}
			}
		}
		times, duration, err := schedule.CPM(nodes)
		if err != nil {
			t.Fatal(err)
		}
		critical := false
		for i := range nodes {
			tm := times[i]
			if tm.Float < 0 || tm.LF > duration || tm.EF != tm.ES+nodes[i].Duration || math.Abs(tm.LF-tm.LS-nodes[i].Duration) > 1e-9 {
				t.Fatalf("%s: %+v of %g", nodes[i].ID, tm, duration)
			}
			critical = critical || tm.Float == 0 && tm.EF == duration
		}
		if !critical {
			t.Fatal("nothing critical ends the job")
		}
		longer := append([]schedule.Node{}, nodes...)
		k := rapid.IntRange(0, n-1).Draw(t, "which")
		longer[k].Duration++
		if _, d, _ := schedule.CPM(longer); d < duration || d > duration+1 || (times[k].Float > 0 && d > duration) {
			t.Fatalf("a day more on %s (float %g) moved the end from %g to %g", nodes[k].ID, times[k].Float, duration, d)
		}
	})
}

func TestHolidays(t *testing.T) {
	t.Parallel()
	tests := map[int]string{
		2026: "01-01 01-19 02-16 05-25 06-19 07-03 09-07 10-12 11-11 11-26 11-27 12-25",
		2027: "01-01 01-18 02-15 05-31 06-18 07-05 09-06 10-11 11-11 11-25 11-26 12-24 12-31",
		2023: "01-02 01-16 02-20 05-29 06-19 07-04 09-04 10-09 11-10 11-23 11-24 12-25",
	}
	for year, want := range tests {
		var got []string
		for _, d := range schedule.Holidays(year) {
			got = append(got, d.Format("01-02"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("Holidays(%d) = %s, want %s", year, strings.Join(got, " "), want)
		}
	}
}

func TestAddWorkingDays(t *testing.T) {
	t.Parallel()
	tests := []struct {
		from string
		n    int
		want string
	}{
		{"2026-05-04", 0, "2026-05-04"},
		{"2026-05-04", 5, "2026-05-11"},
		{"2026-05-02", 0, "2026-05-04"}, // Saturday
		{"2026-05-22", 1, "2026-05-26"}, // over Memorial Day
		{"2026-11-25", 1, "2026-11-30"}, // over Thanksgiving
		{"2026-12-31", 1, "2027-01-04"},
		{"2026-05-04", -3, "2026-05-04"},
	}
	for _, tt := range tests {
		from, _ := estimate.ParseDate(tt.from)
		if got := schedule.AddWorkingDays(from, tt.n); got.String() != tt.want {
			t.Errorf("AddWorkingDays(%s, %d) = %s, want %s", tt.from, tt.n, got, tt.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		d := estimate.DateOf(estimate.NewDate(2020, time.January, 1).AddDate(0, 0, rapid.IntRange(0, 6000).Draw(t, "day")))
		a, b := rapid.IntRange(0, 60).Draw(t, "a"), rapid.IntRange(0, 60).Draw(t, "b")
		if got, want := schedule.AddWorkingDays(schedule.AddWorkingDays(d, a), b), schedule.AddWorkingDays(d, a+b); got != want {
			t.Fatalf("%s + %d + %d = %s, want %s", d, a, b, got, want)
		}
		if !schedule.IsWorkingDay(schedule.AddWorkingDays(d, a)) {
			t.Fatalf("%s + %d is no working day", d, a)
		}
	})
}
