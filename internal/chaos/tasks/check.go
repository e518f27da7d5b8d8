package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/internal/chaos/ledger"
	"truecost.dev/internal/chaos/tasks/walk"
	"truecost.dev/shared/a2a/task"
)

// mostTries is how often a turn is begun before it is failed for good.
const mostTries = 3

// tally counts what was checked.
type tally struct {
	tasks, events int
	takeovers     int // runs beyond the first of a task
	givenUp       int // tasks that were cut off too often
	canceled      int
	again         int // requests
	by            map[way]int
}

// checkAll checks the stored task of every errand, and the ledgers.
func (w *world) checkAll(ctx context.Context, errands []*errand) tally {
	t := tally{by: map[way]int{}}
	tries := map[string]int{}
	for _, e := range errands {
		t.by[e.way]++
		t.again += e.again
		r, err := w.tasks.Get(ctx, walk.Name, e.task)
		if err != nil {
			w.Broke("end", e.id, "%s: %v", e.way, err)
			continue
		}
		log, err := w.readLog(ctx, r)
		if err != nil {
			w.Broke("log", e.id, "%v", err)
			continue
		}
		t.tasks++
		t.events += len(log)
		t.takeovers += max(0, r.Tries-1)
		tries[string(e.task)] = r.Tries
		e.check(r, log, &t)
	}
	w.checkLedgers(tries)
	return t
}

// readLog reads the log of a task to its end.
func (w *world) readLog(ctx context.Context, r task.Record) ([]task.Entry, error) {
	var log []task.Entry
	for int64(len(log)) < r.Seq {
		more, err := w.tasks.Log(ctx, r.Agent, r.ID, int64(len(log)))
		if err != nil {
			return nil, err
		}
		if len(more) == 0 {
			return nil, fmt.Errorf("the log ends with event %d, the task has %d", len(log), r.Seq)
		}
		for _, e := range more {
			if e.Seq != int64(len(log))+1 {
				return nil, fmt.Errorf("event %d stands where %d belongs", e.Seq, len(log)+1)
			}
			log = append(log, e)
		}
	}
	return log, nil
}

// check holds a task and its log to what was sent and heard.
func (e *errand) check(r task.Record, log []task.Entry, t *tally) {
	text, ends := "", 0
	for i, entry := range log {
		written, err := task.EncodeEvent(entry.Event)
		if err != nil {
			e.Broke("log", e.id, "event %d: %v", entry.Seq, err)
		}
		if heard, ok := e.heard[modern+" "+strconv.FormatInt(entry.Seq, 10)]; ok && heard != string(written) {
			e.Broke("frames", e.id, "event %d is %s in the log, and was heard as %s", entry.Seq, written, heard)
		}
		switch ev := entry.Event.(type) {
		case *sdk.TaskArtifactUpdateEvent:
			if !ev.Append {
				text = ""
			}
			text += textOf(ev.Artifact)
		case *sdk.TaskStatusUpdateEvent:
			if ev.Status.State.Terminal() {
				ends++
				if i < len(log)-1 || ev.Status.State != r.Task.Status.State {
					e.Broke("log", e.id, "event %d of %d says %s, the task is %s", entry.Seq, len(log), ev.Status.State, r.Task.Status.State)
				}
			}
		}
	}
	if ends != 1 {
		e.Broke("log", e.id, "%d terminal events in the log of a task in %s", ends, r.Task.Status.State)
	}
	var parts []string
	for _, a := range r.Task.Artifacts {
		parts = append(parts, textOf(a))
	}
	stored := strings.Join(parts, "")
	if stored != text {
		e.Broke("task", e.id, "it has %q, its events make %q", stored, text)
	}
	e.checkEnd(r, stored, t)
}

// checkEnd compares the end of a task with what was to come of its message.
func (e *errand) checkEnd(r task.Record, text string, t *tally) {
	switch state := r.Task.Status.State; {
	case state == sdk.TaskStateCanceled && e.cancels:
		t.canceled++
	case state == sdk.TaskStateFailed && r.Tries >= mostTries && !e.plan.Stumble:
		t.givenUp++
	case state == sdk.TaskStateFailed && e.plan.Stumble, state == sdk.TaskStateCompleted && !e.plan.Stumble:
		if state == sdk.TaskStateCompleted && !e.oneWalk(text, r.Tries) {
			e.Broke("task", e.id, "%q is not the walk of one run of %d steps", text, e.plan.Steps)
		}
	default:
		e.Broke("end", e.id, "%s, stumbles %v: it is %s after %d tries", e.way, e.plan.Stumble, state, r.Tries)
	}
}

// oneWalk reports whether a text was made by one run from its first step to its
// last.
func (e *errand) oneWalk(text string, tries int) bool {
	for try := 1; try <= tries; try++ {
		if text == walk.Walked(try, e.plan.Steps) {
			return true
		}
	}
	return false
}

func textOf(a *sdk.Artifact) string {
	var b strings.Builder
	for _, p := range a.Parts {
		b.WriteString(p.Text())
	}
	return b.String()
}

// begun is where a run was begun.
type begun struct{ walker, boot int }

// checkLedgers checks that no run was begun twice, and that only what was cut off
// by a death was begun again.
func (w *world) checkLedgers(tries map[string]int) {
	runs := map[string]begun{}
	boots := make([]int, len(w.walkers))
	for i := range w.walkers {
		entries, err := ledger.Read(w.ledgerPath(i))
		if err != nil {
			w.Broke("once", w.walkers[i].Name, "%v", err)
		}
		for _, entry := range entries {
			switch entry.Kind {
			case ledger.Boot:
				boots[i]++
			case ledger.Begin:
				if _, twice := runs[entry.Call]; twice {
					w.Broke("once", entry.Call, "begun twice")
				}
				runs[entry.Call] = begun{i, entry.Boot}
			default:
			}
		}
	}
	for run, where := range runs {
		id, number, _ := strings.Cut(run, "#")
		try, err := strconv.Atoi(number)
		if err != nil || try > tries[id] {
			w.Broke("once", run, "begun, and the task knows of %d tries", tries[id])
		}
		cut := where.boot < boots[where.walker] || w.walkers[where.walker].Stops() > 0
		if try < tries[id] && !cut {
			w.Broke("once", run, "begun again, and %s lives since", w.walkers[where.walker].Name)
		}
	}
}
