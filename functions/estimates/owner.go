package estimates

import (
	"context"
	"fmt"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// owned returns an estimate that belongs to user; to others it does not exist.
func (p Ports) owned(ctx context.Context, id, user string) (Store, map[string]any, error) {
	store, err := p.Store()
	if err != nil {
		return nil, nil, err
	}
	doc, err := store.Estimate(ctx, id)
	if fault.KindOf(err) == fault.NotFound || err == nil && doc["userId"] != user {
		return nil, nil, noEstimate(id)
	}
	return store, doc, err
}

// current is the id of the run that an estimate shows.
func current(id string, doc map[string]any) string {
	pipeline, _ := doc["pipelineStatus"].(map[string]any)
	n, _ := pipeline["run"].(int64)
	return engine.RunID(id, max(int(n), 1))
}

// run returns the run that a call is about: the one it names, or the current one
// of the estimate it names. To others than its owner it does not exist.
func (p Ports) run(ctx context.Context, s subject, user string) (runner.Run, error) {
	id := s.RunID
	if id == "" {
		_, doc, err := p.owned(ctx, s.EstimateID, user)
		if err != nil {
			return runner.Run{}, err
		}
		id = current(s.EstimateID, doc)
	}
	runs, err := p.Runs()
	if err != nil {
		return runner.Run{}, err
	}
	run, err := runs.Run(ctx, id)
	switch {
	case fault.KindOf(err) == fault.NotFound,
		err == nil && (run.Owner != user || s.EstimateID != "" && run.EstimateID != s.EstimateID):
		return runner.Run{}, noRun(id)
	case err != nil:
		return runner.Run{}, fmt.Errorf("load run %s: %w", id, err)
	}
	return run, nil
}

// act finds the run of a call and hands its id to do, with the runner.
func (p Ports) act(ctx context.Context, s subject, user string, do func(*runner.Runner, runner.Run) error) (runner.Run, error) {
	run, err := p.run(ctx, s, user)
	if err != nil {
		return run, err
	}
	r, err := p.Runner()
	if err != nil {
		return run, err
	}
	return run, coded(do(r, run))
}
