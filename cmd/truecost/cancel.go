package main

import "context"

// runCancel ends a run. Canceling twice is the same as once.
func runCancel(ctx context.Context, c *call) error {
	var canceled struct {
		EstimateID string `json:"estimateId"`
		RunID      string `json:"runId"`
		Status     string `json:"status"`
	}
	return c.control(ctx, "cancel_pipeline", c.subject(), &canceled, func() string { return c.args[0] + " canceled" })
}
