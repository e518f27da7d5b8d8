package engine_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

var record = flag.Bool("record", false, "record the histories that have no file yet; a file that exists is never written again")

const histories = "testdata/histories"

// recorded is a run as a version of this code left it: what is stored of it, as
// far as the engine can be run over it again.
type recorded struct {
	Note   string          `json:"note"`
	Schema int             `json:"schema"` // of the run
	Engine int             `json:"engine"` // generation of the flow
	Flow   *engine.Flow    `json:"flow"`
	Run    runner.Run      `json:"run"`
	Steps  []recordedStep  `json:"steps"`
	Inputs []recordedInput `json:"inputs,omitempty"`
}

type recordedStep struct {
	ID      engine.StepID     `json:"id"`
	Status  runner.StepStatus `json:"st"`
	RevAt   int               `json:"revAt"`
	DoneAt  *time.Time        `json:"doneAt"`
	Score   int               `json:"score,omitempty"`
	Failure *engine.Error     `json:"failure,omitempty"`
	Result  json.RawMessage   `json:"result,omitempty"`
}

type recordedInput struct {
	ID         string          `json:"id"`
	Prompt     string          `json:"prompt,omitempty"`
	Schema     json.RawMessage `json:"schema,omitempty"`
	Decision   engine.Decision `json:"decision,omitempty"`
	AnsweredBy string          `json:"answeredBy,omitempty"`
	AnsweredAt *time.Time      `json:"answeredAt,omitempty"`
	RevAt      int             `json:"revAt,omitempty"`
}

// history is the recorded run as the runner reads it from a store.
func (r *recorded) history() *runner.History {
	h := &runner.History{Flow: r.Flow, Run: r.Run}
	for _, s := range r.Steps {
		h.Steps = append(h.Steps, runner.Step{
			ID: s.ID, Status: s.Status, RevAt: s.RevAt, DoneAt: s.DoneAt, Score: s.Score, Failure: s.Failure, Result: s.Result,
		})
	}
	for _, in := range r.Inputs {
		h.Inputs = append(h.Inputs, runner.Input{
			ID: in.ID, Prompt: in.Prompt, Schema: in.Schema, Decision: in.Decision, AnsweredBy: in.AnsweredBy, AnsweredAt: in.AnsweredAt, RevAt: in.RevAt,
		})
	}
	return h
}

// Runs that were recorded by this version and by those before give the very
// states that they ended with. Runs like them are under way in every store.
func TestRecordedHistories(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(histories, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[int]int{}
	for _, file := range files {
		r := read(t, file)
		schemas[r.Schema]++
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			if r.Schema != r.Run.Schema || r.Engine != r.Flow.Engine || r.Flow.Hash() != r.Run.Flow {
				t.Errorf("recorded under schema %d, engine %d, flow %s; the run says %d, %d, %s: the address of a stored flow may not change",
					r.Schema, r.Engine, r.Flow.Hash(), r.Run.Schema, r.Flow.Engine, r.Run.Flow)
			}
			folded, err := r.history().Fold(r.Run.Rev)
			if err != nil {
				t.Fatalf("%s: %v\n%s", file, err, promise)
			}
			if diff := cmp.Diff(lines(t, r.Run.State), lines(t, folded)); diff != "" {
				t.Errorf("%s ends otherwise (-recorded +folded):\n%s\n%s", file, diff, promise)
			}
			if open := engine.Open(r.Flow, folded); len(open) != len(folded.Open) {
				t.Errorf("open steps are %v, Open gives %v", folded.Open, open)
			}
		})
	}
	for schema := 1; schema <= engine.Schema; schema++ {
		if schemas[schema] == 0 {
			t.Errorf("no history of schema %d is recorded", schema)
		}
	}
}

const promise = `This breaks a promise: Next must treat the runs that are under way as it did when they began. Give the new
behaviour to flows of a new engine generation or to runs of a new schema, and record histories of those; never change
a recorded file.`

func read(t *testing.T, file string) *recorded {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r recorded
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatalf("read %s: %v", file, err)
	}
	return &r
}

func lines(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Every story has its file. Told today, it is recorded as well: what is stored of
// it gives the run. With -record it is written where there is no file.
func TestStoriesAreRecorded(t *testing.T) {
	t.Parallel()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			today := s.run(t)
			file := filepath.Join(histories, fmt.Sprintf("schema%d-%s.json", engine.Schema, s.name))
			if _, err := os.Stat(file); err != nil {
				if !*record {
					t.Fatalf("%s is not recorded; run go test ./shared/engine -run %s -record", s.name, t.Name())
				}
				if err := os.WriteFile(file, []byte(lines(t, today)+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			folded, err := today.history().Fold(today.Run.Rev)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(lines(t, today.Run.State), lines(t, folded)); diff != "" {
				t.Errorf("what is stored of the run gives another one (-stored +folded):\n%s", diff)
			}
		})
	}
}

// write makes a record of what is stored of a run.
func write(t *testing.T, r *runner.Runner, run, note string) *recorded {
	t.Helper()
	h, err := r.History(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	rec := &recorded{Note: note, Schema: h.Run.Schema, Engine: h.Flow.Engine, Flow: h.Flow, Run: h.Run}
	for _, s := range h.Steps {
		rec.Steps = append(rec.Steps, recordedStep{s.ID, s.Status, s.RevAt, s.DoneAt, s.Score, s.Failure, s.Result})
	}
	slices.SortStableFunc(rec.Steps, func(a, b recordedStep) int { return a.RevAt - b.RevAt })
	for _, in := range h.Inputs {
		rec.Inputs = append(rec.Inputs, recordedInput{in.ID, in.Prompt, in.Schema, in.Decision, in.AnsweredBy, in.AnsweredAt, in.RevAt})
	}
	return rec
}
