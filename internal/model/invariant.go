package model

import (
	"math/bits"

	"truecost.dev/shared/engine"
)

// check holds the invariants that a world shows by itself.
func (m *model) check(w *world) {
	if m.table.broken != "" {
		m.violate("%s", m.table.broken)
	}
	run := m.table.runs[w.run]
	for i := range m.table.ids {
		m.checkStep(run, &w.steps[i], i)
	}
	m.checkView(w, run)
	if m.scenario.Fan.Chunks > 0 {
		m.checkFan(w, run)
	}
	if run.end != "" && run.Status != engine.Canceled {
		m.checkEnd(run)
	}
}

func (m *model) checkStep(run *runState, d *document, i int) {
	id := m.table.ids[i]
	switch open := run.open>>i&1 == 1; {
	case d.status == done && open:
		m.violate("I12: %s has its result and is open", id)
	case d.paid > 1:
		m.violate("I6: the agent worked %d times for %s", d.paid, id)
	case d.asked > 1+d.expiries, d.claims > 1+d.expiries:
		m.violate("I6: %s was claimed %d times and called %d times, %d leases ran out", id, d.claims, d.asked, d.expiries)
	case d.status == claimed && run.waiting>>i&1 == 1:
		m.violate("I19: %s is claimed while its node waits for a person", id)
	}
}

func (m *model) checkView(w *world, run *runState) {
	view := m.table.runs[w.view]
	switch {
	case view.Rev > run.Rev:
		m.violate("I11: the view is of rev %d, the run of rev %d", view.Rev, run.Rev)
	case run.Status != engine.Running && w.view != w.run:
		m.violate("I11: the run is %s of rev %d, the view of rev %d", run.Status, run.Rev, view.Rev)
	}
}

// checkFan: I15.
func (m *model) checkFan(w *world, run *runState) {
	inFlight := 0
	for at, id := range w.shards[:m.scenario.Fan.Shards] {
		shard := m.table.shards[id]
		inFlight += len(shard.InFlight)
		if run.joined && !shard.Complete {
			m.violate("I15: the fan-out is joined and shard %d is not complete", at)
		}
		for i := range shard.Size {
			recorded := w.steps[m.chunks[shard.From+i]].status == done
			if is := shard.Done[i/8]>>(i%8)&1 == 1; is != recorded {
				m.violate("I15: chunk %d is done: %t, its result is recorded: %t", shard.From+i, is, recorded)
			}
		}
	}
	if most := m.most; inFlight > most {
		m.violate("I15: %d chunks are in flight, %d are the most", inFlight, most)
	}
}

// checkEnd: I13 and I14. However it came to that, a run that was not canceled
// ends in one way.
func (m *model) checkEnd(run *runState) {
	if m.end == "" {
		m.end = run.end
	}
	if run.end != m.end {
		m.violate("I13: the run ended as %s, and otherwise as %s", run.end, m.end)
	}
}

// fair brings w forward without faults: who has begun goes on, messages arrive,
// and when nothing moves any more leases run out and the sweeper comes. I10: that
// ends, with the end of the run or a person's turn.
func (m *model) fair(w world) {
	var chain []key
	for range 2_000 {
		k := w.key(true)
		if _, known := m.ends[k]; known {
			break
		}
		chain = append(chain, k)
		if !m.fairStep(&w) {
			break
		}
		if m.violated != "" {
			return
		}
		if len(chain) == 2_000 {
			m.violate("I10: a fair schedule goes on for ever")
			return
		}
	}
	if m.violated != "" {
		return
	}
	for _, k := range chain {
		m.ends[k] = struct{}{}
	}
}

// fairStep is one step of the fair schedule; false when it has reached its end.
func (m *model) fairStep(w *world) bool {
	run := m.table.runs[w.run]
	switch {
	case w.workers[0].pc != idle:
		m.advance(w, 0, false, false)
		w.canonical()
		m.check(w)
		return true
	case w.bag != 0:
		m.receive(w, action{deliver, uint8(bits.TrailingZeros32(w.bag))})
		return true
	case run.Status != engine.Running:
		return false
	}
	if m.mutant != NoExpiry {
		for i := range m.table.ids {
			if d := w.steps[i]; d.status == claimed && !d.expired {
				m.expire(w, uint8(i))
			}
		}
	}
	if m.mutant != NoSweeper {
		m.sweep(w)
	}
	if w.bag == 0 && m.table.runs[w.run] == run {
		m.violate("I10: the run is %s with %s open, and nothing will ever happen", run.Status, m.names(run.open))
		return false
	}
	return true
}

func (m *model) names(mask uint32) []engine.StepID {
	var ids []engine.StepID
	for ; mask != 0; mask &= mask - 1 {
		ids = append(ids, m.table.ids[bits.TrailingZeros32(mask)])
	}
	return ids
}

// stuck: I22. A run without a fault needs no sweeper: when nothing can happen in
// a world of no faults, the run has ended or waits.
func (m *model) stuck(w *world, actions []action) {
	run := m.table.runs[w.run]
	if len(actions) == 0 && m.faultless && run.Status == engine.Running {
		m.violate("I22: without any fault the run stops with %s open", m.names(run.open))
	}
}
