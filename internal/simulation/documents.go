package simulation

import (
	"fmt"
	"slices"
	"strings"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
)

// What is checked of shards, questions and the estimate.

// shard checks one write of a shard: I15, I16.
func (a *audit) shard(path string, s runner.Shard, changes []runnertest.Revision) {
	run, name, _ := strings.Cut(strings.TrimPrefix(path, "runs/"), "/shards/")
	node, attempt, _ := strings.Cut(name, ".")
	attempt, _, _ = strings.Cut(attempt, ".")
	was, there := a.shards[path]
	if there {
		for i := range s.Size {
			if was.Done[i/8]>>(i%8)&1 == 1 && s.Done[i/8]>>(i%8)&1 == 0 {
				a.bad("I15", "%s forgets chunk %d", path, s.From+i)
			}
		}
		if was.Complete && !s.Complete {
			a.bad("I15", "%s is complete no more", path)
		}
		if !slices.ContainsFunc(changes, func(d runnertest.Revision) bool { _, ok := d.Step(); return ok }) {
			a.bad("I16", "%s is written without a step", path)
		}
	}
	a.shards[path] = s
	for _, f := range s.InFlight {
		a.opened[fmt.Sprintf("%s/%s.%s.k%d", run, node, attempt, f.Chunk)] = true
	}
	flying := 0
	for other, o := range a.shards {
		if strings.HasPrefix(other, "runs/"+run+"/shards/"+node+"."+attempt+".") {
			flying += len(o.InFlight)
		}
	}
	if most := a.flow.Node(node).FanOut.MaxParallel; flying > most {
		a.bad("I15", "%d chunks of %s are in flight, at most %d may be", flying, node, most)
	}
}

// input checks that an answer is given once: I19.
func (a *audit) input(d runnertest.Revision) {
	if before, there := a.inputs[d.Path]; there {
		was, _ := before.Input()
		if was.Decision != "" {
			a.bad("I19", "%s had its answer and changes", d.Path)
		}
	}
	a.inputs[d.Path] = d
}

// estimate checks what frontends see: I2, I11.
func (a *audit) estimate(e *runnertest.Estimate, run *engine.State) {
	last, v := a.view, &e.View
	a.view = e
	if last != nil {
		a.grows(&last.View, v)
	}
	id := engine.RunID(estimate, v.Run)
	if run == nil {
		only := *e
		only.Chunks = last.Chunks // how far a fan-out is, is for the eye alone
		if end, ended := a.ends[id]; ended && end < a.ordinal && !same(only, last) {
			a.bad("I2", "the estimate changes after the end of %s", id)
		}
		return
	}
	if run.RunID() != id {
		a.bad("I11", "a commit of %s shows %s", run.RunID(), id)
	}
	shown := v.Rev == run.Rev
	if must := run.Status.Ended() || run.Status == engine.WaitingInput; must && !shown {
		a.bad("I11", "the view of %s at rev %d shows rev %d", run.Status, run.Rev, v.Rev)
	}
	if want := engine.Project(a.flow, *run); shown && !same(want, v) {
		a.bad("I11", "the view is not that of rev %d", v.Rev)
	}
}

// grows checks that frontends never see an older state: I3, I11.
func (a *audit) grows(was, is *engine.View) {
	switch {
	case is.Run < was.Run:
		a.bad("I11", "the view goes from run %d to %d", was.Run, is.Run)
	case is.Run > was.Run:
	case is.Rev < was.Rev:
		a.bad("I11", "the view goes from rev %d to %d", was.Rev, is.Rev)
	case is.Progress < was.Progress:
		a.bad("I3", "the progress goes from %d to %d", was.Progress, is.Progress)
	}
}
