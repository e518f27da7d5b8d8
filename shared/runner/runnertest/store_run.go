package runnertest

import (
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// full is a state with something in every member.
func full(s engine.State) engine.State {
	at := func(minutes int) *time.Time { return new(epoch.Add(time.Duration(minutes) * time.Minute)) }
	s.Status, s.Rev, s.WakeAt, s.WaitSince, s.ViewAt = engine.WaitingInput, 17, at(1), at(2), at(3)
	s.Parent, s.Carried, s.Edits = "est-1~0", []string{"location"}, map[string]string{"cost": "edit.cost"}
	s.Facts = map[string]any{
		"input.whole": 3.0, "input.part": 0.1, "input.huge": 1e300, "input.tiny": math.SmallestNonzeroFloat64, "input.exact": float64(1<<53 - 1),
		"input.beyond": 1e19, "input.text": "ü\"\\\u0000 0.5", "input.yes": true, "input.no": false, "input.nothing": nil,
	}
	s.Hold = &engine.Hold{By: "anna", Reason: "vacation", At: epoch}
	s.Error = &engine.Error{Code: "C", Message: "m", Agent: "a"}
	s.Flags = []string{engine.FlagPartial}
	s.Open = map[engine.StepID]engine.OpenStep{"cost.1.p.2": {Since: epoch.Add(time.Nanosecond), NotBefore: at(4), Tries: 2}}
	s.Nodes = map[string]engine.Progress{
		"location": {Phase: engine.Passed, Scores: []int{90}, Out: "location.0.p", From: "est-1~0", Facts: map[string]any{"location.tax": 8.25}},
		"cost": {
			Phase: engine.Waiting, Attempt: 1, Best: 0, Scores: []int{62, 71}, Out: "cost.0.j", Made: "cost.1.p.2", Last: "cost.0.j", Turn: 2,
			Err: &engine.Error{Code: "E", Message: "m"}, Fan: &engine.Fan{Chunks: 1000, Shards: 10, Active: 4, Failed: 3},
			Ask: &engine.Asked{ID: "cost.1.ask", Kind: engine.AskExhausted, Phase: engine.Degraded, Prompt: "Accept?", Since: epoch, ExpiresAt: *at(5)},
		},
	}
	return s
}

func testRun(t *testing.T, s runner.Store) {
	_, err := s.Run(t.Context(), "est-1~1")
	kind(t, "load before create", err, fault.NotFound)
	c := begin(t, "est-1")
	must(t, s.Commit(t.Context(), c))
	same(t, "run", c.Run.State, loaded(t, s, "est-1~1").State)
	input, err := s.Input(t.Context(), "est-1")
	must(t, err)
	same(t, "input", decoded(t, c.Start.Clarification), decoded(t, input))

	c = begin(t, "est-2")
	c.Run.State = full(c.Run.State)
	c.Run.Journal = runner.Journal{Forgotten: 3, Controls: []runner.Control{
		{Rev: 4, At: epoch, Kind: runner.ControlHold, By: "anna", Reason: "vacation"},
		{
			Rev: 9, At: epoch.Add(time.Second), Kind: runner.ControlRetry, Step: "cost.0.p", After: time.Minute, Times: 2,
			Input: "ask", Node: "cost", Attempt: 1, Failed: 2, Failure: &engine.Error{Code: "C", Message: "m", Agent: "a"},
		},
	}}
	must(t, s.Commit(t.Context(), c))
	got := loaded(t, s, "est-2~1")
	same(t, "a run with something in every member", c.Run.State, got.State)
	same(t, "its journal", c.Run.Journal, got.Journal)
}

func testRunForgets(t *testing.T, s runner.Store) {
	for schema := 1; schema <= engine.Schema; schema++ {
		estimate := fmt.Sprintf("est-%d", schema)
		c := begin(t, estimate)
		plain := c.Run.State
		plain.Schema = schema
		c.Run.State = full(plain)
		c.Run.Journal = runner.Journal{Forgotten: 1}
		must(t, s.Commit(t.Context(), c))
		run := loaded(t, s, estimate+"~1")
		run.State, run.Journal = plain, runner.Journal{}
		run.Status, run.EndedAt, run.WakeAt, run.Open = engine.Canceled, new(epoch.Add(time.Hour)), nil, map[engine.StepID]engine.OpenStep{}
		must(t, s.Commit(t.Context(), runner.Commit{Run: &run}))
		got := loaded(t, s, estimate+"~1")
		same(t, "run", run.State, got.State)
		same(t, "journal", run.Journal, got.Journal)
	}
}

func testClaim(t *testing.T, s runner.Store) {
	started(t, s, "est-1")
	first, err := s.PutStep(t.Context(), claim("est-1~1", "location.0.p", "one"))
	must(t, err)
	_, err = s.PutStep(t.Context(), claim("est-1~1", "location.0.p", "two"))
	kind(t, "second claim", err, fault.Conflict)
	steps, err := s.Steps(t.Context(), "est-1~1", "location.0.s", "location.0.p")
	must(t, err)
	if len(steps) != 1 || steps[0].Owner != "one" || !steps[0].Version.Equal(first.Version) {
		t.Fatalf("Steps = %+v, want the first claim alone", steps)
	}
	if steps[0].Expired() {
		t.Error("a fresh claim has expired")
	}
	beat := steps[0]
	beat.Beats = 1
	beat, err = s.PutStep(t.Context(), beat)
	must(t, err)
	if !beat.Version.After(first.Version) {
		t.Errorf("the version went from %s to %s, want it to grow", first.Version, beat.Version)
	}
	first.Owner = "two"
	_, err = s.PutStep(t.Context(), first)
	kind(t, "take-over of a claim that was renewed", err, fault.Conflict)
	if got := step(t, s, "est-1~1", "location.0.p"); got.Owner != "one" || got.Beats != 1 {
		t.Errorf("the step is %s's with %d beats, want one's with 1", got.Owner, got.Beats)
	}
}

func testStep(t *testing.T, s runner.Store) {
	started(t, s, "est-1")
	bare := claim("est-1~1", "location.0.p", "one")
	done := claim("est-1~1", "cost.1.k12", "two")
	done.Schema = engine.Schema
	done.Status, done.Try, done.Takeovers, done.Fence, done.Beats, done.Lease = runner.Done, 2, 1, 3, 4, 90*time.Second
	done.RequestHash, done.Task, done.Context = "sha256:abc", "task-1", "context-1"
	done.Result, done.Failure = json.RawMessage(`{"b": [1.50, {"a":"ü"}], "a": null}`), &engine.Error{Code: "C", Message: "m", Agent: "a"}
	done.Score, done.Tokens, done.CostUSD, done.Duration, done.RevAt, done.Late = 71, 12345, 0.0123, 1500*time.Millisecond, 9, true
	done.DoneAt = new(epoch.Add(time.Minute))
	for _, want := range []runner.Step{bare, done} {
		_, err := s.PutStep(t.Context(), want)
		must(t, err)
		got := step(t, s, want.Run, want.ID)
		if got.ReadAt.Before(got.Version) {
			t.Errorf("step %s was read at %s and written at %s", want.ID, got.ReadAt, got.Version)
		}
		want.Version, want.ReadAt = got.Version, got.ReadAt
		same(t, "step", want, got)
	}
	steps, err := s.Steps(t.Context(), "est-1~1", done.ID, "nobody.0.p", bare.ID)
	must(t, err)
	if len(steps) != 2 || steps[0].ID != done.ID || steps[1].ID != bare.ID {
		t.Errorf("Steps = %d steps, want the two that exist, as they were asked for", len(steps))
	}
	none, err := s.Steps(t.Context(), "est-1~1")
	must(t, err)
	if len(none) != 0 {
		t.Errorf("Steps of nothing = %d steps", len(none))
	}
}

// race runs try ten times at once and returns how many were not refused.
func race(t *testing.T, try func(i int) error) int {
	t.Helper()
	errs := make([]error, 10)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = try(i) })
	}
	all.Wait()
	won := 0
	for i, err := range errs {
		if err == nil {
			won++
			continue
		}
		if fault.KindOf(err) != fault.Conflict {
			t.Errorf("try %d: %v, want a conflict", i, err)
		}
	}
	return won
}

func testClaimRace(t *testing.T, s runner.Store) {
	started(t, s, "est-1")
	if won := race(t, func(int) error {
		_, err := s.PutStep(t.Context(), claim("est-1~1", "location.0.p", "somebody"))
		return err
	}); won != 1 {
		t.Errorf("%d claims won, want 1", won)
	}
	stored := step(t, s, "est-1~1", "location.0.p")
	if won := race(t, func(i int) error {
		taken := stored
		taken.Fence = i + 2
		_, err := s.PutStep(t.Context(), taken)
		return err
	}); won != 1 {
		t.Errorf("%d take-overs won, want 1", won)
	}
}

func testCommitRace(t *testing.T, s runner.Store) {
	run := started(t, s, "est-1")
	// Each adds one to what it has read, and reads again when it was refused.
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for {
				run, err := s.Run(t.Context(), "est-1~1")
				if err == nil {
					run.Rev++
					err = s.Commit(t.Context(), runner.Commit{Run: &run})
				}
				if fault.KindOf(err) == fault.Conflict {
					continue
				}
				if err != nil {
					t.Error(err)
				}
				return
			}
		})
	}
	all.Wait()
	if got := loaded(t, s, "est-1~1"); got.Rev != run.Rev+10 {
		t.Errorf("rev = %d after ten commits, want %d", got.Rev, run.Rev+10)
	}
	stored := loaded(t, s, "est-1~1")
	if won := race(t, func(i int) error {
		late := stored
		late.Rev += i + 1 // a write that changes nothing moves no version
		return s.Commit(t.Context(), runner.Commit{Run: &late})
	}); won != 1 {
		t.Errorf("%d commits on one version won, want 1", won)
	}
}
