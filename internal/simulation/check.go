package simulation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
)

// audit holds a history against the invariants, commit by commit. What the
// documents, the ledger and the order of commits can show is shown.
type audit struct {
	w     *World
	flow  *engine.Flow
	found []string

	states  map[string]engine.State // by run
	revs    map[string]engine.State // by run and rev
	ends    map[string]int          // by run: the commit that ended it
	opened  map[string]bool         // run/step: some committed state had it open, or in flight
	steps   map[string]history      // by path
	shards  map[string]runner.Shard // by path
	inputs  map[string]runnertest.Revision
	view    *runnertest.Estimate
	joined  map[string]int // run/node.attempt: how often its fan-out ended
	removed bool
	commit  *Commit
	ordinal int
}

// history is a step and how often it was written.
type history struct {
	step    runner.Step
	fields  json.RawMessage
	writes  int
	touches int
	beats   int
	ended   int // claims that outlived their time and were given back by another
}

// check returns every violation in the history of a world that has come to rest.
func check(w *World) []string {
	a := &audit{
		w: w, flow: w.plot.Flow,
		states: map[string]engine.State{}, revs: map[string]engine.State{}, ends: map[string]int{}, opened: map[string]bool{}, steps: map[string]history{},
		shards: map[string]runner.Shard{}, inputs: map[string]runnertest.Revision{}, joined: map[string]int{},
	}
	for i := range w.commits {
		a.commit, a.ordinal = &w.commits[i], i
		if w.commits[i].Removed {
			a.removed = true
			clear(a.states)
			clear(a.steps)
			continue
		}
		a.one(w.commits[i].Changes)
	}
	a.calls()
	a.writes()
	a.outputs()
	a.folds()
	return a.found
}

func (a *audit) bad(invariant, format string, args ...any) {
	at := ""
	if a.commit != nil {
		at = fmt.Sprintf("%.6f by %s: ", a.commit.At.Seconds(), a.commit.By)
	}
	a.found = append(a.found, invariant+": "+at+fmt.Sprintf(format, args...))
}

// one checks a commit against what was there before it.
func (a *audit) one(changes []runnertest.Revision) {
	var run *engine.State
	for _, d := range changes {
		if s, ok := d.State(); ok {
			run = &s
		}
	}
	if run != nil && !a.removed {
		a.run(*run, changes)
	}
	if a.removed {
		a.returns(changes)
		return
	}
	for _, d := range changes {
		if s, ok := d.Shard(); ok {
			a.shard(d.Path, s, changes)
		}
		if _, ok := d.Input(); ok {
			a.input(d)
		}
		if e, ok := d.Estimate(); ok {
			a.estimate(&e, run)
		}
		if _, ok := d.Output(); ok && run == nil {
			a.bad("I12", "%s changes without its run", d.Path)
		}
	}
	for _, d := range changes {
		if s, ok := d.Step(); ok {
			a.step(d, s, run, changes)
		}
	}
}

// returns checks that what was taken away does not come back. What workers create
// that had read the run before, claims and shards, may: nobody reads it.
func (a *audit) returns(changes []runnertest.Revision) {
	for _, d := range changes {
		if s, ok := d.Step(); ok {
			h := a.steps[d.Path]
			a.steps[d.Path] = history{step: s, fields: d.Fields, writes: h.writes + 1}
			continue
		}
		if _, ok := d.Shard(); !ok {
			a.bad("I2", "%s is written after it was taken away", d.Path)
		}
	}
}

// step checks one write of a step: I1, I6, I12, I16.
func (a *audit) step(d runnertest.Revision, s runner.Step, run *engine.State, changes []runnertest.Revision) {
	h, there := a.steps[d.Path]
	before := h.step
	h.writes++
	claims := !there && s.Status == runner.Claimed || there && s.Fence != before.Fence
	switch {
	case there && bytes.Equal(h.fields, d.Fields):
		h.touches++
	case there && before.Finished():
		a.bad("I1", "%s had its result and changes: %s to %s", d.Path, h.fields, d.Fields)
	case claims:
		a.claim(d.Path, before, s, there)
	case there:
		a.held(d.Path, before, s, &h)
	}
	if s.Finished() && !before.Finished() {
		a.result(d.Path, s, run, changes)
	}
	h.step, h.fields = s, d.Fields
	a.steps[d.Path] = h
}

// held checks what becomes of a claim: I6. It counts heartbeats, and tries that
// outlived their time.
func (a *audit) held(path string, before, s runner.Step, h *history) {
	switch {
	case s.Finished():
	case s.Beats > before.Beats:
		h.beats++
	case s.Lease == 0 && before.Lease > 0 && s.Owner != before.Owner:
		h.ended++
		if !a.late(before) {
			a.bad("I6", "%s, which %s holds, is given back by %s", path, before.Owner, s.Owner)
		}
	}
}

// claim checks a claim or a take-over: I5, I6, I20.
func (a *audit) claim(path string, before, s runner.Step, there bool) {
	if !a.opened[s.Run+"/"+string(s.ID)] {
		a.bad("I5", "%s is claimed and was never open", path)
	}
	if there {
		age := s.Version.Sub(before.Version)
		if s.Fence != before.Fence+1 || s.Try != before.Try+1 || age <= before.Lease {
			a.bad("I6", "%s is taken over after %v of a lease of %v: fence %d to %d, try %d to %d", path, age, before.Lease, before.Fence, s.Fence, before.Try, s.Try)
		}
	}
	if end, ended := a.ends[s.Run]; ended && a.commit.Seen[s.Run] > end {
		a.bad("I20", "%s is claimed by one who knew that the run had ended", path)
	}
}

// late reports whether the try at a step had outlived its time, so that anybody
// might end it. Clocks differ.
func (a *audit) late(s runner.Step) bool {
	ref, _ := s.ID.Ref()
	return a.w.epoch.Add(a.commit.At).Sub(s.StartedAt) > a.flow.Node(ref.Node).Timeout-20*maxSkew
}

// result checks that a result comes with what follows from it: I12, I2.
func (a *audit) result(path string, s runner.Step, run *engine.State, changes []runnertest.Revision) {
	end, ended := a.ends[s.Run]
	if s.Late {
		return
	}
	ref, _ := s.ID.Ref()
	switch ref.Role {
	case engine.RoleChunk, engine.RoleShard:
		if !slices.ContainsFunc(changes, func(d runnertest.Revision) bool { _, ok := d.Shard(); return ok }) {
			a.bad("I12", "%s has its result and its shard does not know", path)
		}
		// The run is not written with a chunk, so who has not heard of its end may
		// still fill a shard. Nobody reads that any more.
		if ended && a.commit.Seen[s.Run] > end {
			a.bad("I2", "%s gets a result of one who knew that the run had ended", path)
		}
	default:
		if run == nil || run.RunID() != s.Run || run.Rev != s.RevAt {
			a.bad("I12", "%s has the result of rev %d without its run", path, s.RevAt)
		}
		if ended && end != a.ordinal {
			a.bad("I2", "%s gets a result that is not late after the end", path)
		}
	}
}

// run checks one transition of a run.
func (a *audit) run(s engine.State, changes []runnertest.Revision) {
	id := s.RunID()
	before := a.states[id]
	if _, ended := a.ends[id]; ended {
		a.bad("I2", "%s changes after its end: rev %d to %d", id, before.Rev, s.Rev)
	}
	if s.Rev != before.Rev+1 {
		a.bad("I3", "%s goes from rev %d to %d", id, before.Rev, s.Rev)
	}
	if open := engine.Open(a.flow, s); !same(open, s.Open) {
		a.bad("I4", "%s: open is %v, wanted %v", id, s.Open, open)
	}
	for step := range s.Open {
		a.opened[id+"/"+string(step)] = true
	}
	for i := range a.flow.Nodes {
		n := &a.flow.Nodes[i]
		a.node(&s, n, before.Nodes[n.Name], s.Nodes[n.Name], changes)
	}
	a.tries(&before, &s)
	a.fold(before, s, changes)
	a.states[id] = s
	a.revs[fmt.Sprintf("%s %d", id, s.Rev)] = s
	if s.Status.Ended() {
		a.ends[id] = a.ordinal
	}
}

// node checks what a transition does to one node.
func (a *audit) node(s *engine.State, n *engine.Node, was, is engine.Progress, changes []runnertest.Revision) {
	name := s.RunID() + " " + n.Name
	a.forward(name, s, n, was, is)
	if n.Gate != nil && !slices.Contains(s.Carried, n.Name) {
		a.gate(name, n.Gate, was, is)
	}
	settles := is.Phase.Settled() && !was.Phase.Settled() && is.Phase != engine.Skipped && s.Rev > 1
	if settles && is.Out != "" && !slices.ContainsFunc(changes, func(d runnertest.Revision) bool {
		return d.Path == "estimates/"+s.EstimateID+"/agentOutputs/"+n.Name
	}) {
		a.bad("I12", "%s is %s without its output", name, is.Phase)
	}
	if was.Phase == engine.Fanning && is.Phase != engine.Fanning && !s.Status.Ended() {
		key := fmt.Sprintf("%s.%d", name, is.Attempt)
		if a.joined[key]++; a.joined[key] > 1 {
			a.bad("I15", "%s joins again", key)
		}
	}
	if is.Phase == engine.Waiting && was.Phase != engine.Waiting {
		a.waits(s, n)
	}
}

// forward checks that a node goes forward, and not before its needs: I3, I5.
func (a *audit) forward(name string, s *engine.State, n *engine.Node, was, is engine.Progress) {
	if is.Attempt < was.Attempt || was.Phase.Settled() && was.Phase != is.Phase {
		a.bad("I3", "%s goes back from %s, attempt %d, to %s, attempt %d", name, was.Phase, was.Attempt, is.Phase, is.Attempt)
	}
	if was.Phase != engine.Blocked || is.Phase == engine.Blocked {
		return
	}
	for _, need := range n.Needs {
		if !s.Nodes[need].Phase.Settled() {
			a.bad("I5", "%s begins and %s has not settled", name, need)
		}
	}
}

// gate checks the quality attempts of a node: I7, I8, I9.
func (a *audit) gate(name string, g *engine.Gate, was, is engine.Progress) {
	if is.Attempt != was.Attempt && was.Phase != engine.Critiquing {
		a.bad("I8", "%s goes from attempt %d to %d while it is %s", name, was.Attempt, is.Attempt, was.Phase)
	}
	if is.Attempt > g.Retries || len(is.Scores) > g.Retries+1 {
		a.bad("I7", "%s is at attempt %d with %d scores, %d retries are allowed", name, is.Attempt, len(is.Scores), g.Retries)
	}
	if is.Phase == engine.Critiquing && is.Attempt == g.Retries {
		a.bad("I7", "%s is criticized after its last attempt", name)
	}
	passes := is.Phase == engine.Passed && was.Phase != engine.Passed
	if passes && (len(is.Scores) != is.Attempt+1 || is.Scores[is.Attempt] < g.Threshold || is.Best != is.Attempt) {
		a.bad("I9", "%s passes at attempt %d with scores %v", name, is.Attempt, is.Scores)
	}
}

// waits checks that nobody works on a node that waits for a person: I19.
func (a *audit) waits(s *engine.State, n *engine.Node) {
	now := map[string]bool{} // finished in this very commit
	for _, d := range a.commit.Changes {
		if step, ok := d.Step(); ok && (step.Finished() || step.Lease == 0) {
			now[d.Path] = true
		}
	}
	for path, h := range a.steps {
		ref, _ := h.step.ID.Ref()
		if h.step.Run == s.RunID() && ref.Node == n.Name && !h.step.Finished() && h.step.Lease > 0 && !now[path] {
			a.bad("I19", "%s waits for a person and %s is claimed", n.Name, path)
		}
	}
}

// tries checks that a transport failure changes no node: I8.
func (a *audit) tries(before, s *engine.State) {
	for id, step := range s.Open {
		if was, open := before.Open[id]; open && step.Tries > was.Tries && !same(before.Nodes, s.Nodes) {
			a.bad("I8", "%s: a failed try of %s changes its node", s.RunID(), id)
		}
	}
}

// same compares two values as JSON.
func same(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
