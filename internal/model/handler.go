package model

import (
	"fmt"
	"math/bits"

	"truecost.dev/shared/engine"
)

// counter says which operation a worker does next. Each is one access to the
// store, the queue or an agent; what lies between two of them is gone when the
// worker dies.
type counter uint8

const (
	idle           counter = iota
	claiming               // create the step's document
	looking                // it was there: read it
	takingOver             // its lease had run out: update it
	calling                // call the agent
	recording              // commit result, state and view
	recordingRun           // TwoCommits: commit the state
	reloading              // the commit was refused, or its answer lost: read run and step
	announcing             // PublishFirst: publish what the commit will open
	publishing             // publish one message
	acknowledging          // answer 204
	creating               // expand: create one shard
	readingShard           // of a chunk
	recordingChunk         // commit result and shard
	reloadingChunk         // read run, shard and step
	merging                // read the shard that may be full
	shutting               // commit it as complete, and activate another
	counting               // count the complete ones
	endingFan              // read the run
	recordingFan           // commit the end of the fan-out
	showing                // ViewApart: write the view
)

var counters = [...]string{
	"idle", "claim", "look at the claim", "take over", "call", "commit", "commit the state", "reload", "publish early", "publish", "acknowledge",
	"create a shard", "read the shard", "commit the chunk", "reload the shard", "read the full shard", "complete the shard", "count the shards",
	"read the run", "commit the end of the fan-out", "write the view",
}

// deliver hands a message to an idle worker, which reads the run: nothing can
// happen in between that matters.
func (m *model) deliver(w *world, who int, msg uint8, aged bool) {
	k := &w.workers[who]
	*k = worker{msg: msg, run: w.run, flags: runFresh}
	run := m.table.runs[w.run]
	ref := m.table.ref(msg)
	switch {
	case run.Status.Ended() || run.Hold != nil:
		k.pc = acknowledging
		return
	case ref.Role == engine.RoleChunk || ref.Role == engine.RoleShard:
		if run.fanning {
			k.pc = readingShard
			return
		}
	case run.open>>msg&1 == 1:
		k.pc = m.first(ref.Role)
		return
	}
	k.pc = acknowledging
	switch {
	case ref.Role == engine.RoleExpand && run.fanning:
		k.publish(m.resent(w), acknowledging)
	case aged:
		k.publish(run.open, acknowledging)
	}
}

// first is the first operation for an open step.
func (m *model) first(r engine.Role) counter {
	switch {
	case r == engine.RoleExpand:
		return creating
	case r == engine.RoleJoin:
		return recording
	case m.mutant == NoClaim:
		return calling
	default:
		return claiming
	}
}

// advance does a worker's next operation. unknown: it is a commit, and its answer
// is lost; failing: it is a call, and it fails.
func (m *model) advance(w *world, who int, unknown, failing bool) {
	k := &w.workers[who]
	switch k.pc {
	case claiming, looking, takingOver:
		m.claim(w, who)
	case calling:
		m.call(w, who, failing)
	case recording:
		m.record(w, who, unknown)
	case recordingRun:
		m.recordRun(w, who)
	case reloading:
		m.reload(w, who)
	case announcing, publishing:
		bit := k.pub & -k.pub
		w.bag |= bit
		if k.pub &^= bit; k.pub == 0 {
			m.then(w, who, k.then)
		}
	case acknowledging:
		w.rest(who)
	case showing:
		w.view = k.run
		m.then(w, who, publishing)
	default:
		m.advanceFan(w, who, unknown)
	}
}

// then goes on, past operations that have nothing to do.
func (m *model) then(w *world, who int, pc counter) {
	k := &w.workers[who]
	if (pc == publishing || pc == announcing) && k.pub == 0 {
		pc, k.then = k.then, idle
	}
	k.pc = pc
}

// publish makes a worker publish the messages of mask and go on after that.
func (k *worker) publish(mask uint32, then counter) {
	k.pub, k.then, k.pc = mask, then, publishing
	if mask == 0 {
		k.pc, k.then = then, idle
	}
}

func (m *model) claim(w *world, who int) {
	k := &w.workers[who]
	d := &w.steps[k.msg]
	switch k.pc {
	case claiming:
		if d.status != absent {
			k.pc = looking
			return
		}
		m.own(w, who, d)
	case looking:
		switch {
		case d.status == done || d.status == late:
			k.pc = recording
			k.flags |= stepFresh
		case d.expired:
			k.pc = takingOver
			k.flags |= stepFresh
		default:
			k.pc = acknowledging // a live claim: the sweeper is the guarantee from here
		}
	case takingOver:
		if !k.is(stepFresh) {
			k.pc = acknowledging // lost the race for an expired claim
			return
		}
		k.flags |= tookOver
		m.own(w, who, d)
	default:
	}
}

func (m *model) own(w *world, who int, d *document) {
	k := &w.workers[who]
	if m.table.runs[k.run].Status.Ended() {
		m.violate("I20: %s is claimed for a run that was read as ended", m.table.ids[k.msg])
	}
	*d = document{status: claimed, owner: uint8(who) + 1, claims: d.claims, expiries: d.expiries, asked: d.asked, paid: d.paid}
	bump(&d.claims)
	w.moved(k.msg)
	k.flags |= stepFresh
	k.pc = calling
}

// moved: the document of a step has another version now.
func (w *world) moved(step uint8) {
	for i := range w.workers {
		if w.workers[i].msg == step {
			w.workers[i].flags &^= stepFresh
		}
	}
}

// call asks the agent. It keeps its task under the call id: the second time it
// gives the stored answer.
func (m *model) call(w *world, who int, failing bool) {
	k := &w.workers[who]
	d := &w.steps[k.msg]
	m.mayCall(k)
	bump(&d.asked)
	k.pc = recording
	if m.table.ref(k.msg).Role == engine.RoleChunk {
		k.pc = recordingChunk
	}
	if m.mutant == PublishFirst && k.pc == recording && !failing {
		k.publish(m.table.next(k.run, event{finished, k.msg}).publish, recording)
	}
	if failing {
		k.out = away
		return
	}
	if d.paid == 0 || (m.mutant == NewCallID && k.is(tookOver)) {
		bump(&d.paid)
	}
	if m.scenario.Asks[string(m.table.ids[k.msg])] {
		k.out = asks
	}
}

// mayCall checks I5: the step was open, or its chunk in flight, in what was read.
func (m *model) mayCall(k *worker) {
	run := m.table.runs[k.run]
	ref := m.table.ref(k.msg)
	if ref.Role == engine.RoleChunk {
		if m.table.shards[k.shard].Find(ref.Index) == nil {
			m.violate("I5: %s is called and was not in flight", m.table.ids[k.msg])
		}
		return
	}
	if run.open>>k.msg&1 == 0 {
		m.violate("I5: %s is called and was not open", m.table.ids[k.msg])
	}
	for _, need := range m.table.flow.Node(ref.Node).Needs {
		if !run.Nodes[need].Phase.Settled() {
			m.violate("I5: %s is called before %s settled", m.table.ids[k.msg], need)
		}
	}
}

func (k *worker) event() event {
	switch k.out {
	case away:
		return event{retryable, k.msg}
	case asks:
		return event{inputNeeded, k.msg}
	default:
		return event{finished, k.msg}
	}
}

// record decides on the run as it was read and commits if nothing moved since.
func (m *model) record(w *world, who int, unknown bool) {
	k := &w.workers[who]
	next := m.table.next(k.run, k.event())
	switch next.verdict {
	case engine.Invalid:
		m.violate("I3: %s is an impossible event", m.table.ids[k.msg])
		return
	case engine.Stale:
		m.late(w, who)
		return
	case engine.Applied:
	}
	role := m.table.ref(k.msg).Role
	claimless := role == engine.RoleExpand || role == engine.RoleJoin || m.mutant == NoClaim
	fresh := k.is(runFresh) && (k.is(stepFresh) || (claimless && w.steps[k.msg].status == absent))
	if m.mutant == TwoCommits {
		fresh = k.is(stepFresh) || claimless
	}
	if !fresh && m.mutant != NoPrecondition {
		k.pc = reloading
		return
	}
	m.finish(w, who, next.again)
	if m.mutant == TwoCommits {
		k.pc = recordingRun
		return
	}
	m.commit(w, who, next, unknown)
}

// finish writes a result into its step, or gives the claim back.
func (m *model) finish(w *world, who int, again bool) {
	k := &w.workers[who]
	d := &w.steps[k.msg]
	switch {
	case d.status == done:
		m.violate("I1: %s gets a second result", m.table.ids[k.msg])
	case again:
		d.expired, d.back = true, true
		bump(&d.expiries)
	default:
		d.status, d.expired, d.back = done, false, false
	}
	d.owner = uint8(who) + 1
	w.moved(k.msg)
}

// commit makes next the state of the run, together with what was written before.
func (m *model) commit(w *world, who int, next move, unknown bool) {
	k := &w.workers[who]
	m.setRun(w, next)
	k.run, k.flags = w.run, k.flags&^(runFresh|stepFresh)
	switch {
	case unknown:
		k.pc = reloading
	case m.mutant == PublishFirst:
		k.pc = acknowledging
	case m.mutant == ViewApart && next.view:
		k.pub, k.then, k.pc = next.publish, acknowledging, showing
	case m.table.ref(k.msg).Role == engine.RoleExpand:
		k.publish(next.publish|m.resent(w), acknowledging)
	default:
		k.publish(next.publish, acknowledging)
	}
}

func (m *model) recordRun(w *world, who int) {
	k := &w.workers[who]
	if !k.is(runFresh) {
		k.run = w.run
		k.flags |= runFresh
	}
	if next := m.table.next(k.run, k.event()); next.verdict == engine.Applied {
		m.commit(w, who, next, false)
		return
	}
	k.pc = acknowledging
}

// setRun writes the run, and its view in the same commit.
func (m *model) setRun(w *world, next move) {
	before, after := m.table.runs[w.run], m.table.runs[next.next]
	switch {
	case before.Status.Ended():
		m.violate("I2: a run that was %s becomes %s", before.Status, after.Status)
	case after.Rev != before.Rev+1:
		m.violate("I3: rev goes from %d to %d", before.Rev, after.Rev)
	}
	w.run = next.next
	if next.view && m.mutant != ViewApart {
		w.view = next.next
	}
	for touched := next.touched; touched != 0; touched &= touched - 1 {
		w.moved(uint8(bits.TrailingZeros32(touched)))
	}
	for i := range w.workers {
		w.workers[i].flags &^= runFresh
	}
}

// late keeps the result of a step that is not open any more, if there is none.
func (m *model) late(w *world, who int) {
	k := &w.workers[who]
	k.pc = acknowledging
	d := &w.steps[k.msg]
	if k.out == answered && k.is(stepFresh) && d.status == claimed {
		d.status, d.expired = late, false
		w.moved(k.msg)
	}
}

// reload finds out where the result is.
func (m *model) reload(w *world, who int) {
	k := &w.workers[who]
	d := &w.steps[k.msg]
	if m.mutant == LateApplied && m.table.runs[w.run].Status.Ended() && d.status == claimed {
		k.flags |= runFresh | stepFresh // as if nothing had happened
		k.pc = recording
		return
	}
	k.run = w.run
	k.flags |= runFresh | stepFresh
	mine := d.owner == uint8(who)+1
	switch {
	case d.status == done && m.table.ref(k.msg).Role == engine.RoleExpand:
		k.publish(m.resent(w), acknowledging)
	case d.status == done && mine, d.back && mine:
		k.publish(m.table.runs[w.run].open, acknowledging) // it was this commit
	case d.status == done:
		k.pc = acknowledging
	default:
		k.pc = recording
	}
}

func (m *model) violate(format string, args ...any) {
	if m.violated == "" {
		m.violated = fmt.Sprintf(format, args...)
	}
}
