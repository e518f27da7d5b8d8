package estimates

import (
	"context"

	"truecost.dev/shared/callable"
	"truecost.dev/shared/runner"
)

// maxReason is how much of a reason the run keeps, in bytes.
const maxReason = 500

// hold keeps a run from opening new steps; calls in flight are finished and
// recorded. Holding twice is the same as once.
func (p Ports) hold(ctx context.Context, call callable.Call) (any, error) {
	var req struct {
		subject
		Reason string `json:"reason"`
	}
	user, err := decode(call, &req)
	if err == nil {
		err = req.needRun()
	}
	if err == nil && len(req.Reason) > maxReason {
		err = wanted("reason", "at most 500 bytes")
	}
	if err != nil {
		return nil, err
	}
	run, err := p.act(ctx, req.subject, user, func(r *runner.Runner, run runner.Run) error {
		return r.Hold(ctx, run.RunID(), user, req.Reason)
	})
	return held(run, true, err)
}

// resume ends a hold. Resuming what is not held changes nothing.
func (p Ports) resume(ctx context.Context, call callable.Call) (any, error) {
	var req subject
	user, err := decode(call, &req)
	if err == nil {
		err = req.needRun()
	}
	if err != nil {
		return nil, err
	}
	run, err := p.act(ctx, req, user, func(r *runner.Runner, run runner.Run) error {
		return r.Resume(ctx, run.RunID(), user)
	})
	return held(run, false, err)
}

func held(run runner.Run, held bool, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return success(map[string]any{"estimateId": run.EstimateID, "runId": run.RunID(), "held": held})
}
