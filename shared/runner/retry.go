package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

// editKind marks an Input that replaces members of what a node reads.
const editKind = "edit"

// RetryRequest asks for a run that tries another one again.
type RetryRequest struct {
	Run  string
	By   string
	From string          // node to work anew, with everything that needs it; empty: what did not settle
	Edit json.RawMessage // object whose members replace inputs of that node; nil: none
}

// Retry begins a new run that carries over what a run that ended has settled,
// and returns its id. The run that is tried again stays as it is, and no carried
// node is called. The same request again gives the same run. fault.Conflict
// while the run goes on, when it completed and no node is named, and when
// another retry of it has ended already; fault.Exhausted when the owner has reached a
// limit.
func (r *Runner) Retry(ctx context.Context, req RetryRequest) (string, error) {
	parent, p, err := r.load(ctx, req.Run)
	if err != nil {
		return "", err
	}
	node, err := again(p.Flow, &parent, req.From)
	if err != nil {
		return "", err
	}
	start := engine.Started{
		EstimateID: parent.EstimateID, Owner: parent.Owner, Project: parent.Project, N: parent.N + 1,
		Input: parent.Input, Facts: parent.Facts, Parent: req.Run, Carried: carried(p.Flow, &parent, req.From),
	}
	var edits []Input
	if len(req.Edit) > 0 {
		edit, err := edited(req, node, engine.RunID(parent.EstimateID, start.N))
		if err != nil {
			return "", err
		}
		edit.AnsweredAt = new(r.Now())
		edit.AskedAt = *edit.AnsweredAt
		start.Edits = map[string]string{node: edit.ID}
		edits = append(edits, edit)
	}
	state, effects, verdict := engine.Next(p.Flow, engine.State{}, start, r.moment())
	if verdict != engine.Applied {
		return "", fault.New(fault.Internal, "retry of %s is %s", req.Run, verdict)
	}
	c := r.change(p, Run{State: state, Shown: parent.Shown}, effects)
	c.Start = &NewEstimate{Keep: true}
	c.Inputs = append(c.Inputs, edits...)
	if limit := r.limit(ctx, parent.Owner); limit != nil {
		// Asking again for a retry that is at work is no new start.
		if id, err := r.retried(ctx, req, &state, edits); err == nil {
			return id, nil
		}
		return "", limit
	}
	switch err := r.Store.Commit(ctx, c); fault.KindOf(err) {
	case "":
		return state.RunID(), r.publish(ctx, p.Flow, &state, effects.Publish)
	case fault.Conflict:
		return r.retried(ctx, req, &state, edits)
	default:
		return "", fmt.Errorf("create run %s: %w", state.RunID(), err)
	}
}

// retried answers a retry whose run exists already.
func (r *Runner) retried(ctx context.Context, req RetryRequest, wanted *engine.State, edits []Input) (string, error) {
	run, p, err := r.load(ctx, wanted.RunID())
	if err != nil {
		return "", err
	}
	same := slices.Equal(run.Carried, wanted.Carried) && maps.Equal(run.Edits, wanted.Edits)
	for _, edit := range edits {
		stored, err := r.Store.Inputs(ctx, run.RunID(), edit.ID)
		if err != nil {
			return "", fmt.Errorf("load the edit of %s: %w", run.RunID(), err)
		}
		same = same && len(stored) == 1 && bytes.Equal(stored[0].Answer, edit.Answer)
	}
	switch {
	case run.Status.Ended():
		return "", fault.New(fault.Conflict, "%s was tried again before, as %s, which has ended: %s", req.Run, run.RunID(), run.Status)
	case !same:
		return "", fault.New(fault.Conflict, "%s is tried again already, as %s", req.Run, run.RunID())
	}
	return run.RunID(), r.publish(ctx, p.Flow, &run.State, r.due(&run.State, 0))
}

// again returns the node that a retry is about: the one named, or else the one
// that the run failed at, or the first that had not settled.
func again(f *engine.Flow, parent *Run, from string) (string, error) {
	switch {
	case !parent.Status.Ended():
		return "", fault.New(fault.Conflict, "the run %s has not ended; cancel it first", parent.RunID())
	case from != "" && f.Node(from) == nil:
		return "", fault.New(fault.Invalid, "from: there is no node %q", from)
	case from != "":
		return from, nil
	case parent.Status == engine.Completed:
		return "", fault.New(fault.Conflict, "the run %s is complete; name the node to work anew", parent.RunID())
	case parent.Error != nil && f.Node(parent.Error.Agent) != nil:
		return parent.Error.Agent, nil
	}
	for _, n := range f.Nodes {
		if !parent.Nodes[n.Name].Phase.Settled() {
			return n.Name, nil
		}
	}
	return "", fault.New(fault.Conflict, "the run %s left nothing to do", parent.RunID())
}

// carried returns what the nodes that need not work again came to.
func carried(f *engine.Flow, parent *Run, from string) map[string]engine.Progress {
	anew := map[string]bool{from: true}
	for _, name := range f.Below(from) {
		anew[name] = true
	}
	all := map[string]engine.Progress{}
	for _, n := range f.Nodes {
		p := parent.Nodes[n.Name]
		if anew[n.Name] || !p.Phase.Settled() {
			continue
		}
		if p.From == "" {
			p.From = parent.RunID()
		}
		p.Turn, p.Ask, p.Fan, p.Made, p.Last = 0, nil, nil, "", ""
		all[n.Name] = p
	}
	return all
}

func edited(req RetryRequest, node, run string) (Input, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(req.Edit, &members); err != nil || members == nil {
		return Input{}, fault.Wrap(fault.Invalid, err, "edit: wanted an object")
	}
	edit, err := Canonical(req.Edit)
	if err != nil {
		return Input{}, err
	}
	return Input{
		Run: run, ID: node + ".edit", Node: node, Kind: editKind,
		Decision: engine.Answer, Answer: edit, AnsweredBy: req.By,
	}, nil
}
