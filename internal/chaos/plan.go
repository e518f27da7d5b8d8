package main

import (
	"fmt"

	"truecost.dev/internal/chaos/script"
	"truecost.dev/shared/engine"
)

// What a person does with a run.
const (
	watches = "watches"
	holds   = "holds"   // and resumes
	retries = "retries" // once it has failed
	cancels = "cancels"
)

// A plan is an estimate with what is foretold of it.
type plan struct {
	id    string
	does  string      // its person
	end   script.End  // of the first run
	again *script.End // of the second, which tries the first again
}

// leastSteps is how long a run must be, unless it is canceled.
const leastSteps = 12

// plans draws so many estimates: of ten, eight complete, one of them held for a
// while, and two fail, one of them tried again. To them come runs that are
// canceled, a tenth as many.
func plans(seed uint64, runs int) []plan {
	list := make([]plan, 0, runs+runs/10)
	for i := range runs + runs/10 {
		p := plan{does: watches}
		switch {
		case i >= runs:
			p.does = cancels
		case i%10 == 3:
			p.does = holds
		case i%10 == 6:
			p.does = retries
		}
		fails := i < runs && (i%10 == 6 || i%10 == 8)
		for salt := 0; ; salt++ {
			p.id = fmt.Sprintf("chaos-%d-%d-%d", seed, i, salt)
			p.end = script.Foretell(engine.RunID(p.id, 1))
			if p.end.Failure() == fails && len(p.end.Steps) >= leastSteps && p.retryable() {
				break
			}
		}
		list = append(list, p)
	}
	return list
}

// retryable foretells the second run of a plan that has one, which is to go
// well.
func (p *plan) retryable() bool {
	if p.does != retries {
		return true
	}
	again := script.Foretell(engine.RunID(p.id, 2), p.end.Passed()...)
	p.again = &again
	return !again.Failure()
}

// runs are the runs of a plan with their ends, as foretold.
func (p *plan) runs() []script.End {
	if p.again != nil {
		return []script.End{p.end, *p.again}
	}
	return []script.End{p.end}
}
