package main

import (
	"context"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/internal/chaos/ledger"
	"truecost.dev/shared/a2a"
)

// A witness enters in the ledger which results the task store has taken.
type witness struct {
	a2a.Tasks
	ledger *ledger.Ledger
}

// Update implements a2a.Tasks.
func (w *witness) Update(ctx context.Context, r a2a.Record) (a2a.Record, error) {
	saved, err := w.Tasks.Update(ctx, r)
	call, ok := ctx.Value(callKey{}).(string)
	if err != nil || !ok || r.Task.Status.State != sdk.TaskStateCompleted {
		return saved, err
	}
	return saved, w.ledger.Stored(r.Agent, call)
}
