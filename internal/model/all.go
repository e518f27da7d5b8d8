package model

import (
	"fmt"
	"runtime"
	"sync"
)

// All searches every scenario within a bound, as many at once as there are
// processors: without any fault first, then with those of the bound. limit is
// the number of states after which each search stops; 0: none. report is called
// with one result at a time, in the order of their ends.
func All(bound Bound, mutant Mutant, limit int, report func(Result)) {
	type search struct {
		scenario Scenario
		options  Options
	}
	var searches []search
	for _, s := range Scenarios() {
		searches = append(searches, search{s, Options{Faults: s.Faults[bound], Mutant: mutant, Limit: limit}})
	}
	for _, s := range Scenarios() {
		s.Name += ", no faults"
		searches = append(searches, search{s, Options{Mutant: mutant, Limit: limit}})
	}
	var turn sync.Mutex
	var workers sync.WaitGroup
	next := 0
	for range min(runtime.GOMAXPROCS(0), len(searches)) {
		workers.Go(func() {
			for {
				turn.Lock()
				i := next
				next++
				turn.Unlock()
				if i >= len(searches) {
					return
				}
				r := Search(searches[i].scenario, searches[i].options)
				turn.Lock()
				report(r)
				turn.Unlock()
			}
		})
	}
	workers.Wait()
}

// String is a line of a table; below it stands what broke, if anything did.
func (r Result) String() string {
	line := fmt.Sprintf("%-44s %10d states %11d transitions %6.1f s", r.Scenario, r.States, r.Transitions, r.Elapsed.Seconds())
	if r.Cut {
		line += "  (cut)"
	}
	if r.Violation == nil {
		return line
	}
	line += "\n  " + r.Violation.Broken + "\n"
	for _, step := range r.Violation.Path {
		line += "    " + step + "\n"
	}
	return line
}
