package main

import (
	"context"
	"fmt"
	"slices"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

// maxDocument is what a document may have, in bytes of JSON.
const maxDocument = 1 << 20

// unchanged wants the documents of a run that was seen ended as they were then.
// Outputs belong to the latest run, which may go on with those of the others.
func (p *person) unchanged(ctx context.Context, i int, latest bool) error {
	seen := p.runs[i]
	now, err := p.versions(ctx, seen.id)
	if err != nil {
		return fmt.Errorf("documents of %s: %w", seen.id, err)
	}
	for path, then := range seen.written {
		if path != p.db.Doc("runs/"+seen.id).Path && !latest {
			continue
		}
		if !now[path].Equal(then) {
			p.Broke("I2", seen.id, "%s was written at %v, after its end", path, now[path])
		}
	}
	if latest && len(now) != len(seen.written) {
		p.Broke("I2", seen.id, "%d documents at its end, %d now", len(seen.written), len(now))
	}
	return nil
}

// shown wants what a frontend sees of the latest run to be what the run is, and
// the outputs to be those of the best attempts.
func (p *person) shown(ctx context.Context, r *record) error {
	doc, err := p.docs.Estimate(ctx, p.id)
	if err != nil {
		return fmt.Errorf("estimate of %s: %w", r.id, err)
	}
	if size := len(encoded(doc)); size > maxDocument {
		r.broken("I17", "the estimate has %d bytes", size)
	}
	want := engine.Project(r.history.Flow, r.run.State)
	got, _ := doc["pipelineStatus"].(map[string]any)
	for name, value := range map[string]any{
		"rev": want.Rev, "run": want.Run, "progress": want.Progress, "completedAgents": want.CompletedAgents, "scores": want.Scores,
		"retries": want.Retries, "agentStatuses": want.AgentStatuses, "currentAgent": want.CurrentAgent, "currentAgents": want.CurrentAgents,
	} {
		if encoded(got[name]) != encoded(value) {
			r.broken("I11", "the view has %s %s, the run %s", name, encoded(got[name]), encoded(value))
		}
	}
	if doc["status"] != want.Status {
		r.broken("I11", "the estimate is %v, the run %s", doc["status"], r.run.Status)
	}
	return p.outputs(ctx, r)
}

// outputs wants one output of each node that has one, of the attempt it says.
func (p *person) outputs(ctx context.Context, r *record) error {
	stored, err := p.db.Collection("estimates/" + p.id + "/agentOutputs").Documents(ctx).GetAll()
	if err != nil {
		return fmt.Errorf("outputs of %s: %w", r.id, err)
	}
	var names []string
	for _, doc := range stored {
		names = append(names, doc.Ref.ID)
	}
	for _, n := range r.history.Flow.Nodes {
		progress := r.run.Nodes[n.Name]
		visible := progress.Phase.Settled() || progress.Phase == engine.NodeFailed && progress.Out != ""
		if !visible {
			// The attempt at hand when a run was canceled is not shown; one that an
			// earlier run failed with stays.
			if slices.Contains(names, n.Name) && r.run.N == 1 {
				r.broken("I12", "%s has an output and is %s", n.Name, progress.Phase)
			}
			continue
		}
		run := r.id
		if progress.From != "" {
			run = progress.From
		}
		output, err := p.docs.Output(ctx, p.id, n.Name)
		if err != nil {
			r.broken("I21", "the output of %s: %v", n.Name, err)
			continue
		}
		if got, want := callOf(output), runner.CallID(run, progress.Out); got != want {
			r.broken("I12", "the output of %s is of call %q, want that of %s/%s", n.Name, got, run, progress.Out)
		}
	}
	return nil
}
