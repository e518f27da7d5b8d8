package docstore

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"cloud.google.com/go/firestore"

	"truecost.dev/shared/runner"
)

// Runs lists runs, the newest first. One read per run found, one more for a page
// that is not the first. fault.NotFound when the run After is gone.
func (s *Store) Runs(ctx context.Context, want runner.RunQuery) ([]runner.Run, error) {
	q := s.runs.Query
	for _, f := range []struct{ name, value string }{
		{"ownerId", want.Owner}, {"status", want.Status}, {"flowId", want.FlowID}, {"estimateId", want.EstimateID},
	} {
		if f.value != "" {
			q = q.Where(f.name, "==", f.value)
		}
	}
	if !want.Since.IsZero() {
		q = q.Where("createdAt", ">=", want.Since)
	}
	q = q.OrderBy("createdAt", firestore.Desc).OrderBy(firestore.DocumentID, firestore.Desc)
	if want.Limit > 0 {
		q = q.Limit(want.Limit)
	}
	if want.After != "" {
		last, err := s.run(want.After).Get(ctx)
		if err != nil {
			return nil, rpcFault(err, "there is no run %s", want.After)
		}
		q = q.StartAfter(last)
	}
	docs, err := q.Documents(ctx).GetAll()
	if err != nil {
		return nil, rpcFault(err, "list runs")
	}
	runs := make([]runner.Run, len(docs))
	for i, doc := range docs {
		if runs[i], err = loadRun(doc); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// withoutResult are the fields of a step but for its payload.
var withoutResult = []string{
	"record", "st", "call", "agent", "try", "takeovers", "fence", "owner", "leaseMs", "beats", "startedAt", "requestHash", "task", "context",
	"failure", "score", "tokens", "costUsd", "durationMs", "revAt", "late", "doneAt",
}

// History returns every step of a run without its result, in the order in which
// the run came to know of them; those at work and those that came too late are
// last. One read per step.
func (s *Store) History(ctx context.Context, run string) ([]runner.Step, error) {
	docs, err := s.run(run).Collection("steps").Select(withoutResult...).Documents(ctx).GetAll()
	if err != nil {
		return nil, rpcFault(err, "steps of %s", run)
	}
	steps := make([]runner.Step, len(docs))
	for i, doc := range docs {
		if steps[i], _, err = loadStep(run, doc); err != nil {
			return nil, fmt.Errorf("step %s of %s: %w", doc.Ref.ID, run, err)
		}
	}
	order := func(s *runner.Step) int {
		if s.RevAt == 0 {
			return math.MaxInt
		}
		return s.RevAt
	}
	slices.SortFunc(steps, func(a, b runner.Step) int {
		return cmp.Or(cmp.Compare(order(&a), order(&b)), cmp.Compare(a.ID, b.ID))
	})
	return steps, nil
}

// RunInputs returns every question of a run and every answer, in the order they
// were asked. One read per input, and one per part of an answer that does not
// fit into it.
func (s *Store) RunInputs(ctx context.Context, run string) ([]runner.Input, error) {
	docs, err := s.run(run).Collection("inputs").Documents(ctx).GetAll()
	if err != nil {
		return nil, rpcFault(err, "inputs of %s", run)
	}
	inputs, err := s.loadInputs(ctx, run, docs)
	slices.SortFunc(inputs, func(a, b runner.Input) int {
		return cmp.Or(a.AskedAt.Compare(b.AskedAt), cmp.Compare(a.ID, b.ID))
	})
	return inputs, err
}
