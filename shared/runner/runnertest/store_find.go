package runnertest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

func finder(t *testing.T, s runner.Store) runner.Finder {
	t.Helper()
	find, ok := s.(runner.Finder)
	if !ok {
		t.Skip("the store finds no runs")
	}
	return find
}

// keep stores a run, changed by edit, without an estimate.
func keep(t *testing.T, s runner.Store, estimate string, edit func(*engine.State)) {
	t.Helper()
	run := begin(t, estimate).Run
	edit(&run.State)
	must(t, s.Commit(t.Context(), runner.Commit{Run: run}))
}

func testDue(t *testing.T, s runner.Store) {
	find := finder(t, s)
	wake := epoch.Add(time.Minute)
	want := make([]runner.Due, 0, 460)
	due := func(id string, at time.Time, status engine.Status) {
		keep(t, s, id, func(s *engine.State) { s.WakeAt, s.Status = &at, status })
		want = append(want, runner.Due{Run: id + "~1", WakeAt: at})
	}
	due("z-first", wake.Add(-2*time.Second), engine.WaitingInput)
	due("y-second", wake.Add(-time.Second), engine.Running)
	for i := range 450 {
		due(fmt.Sprintf("est-%03d", i), wake, engine.Running)
	}
	due("a-last", wake.Add(time.Second), engine.Running)
	for id, edit := range map[string]func(*engine.State){
		"not-yet":   func(s *engine.State) { s.WakeAt = new(wake.Add(time.Hour)) },
		"held":      func(s *engine.State) { s.WakeAt, s.Status = nil, engine.WaitingInput },
		"completed": func(s *engine.State) { s.WakeAt, s.Status = &wake, engine.Completed },
		"failed":    func(s *engine.State) { s.WakeAt, s.Status = &wake, engine.Failed },
		"canceled":  func(s *engine.State) { s.WakeAt, s.Status, s.EndedAt = nil, engine.Canceled, &wake },
	} {
		keep(t, s, id, edit)
	}

	var got []runner.Due
	for after := (runner.Due{}); ; {
		page, err := find.Due(t.Context(), wake.Add(time.Second), after, 100)
		must(t, err)
		if len(page) == 0 {
			break
		}
		if len(page) > 100 || len(got) > len(want) {
			t.Fatalf("a page has %d runs, behind %d of %d, want 100 at most and an end", len(page), len(got), len(want))
		}
		got = append(got, page...)
		after = page[len(page)-1]
	}
	same(t, "due runs", want, got)
	early, err := find.Due(t.Context(), wake.Add(-2*time.Second), runner.Due{}, 100)
	must(t, err)
	same(t, "runs due early", want[:1], early)
	// A run that has gone meanwhile is no obstacle to the page that follows it.
	gone := runner.Due{Run: "est-100~1x", WakeAt: wake}
	rest, err := find.Due(t.Context(), wake, gone, 1)
	must(t, err)
	same(t, "the run behind one that is gone", []runner.Due{want[slices.Index(want, runner.Due{Run: "est-101~1", WakeAt: wake})]}, rest)
}

func testCensus(t *testing.T, s runner.Store) {
	find := finder(t, s)
	for i, status := range []engine.Status{engine.Running, engine.Running, engine.WaitingInput, engine.Completed, engine.Failed, engine.Canceled} {
		keep(t, s, fmt.Sprintf("est-%d", i), func(s *engine.State) {
			s.Status, s.CreatedAt = status, epoch.Add(time.Duration(i)*time.Minute)
		})
	}
	keep(t, s, "est-other", func(s *engine.State) { s.Owner = "bert" })
	for _, tt := range []struct {
		owner           string
		since           time.Time
		atWork, created int
	}{
		{"anna", epoch, 2, 6},
		{"anna", epoch.Add(4 * time.Minute), 2, 2},
		{"anna", epoch.Add(time.Hour), 2, 0},
		{"bert", epoch, 1, 1},
		{"nobody", epoch, 0, 0},
	} {
		atWork, created, err := find.Census(t.Context(), tt.owner, tt.since)
		must(t, err)
		if atWork != tt.atWork || created != tt.created {
			t.Errorf("Census(%s, %s) = %d at work, %d created, want %d and %d", tt.owner, tt.since, atWork, created, tt.atWork, tt.created)
		}
	}
}
