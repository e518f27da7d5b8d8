package tasktest

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// Actor makes agents that do what the text of a message says, one word after
// another:
//
//	sleep=20ms        does nothing for a while
//	hang=2            does nothing more, in the first two tries of a turn
//	say=words         a message
//	progress=40       a status with progress
//	make=text         the artifact a, with text; make.b=text the artifact b
//	more=text         the same, appended
//	COMPLETED=words   a status of that state, with a message or without
//	ask=words         COMPLETED if the task was asked before, INPUT_REQUIRED if not
//	fail=invalid      an error of that kind
//	panic             a panic
//	none              nil for an event
type Actor struct {
	Runs   atomic.Int64 // how often an agent was called
	Causes atomic.Value // string: why the context of the last one that noticed had ended
}

// Agent returns an agent for text.
func (a *Actor) Agent(name string) task.Agent {
	text := []string{"text/plain"}
	return task.Agent{
		Name: name, Skills: []task.Skill{{AgentSkill: sdk.AgentSkill{ID: "act"}}}, InputModes: text, OutputModes: text, Run: a.run,
	}
}

func (a *Actor) run(ctx context.Context, turn task.Turn) iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		a.Runs.Add(1)
		for word := range strings.FieldsSeq(turn.Message.Parts[0].Text()) {
			if err := a.pause(ctx, turn, word); err != nil {
				yield(nil, err)
				return
			}
			ev, ok := act(turn, word)
			if ok && !yield(ev, nil) {
				return
			}
		}
	}
}

// pause does what takes time, or fails.
func (a *Actor) pause(ctx context.Context, turn task.Turn, word string) error {
	name, arg, _ := strings.Cut(word, "=")
	var wait time.Duration
	switch name {
	case "sleep":
		wait, _ = time.ParseDuration(arg)
	case "hang":
		if fmt.Sprint(turn.Try) > arg {
			return nil
		}
		wait = 24 * time.Hour
	case "fail":
		return fault.New(fault.Kind(arg), "it is %s", arg)
	case "panic":
		panic("secret " + arg)
	default:
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		a.Causes.Store(context.Cause(ctx).Error())
		return ctx.Err() //nolint:wrapcheck // as agents do
	}
}

// act returns the event that a word asks for.
func act(turn task.Turn, word string) (ev sdk.Event, ok bool) {
	name, arg, _ := strings.Cut(word, "=")
	verb, id, _ := strings.Cut(name, ".")
	parts := sdk.ContentParts{sdk.NewTextPart(arg)}
	switch verb {
	case "sleep", "hang":
		return nil, false
	case "none":
		return nil, true
	case "say":
		return &sdk.Message{Parts: parts}, true
	case "make", "more":
		if id == "" {
			id = "a"
		}
		return &sdk.TaskArtifactUpdateEvent{Append: verb == "more", Artifact: &sdk.Artifact{ID: sdk.ArtifactID(id), Parts: parts}}, true
	case "ask":
		if name = "INPUT_REQUIRED"; turn.Task != nil {
			name = "COMPLETED"
		}
	}
	e := &sdk.TaskStatusUpdateEvent{TaskID: "ignored", Status: sdk.TaskStatus{State: sdk.TaskState("TASK_STATE_" + name)}}
	if name == "progress" {
		e.Status.State, e.Metadata = sdk.TaskStateWorking, map[string]any{"progressPercent": json.Number(arg)}
	} else if arg != "" {
		e.Status.Message = &sdk.Message{Parts: parts}
	}
	return e, true
}

// Message returns a message for an actor, to be kept.
func Message(id, text string) task.Send {
	return task.Send{Keep: true, Message: &sdk.Message{ID: id, Role: sdk.MessageRoleUser, Parts: sdk.ContentParts{sdk.NewTextPart(text)}}}
}

// Line tells a frame in a few words.
func Line(f task.Frame) string {
	switch e := f.Event.(type) {
	case *sdk.Task:
		return fmt.Sprintf("%d task %s%s", f.Seq, status(e.Status), artifacts(e))
	case *sdk.TaskStatusUpdateEvent:
		s := fmt.Sprintf("%d %s", f.Seq, status(e.Status))
		if p, ok := task.Progress(e.Metadata); ok {
			s += fmt.Sprintf(" %d%%", p)
		}
		return s
	case *sdk.TaskArtifactUpdateEvent:
		sign := "="
		if e.Append {
			sign = "+="
		}
		return fmt.Sprintf("%d %s%s%s", f.Seq, e.Artifact.ID, sign, texts(e.Artifact.Parts))
	case *sdk.Message:
		return fmt.Sprintf("%d message %s", f.Seq, texts(e.Parts))
	}
	return fmt.Sprintf("%d %T", f.Seq, f.Event)
}

func status(s sdk.TaskStatus) string {
	out := strings.ToLower(strings.TrimPrefix(string(s.State), "TASK_STATE_"))
	if s.Message != nil {
		out += " (" + texts(s.Message.Parts) + ")"
	}
	return out
}

func artifacts(t *sdk.Task) string {
	var out strings.Builder
	for _, a := range t.Artifacts {
		fmt.Fprintf(&out, " %s=%s", a.ID, texts(a.Parts))
	}
	return out.String()
}

func texts(parts sdk.ContentParts) string {
	var all []string
	for _, p := range parts {
		all = append(all, p.Text())
	}
	return strings.Join(all, "")
}

// Lines tells a stream in a few words a frame.
func Lines(stream iter.Seq2[task.Frame, error]) string {
	var all []string
	for f, err := range stream {
		if err != nil {
			return strings.Join(append(all, "error "+err.Error()), "; ")
		}
		all = append(all, Line(f))
	}
	return strings.Join(all, "; ")
}
