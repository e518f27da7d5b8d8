package model

import (
	"slices"

	"truecost.dev/shared/engine"
)

// advanceFan does the operations of fan-outs.
func (m *model) advanceFan(w *world, who int, unknown bool) {
	k := &w.workers[who]
	switch k.pc {
	case creating:
		m.create(w, k)
	case readingShard:
		m.readShard(w, k)
	case recordingChunk:
		m.recordChunk(w, who, unknown)
	case reloadingChunk:
		m.reloadChunk(w, who)
	case merging:
		m.merge(w, k)
	case shutting:
		m.shut(w, k)
	case counting:
		k.pc = acknowledging
		if m.complete(w) {
			k.pc = endingFan
		}
	case endingFan:
		k.run = w.run
		k.flags |= runFresh
		k.pc = recordingFan
	case recordingFan:
		m.endFan(w, k)
	default:
		m.violate("a worker does not know what to do at %d", k.pc)
	}
}

// create puts down the next shard of an expansion, unless it is there.
func (m *model) create(w *world, k *worker) {
	if w.shards[k.made] == 0 {
		fresh := m.table.flow.Node(m.table.ref(k.msg).Node).FanOut.Shards(m.scenario.Fan)
		w.shards[k.made] = m.table.shard(fresh[k.made])
	}
	if k.made++; int(k.made) == m.scenario.Fan.Shards {
		k.pc = recording
	}
}

// at is the shard that a message is about.
func (m *model) at(msg uint8) int {
	r := m.table.ref(msg)
	if r.Role == engine.RoleShard {
		return r.Index
	}
	return m.scenario.Fan.ShardOf(r.Index)
}

func (m *model) chunkStep(chunk int) uint8 {
	return m.table.numbers[engine.StepRef{Node: m.fanned(), Role: engine.RoleChunk, Index: chunk}.ID()]
}

func (m *model) shardStep(index int) uint8 {
	return m.table.numbers[engine.StepRef{Node: m.fanned(), Role: engine.RoleShard, Index: index}.ID()]
}

// fanned is the node that fans out.
func (m *model) fanned() string {
	i := slices.IndexFunc(m.table.flow.Nodes, func(n engine.Node) bool { return n.FanOut != nil })
	return m.table.flow.Nodes[i].Name
}

// readShard begins the work on a chunk, or, when it is not in flight any more,
// does what somebody who died may have left undone.
func (m *model) readShard(w *world, k *worker) {
	at := m.at(k.msg)
	k.shard = w.shards[at]
	k.flags |= shardFresh
	shard := m.table.shards[k.shard]
	r := m.table.ref(k.msg)
	switch {
	case r.Role == engine.RoleChunk && shard.Find(r.Index) != nil:
		k.pc = m.first(r.Role)
	case shard.Full():
		k.pc = merging
	default:
		k.publish(m.forgotten(w, at), acknowledging)
	}
}

// forgotten lists the chunks in flight of a shard that nobody works on.
func (m *model) forgotten(w *world, at int) uint32 {
	var mask uint32
	for _, f := range m.table.shards[w.shards[at]].InFlight {
		if step := m.chunkStep(f.Chunk); w.steps[step].status == absent || w.steps[step].expired {
			mask |= 1 << step
		}
	}
	return mask
}

// resent lists the chunks in flight of all shards that nobody works on.
func (m *model) resent(w *world) uint32 {
	var mask uint32
	if m.table.runs[w.run].fanning {
		for at := range m.scenario.Fan.Shards {
			mask |= m.forgotten(w, at)
		}
	}
	return mask
}

type shardKey struct {
	shard uint16
	step  uint8
	out   outcome
}

type shardMove struct {
	verdict engine.Verdict
	next    uint16
	publish uint32
	again   bool
}

// shardNext asks the engine what the end of a chunk, or of a try, makes of its
// shard.
func (m *model) shardNext(k *worker) shardMove {
	key := shardKey{k.shard, k.msg, k.out}
	if s, ok := m.shardMoves[key]; ok {
		return s
	}
	shard, r := m.table.shards[k.shard], m.table.ref(k.msg)
	var s shardMove
	var next []int
	if k.out == away {
		e := engine.Retryable{Step: m.table.ids[k.msg]}
		shard, s.again, next, s.verdict = shard.Retry(m.table.flow.Node(r.Node), "e~1", e, r.Index, epoch)
	} else {
		shard, next, s.verdict = shard.Finish(r.Index, m.scenario.Broken[r.Index])
	}
	for _, chunk := range next {
		s.publish |= 1 << m.chunkStep(chunk)
	}
	s.next = m.table.shard(shard)
	m.shardMoves[key] = s
	return s
}

func (m *model) recordChunk(w *world, who int, unknown bool) {
	k := &w.workers[who]
	next := m.shardNext(k)
	if next.verdict != engine.Applied || !m.table.runs[k.run].fanning {
		m.late(w, who)
		return
	}
	fresh := (k.is(shardFresh) || m.mutant == ShardBlind) && (k.is(stepFresh) || m.mutant == NoClaim)
	if !fresh && m.mutant != NoPrecondition {
		k.pc = reloadingChunk
		return
	}
	m.finish(w, who, next.again)
	m.setShard(w, m.at(k.msg), next.next)
	k.shard, k.flags = next.next, k.flags&^(shardFresh|stepFresh)
	if unknown {
		k.pc = reloadingChunk
		return
	}
	k.publish(next.publish, m.afterChunk(next.next))
}

// afterChunk: whoever fills a shard completes it.
func (m *model) afterChunk(shard uint16) counter {
	if m.table.shards[shard].Full() {
		return merging
	}
	return acknowledging
}

// setShard writes a shard. I15: what is done stays done.
func (m *model) setShard(w *world, at int, next uint16) {
	before, after := m.table.shards[w.shards[at]], m.table.shards[next]
	for i, done := range before.Done {
		if done&^after.Done[i] != 0 {
			m.violate("I15: shard %d forgets a chunk that was done", at)
		}
	}
	if before.Complete && !after.Complete {
		m.violate("I15: shard %d was complete", at)
	}
	w.shards[at] = next
	for i := range w.workers {
		if k := &w.workers[i]; k.pc != idle && m.isFan(k.msg) && m.at(k.msg) == at {
			k.flags &^= shardFresh
		}
	}
}

func (m *model) isFan(msg uint8) bool {
	r := m.table.ref(msg).Role
	return r == engine.RoleChunk || r == engine.RoleShard
}

func (m *model) reloadChunk(w *world, who int) {
	k := &w.workers[who]
	at, d := m.at(k.msg), &w.steps[k.msg]
	k.run, k.shard = w.run, w.shards[at]
	k.flags |= runFresh | shardFresh | stepFresh
	mine := d.owner == uint8(who)+1
	switch {
	case d.status == done && mine, d.back && mine:
		k.publish(m.forgotten(w, at), m.afterChunk(k.shard))
	case d.status == done:
		k.pc = acknowledging
	default:
		k.pc = recordingChunk
	}
}

// merge reads the shard and the results of its chunks.
func (m *model) merge(w *world, k *worker) {
	at := m.at(k.msg)
	k.shard = w.shards[at]
	k.flags |= shardFresh
	shard := m.table.shards[k.shard]
	k.pc = shutting
	if shard.Complete {
		k.pc = counting
	}
	for chunk := shard.From; chunk < shard.From+shard.Size; chunk++ {
		if w.steps[m.chunkStep(chunk)].status != done {
			m.violate("I15: shard %d is full and chunk %d has no result", at, chunk)
		}
	}
}

// shut commits the shard as complete, its results as one, and activates the next
// shard if there is one.
func (m *model) shut(w *world, k *worker) {
	at := m.at(k.msg)
	var first uint32
	if k.is(shardFresh) {
		m.setShard(w, at, m.table.shard(m.table.shards[k.shard].Shut()))
		w.steps[m.shardStep(at)].status = done
		if next, ok := m.scenario.Fan.Activates(at); ok {
			active := m.table.shards[w.shards[next]].Activate()
			m.setShard(w, next, m.table.shard(active))
			for _, f := range active.InFlight {
				first |= 1 << m.chunkStep(f.Chunk)
			}
		}
	} // else another worker completed it, and publishes
	k.publish(first, counting)
}

// complete counts.
func (m *model) complete(w *world) bool {
	for _, s := range w.shards[:m.scenario.Fan.Shards] {
		if !m.table.shards[s].Complete {
			return false
		}
	}
	return true
}

// endFan applies the end of the fan-out; of several that see it, one wins.
func (m *model) endFan(w *world, k *worker) {
	next := m.table.next(k.run, event{shardsDone, k.msg})
	switch {
	case next.verdict != engine.Applied:
		k.pc = acknowledging
	case !k.is(runFresh) && m.mutant != NoPrecondition:
		k.pc = endingFan
	default:
		m.setRun(w, next)
		k.publish(next.publish, acknowledging)
	}
}
