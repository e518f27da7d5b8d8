package task_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"truecost.dev/shared/fault"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
)

const (
	firstID = "7d9f5b1e-0f64-4c2a-9a53-1f0a5e8f2b11"
)

// live returns options with the clock of a synctest bubble and a store of it.
func live() task.Options {
	opt := task.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)} //nolint:forbidigo // the clock of a bubble
	m := tasktest.NewMemory(opt.Now)
	opt.Store = func() (task.Store, error) { return m, nil }
	opt.Finder = func() (task.Finder, error) { return m, nil }
	return opt
}

func desk(opt task.Options) *task.Desk { return task.NewDesk(new(tasktest.Actor).Agent("actor"), opt) }

var message = tasktest.Message

func TestStreams(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, script, want string }{
		{"a message alone", "say=hello", "1 message hello"},
		{"a late message", "sleep=2s say=hello", "0 task working; 1 completed (hello)"},
		{"all in one breath", "WORKING make=a more=b COMPLETED", "0 task working; 1 working; 2 a=a; 3 a+=b; 4 completed"},
		{"progress does not fall", "progress=10 sleep=1s progress=70 sleep=1s progress=30 COMPLETED", "0 task working; 1 working 10%; 2 working 70%; 3 working 70%; 4 completed"},
		{"a question", "INPUT_REQUIRED=where?", "0 task working; 1 input_required (where?)"},
		{"an error", "WORKING=well fail=invalid", "0 task working; 1 working (well); 2 failed (it is invalid)"},
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
				opt := live()
				got := tasktest.Lines(desk(opt).Stream(t.Context(), message(firstID, tt.script)))
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
		opt := live()
		d := desk(opt)
		res, err := d.Send(t.Context(), message(firstID, "WORKING make=a COMPLETED=done"))
		if err != nil || tasktest.Line(task.Frame{Event: res}) != "0 task completed (done) a=a" {
			t.Fatalf("Send() = %v, %v", res, err)
		}
		id := res.(*sdk.Task).ID
		for range 2 {
			got, seq, err := d.Get(t.Context(), task.Caller{}, id)
			if err != nil || seq != 3 || tasktest.Line(task.Frame{Seq: seq, Event: got}) != "3 task completed (done) a=a" {
				t.Errorf("Get() = %v, %d, %v", got, seq, err)
			}
			if res, err = d.Call(t.Context(), message(firstID, "WORKING make=a COMPLETED=done")); err != nil || res.(*sdk.Task).ID != id {
				t.Errorf("Call(repeated) = %v, %v, want the task", res, err)
			}
			if got, err := d.Cancel(t.Context(), task.Caller{}, id); err != nil || got.Status.State != sdk.TaskStateCompleted {
				t.Errorf("Cancel(completed) = %v, %v, want it as it is", got, err)
			}
		}
		if got := tasktest.Lines(d.Follow(t.Context(), task.Caller{}, id, new(int64(0)))); got != "1 working; 2 a=a; 3 completed (done)" {
			t.Errorf("Follow(0) = %s", got)
		}
	})
}

func TestAgentsThatGoOn(t *testing.T) {
	t.Parallel()
	said := func(s sdk.TaskState) *sdk.TaskStatusUpdateEvent {
		return &sdk.TaskStatusUpdateEvent{Status: sdk.TaskStatus{State: s}}
	}
	tests := []struct {
		name string
		run  func(yield func(sdk.Event, error) bool)
		want string
	}{
		{"after the end", func(yield func(sdk.Event, error) bool) {
			yield(said(sdk.TaskStateCompleted), nil)
			yield(said(sdk.TaskStateFailed), nil)
		}, "task completed"},
		{"with a panic", func(yield func(sdk.Event, error) bool) {
			yield(said(sdk.TaskStateInputRequired), nil)
			panic("secret")
		}, "task input_required"},
		{"after a message", func(yield func(sdk.Event, error) bool) {
			yield(&sdk.Message{Parts: sdk.ContentParts{sdk.NewTextPart("hello")}}, nil)
			panic("secret")
		}, "message hello"},
		{"with a message that is none", func(yield func(sdk.Event, error) bool) {
			yield(&sdk.Message{}, nil)
		}, "task failed (invalid agent response)"},
		{"with nothing to run", nil, "task failed (internal error)"},
	}
	for _, tt := range tests {
		agent := new(tasktest.Actor).Agent("actor")
		agent.Run = func(context.Context, task.Turn) iter.Seq2[sdk.Event, error] { return tt.run }
		res, err := task.NewDesk(agent, live()).Send(t.Context(), message(firstID, "x"))
		if got := tasktest.Line(task.Frame{Event: res}); err != nil || got != "0 "+tt.want {
			t.Errorf("%s: Send() = %s, %v, want %s", tt.name, got, err, tt.want)
		}
	}
}

// Who leaves a stream does not stop the work, and the stream does not return
// before it is done.
func TestWhoLeavesDoesNotStopTheWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := desk(live())
		ctx, leave := context.WithCancel(t.Context())
		var id sdk.TaskID
		for f := range d.Stream(ctx, message(firstID, "WORKING sleep=20s make=x COMPLETED")) {
			id = f.Event.TaskInfo().TaskID
			leave()
			break
		}
		got, seq, err := d.Get(t.Context(), task.Caller{}, id)
		if line := tasktest.Line(task.Frame{Seq: seq, Event: got}); err != nil || line != "3 task completed a=x" {
			t.Errorf("Get() = %s, %v, want the task completed", line, err)
		}
		if ms := got.Metadata["durationMs"]; ms != 20000.0 {
			t.Errorf("the work took %v ms, want 20000", ms)
		}
		left, leave := context.WithCancel(t.Context())
		leave()
		if _, err := d.Send(left, message("1", "sleep=2s COMPLETED")); err != nil {
			t.Errorf("Send() of who has left = %v, want no error", err)
		}
	})
}

// A repetition that nobody waits for is answered with the task as it is.
func TestWhoWaitsIsAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := desk(live())
		s := message(firstID, "WORKING sleep=20s COMPLETED")
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = d.Send(t.Context(), s)
		}()
		<-time.After(time.Second)
		call, err := d.Call(t.Context(), s)
		if got := tasktest.Line(task.Frame{Event: call}); err != nil || got != "0 task working" {
			t.Errorf("Call(repeated) = %s, %v, want the task at work", got, err)
		}
		ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
		defer stop()
		res, err := d.Send(ctx, s)
		if got := tasktest.Line(task.Frame{Event: res}); err != nil || got != "0 task working" {
			t.Errorf("Send(repeated) until its time is up = %s, %v, want the task at work", got, err)
		}
		stream := ""
		for f := range d.Stream(ctx, s) {
			stream += tasktest.Line(f)
		}
		if stream != "1 task working" {
			t.Errorf("Stream(repeated) until its time is up = %s, want the task at work", stream)
		}
		<-done
	})
}

func TestMessagesWithoutUUID(t *testing.T) {
	t.Parallel()
	every := new(tasktest.Actor).Agent("actor")
	every.EveryMessage = true
	tests := []struct {
		name  string
		agent task.Agent
		ids   []string
	}{
		{"ids that callers reuse", new(tasktest.Actor).Agent("actor"), []string{"1", "1", "", "", "{" + firstID + "}", "urn:uuid:" + firstID}},
		{"an agent whose callers reuse UUIDs", every, []string{firstID, firstID}},
	}
	for _, tt := range tests {
		d, seen := task.NewDesk(tt.agent, live()), map[sdk.TaskID]bool{}
		for _, id := range tt.ids {
			res, err := d.Send(t.Context(), message(id, "COMPLETED"))
			if err != nil || seen[res.TaskInfo().TaskID] {
				t.Errorf("%s: Send(%q) = %v, %v, want a task of its own", tt.name, id, res, err)
			}
			seen[res.TaskInfo().TaskID] = true
		}
	}
}

// The tasks that callers of today know are found by the same names tomorrow.
func TestID(t *testing.T) {
	t.Parallel()
	tests := []struct {
		agent, caller, message string
		want                   sdk.TaskID
		ok                     bool
	}{
		{"location", "", firstID, "d5eca8a8-ca29-53fb-9687-3ff424839f9f", true},
		{"location", "", strings.ToUpper(firstID), "d5eca8a8-ca29-53fb-9687-3ff424839f9f", true},
		{"location", "alice", firstID, "bb9b6742-28af-57c7-9267-c522f2232732", true},
		{"location", "", "1", "", false},
		{"location", "", "", "", false},
	}
	for _, tt := range tests {
		if got, ok := task.ID(tt.agent, task.Caller{ID: tt.caller}, tt.message); ok != tt.ok || got != tt.want {
			t.Errorf("ID(%s, %q, %s) = %s, %t, want %s, %t", tt.agent, tt.caller, tt.message, got, ok, tt.want, tt.ok)
		}
	}
}

func TestWithoutQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		opt := live()
		d := desk(opt)
		got, err := d.Submit(t.Context(), message(firstID, "say=hello"))
		if line := tasktest.Line(task.Frame{Event: got}); err != nil || line != "0 task completed (hello)" {
			t.Errorf("Submit() = %s, %v, want the task completed", line, err)
		}
		opt.Finder = nil
		if _, err := desk(opt).List(t.Context(), task.Caller{}, task.Query{}); !errors.Is(err, sdk.ErrUnsupportedOperation) {
			t.Errorf("List() without a finder = %v, want that it is not supported", err)
		}
		for _, size := range []int{-1, 101} {
			if _, err := d.List(t.Context(), task.Caller{}, task.Query{Size: size}); fault.KindOf(err) != fault.Invalid {
				t.Errorf("List(size %d) = %v, want kind invalid", size, err)
			}
		}
		page, err := d.List(t.Context(), task.Caller{}, task.Query{})
		if err != nil || page.Size != 50 || page.Total != 1 || len(page.Tasks) != 1 || page.Tasks[0].ID != got.ID {
			t.Errorf("List() = %+v, %v, want the task", page, err)
		}
	})
}

func TestModes(t *testing.T) {
	t.Parallel()
	d := desk(live())
	tests := []struct {
		part    string
		accepts []string
		ok      bool
	}{
		{"", nil, true},
		{"text/plain", nil, true},
		{"TEXT/Plain; charset=utf-8", []string{"image/png", "text/*"}, true},
		{"", []string{"*/*"}, true},
		{"image/png", nil, false},
		{"text", nil, false},
		{"", []string{"application/json"}, false},
		{"", []string{"x"}, false},
	}
	for _, tt := range tests {
		s := message("1", "COMPLETED")
		s.Message.Parts[0].MediaType, s.Modes = tt.part, tt.accepts
		_, err := d.Send(t.Context(), s)
		if ok := err == nil; ok != tt.ok || !ok && !errors.Is(err, sdk.ErrUnsupportedContentType) {
			t.Errorf("Send(part %q, accepts %v) = %v, want taken: %t", tt.part, tt.accepts, err, tt.ok)
		}
	}
}

func TestDesksThatAreNone(t *testing.T) {
	t.Parallel()
	whole, opt := new(tasktest.Actor).Agent("actor"), live()
	for name, spoil := range map[string]func(a *task.Agent, o *task.Options){
		"name":  func(a *task.Agent, _ *task.Options) { a.Name = "" },
		"skill": func(a *task.Agent, _ *task.Options) { a.Skills = nil },
		"Run":   func(a *task.Agent, _ *task.Options) { a.Run = nil },
		"store": func(_ *task.Agent, o *task.Options) { o.Store = nil },
		"clock": func(_ *task.Agent, o *task.Options) { o.Now = nil },
		"log":   func(_ *task.Agent, o *task.Options) { o.Log = nil },
	} {
		a, o := whole, opt
		spoil(&a, &o)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("NewDesk() without %s did not panic", name)
				}
			}()
			task.NewDesk(a, o)
		}()
	}
}
