package model

import (
	"fmt"
	"math/bits"

	"truecost.dev/shared/engine"
)

// action is something that can happen in a world.
type action struct {
	kind actionKind
	what uint8 // worker, step or question
}

type actionKind uint8

const (
	deliver actionKind = iota
	deliverAgain
	deliverAged
	lose
	operate
	fail
	forget
	crash
	expire
	sweep
	cancel
	hold
	resume
	answer
	answerAndDie
)

// actions appends what can happen in w.
func (m *model) actions(w *world, to []action) []action {
	for i := range w.workers {
		to = m.ofWorker(w, i, to)
	}
	if w.workers[maxWorkers-1].pc == idle { // busy ones come first
		for bag := w.bag; bag != 0; bag &= bag - 1 {
			msg := uint8(bits.TrailingZeros32(bag))
			to = append(to, action{deliver, msg})
			if w.left.Again > 0 {
				to = append(to, action{deliverAgain, msg})
			}
			if w.left.Aged > 0 && m.stale(w, msg) {
				to = append(to, action{deliverAged, msg})
			}
		}
	}
	if w.left.Lose > 0 {
		for bag := w.bag; bag != 0; bag &= bag - 1 {
			to = append(to, action{lose, uint8(bits.TrailingZeros32(bag))})
		}
	}
	if w.left.Expire > 0 && m.mutant != NoExpiry {
		for i := range m.table.ids {
			if d := w.steps[i]; d.status == claimed && !d.expired {
				to = append(to, action{expire, uint8(i)})
			}
		}
	}
	return m.ofPeople(w, to)
}

func (m *model) stale(w *world, msg uint8) bool {
	run := m.table.runs[w.run]
	return !run.Status.Ended() && run.Hold == nil && run.open>>msg&1 == 0 && !m.isFan(msg)
}

func (m *model) ofWorker(w *world, i int, to []action) []action {
	k := &w.workers[i]
	if k.pc == idle {
		return to
	}
	who := uint8(i)
	to = append(to, action{operate, who})
	if w.left.Crash > 0 {
		to = append(to, action{crash, who})
	}
	if k.pc == calling && w.left.Away > 0 {
		to = append(to, action{fail, who})
	}
	if w.left.Unknown > 0 && (k.pc == recording || k.pc == recordingChunk) {
		to = append(to, action{forget, who})
	}
	return to
}

func (m *model) ofPeople(w *world, to []action) []action {
	run := m.table.runs[w.run]
	if run.Status.Ended() {
		return to
	}
	if w.left.Sweep > 0 && m.mutant != NoSweeper && run.Hold == nil {
		to = append(to, action{sweep, 0})
	}
	if w.left.Cancel > 0 {
		to = append(to, action{cancel, 0})
	}
	if w.left.Hold > 0 && run.Hold == nil {
		to = append(to, action{hold, 0})
	}
	if run.Hold != nil {
		to = append(to, action{resume, 0})
	}
	for i := range run.asks {
		to = append(to, action{answer, uint8(i)})
		if w.left.Crash > 0 {
			to = append(to, action{answerAndDie, uint8(i)})
		}
	}
	return to
}

// apply lets an action happen.
func (m *model) apply(w *world, a action) {
	switch a.kind {
	case deliver, deliverAgain, deliverAged:
		m.receive(w, a)
	case lose:
		w.left.Lose--
		w.bag &^= 1 << a.what
	case operate:
		m.advance(w, int(a.what), false, false)
	case fail:
		w.left.Away--
		m.advance(w, int(a.what), false, true)
	case forget:
		w.left.Unknown--
		m.advance(w, int(a.what), true, false)
	case crash:
		w.left.Crash--
		w.bag |= 1 << w.workers[a.what].msg // nobody acknowledged it
		w.rest(int(a.what))
	case expire:
		w.left.Expire--
		m.expire(w, a.what)
	case sweep:
		w.left.Sweep--
		m.sweep(w)
	default:
		m.person(w, a)
	}
	w.canonical()
}

func (m *model) receive(w *world, a action) {
	switch a.kind {
	case deliverAgain:
		w.left.Again--
	case deliverAged:
		w.left.Aged--
		w.bag &^= 1 << a.what
	default:
		w.bag &^= 1 << a.what
	}
	who := 0
	if w.workers[0].pc != idle {
		who = 1
	}
	m.deliver(w, who, a.what, a.kind == deliverAged)
}

func (m *model) expire(w *world, step uint8) {
	w.steps[step].expired = true
	bump(&w.steps[step].expiries)
}

// person lets the owner act, in one compare-and-set each.
func (m *model) person(w *world, a action) {
	var e event
	dies := false
	switch a.kind {
	case cancel:
		w.left.Cancel--
		e = event{canceled, 0}
	case hold:
		w.left.Hold--
		e = event{held, 0}
	case resume:
		e = event{resumed, 0}
	case answer:
		e = event{inputGiven, a.what}
	default:
		w.left.Crash--
		e, dies = event{inputGiven, a.what}, true
	}
	next := m.table.next(w.run, e)
	if next.verdict != engine.Applied {
		m.violate("I3: a person's %s is %s", m.label(w, a), next.verdict)
		return
	}
	m.setRun(w, next)
	if m.mutant == ViewApart && next.view {
		w.view = next.next // only the handler is wrong
	}
	if !dies {
		w.bag |= next.publish
	}
}

// sweep publishes what nobody works on. It sees one state of the documents: a
// message too many is a message delivered again.
func (m *model) sweep(w *world) {
	run := m.table.runs[w.run]
	if run.Status.Ended() || run.Hold != nil {
		return
	}
	for open := run.open; open != 0; open &= open - 1 {
		step := bits.TrailingZeros32(open)
		if d := w.steps[step]; d.status != claimed || d.expired {
			w.bag |= 1 << step
		}
	}
	if !run.fanning {
		return
	}
	complete := true
	for at, id := range w.shards[:m.scenario.Fan.Shards] {
		shard := m.table.shards[id]
		complete = complete && shard.Complete
		switch {
		case shard.Complete || !shard.Active:
		case shard.Full():
			w.bag |= 1 << m.shardStep(at)
		default:
			w.bag |= m.forgotten(w, at)
		}
	}
	if complete {
		next := m.table.next(w.run, event{shardsDone, m.shardStep(0)})
		m.setRun(w, next)
		w.bag |= next.publish
	}
}

// label says what an action does in w.
func (m *model) label(w *world, a action) string {
	switch a.kind {
	case deliver:
		return fmt.Sprintf("deliver %s", m.table.ids[a.what])
	case deliverAgain:
		return fmt.Sprintf("deliver %s and keep it", m.table.ids[a.what])
	case deliverAged:
		return fmt.Sprintf("deliver %s after a long time", m.table.ids[a.what])
	case lose:
		return fmt.Sprintf("lose %s", m.table.ids[a.what])
	case expire:
		return fmt.Sprintf("the lease of %s runs out", m.table.ids[a.what])
	case sweep:
		return "sweep"
	case cancel:
		return "cancel"
	case hold:
		return "hold"
	case resume:
		return "resume"
	case answer:
		return fmt.Sprintf("answer %s", m.table.runs[w.run].asks[a.what])
	case answerAndDie:
		return fmt.Sprintf("answer %s and die", m.table.runs[w.run].asks[a.what])
	default:
		return m.workerLabel(w, a)
	}
}

func (m *model) workerLabel(w *world, a action) string {
	k := w.workers[a.what]
	who := fmt.Sprintf("worker %d of %s", a.what+1, m.table.ids[k.msg])
	switch a.kind {
	case fail:
		return who + ": call, in vain"
	case forget:
		return who + ": " + counters[k.pc] + ", the answer is lost"
	case crash:
		return who + " dies before: " + counters[k.pc]
	default:
		return who + ": " + counters[k.pc]
	}
}
