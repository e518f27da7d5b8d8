package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"truecost.dev/internal/chaos/ledger"
)

// settleTime is for messages and zombies that are still about when all runs have
// ended: they must change nothing.
const settleTime = 4 * time.Second

// live lets people live through their plans in a world of crashes, and looks at
// what is left.
func (w *world) live(ctx context.Context, input json.RawMessage) report {
	began := time.Now()
	people := w.people(input)
	killing, peace := context.WithTimeout(ctx, w.time)
	var killer sync.WaitGroup
	killer.Go(func() { w.torment(killing) })
	bounded, cancel := context.WithTimeout(ctx, w.time+w.patience)
	w.crowd(bounded, people)
	cancel()
	peace()
	killer.Wait()
	r := report{config: w.config, dir: w.dir, took: time.Since(began)}
	select {
	case <-ctx.Done():
	case <-time.After(settleTime):
	}
	w.checkAll(ctx, people, &r)
	r.checkLogs(w)
	for _, p := range w.all() {
		r.kills = append(r.kills, count{p.Name, p.Kills()})
		r.stops += p.Stops()
		for _, death := range p.Deaths() {
			w.Broke("process", p.Name, "%s", death)
		}
	}
	r.findings = w.Violations()
	return r
}

func (w *world) people(input json.RawMessage) []*person {
	var people []*person
	for i, plan := range plans(w.seed, w.runs) {
		people = append(people, &person{
			world: w, plan: plan, input: input,
			random: rand.New(rand.NewPCG(w.seed, uint64(i))), //nolint:gosec // G404: spreads what people do, guards nothing
		})
	}
	return people
}

// crowd lets everybody live, so many at once, and returns when all runs have
// ended or ctx has.
func (w *world) crowd(ctx context.Context, people []*person) {
	var g errgroup.Group
	g.SetLimit(w.window)
	for _, p := range people {
		g.Go(func() error {
			if err := p.live(ctx); err != nil {
				w.Broke("I10", p.id, "%v", err)
				p.hangs = true
			}
			return nil
		})
	}
	_ = g.Wait() // nobody returns an error
}

// checkAll checks the ledger, and the documents of everybody whose runs ended.
func (w *world) checkAll(ctx context.Context, people []*person, r *report) {
	entries, err := ledger.Read(w.ledgerPath())
	if err != nil {
		w.Broke("ledger", "all", "%v", err)
	}
	r.audit = ledger.Check(entries)
	for _, fault := range r.audit.Faults {
		w.Broke("ledger", "call", "%s", fault)
	}
	var mu sync.Mutex // guards r
	var g errgroup.Group
	g.SetLimit(8)
	for _, p := range people {
		if p.hangs {
			r.hanging = append(r.hanging, w.dump(ctx, p)...)
			continue
		}
		g.Go(func() error {
			t, err := p.check(ctx, r.audit.Paid)
			if err != nil {
				w.Broke("read", p.id, "%v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			r.tally.sum(t)
			return nil
		})
	}
	_ = g.Wait() // nobody returns an error
}

// dump returns the documents of somebody whose run does not end.
func (w *world) dump(ctx context.Context, p *person) []string {
	var lines []string
	for _, seen := range p.runs {
		run, err := w.docs.Run(ctx, seen.id)
		lines = append(lines, fmt.Sprintf("%s: %v %s", seen.id, err, encoded(run)))
		steps, err := w.docs.History(ctx, seen.id)
		if err != nil {
			lines = append(lines, err.Error())
		}
		for i := range steps {
			lines = append(lines, "  "+encoded(steps[i]))
		}
	}
	return lines
}
