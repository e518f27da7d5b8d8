package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

// StartRequest asks for a first run of an estimate. The clarified scope has
// been validated.
type StartRequest struct {
	EstimateID    string
	Owner         string
	Project       string
	Key           string // the owner's idempotency key; empty: the estimate's id does
	Input         string // hash that tells a repeated request from another one
	Clarification json.RawMessage
	Fields        map[string]any // further root fields of the new estimate
}

// Started is what a start began, now or when it was asked for first.
type Started struct {
	EstimateID string
	Run        string
}

// Start creates estimate and run in one commit and publishes the first steps.
// It is idempotent: the same request again, by the same owner, changes nothing
// and makes sure that the run goes on; a key that was used within a day stands
// for the estimate it began. fault.Conflict when the id or the key is taken by
// another request or another owner; fault.Exhausted when the owner has reached
// a limit.
func (r *Runner) Start(ctx context.Context, req StartRequest) (Started, error) {
	if req.Key != "" {
		if started, again, err := r.startedBy(ctx, req); err != nil || again {
			return started, err
		}
	}
	input, err := Canonical(req.Clarification)
	if err != nil {
		return Started{}, err
	}
	if limit := r.limit(ctx, req.Owner); limit != nil {
		// Asking again for what runs already is no new start.
		started, err := r.startAgain(ctx, req)
		if err != nil {
			return Started{}, limit
		}
		return started, nil
	}
	p := &r.Pipelines[0]
	state, effects, verdict := engine.Next(p.Flow, engine.State{}, engine.Started{
		EstimateID: req.EstimateID, Owner: req.Owner, Project: req.Project, N: 1, Input: req.Input, Facts: facts(p.Flow, "input", input),
	}, r.moment())
	if verdict != engine.Applied {
		return Started{}, fault.New(fault.Internal, "start of %s is %s", req.EstimateID, verdict)
	}
	if err := r.store(ctx, p.Flow); err != nil {
		return Started{}, err
	}
	c := r.change(p, Run{State: state}, effects)
	c.Start = &NewEstimate{Clarification: input, Fields: req.Fields}
	if req.Key != "" {
		c.Idempotency = &Idempotency{Owner: req.Owner, Key: req.Key, EstimateID: req.EstimateID, Input: req.Input, CreatedAt: state.CreatedAt}
	}
	err = r.Store.Commit(ctx, c)
	if fault.KindOf(err) == fault.Conflict {
		return r.startLost(ctx, req)
	}
	if err != nil {
		return Started{}, fmt.Errorf("create run of %s: %w", req.EstimateID, err)
	}
	r.memory.put(inputKey(&state), input, len(input))
	if err := r.publish(ctx, p.Flow, &state, effects.Publish); err != nil {
		return Started{}, fmt.Errorf("publish first steps of %s: %w", req.EstimateID, err)
	}
	return Started{req.EstimateID, state.RunID()}, nil
}

// startLost answers a start that another was faster than: under the same key, or
// of the same estimate.
func (r *Runner) startLost(ctx context.Context, req StartRequest) (Started, error) {
	if req.Key != "" {
		if started, again, err := r.startedBy(ctx, req); err != nil || again {
			return started, err
		}
	}
	return r.startAgain(ctx, req)
}

// startedBy answers a start whose key was used before.
func (r *Runner) startedBy(ctx context.Context, req StartRequest) (s Started, again bool, err error) {
	was, err := r.Store.Started(ctx, req.Owner, req.Key)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return Started{}, false, nil
	case err != nil:
		return Started{}, false, fmt.Errorf("look up the idempotency key: %w", err)
	case was.Input != req.Input:
		return Started{}, false, fault.New(fault.Conflict, "the idempotency key was used for another request")
	}
	req.EstimateID = was.EstimateID
	s, err = r.startAgain(ctx, req)
	return s, true, err
}

func (r *Runner) startAgain(ctx context.Context, req StartRequest) (Started, error) {
	taken := fault.New(fault.Conflict, "estimate %s exists already", req.EstimateID)
	run, err := r.Store.Run(ctx, engine.RunID(req.EstimateID, 1))
	if fault.KindOf(err) == fault.NotFound {
		return Started{}, taken
	}
	if err != nil {
		return Started{}, fmt.Errorf("load run of %s: %w", req.EstimateID, err)
	}
	started := Started{req.EstimateID, run.RunID()}
	switch {
	case run.Owner != req.Owner:
		return Started{}, taken
	case run.Input != req.Input:
		return Started{}, fault.New(fault.Conflict, "estimate %s was started with another input; use a new id", req.EstimateID)
	case run.Status.Ended():
		return started, nil
	}
	p, err := r.pipeline(ctx, run.Flow)
	if err != nil {
		return Started{}, err
	}
	// The first caller may have died between its commit and its publish, so the
	// open steps go out at once, however young: a duplicate costs a read.
	return started, r.publish(ctx, p.Flow, &run.State, r.due(&run.State, 0))
}

// limit returns why an owner may start nothing now; nil when he may.
func (r *Runner) limit(ctx context.Context, owner string) error {
	if r.Find == nil || r.Limits == (Limits{}) {
		return nil
	}
	atWork, created, err := r.Find.Census(ctx, owner, r.Now().Add(-time.Minute))
	switch {
	case err != nil:
		return fmt.Errorf("count the runs of the owner: %w", err)
	case r.Limits.InFlight > 0 && atWork >= r.Limits.InFlight:
		return fault.New(fault.Exhausted, "%d estimates are being worked on, which is the limit; start another when one has ended", atWork)
	case r.Limits.PerMinute > 0 && created >= r.Limits.PerMinute:
		return fault.New(fault.Exhausted, "%d estimates were started within a minute, which is the limit; try again in a minute", created)
	}
	return nil
}
