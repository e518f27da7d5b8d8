package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

const askAgain = 100 * time.Millisecond

// A person starts an estimate, does what the plan says and watches it to the
// end. What goes unanswered is asked again: people know nothing of crashes.
type person struct {
	*world
	plan
	input    json.RawMessage
	random   *rand.Rand
	runs     []*watched // by n-1
	canceled bool       // the service said so
	hangs    bool
}

// live goes through the plan. It returns early when ctx ends.
func (p *person) live(ctx context.Context) error {
	if err := p.ask(ctx, "start_deep_pipeline", map[string]any{"estimateId": p.id, "clarificationOutput": p.input}); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	acted := make(chan error, 1)
	go func() { acted <- p.act(ctx) }()
	err := p.watch(ctx, 1)
	if failed := <-acted; failed != nil {
		return failed
	}
	if err != nil || p.again == nil {
		return err
	}
	err = p.ask(ctx, "retry_pipeline", map[string]any{"runId": engine.RunID(p.id, 1)})
	if fault.KindOf(err) != fault.Conflict && err != nil { // a conflict: it was tried again by an earlier attempt to ask, and has ended
		return fmt.Errorf("retry: %w", err)
	}
	return p.watch(ctx, 2)
}

// act does to the first run what the plan says.
func (p *person) act(ctx context.Context) error {
	run := map[string]any{"runId": engine.RunID(p.id, 1)}
	switch p.does {
	case cancels:
		if !rest(ctx, p.random, 4*time.Second) {
			return nil
		}
		err := p.ask(ctx, "cancel_pipeline", run)
		p.canceled = err == nil
		return unless(err, fault.Conflict) // it has ended otherwise
	case holds:
		if !rest(ctx, p.random, 4*time.Second) {
			return nil
		}
		if err := p.ask(ctx, "hold_pipeline", run); err != nil {
			return unless(err, fault.Conflict)
		}
		if !rest(ctx, p.random, 3*time.Second) {
			return nil
		}
		return p.ask(ctx, "resume_pipeline", run)
	default:
		return nil
	}
}

func unless(err error, kind fault.Kind) error {
	if fault.KindOf(err) == kind {
		return nil
	}
	return err
}

// rest waits for up to a time; it is false when ctx ends first.
func rest(ctx context.Context, r *rand.Rand, longest time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(time.Duration(r.Int64N(int64(longest)))):
		return true
	}
}

// ask calls a function until it answers.
func (p *person) ask(ctx context.Context, function string, data map[string]any) error {
	for {
		err := p.Call(ctx, function, data, nil)
		switch kind := fault.KindOf(err); {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%s: %w", function, err)
		case kind == fault.Internal:
			p.Broke("answer", p.id, "%s answers %v", function, err)
		case !kind.Transient():
			return fmt.Errorf("%s: %w", function, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", function, err)
		case <-time.After(askAgain):
		}
	}
}
