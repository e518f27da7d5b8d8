package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
)

// How long the slow behaviours work.
const (
	resubscribeTime = 4 * time.Second
	longTime        = 5 * time.Second
	delay           = 2 * time.Second
)

// agent acts on the start of a message's id, as the public kit asks it to, or of
// its first text where the id says nothing. The longest prefix wins.
func agent() task.Agent {
	return task.Agent{
		Name: "conformance", Title: "Conformance agent", Version: "1.0.0",
		Description: "Does what a conformance kit asks of it by the start of a message's id. For tests alone.",
		Skills: []task.Skill{{
			AgentSkill: sdk.AgentSkill{
				ID: "conformance", Name: "Conformance", Tags: []string{"test"},
				Description: "Completes, fails, asks, streams or waits, as the prefix of the message id says.",
				Examples:    []string{"tck-complete-task", "tck-artifact-text", "tck-input-required"},
			},
			Input: "a message whose id or first text begins with the name of a behaviour", Output: "what the behaviour says",
		}},
		InputModes: []string{"text/plain", "application/json"}, OutputModes: []string{"text/plain", "application/json"},
		Run: act,
	}
}

// play is what an agent does in one turn: it hands events to yield until that
// returns false.
type play func(ctx context.Context, t task.Turn, yield func(sdk.Event, error) bool)

// behaviours by the prefix that asks for them.
var behaviours = map[string]play{
	"tck-complete-task": func(_ context.Context, t task.Turn, yield func(sdk.Event, error) bool) {
		yield(status(t, sdk.TaskStateCompleted, "Hello from TCK"), nil)
	},
	"tck-artifact-text":     artifact(text("Generated text content")),
	"tck-artifact-data":     artifact(data(`{"key":"value","count":42}`)),
	"tck-artifact-file":     artifact(file),
	"tck-artifact-file-url": artifact(fileURL),
	"tck-message-response": func(_ context.Context, t task.Turn, yield func(sdk.Event, error) bool) {
		yield(&sdk.Message{ID: string(t.TaskID), ContextID: t.ContextID, Role: sdk.MessageRoleAgent, Parts: sdk.ContentParts{sdk.NewTextPart("Direct message response")}}, nil)
	},
	"tck-input-required":          end(sdk.TaskStateInputRequired, "More is needed"),
	"tck-reject-task":             end(sdk.TaskStateRejected, "The task is rejected"),
	"tck-task-failure":            end(sdk.TaskStateFailed, "The task failed, as it was asked to"),
	"tck-stream-001":              streamed(text("Stream hello from TCK")),
	"tck-stream-002":              end(sdk.TaskStateCompleted, ""),
	"tck-stream-003":              streamed(text("Stream task lifecycle")),
	"tck-stream-ordering-001":     streamed(text("Ordered output")),
	"tck-stream-artifact-text":    streamed(text("Streamed text content")),
	"tck-stream-artifact-file":    streamed(file),
	"tck-stream-artifact-chunked": chunked,
	"test-resubscribe-message-id": wait(resubscribeTime, ""),
	"tck-long-running":            wait(longTime, ""),
	"tck-delayed-complete":        wait(delay, "Done after delay"),
	"tck-auth-required":           end(sdk.TaskStateAuthRequired, "An authorization is needed"),
	"tck-cancel":                  untilCanceled,
}

func act(ctx context.Context, t task.Turn) iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) { behaviourOf(t.Message)(ctx, t, yield) }
}

// behaviourOf returns what a message asks for; what asks for nothing completes.
func behaviourOf(m *sdk.Message) play {
	if p, ok := longest(m.ID); ok {
		return p
	}
	for _, part := range m.Parts {
		if s := part.Text(); s != "" {
			if p, ok := longest(s); ok {
				return p
			}
			break
		}
	}
	return end(sdk.TaskStateCompleted, "")
}

func longest(s string) (found play, ok bool) {
	best := -1
	for prefix, p := range behaviours {
		if strings.HasPrefix(s, prefix) && len(prefix) > best {
			found, best = p, len(prefix)
		}
	}
	return found, best >= 0
}

func status(t task.Turn, s sdk.TaskState, words string) *sdk.TaskStatusUpdateEvent {
	if words == "" {
		return sdk.NewStatusUpdateEvent(t, s, nil)
	}
	return sdk.NewStatusUpdateEvent(t, s, sdk.NewMessageForTask(sdk.MessageRoleAgent, t, sdk.NewTextPart(words)))
}

// end ends the turn at once.
func end(s sdk.TaskState, words string) play {
	return func(_ context.Context, t task.Turn, yield func(sdk.Event, error) bool) {
		yield(status(t, s, words), nil)
	}
}

func text(s string) func() *sdk.Part { return func() *sdk.Part { return sdk.NewTextPart(s) } }

func data(s string) func() *sdk.Part {
	return func() *sdk.Part { return sdk.NewDataPart(json.RawMessage(s)) }
}

func file() *sdk.Part {
	p := sdk.NewRawPart([]byte("tck"))
	p.Filename, p.MediaType = "output.txt", "text/plain"
	return p
}

func fileURL() *sdk.Part {
	p := sdk.NewFileURLPart("https://example.com/output.txt", "text/plain")
	p.Filename = "output.txt"
	return p
}

func made(t task.Turn, id sdk.ArtifactID, part *sdk.Part) *sdk.TaskArtifactUpdateEvent {
	e := sdk.NewArtifactUpdateEvent(t, id, part)
	e.Append, e.Artifact.Name = false, string(id)
	return e
}

// artifact makes one artifact and completes.
func artifact(part func() *sdk.Part) play {
	return func(_ context.Context, t task.Turn, yield func(sdk.Event, error) bool) {
		e := made(t, "output", part())
		e.LastChunk = true
		_ = yield(e, nil) && yield(status(t, sdk.TaskStateCompleted, ""), nil)
	}
}

// streamed works, makes one artifact and completes.
func streamed(part func() *sdk.Part) play {
	return func(ctx context.Context, t task.Turn, yield func(sdk.Event, error) bool) {
		if yield(status(t, sdk.TaskStateWorking, ""), nil) {
			artifact(part)(ctx, t, yield)
		}
	}
}

func chunked(_ context.Context, t task.Turn, yield func(sdk.Event, error) bool) {
	first := made(t, "output", sdk.NewTextPart("chunk-1 "))
	last := made(t, "output", sdk.NewTextPart("chunk-2"))
	last.Append, last.LastChunk = true, true
	_ = yield(status(t, sdk.TaskStateWorking, ""), nil) && yield(first, nil) && yield(last, nil) &&
		yield(status(t, sdk.TaskStateCompleted, ""), nil)
}

// wait works for a while and completes.
func wait(d time.Duration, words string) play {
	return func(ctx context.Context, t task.Turn, yield func(sdk.Event, error) bool) {
		if !yield(status(t, sdk.TaskStateWorking, ""), nil) {
			return
		}
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			yield(status(t, sdk.TaskStateCompleted, words), nil)
		case <-ctx.Done():
			yield(nil, fmt.Errorf("waiting: %w", context.Cause(ctx)))
		}
	}
}

// untilCanceled works until somebody cancels the task.
func untilCanceled(ctx context.Context, t task.Turn, yield func(sdk.Event, error) bool) {
	if yield(status(t, sdk.TaskStateWorking, ""), nil) {
		<-ctx.Done()
		yield(nil, fmt.Errorf("working: %w", context.Cause(ctx)))
	}
}
