package task_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
)

const (
	firstID  = "7d9f5b1e-0f64-4c2a-9a53-1f0a5e8f2b11"
	secondID = "7d9f5b1e-0f64-4c2a-9a53-1f0a5e8f2b12"
)

// script is an agent that does what the text of a message says, one word after
// another.
func script(ctx context.Context, turn task.Turn) iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		for word := range strings.FieldsSeq(turn.Message.Parts[0].Text()) {
			name, arg, _ := strings.Cut(word, "=")
			var ev sdk.Event
			switch name {
			case "sleep":
				d, _ := time.ParseDuration(arg)
				select {
				case <-time.After(d):
				case <-ctx.Done():
					yield(nil, ctx.Err())
					return
				}
				continue
			case "say":
				ev = &sdk.Message{Parts: sdk.ContentParts{sdk.NewTextPart(arg)}}
			case "progress":
				ev = &sdk.TaskStatusUpdateEvent{
					Status:   sdk.TaskStatus{State: sdk.TaskStateWorking},
					Metadata: map[string]any{"progressPercent": json.Number(arg)},
				}
			case "make", "more":
				ev = &sdk.TaskArtifactUpdateEvent{Append: name == "more", Artifact: &sdk.Artifact{ID: "a", Parts: sdk.ContentParts{sdk.NewTextPart(arg)}}}
			case "panic":
				panic(arg)
			case "fail":
				yield(nil, fmt.Errorf("secret %s", arg))
				return
			case "none":
				ev = nil
			default:
				e := &sdk.TaskStatusUpdateEvent{Status: sdk.TaskStatus{State: sdk.TaskState("TASK_STATE_" + name)}}
				if arg != "" {
					e.Status.Message = &sdk.Message{Parts: sdk.ContentParts{sdk.NewTextPart(arg)}}
				}
				ev = e
			}
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// live returns options with the clock of a synctest bubble and a store of it.
func live() (task.Options, *tasktest.Memory) {
	opt := task.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)} //nolint:forbidigo // the clock of a bubble
	m := tasktest.NewMemory(opt.Now)
	opt.Store = func() (task.Store, error) { return m, nil }
	opt.Finder = func() (task.Finder, error) { return m, nil }
	return opt, m
}

func desk(opt task.Options) *task.Desk {
	return task.NewDesk(task.Agent{
		Name: "actor", Skills: []task.Skill{{}}, InputModes: []string{"text/plain"}, OutputModes: []string{"text/plain"}, Run: script,
	}, opt)
}

func message(id, text string) task.Send {
	return task.Send{Keep: true, Message: &sdk.Message{ID: id, Role: sdk.MessageRoleUser, Parts: sdk.ContentParts{sdk.NewTextPart(text)}}}
}

// line tells a frame in a few words.
func line(f task.Frame) string {
	switch e := f.Event.(type) {
	case *sdk.Task:
		return fmt.Sprintf("%d task %s%s", f.Seq, short(e.Status), artifacts(e))
	case *sdk.TaskStatusUpdateEvent:
		s := fmt.Sprintf("%d %s", f.Seq, short(e.Status))
		if p, ok := task.Progress(e.Metadata); ok {
			s += fmt.Sprintf(" %d%%", p)
		}
		return s
	case *sdk.TaskArtifactUpdateEvent:
		mode := "="
		if e.Append {
			mode = "+="
		}
		return fmt.Sprintf("%d %s%s%s", f.Seq, e.Artifact.ID, mode, texts(e.Artifact.Parts))
	case *sdk.Message:
		return fmt.Sprintf("%d message %s", f.Seq, texts(e.Parts))
	}
	return fmt.Sprintf("%d %T", f.Seq, f.Event)
}

func short(s sdk.TaskStatus) string {
	out := strings.ToLower(strings.TrimPrefix(string(s.State), "TASK_STATE_"))
	if s.Message != nil {
		out += " (" + texts(s.Message.Parts) + ")"
	}
	return out
}

func artifacts(t *sdk.Task) string {
	out := ""
	for _, a := range t.Artifacts {
		out += fmt.Sprintf(" %s=%s", a.ID, texts(a.Parts))
	}
	return out
}

func texts(parts sdk.ContentParts) string {
	var all []string
	for _, p := range parts {
		all = append(all, p.Text())
	}
	return strings.Join(all, "")
}

// lines tells a stream in a few words a frame.
func lines(stream iter.Seq2[task.Frame, error]) []string {
	var all []string
	for f, err := range stream {
		if err != nil {
			return append(all, "error "+err.Error())
		}
		all = append(all, line(f))
	}
	return all
}

func TestStreams(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, script, want string }{
		{"a message alone", "say=hello", "1 message hello"},
		{"a late message", "sleep=2s say=hello", "0 task working; 1 completed (hello)"},
		{"all in one breath", "WORKING make=a more=b COMPLETED", "0 task working; 1 working; 2 a=a; 3 a+=b; 4 completed"},
		{"progress does not fall", "progress=10 sleep=1s progress=70 sleep=1s progress=30 COMPLETED", "0 task working; 1 working 10%; 2 working 70%; 3 working 70%; 4 completed"},
		{"a question", "INPUT_REQUIRED=where?", "0 task working; 1 input_required (where?)"},
		{"an error", "WORKING=well fail=why", "0 task working; 1 working (well); 2 failed (internal error)"},
		{"a panic", "panic=why", "0 task working; 1 failed (internal error)"},
		{"no end", "WORKING", "0 task working; 1 working; 2 failed (invalid agent response)"},
		{"no event", "none", "0 task working; 1 failed (invalid agent response)"},
		{"more of nothing", "more=x", "0 task working; 1 failed (invalid agent response)"},
		{"a rejection", "REJECTED=no", "0 task working; 1 rejected (no)"},
		{"no time", "sleep=1h", "0 task working; 1 failed (the deadline passed)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				opt, _ := live()
				got := strings.Join(lines(desk(opt).Stream(t.Context(), message(firstID, tt.script))), "; ")
				if got != tt.want {
					t.Errorf("Stream(%s) = %s, want %s", tt.script, got, tt.want)
				}
			})
		})
	}
}

func TestSendCallGetCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		opt, _ := live()
		d := desk(opt)
		res, err := d.Send(t.Context(), message(firstID, "WORKING make=a COMPLETED=done"))
		if err != nil || line(task.Frame{Event: res}) != "0 task completed (done) a=a" {
			t.Fatalf("Send() = %v, %v", res, err)
		}
		id := res.(*sdk.Task).ID
		for range 2 {
			got, seq, err := d.Get(t.Context(), task.Caller{}, id)
			if err != nil || seq != 3 || line(task.Frame{Seq: seq, Event: got}) != "3 task completed (done) a=a" {
				t.Errorf("Get() = %v, %d, %v", got, seq, err)
			}
			if res, err = d.Call(t.Context(), message(firstID, "WORKING make=a COMPLETED=done")); err != nil || res.(*sdk.Task).ID != id {
				t.Errorf("Call(repeated) = %v, %v, want the task", res, err)
			}
			if got, err := d.Cancel(t.Context(), task.Caller{}, id); err != nil || got.Status.State != sdk.TaskStateCompleted {
				t.Errorf("Cancel(completed) = %v, %v, want it as it is", got, err)
			}
		}
		if got := lines(d.Follow(t.Context(), task.Caller{}, id, new(int64(0)))); strings.Join(got, "; ") != "1 working; 2 a=a; 3 completed (done)" {
			t.Errorf("Follow(0) = %s", got)
		}
		_, _ = id, secondID
	})
}
