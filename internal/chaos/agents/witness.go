package main

import (
	"context"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/internal/chaos/ledger"
	"truecost.dev/shared/a2a/task"
)

// A witness enters in the ledger which results the task store has taken.
type witness struct {
	task.Store
	ledger *ledger.Ledger
}

// Update implements task.Store.
func (w *witness) Update(ctx context.Context, r task.Record, log ...task.Entry) (task.Record, error) {
	saved, err := w.Store.Update(ctx, r, log...)
	call, ok := ctx.Value(callKey{}).(string)
	if err != nil || !ok || r.Task.Status.State != sdk.TaskStateCompleted {
		return saved, err
	}
	return saved, w.ledger.Stored(r.Agent, call)
}
