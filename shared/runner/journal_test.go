package runner_test

import (
	"strings"
	"testing"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
)

func kinds(run *runner.Run) []runner.ControlKind {
	list := []runner.ControlKind{}
	for _, c := range run.Controls {
		list = append(list, c.Kind)
	}
	return list
}

// What people do is recorded with the run, and who did it.
func TestTheJournalOfPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.start(t)
	must(t, w.runner.Hold(t.Context(), "est-1~1", "anna", "the scope changes"))
	w.clock.Advance(time.Hour)
	must(t, w.runner.Resume(t.Context(), "est-1~1", "bert"))
	must(t, w.runner.Cancel(t.Context(), "est-1~1", "carl"))
	run := w.run(t, "est-1~1")
	equal(t, "kinds", kinds(&run), []runner.ControlKind{runner.ControlHold, runner.ControlResume, runner.ControlCancel})
	for i, by := range []string{"anna", "bert", "carl"} {
		equal(t, "by", run.Controls[i].By, by)
		equal(t, "rev", run.Controls[i].Rev, i+2)
	}
	equal(t, "reason", run.Controls[0].Reason, "the scope changes")
	equal(t, "an hour between", run.Controls[1].At.Sub(run.Controls[0].At), time.Hour)
}

// A run that nothing disturbs has no journal.
func TestNoJournal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Scores: map[string][]int{"location": {60, 90}}})
	w.start(t)
	w.deliver(t)
	equal(t, "journal", w.run(t, "est-1~1").Journal, runner.Journal{})
}

// A failed try is recorded with its reason; an agent that stays at work takes
// one entry, however often it was asked.
func TestTheJournalOfTries(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Down: map[string]int{"location": 3}, Busy: map[string]int{"cost": 12}})
	w.start(t)
	for w.run(t, "est-1~1").Status == engine.Running {
		w.deliver(t)
		w.clock.Advance(3 * time.Minute)
		w.sweep(t)
	}
	run := w.run(t, "est-1~1")
	equal(t, "kinds", kinds(&run), []runner.ControlKind{runner.ControlRetry, runner.ControlWorking})
	equal(t, "why", run.Controls[0].Failure.Message, "agent location is away")
	equal(t, "times", run.Controls[1].Times, 12)
}

// The journal has an end: the oldest entries go, are counted, and the run can be
// folded no more.
func TestTheJournalForgets(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.foreign = true
	w.start(t)
	const times = 60
	for range times {
		must(t, w.runner.Hold(t.Context(), "est-1~1", "anna", strings.Repeat("why ", 100)))
		must(t, w.runner.Resume(t.Context(), "est-1~1", "anna"))
	}
	run := w.run(t, "est-1~1")
	equal(t, "kept and forgotten", len(run.Controls)+run.Forgotten, 2*times)
	if len(run.Controls) < 20 || run.Forgotten < 20 {
		t.Errorf("%d controls are kept and %d forgotten, want some of each", len(run.Controls), run.Forgotten)
	}
	equal(t, "the last", run.Controls[len(run.Controls)-1].Rev, run.Rev)
	h, err := w.runner.History(t.Context(), "est-1~1")
	must(t, err)
	_, err = h.Fold(run.Rev)
	kind(t, "fold", err, fault.NotFound)
}

// A run can be looked at as it was at any rev.
func TestFoldToARev(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.start(t)
	before := w.run(t, "est-1~1")
	w.deliver(t)
	h, err := w.runner.History(t.Context(), "est-1~1")
	must(t, err)
	s, err := h.Fold(before.Rev)
	must(t, err)
	equal(t, "state", s, before.State)
	_, err = h.Fold(h.Run.Rev + 1)
	kind(t, "fold beyond the end", err, fault.NotFound)
	_, err = w.runner.History(t.Context(), "est-2~1")
	kind(t, "history of no run", err, fault.NotFound)
}
