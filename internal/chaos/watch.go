package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"cloud.google.com/go/firestore"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

const lookEvery = 800 * time.Millisecond

// A watched run is what was seen of it so far.
type watched struct {
	id      string
	run     runner.Run // zero: not seen
	view    view
	written map[string]time.Time // once it has ended: when its documents were written last, by path
}

// view is what a frontend sees of an estimate.
type view struct {
	Run, Rev, Progress int
}

// watch follows a run until it has ended, and every look at it is checked.
func (p *person) watch(ctx context.Context, n int) error {
	w := &watched{id: engine.RunID(p.id, n)}
	p.runs = append(p.runs, w)
	for {
		ended, err := p.look(ctx, w)
		if ended {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s has not ended: %w", w.id, errors.Join(ctx.Err(), err))
		case <-time.After(lookEvery):
		}
	}
}

// look reads the view and then the run. A store that is away is looked at again.
func (p *person) look(ctx context.Context, w *watched) (ended bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	v, err := p.readView(ctx)
	if err != nil {
		return false, err
	}
	run, err := p.docs.Run(ctx, w.id)
	if fault.KindOf(err) == fault.NotFound {
		p.Broke("start", w.id, "its start was answered, and it is not stored")
	}
	if err != nil {
		return false, err
	}
	flow, err := p.flow(ctx, run.Flow)
	if err != nil {
		return false, err
	}
	p.compare(w, flow, &run, v)
	w.run, w.view = run, v
	if !run.Status.Ended() {
		return false, nil
	}
	w.written, err = p.versions(ctx, w.id)
	return err == nil, err
}

func (p *person) readView(ctx context.Context) (v view, err error) {
	// The whole document has every output on it.
	docs, err := p.db.Collection("estimates").Where(firestore.DocumentID, "==", p.db.Doc("estimates/"+p.id)).
		Select("pipelineStatus").Documents(ctx).GetAll()
	if err != nil {
		return v, err
	}
	if len(docs) == 0 {
		p.Broke("start", p.id, "its start was answered, and there is no estimate")
		return v, fault.New(fault.NotFound, "no estimate %s", p.id)
	}
	var d struct {
		Pipeline struct {
			Run      int `firestore:"run"`
			Rev      int `firestore:"rev"`
			Progress int `firestore:"progress"`
		} `firestore:"pipelineStatus"`
	}
	err = docs[0].DataTo(&d)
	return view{d.Pipeline.Run, d.Pipeline.Rev, d.Pipeline.Progress}, err
}

// compare holds a look at a run against the one before.
func (p *person) compare(w *watched, flow *engine.Flow, run *runner.Run, v view) {
	if open := engine.Open(flow, run.State); encoded(open) != encoded(run.Open) {
		p.Broke("I4", w.id, "open at rev %d is %s, want %s", run.Rev, encoded(run.Open), encoded(open))
	}
	if v.Run == run.N && v.Rev > run.Rev {
		p.Broke("I12", w.id, "the view shows rev %d of a run at %d", v.Rev, run.Rev)
	}
	if size := len(encoded(run)); size > maxRun {
		p.Broke("I17", w.id, "the run has %d bytes", size)
	}
	if w.run.Rev == 0 {
		return
	}
	if w.view.Run == v.Run && (v.Rev < w.view.Rev || v.Progress < w.view.Progress) {
		p.Broke("I11", w.id, "the view fell from rev %d, %d %% to rev %d, %d %%", w.view.Rev, w.view.Progress, v.Rev, v.Progress)
	}
	if run.Rev < w.run.Rev {
		p.Broke("I3", w.id, "rev fell from %d to %d", w.run.Rev, run.Rev)
	}
	for name, was := range w.run.Nodes {
		is := run.Nodes[name]
		if is.Attempt < was.Attempt || len(is.Scores) < len(was.Scores) || was.Phase.Settled() && is.Phase != was.Phase {
			p.Broke("I3", w.id, "%s went from %s, attempt %d to %s, attempt %d", name, was.Phase, was.Attempt, is.Phase, is.Attempt)
		}
	}
}

// maxRun bounds the document of a run, in bytes.
const maxRun = 100 << 10

// versions returns when the documents of a run that has ended were last written:
// of the run, and of the outputs it shows.
func (p *person) versions(ctx context.Context, run string) (map[string]time.Time, error) {
	doc, err := p.db.Doc("runs/" + run).Get(ctx)
	if err != nil {
		return nil, err
	}
	written := map[string]time.Time{doc.Ref.Path: doc.UpdateTime}
	outputs, err := p.db.Collection("estimates/" + p.id + "/agentOutputs").Documents(ctx).GetAll()
	for _, o := range outputs {
		written[o.Ref.Path] = o.UpdateTime
	}
	return written, err
}

// encoded is JSON, in which maps have an order.
func encoded(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
