package simulation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

// Outcome is what is left of a world for its readers, as text: states, results,
// outputs and the view, less what depends on how it came about (times, revs,
// tries, claims). Worlds whose agents are deterministic have the same outcome
// whatever happens to their workers and messages: I13, I14.
func (w *World) Outcome() string {
	var b strings.Builder
	for _, d := range w.store.Documents("") {
		if s, ok := d.State(); ok {
			fmt.Fprintf(&b, "%s %s\n", d.Path, brief(stateOutcome(s)))
		}
		if s, ok := d.Step(); ok && !s.Late {
			fmt.Fprintf(&b, "%s %s\n", d.Path, brief(stepOutcome(s)))
		}
		if e, ok := d.Estimate(); ok {
			v := e.View
			v.Rev, v.StartedAt, v.LastUpdated, v.CompletedAt = 0, time.Time{}, time.Time{}, nil
			fmt.Fprintf(&b, "%s %s\n", d.Path, brief(v))
		}
		if o, ok := d.Output(); ok {
			o.Duration, o.StartedAt, o.DoneAt = 0, time.Time{}, time.Time{}
			fmt.Fprintf(&b, "%s %s\n", d.Path, brief(o))
		}
	}
	return b.String()
}

func brief(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // documents are plain data
	}
	return string(raw)
}

func stateOutcome(s engine.State) any {
	slices.Sort(s.Flags)
	return struct {
		Status engine.Status
		Nodes  map[string]engine.Progress
		Error  *engine.Error
		Flags  []string
		Facts  map[string]any
	}{s.Status, s.Nodes, s.Error, s.Flags, s.Facts}
}

func stepOutcome(s runner.Step) any {
	return struct {
		Status  runner.StepStatus
		Result  json.RawMessage
		Failure *engine.Error
		Score   int
		Request string
		Tokens  int
	}{s.Status, s.Result, s.Failure, s.Score, s.RequestHash, s.Tokens}
}
