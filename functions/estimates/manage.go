package estimates

import (
	"context"
	"fmt"
	"maps"

	"truecost.dev/shared/callable"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// private are the fields of an estimate that are for the engine or too large
// for a status.
var private = []string{"clarificationOutput", "clarificationOutputEncoding", "userId"}

// status returns what a frontend without a listener needs: the pipeline's
// status at the top level, every output there is, and, once complete, the
// integration fields and every cost item.
func (p Ports) status(ctx context.Context, call callable.Call) (any, error) {
	var req subject
	user, err := decode(call, &req)
	if err == nil {
		err = req.needEstimate()
	}
	if err != nil {
		return nil, err
	}
	store, doc, err := p.owned(ctx, req.EstimateID, user)
	if err != nil {
		return nil, err
	}
	doc = maps.Clone(doc)
	doc["runId"] = current(req.EstimateID, doc)
	pipeline, _ := doc["pipelineStatus"].(map[string]any)
	delete(doc, "pipelineStatus")
	for _, name := range private {
		delete(doc, name)
	}
	maps.Copy(doc, pipeline)
	doc["estimateId"] = req.EstimateID
	if final, ok := doc["finalOutput"].(map[string]any); ok && doc["status"] == "complete" {
		items, err := store.Items(ctx, req.EstimateID, "costItems")
		if err != nil {
			return nil, fmt.Errorf("items of %s: %w", req.EstimateID, err)
		}
		final = maps.Clone(final)
		final["granularCostItems"] = map[string]any{
			"count": len(items), "collectionPath": "estimates/" + req.EstimateID + "/costItems", "items": items,
		}
		doc["finalOutput"] = final
	}
	return success(doc)
}

// cancel ends a run. Canceling twice is the same as once.
func (p Ports) cancel(ctx context.Context, call callable.Call) (any, error) {
	var req subject
	user, err := decode(call, &req)
	if err == nil {
		err = req.needRun()
	}
	if err != nil {
		return nil, err
	}
	run, err := p.act(ctx, req, user, func(r *runner.Runner, run runner.Run) error {
		return r.Cancel(ctx, run.RunID(), user)
	})
	if err != nil {
		return nil, err
	}
	return success(map[string]any{"estimateId": run.EstimateID, "runId": run.RunID(), "status": "canceled"})
}

// delete removes an estimate; a run in flight is canceled first.
func (p Ports) delete(ctx context.Context, call callable.Call) (any, error) {
	var req subject
	user, err := decode(call, &req)
	if err == nil {
		err = req.needEstimate()
	}
	if err != nil {
		return nil, err
	}
	store, doc, err := p.owned(ctx, req.EstimateID, user)
	if err != nil {
		return nil, err
	}
	r, err := p.Runner()
	if err != nil {
		return nil, err
	}
	switch err := r.Cancel(ctx, current(req.EstimateID, doc), user); fault.KindOf(err) {
	case "", fault.Conflict, fault.NotFound: // canceled, ended before, or already gone
	default:
		return nil, err
	}
	if err := store.Delete(ctx, req.EstimateID); err != nil {
		return nil, fmt.Errorf("delete %s: %w", req.EstimateID, err)
	}
	return success(map[string]any{"deleted": true, "estimateId": req.EstimateID})
}
