package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"truecost.dev/internal/chaos/ledger"
	"truecost.dev/internal/chaos/supervise"
)

// A report is what came of a world.
type report struct {
	config
	dir      string // "": removed
	took     time.Duration
	tally    tally
	audit    ledger.Audit
	kills    []count
	stops    int
	alarms   map[string]int // lines of the engines' logs that tell of errors, by message
	again    int            // pushes that were not acknowledged, and made again
	hanging  []string
	findings []string
}

type count struct {
	what string
	n    int
}

func (t *tally) sum(d tally) {
	t.runs += d.runs
	t.steps += d.steps
	t.claims += d.claims
	t.takeovers += d.takeovers
	t.late += d.late
	t.beats += d.beats
}

// defects are messages of the engines that no crash explains.
var defects = []string{"the engine refused an event", "a finished step is open", "panic"}

// checkLogs counts the errors that the engines logged, and what the store pushed
// in vain.
func (r *report) checkLogs(w *world) {
	r.alarms = map[string]int{}
	for _, p := range w.engines {
		w.read(p, func(text []byte) {
			var line struct {
				Severity string `json:"severity"`
				Message  string `json:"message"`
			}
			if json.Unmarshal(text, &line) != nil || line.Severity != "ERROR" {
				return
			}
			r.alarms[line.Message]++
			if slices.Contains(defects, line.Message) {
				w.Broke("log", p.Name, "%s", text)
			}
		})
	}
	w.read(w.store, func(text []byte) {
		if bytes.Contains(text, []byte("push not acknowledged")) {
			r.again++
		}
	})
}

// read goes through the lines that a process has logged.
func (w *world) read(p *supervise.Process, line func([]byte)) {
	f, err := os.Open(p.Log.Name())
	if err != nil {
		w.Broke("log", p.Name, "%v", err)
		return
	}
	defer func() { _ = f.Close() }() // only read
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		w.Broke("log", p.Name, "%v", err)
	}
}

const mostPrinted = 40

func (r *report) print(out io.Writer) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(what string, value any, more string, args ...any) {
		_, _ = fmt.Fprintf(t, "%s\t%v\t%s\n", what, value, fmt.Sprintf(more, args...))
	}
	row("seed", r.seed, "double %v, stop %v", r.double, r.stop)
	row("runs", r.tally.runs, "%d steps, %v", r.tally.steps, r.took.Round(100*time.Millisecond))
	for _, k := range r.kills {
		row("killed "+k.what, k.n, "")
	}
	row("suspended", r.stops, "engines, for 0.5–3 s")
	row("claims", r.tally.claims, "%d take-overs, %d heartbeats", r.tally.takeovers, r.tally.beats)
	row("late results", r.tally.late, "")
	row("pushed again", r.again, "messages that nobody acknowledged")
	row("asked again", r.audit.Again, "messages about a call that had been asked before")
	row("paid", r.audit.Calls, "calls, %d more than once, each after one of %d deaths of the agents", r.audit.Twice, r.audit.Boots-1)
	for _, message := range slices.Sorted(maps.Keys(r.alarms)) {
		row("logged", r.alarms[message], "%s", message)
	}
	row("violations", len(r.findings), "")
	_ = t.Flush() // as the lines above
	for i, f := range r.findings {
		if i == mostPrinted {
			_, _ = fmt.Fprintln(out, "…")
			break
		}
		_, _ = fmt.Fprintln(out, f)
	}
	for _, line := range r.hanging {
		_, _ = fmt.Fprintln(out, line)
	}
	if r.dir != "" {
		_, _ = fmt.Fprintln(out, "data, logs and ledger:", r.dir)
	}
}
