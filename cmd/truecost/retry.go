package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"

	"truecost.dev/shared/fault"
)

func retryFlags(fs *flag.FlagSet, o *options) {
	fs.StringVar(&o.from, "from", "", "`node` to begin with again, with all that depends on it; otherwise what failed")
	fs.StringVar(&o.edit, "edit", "", "`FILE` or - with a JSON object whose members replace inputs of that node")
	fs.BoolVar(&o.detach, "detach", false, "print the id of the new run and leave; it goes on")
}

func checkRetry(c *call) error {
	if c.from != "" && !nodePattern.MatchString(c.from) {
		return fmt.Errorf("-from: %q cannot be the name of a node", c.from)
	}
	return checkRunID(c)
}

// runRetry tries a run again, as a new one, and follows it.
func runRetry(ctx context.Context, c *call) error {
	data := c.subject()
	if c.from != "" {
		data["from"] = c.from
	}
	if c.edit != "" {
		edit, err := c.given(c.edit)
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(bytes.TrimSpace(edit), []byte("{")) {
			return fault.New(fault.Invalid, "%s is not a JSON object", name(c.edit))
		}
		data["edit"] = edit
	}
	s, err := c.connect(ctx, false)
	if err != nil {
		return err
	}
	defer s.stop()
	var again struct {
		EstimateID string `json:"estimateId"`
		RunID      string `json:"runId"`
		Parent     string `json:"parent"`
		Status     string `json:"status"`
	}
	if err := c.ask(ctx, s, "retry_pipeline", data, &again); err != nil {
		return fmt.Errorf("retry %s: %w", c.args[0], err)
	}
	switch {
	case c.detach && c.json:
		return c.printJSON(again)
	case c.json:
		_, _ = fmt.Fprintln(c.stderr, again.RunID)
	default:
		if _, err := fmt.Fprintln(c.stdout, again.RunID); err != nil || c.detach {
			return err
		}
	}
	return c.follow(ctx, s, again.EstimateID)
}
