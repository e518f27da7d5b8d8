package main

import (
	"context"
	"fmt"
)

// runCancel ends a run. Canceling twice is the same as once.
func runCancel(ctx context.Context, c *call) error {
	s, err := c.connect(ctx, false)
	if err != nil {
		return err
	}
	defer s.stop()
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	data := map[string]any{"estimateId": c.args[0]}
	if c.user != "" {
		data["userId"] = c.user
	}
	if err := s.callables(c.token).Call(ctx, "cancel_pipeline", data, nil); err != nil {
		return fmt.Errorf("cancel %s: %w", c.args[0], err)
	}
	if c.json {
		return c.printJSON(map[string]string{"estimateId": c.args[0], "status": "canceled"})
	}
	_, err = fmt.Fprintf(c.stdout, "%s canceled\n", c.args[0])
	return err
}
