package main

import (
	"context"
	"fmt"

	"truecost.dev/shared/estimate/intake"
	"truecost.dev/shared/fault"
)

// runWatch follows an estimate that somebody started.
func runWatch(ctx context.Context, c *call) error {
	id := c.args[0]
	if !intake.ValidID(id) {
		return fault.New(fault.Invalid, "%q cannot be the id of an estimate", id)
	}
	s, err := c.connect(ctx, false)
	if err != nil {
		return err
	}
	defer s.stop()
	return c.follow(ctx, s, id)
}

// follow shows the progress of an estimate until it ends, then its result.
func (c *call) follow(ctx context.Context, s *service, id string) error {
	out := c.stdout
	if c.json {
		out = c.stderr
	}
	show := newProgress(out, c.getenv, id)
	doc, err := s.watch(ctx, id, show.update)
	show.end()
	if ctx.Err() != nil {
		if s.own {
			return &interruptedError{"interrupted: the local system was started for this estimate and ends with it"}
		}
		return &interruptedError{fmt.Sprintf("interrupted: the run goes on; watch it with: truecost watch %s", id)}
	}
	if err != nil {
		return err
	}
	if c.json {
		err = c.printJSON(doc.fields)
	} else {
		err = doc.writeResult(c.stdout)
	}
	if err != nil {
		return err
	}
	if doc.Status != "complete" {
		return &failedError{id: id, status: doc.Status, why: doc.Pipeline.failure(), issues: doc.Pipeline.issues()}
	}
	return nil
}
