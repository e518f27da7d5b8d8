package estimates

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"

	"truecost.dev/shared/callable"
	"truecost.dev/shared/runner"
)

var nodeName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// retry tries a failed or canceled run again, as a new run that keeps what had
// passed. Trying the same run twice is the same as once.
func (p Ports) retry(ctx context.Context, call callable.Call) (any, error) {
	var req struct {
		subject
		From string          `json:"from"` // node to begin with; empty: what failed
		Edit json.RawMessage `json:"edit"` // members that replace what the node reads
	}
	user, err := decode(call, &req)
	if err == nil {
		err = req.needRun()
	}
	switch {
	case err != nil:
	case req.From != "" && !nodeName.MatchString(req.From):
		err = wanted("from", "the name of a node, as cost")
	case absent(req.Edit):
		req.Edit = nil
	case !bytes.HasPrefix(req.Edit, []byte("{")):
		err = wanted("edit", "an object whose members replace inputs of the node")
	default:
		err = given("edit", req.Edit)
	}
	if err != nil {
		return nil, err
	}
	var id string
	run, err := p.act(ctx, req.subject, user, func(r *runner.Runner, run runner.Run) error {
		var err error
		id, err = r.Retry(ctx, runner.RetryRequest{Run: run.RunID(), By: user, From: req.From, Edit: req.Edit})
		return err
	})
	if err != nil {
		return nil, err
	}
	return success(map[string]any{"estimateId": run.EstimateID, "runId": id, "parent": run.RunID(), "status": "processing"})
}
