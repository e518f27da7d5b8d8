package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"text/tabwriter"
	"time"

	"truecost.dev/internal/chaos/supervise"
)

// live lets clients send in a world of crashes, and looks at what is left.
func (w *world) live(ctx context.Context) report {
	began := time.Now()
	sending, peace := context.WithTimeout(ctx, w.time)
	waiting, cancel := context.WithTimeout(ctx, w.time+w.patience)
	defer cancel()
	var killer sync.WaitGroup
	killer.Go(func() { w.torment(sending) })
	errands := w.crowd(sending, waiting)
	peace()
	killer.Wait()
	r := report{config: w.config, dir: w.dir, took: time.Since(began), tally: w.checkAll(ctx, errands)}
	for _, e := range errands {
		r.longest = max(r.longest, e.took)
	}
	for _, p := range w.all() {
		r.kills += p.Kills()
		r.stops += p.Stops()
		for _, death := range p.Deaths() {
			w.Broke("process", p.Name, "%s", death)
		}
	}
	r.findings = w.Violations()
	return r
}

// torment kills and suspends walkers until ctx ends. Nothing is suspended when it
// returns.
func (w *world) torment(ctx context.Context) {
	var t supervise.Torment
	any := func(r *rand.Rand) *supervise.Process { return w.walkers[r.IntN(len(w.walkers))] }
	t.Often(ctx, w.seed, 1, walkerDies, func(r *rand.Rand) { any(r).Kill() })
	if w.stop {
		t.Often(ctx, w.seed, 2, walkerStops, func(r *rand.Rand) { any(r).Freeze(ctx, stopLasts.Draw(r)) })
	}
	t.Wait()
}

// A report is what came of a world.
type report struct {
	config
	dir          string // "": removed
	took         time.Duration
	longest      time.Duration // from a message to its end
	tally        tally
	kills, stops int
	findings     []string
}

const mostPrinted = 40

func (r *report) print(out io.Writer) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(what string, value any, more string, args ...any) {
		_, _ = fmt.Fprintf(t, "%s\t%v\t%s\n", what, value, fmt.Sprintf(more, args...))
	}
	row("seed", r.seed, "stop %v", r.stop)
	row("tasks", r.tally.tasks, "%d submitted, %d streamed, %d waited for by two; %v", r.tally.by[submits], r.tally.by[streams], r.tally.by[waits],
		r.took.Round(100*time.Millisecond))
	row("events", r.tally.events, "")
	row("killed", r.kills, "processes at work")
	row("suspended", r.stops, "for 1–4 s")
	row("asked again", r.tally.again, "what was cut off or refused")
	row("taken over", r.tally.takeovers, "runs begun after one that was cut off")
	row("given up", r.tally.givenUp, "tasks after %d runs that were cut off", mostTries)
	row("canceled", r.tally.canceled, "")
	row("longest", r.longest.Round(100*time.Millisecond), "from a message to the end of its task")
	row("violations", len(r.findings), "")
	_ = t.Flush() // as the lines above
	for i, f := range r.findings {
		if i == mostPrinted {
			_, _ = fmt.Fprintln(out, "…")
			break
		}
		_, _ = fmt.Fprintln(out, f)
	}
	if r.dir != "" {
		_, _ = fmt.Fprintln(out, "data, logs and ledgers:", r.dir)
	}
}
