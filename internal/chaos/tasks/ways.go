package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"truecost.dev/internal/chaos/supervise"
	"truecost.dev/shared/a2a/wire"
)

var errHangs = errors.New("it did not end in time")

// Dialects, as frames are noted by.
const (
	fiveStep = "five-step"
	modern   = "1.0"
)

// cancelAfter is when somebody who cancels does.
var cancelAfter = supervise.Span{0, 800 * time.Millisecond}

// submit has the message queued, and listens.
func (e *errand) submit(ctx context.Context) error {
	for {
		a, err := e.ask(ctx, http.MethodPost, e.anywhere()+wire.FiveStepSubmit, map[string]any{
			"requesting_agent_id": "chaos", "skill_id": "walk", "input_data": e.plan,
		}, map[string]string{"Idempotency-Key": e.id}, nil)
		if err == nil && !later(a.status) {
			var told struct {
				ID string `json:"task_id"`
			}
			if a.status != http.StatusAccepted || json.Unmarshal(a.body, &told) != nil || told.ID != string(e.task) {
				return fmt.Errorf("submit_task answers %d %s, want task %s", a.status, a.body, e.task)
			}
			break
		}
		if !e.pause(ctx) {
			return errHangs
		}
	}
	if e.cancels {
		if err := e.cancel(ctx); err != nil {
			return err
		}
	}
	if err := e.updates(ctx, ""); err != nil {
		return err
	}
	return e.updates(ctx, "0") // a late listener, who wants everything
}

// updates listens with the five-step protocol from an event on, "" from now.
func (e *errand) updates(ctx context.Context, last string) error {
	for {
		over, first := false, last == ""
		a, err := e.ask(ctx, http.MethodGet, e.anywhere()+"/task_updates/"+string(e.task), nil, lastEvent(last), func(f frame) bool {
			var body struct{ Status string }
			if json.Unmarshal([]byte(f.data), &body) != nil {
				e.Broke("frames", e.id, "a frame says %s", f.data)
				return false
			}
			if f.id == "" { // the stream cannot go on
				return false
			}
			if !first { // which is the task as it was, and more than one event
				e.hear(fiveStep, f.id, f.name+" "+f.data)
			}
			first, last = false, f.id
			over = body.Status == "completed" || body.Status == "failed" || body.Status == "cancelled"
			return !over
		})
		switch {
		case over:
			return nil
		case err == nil && !a.stream && !later(a.status):
			return fmt.Errorf("task_updates answers %d %s", a.status, a.body)
		case !e.pause(ctx):
			return errHangs
		}
	}
}

func lastEvent(id string) map[string]string {
	if id == "" {
		return nil
	}
	return map[string]string{"Last-Event-ID": id}
}

// cancel cancels the task after a while. That it had ended is no error.
func (e *errand) cancel(ctx context.Context) error {
	e.mu.Lock()
	d := cancelAfter.Draw(e.random)
	e.mu.Unlock()
	select {
	case <-ctx.Done():
		return errHangs
	case <-time.After(d):
	}
	for {
		a, err := e.ask(ctx, http.MethodPost, e.anywhere()+"/cancel_task/"+string(e.task), nil, nil, nil)
		switch {
		case err == nil && (a.status == http.StatusOK || a.status == http.StatusConflict):
			return nil
		case err == nil && !later(a.status):
			return fmt.Errorf("cancel_task answers %d %s", a.status, a.body)
		case !e.pause(ctx):
			return errHangs
		}
	}
}

// stream sends the message as a stream, and listens again where that is cut off:
// from the last frame on, or with the message itself while it has heard nothing.
func (e *errand) stream(ctx context.Context) error {
	last := ""
	for {
		over := false
		each := func(f frame) bool {
			var r rpc
			if json.Unmarshal([]byte(f.data), &r) != nil || r.Error != nil {
				return false // it cannot go on
			}
			state, event, err := stateOf(r.Result)
			if err != nil {
				e.Broke("frames", e.id, "a frame says %s", f.data)
				return false
			}
			if event != "" {
				e.hear(modern, f.id, event)
			}
			last, over = f.id, state.Terminal()
			return !over
		}
		var err error
		if last == "" {
			_, err = e.call(ctx, e.anywhere(), "SendStreamingMessage", e.message(), "", each)
		} else {
			_, err = e.call(ctx, e.anywhere(), "SubscribeToTask", map[string]any{"id": e.task}, last, each)
		}
		if no, ok := errors.AsType[*refused](err); ok && no.code == wire.CodeUnsupported && last != "" {
			return nil // it has ended meanwhile
		}
		switch {
		case err != nil:
			return err
		case over:
			return nil
		case !e.pause(ctx):
			return errHangs
		}
	}
}

// wait sends the message until an answer has the end of its task.
func (e *errand) wait(ctx context.Context, at string) error {
	for {
		result, err := e.call(ctx, at, "SendMessage", e.message(), "", nil)
		if err != nil {
			return err
		}
		if result != nil {
			state, _, err := stateOf(result)
			switch {
			case err != nil:
				return fmt.Errorf("SendMessage answers %s: %w", result, err)
			case state.Terminal():
				return nil
			}
		}
		if !e.pause(ctx) {
			return errHangs
		}
		at = e.anywhere()
	}
}
