package runnertest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
)

func TestMemory(t *testing.T) {
	runnertest.TestStore(t, func(*testing.T) runner.Store { return runnertest.NewMemory(func() time.Time { return noon }) })
}

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func claim() runner.Step {
	return runner.Step{Run: "e~1", ID: "a.0.p", Status: runner.Claimed, Lease: time.Minute}
}

func TestMemoryVersionsGrowWhileTheClockStands(t *testing.T) {
	t.Parallel()
	m := runnertest.NewMemory(func() time.Time { return noon })
	last := time.Time{}
	step := claim()
	for range 5 {
		put, err := m.PutStep(t.Context(), step)
		if err != nil {
			t.Fatal(err)
		}
		if !put.Version.After(last) {
			t.Fatalf("version %v after %v, want a later one", put.Version, last)
		}
		last, step = put.Version, put
	}
	steps, err := m.Steps(t.Context(), "e~1", "a.0.p")
	if err != nil || len(steps) != 1 || steps[0].ReadAt.Before(steps[0].Version) {
		t.Errorf("Steps = %+v, %v, want one that was read after it was written", steps, err)
	}
}

func TestMemoryShares(t *testing.T) {
	t.Parallel()
	m := runnertest.NewMemory(func() time.Time { return noon })
	step := claim()
	step.Result = json.RawMessage(`{"a": "<b>"}`)
	if _, err := m.PutStep(t.Context(), step); err != nil {
		t.Fatal(err)
	}
	step.Result[2] = 'x'
	for range 2 {
		steps, err := m.Steps(t.Context(), "e~1", "a.0.p")
		if err != nil || string(steps[0].Result) != `{"a": "<b>"}` {
			t.Fatalf("result = %s, %v, want it as it was written", steps[0].Result, err)
		}
		steps[0].Result[3] = 'y'
	}
}

func TestMemoryRefusesWhatProductionRefuses(t *testing.T) {
	t.Parallel()
	large := map[string]any{}
	for i := range 25_000 {
		large[fmt.Sprint("key", i)] = i
	}
	deep := any(1)
	for range 21 {
		deep = map[string]any{"d": deep}
	}
	tests := []struct {
		name   string
		fields any
		want   fault.Kind
	}{
		{"small", map[string]any{"a": 1}, ""},
		{"brackets in a text", map[string]any{"a": strings.Repeat("{[", 30)}, ""},
		{"over 1 MiB", map[string]any{"a": strings.Repeat("x", 1<<20)}, fault.Invalid},
		{"over 40,000 index entries", large, fault.Invalid},
		{"over 20 levels", deep, fault.Invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := runnertest.NewMemory(func() time.Time { return noon })
			err := m.Commit(t.Context(), runner.Commit{EstimateID: "e", Documents: runner.Documents{
				Items: []runner.Document{{Collection: "costItems", ID: "1", Fields: tt.fields}},
			}})
			if got := fault.KindOf(err); got != tt.want {
				t.Errorf("Commit = %.200v of kind %q, want %q", err, got, tt.want)
			}
			if n := len(m.Documents("")); (n == 1) != (tt.want == "") {
				t.Errorf("%d documents are stored", n)
			}
		})
	}
}

func TestMemoryBill(t *testing.T) {
	t.Parallel()
	m := runnertest.NewMemory(func() time.Time { return noon })
	step, err := m.PutStep(t.Context(), claim())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.PutStep(t.Context(), claim()); fault.KindOf(err) != fault.Conflict {
		t.Fatalf("second claim = %v, want a conflict", err)
	}
	if err := m.Commit(t.Context(), runner.Commit{Touch: []runner.Step{step}}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Steps(t.Context(), "e~1", "a.0.p", "a.0.s"); err != nil {
		t.Fatal(err)
	}
	reads, writes := m.Bill().Total()
	if reads != 2 || writes != 2 {
		t.Errorf("%d reads and %d writes are billed, want 2 and 2: a refused write is free, a miss is not", reads, writes)
	}
}

func TestMemoryHot(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		every time.Duration
		hot   bool
	}{{"a write a second", time.Second, false}, {"two", time.Second / 2, true}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			now := noon
			m := runnertest.NewMemory(func() time.Time { return now })
			step := claim()
			for range 30 {
				now = now.Add(tt.every)
				var err error
				if step, err = m.PutStep(t.Context(), step); err != nil {
					t.Fatal(err)
				}
			}
			if n := m.Hot()["runs/e~1/steps/a.0.p"]; (n > 0) != tt.hot {
				t.Errorf("%d writes came too fast, hot is to be %v", n, tt.hot)
			}
		})
	}
}
