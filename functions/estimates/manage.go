package estimates

import (
	"context"
	"fmt"
	"maps"

	"truecost.dev/shared/callable"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

// private are the fields of an estimate that are for the engine or too large
// for a status.
var private = []string{"clarificationOutput", "clarificationOutputEncoding", "userId"}

// status returns what a frontend without a listener needs: the pipeline's
// status at the top level, every output there is, and, once complete, the
// integration fields and every cost item.
func (p Ports) status(ctx context.Context, call callable.Call) (any, error) {
	req, user, err := decode(call)
	if err == nil {
		err = req.needID()
	}
	if err != nil {
		return nil, err
	}
	store, doc, err := p.owned(ctx, req.EstimateID, user)
	if err != nil {
		return nil, err
	}
	doc = maps.Clone(doc)
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

// cancel ends the run of an estimate. Canceling twice is the same as once.
func (p Ports) cancel(ctx context.Context, call callable.Call) (any, error) {
	req, user, err := decode(call)
	if err == nil {
		err = req.needID()
	}
	if err != nil {
		return nil, err
	}
	if _, _, err := p.owned(ctx, req.EstimateID, user); err != nil {
		return nil, err
	}
	r, err := p.Runner()
	if err != nil {
		return nil, err
	}
	if err := r.Cancel(ctx, engine.RunID(req.EstimateID, 1), user); err != nil {
		return nil, err
	}
	return success(map[string]any{"estimateId": req.EstimateID, "status": "canceled"})
}

// delete removes an estimate; a run in flight is canceled first.
func (p Ports) delete(ctx context.Context, call callable.Call) (any, error) {
	req, user, err := decode(call)
	if err == nil {
		err = req.needID()
	}
	if err != nil {
		return nil, err
	}
	store, _, err := p.owned(ctx, req.EstimateID, user)
	if err != nil {
		return nil, err
	}
	r, err := p.Runner()
	if err != nil {
		return nil, err
	}
	switch err := r.Cancel(ctx, engine.RunID(req.EstimateID, 1), user); fault.KindOf(err) {
	case "", fault.Conflict, fault.NotFound: // canceled, ended before, or already gone
	default:
		return nil, err
	}
	if err := store.Delete(ctx, req.EstimateID); err != nil {
		return nil, fmt.Errorf("delete %s: %w", req.EstimateID, err)
	}
	return success(map[string]any{"deleted": true, "estimateId": req.EstimateID})
}
