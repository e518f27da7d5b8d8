package runner

import (
	"context"
	"encoding/json"
	"fmt"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

// StartRequest asks for a first run of an estimate. The clarified scope has
// been validated.
type StartRequest struct {
	EstimateID    string
	Owner         string
	Project       string
	Input         string // hash that tells a repeated request from another one
	Clarification json.RawMessage
	Fields        map[string]any // further root fields of the new estimate
}

// Start creates estimate and run in one commit and publishes the first steps.
// It is idempotent: the same request again, by the same owner, changes nothing
// and makes sure that the run goes on. fault.Conflict when the id is taken by
// another request or another owner.
func (r *Runner) Start(ctx context.Context, req StartRequest) error {
	p := &r.Pipelines[0]
	state, effects, verdict := engine.Next(p.Flow, engine.State{}, engine.Started{
		EstimateID: req.EstimateID, Owner: req.Owner, Project: req.Project, N: 1, Input: req.Input,
	}, r.Now())
	if verdict != engine.Applied {
		return fault.New(fault.Internal, "start of %s is %s", req.EstimateID, verdict)
	}
	view := engine.Project(p.Flow, state)
	err := r.Store.Commit(ctx, Commit{
		Run:   Run{State: state},
		Start: &NewEstimate{Clarification: req.Clarification, Fields: req.Fields},
		View:  &view,
	})
	if fault.KindOf(err) == fault.Conflict {
		return r.startAgain(ctx, req)
	}
	if err != nil {
		return fmt.Errorf("create run of %s: %w", req.EstimateID, err)
	}
	if err := r.publish(ctx, p.Flow, &state, effects.Publish); err != nil {
		return fmt.Errorf("publish first steps of %s: %w", req.EstimateID, err)
	}
	return nil
}

func (r *Runner) startAgain(ctx context.Context, req StartRequest) error {
	taken := fault.New(fault.Conflict, "estimate %s exists already", req.EstimateID)
	run, err := r.Store.Run(ctx, engine.RunID(req.EstimateID, 1))
	if fault.KindOf(err) == fault.NotFound {
		return taken
	}
	if err != nil {
		return fmt.Errorf("load run of %s: %w", req.EstimateID, err)
	}
	switch {
	case run.Owner != req.Owner:
		return taken
	case run.Input != req.Input:
		return fault.New(fault.Conflict, "estimate %s was started with another input; use a new id", req.EstimateID)
	case run.Status.Ended():
		return nil
	}
	p, err := r.pipeline(run.Flow)
	if err != nil {
		return err
	}
	// The first caller may have died between its commit and its publish, so the
	// open steps go out at once, however young: a duplicate costs a read.
	return r.publish(ctx, p.Flow, &run.State, keys(run.Open))
}

// Cancel ends a run by its owner's wish. Canceling twice is the same as once;
// fault.Conflict when the run has ended otherwise.
func (r *Runner) Cancel(ctx context.Context, runID, by string) error {
	for range commitTries {
		run, p, err := r.load(ctx, runID)
		if err != nil {
			return err
		}
		switch {
		case run.Status == engine.Canceled:
			return nil
		case run.Status.Ended():
			return fault.New(fault.Conflict, "the run has ended: %s", run.Status)
		}
		if err := r.control(ctx, p, run, engine.CancelRequested{By: by}); fault.KindOf(err) != fault.Conflict {
			return err
		}
		if err := r.Sleep(ctx, jitter(commitPause)); err != nil {
			return err
		}
	}
	return fault.New(fault.Unavailable, "the run is busy; try again")
}

// control commits an event that no step brought: a cancel, a deadline. The
// claims of calls in flight are touched, so their next heartbeat is refused.
func (r *Runner) control(ctx context.Context, p *Pipeline, run Run, e engine.Event) error {
	state, effects, verdict := engine.Next(p.Flow, run.State, e, r.Now())
	if verdict != engine.Applied {
		return nil
	}
	claims, err := r.Store.Steps(ctx, run.RunID(), effects.Cancel...)
	if err != nil {
		return fmt.Errorf("load claims of %s: %w", run.RunID(), err)
	}
	view := engine.Project(p.Flow, state)
	c := Commit{Run: Run{State: state, Version: run.Version}, Touch: claims, View: &view}
	err = r.Store.Commit(ctx, c)
	if fault.KindOf(err) == fault.NotFound {
		// The estimate was taken away by somebody else: there is nobody to show the
		// end to, and without one the run would be swept for ever.
		c.View = nil
		err = r.Store.Commit(ctx, c)
	}
	if err != nil {
		return fmt.Errorf("commit %T to %s: %w", e, run.RunID(), err)
	}
	return r.publish(ctx, p.Flow, &state, effects.Publish)
}
