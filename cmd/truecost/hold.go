package main

import (
	"context"
	"flag"
	"fmt"
)

func holdFlags(fs *flag.FlagSet, o *options) {
	fs.StringVar(&o.reason, "reason", "", "`text` that is shown while the run is held")
}

// maxReason is how much of a reason a run keeps, in bytes.
const maxReason = 500

func checkHold(c *call) error {
	if len(c.reason) > maxReason {
		return fmt.Errorf("-reason: longer than %d bytes", maxReason)
	}
	return checkRunID(c)
}

// heldRun is the answer of hold_pipeline and resume_pipeline.
type heldRun struct {
	EstimateID string `json:"estimateId"`
	RunID      string `json:"runId"`
	Held       bool   `json:"held"`
}

// runHold keeps a run from beginning anything new.
func runHold(ctx context.Context, c *call) error {
	data := c.subject()
	if c.reason != "" {
		data["reason"] = c.reason
	}
	var held heldRun
	return c.control(ctx, "hold_pipeline", data, &held, func() string {
		return fmt.Sprintf("%s held; go on with: truecost resume %s", held.RunID, c.args[0])
	})
}

// runResume lets a run that is held go on.
func runResume(ctx context.Context, c *call) error {
	var held heldRun
	return c.control(ctx, "resume_pipeline", c.subject(), &held, func() string { return held.RunID + " goes on" })
}

// heldText says who holds a run and how to end that.
func heldText(h *hold, id string) string {
	text := "held by " + plain(h.By)
	if h.Reason != "" {
		text += ": " + plain(h.Reason)
	}
	return text + "; go on with: truecost resume " + plain(id)
}
