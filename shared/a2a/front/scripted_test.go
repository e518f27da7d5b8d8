package front

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
	"truecost.dev/shared/fault"
)

// start is the instant of every test clock.
var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

func frozen() time.Time { return start }

// newScripted returns the front of an agent that does what its messages say.
func newScripted(t *testing.T, opt Options) http.Handler {
	t.Helper()
	h, _ := newFront(t, scripted(), opt)
	return h
}

// newFront returns the front of an agent and its desk, with a clock that stands
// still and a fresh store.
func newFront(t testing.TB, a task.Agent, opt Options) (http.Handler, *task.Desk) {
	t.Helper()
	return newFrontOver(t, a, opt, tasktest.NewMemory(frozen), frozen)
}

// newFrontOver is newFront with a store and a clock of the test's own.
func newFrontOver(t testing.TB, a task.Agent, opt Options, store tasktest.StoreFinder, now func() time.Time) (http.Handler, *task.Desk) {
	t.Helper()
	var ids atomic.Int64
	fresh := func() string { return fmt.Sprintf("fresh-%d", ids.Add(1)) }
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	opt.NewID = fresh
	opt.URL = "https://agents.example/a2a_location"
	desk := task.NewDesk(a, task.Options{
		Store:  func() (task.Store, error) { return store, nil },
		Finder: func() (task.Finder, error) { return store, nil },
		Queue:  func() (task.Queue, error) { return idle{}, nil },
		Now:    now, Log: opt.Log, NewID: fresh, Push: true,
		Allow: func(_ context.Context, url string) error {
			if !strings.HasPrefix(url, "https://hooks.example/") {
				return fault.New(fault.Invalid, "the address is not one that is called")
			}
			return nil
		},
	})
	return NewHandler(desk, opt), desk
}

// idle is a queue that brings nothing, so that what is queued stays so.
type idle struct{}

func (idle) Work(context.Context, task.Ref) error { return nil }
func (idle) Tell(context.Context, task.Ref) error { return nil }

// scripted is an agent that does what the first text of a message says.
func scripted() task.Agent {
	media := []string{"text/plain", "application/json"}
	return task.Agent{
		Name: "location", Description: "Local prices.", Version: "1.0.0", InputModes: media, OutputModes: media,
		Skills: []task.Skill{{AgentSkill: sdk.AgentSkill{ID: "prices", Name: "Prices", Description: "Local prices.", Tags: []string{"pricing", "labor rates"}}}},
		Run: func(ctx context.Context, turn task.Turn) iter.Seq2[sdk.Event, error] {
			return func(yield func(sdk.Event, error) bool) { play(ctx, turn, yield) }
		},
	}
}

func play(ctx context.Context, turn task.Turn, yield func(sdk.Event, error) bool) {
	id := turn.TaskInfo()
	status := func(state sdk.TaskState, text string) bool {
		e := &sdk.TaskStatusUpdateEvent{TaskID: id.TaskID, ContextID: id.ContextID, Status: sdk.TaskStatus{State: state}}
		if text != "" {
			e.Status.Message = &sdk.Message{
				ID: turn.Message.ID + "/" + string(state), TaskID: id.TaskID, ContextID: id.ContextID,
				Role: sdk.MessageRoleAgent, Parts: sdk.ContentParts{sdk.NewTextPart(text)},
			}
		}
		return yield(e, nil)
	}
	artifact := func(more, last bool, parts ...*sdk.Part) bool {
		return yield(&sdk.TaskArtifactUpdateEvent{
			TaskID: id.TaskID, ContextID: id.ContextID, Append: more, LastChunk: last,
			Artifact: &sdk.Artifact{ID: "result", Name: "result", Parts: parts},
		}, nil)
	}
	text, data := "", json.RawMessage(nil)
	for _, p := range turn.Message.Parts {
		text += p.Text()
		if raw, ok := p.Data().(json.RawMessage); ok {
			data = raw
		}
	}
	switch {
	case text == "message":
		yield(&sdk.Message{ID: "reply-1", Role: sdk.MessageRoleAgent, ContextID: id.ContextID, Parts: sdk.ContentParts{sdk.NewTextPart("42")}}, nil)
	case text == "ask" && turn.Task == nil:
		status(sdk.TaskStateInputRequired, "Which zip code?")
	case text == "chunks":
		_ = status(sdk.TaskStateWorking, "looking") && artifact(false, false, sdk.NewTextPart("one ")) &&
			artifact(true, true, sdk.NewTextPart("two")) && status(sdk.TaskStateCompleted, "")
	case text == "fail":
		yield(nil, fault.Wrap(fault.Unavailable, errors.New("dial 10.0.0.7"), "prices are away"))
	case text == "reject":
		status(sdk.TaskStateRejected, "not for sale")
	case text == "panic":
		panic("secret of the house")
	case text == "wait":
		<-ctx.Done()
		yield(nil, context.Cause(ctx))
	case data != nil:
		_ = artifact(false, true, sdk.NewDataPart(data)) && status(sdk.TaskStateCompleted, "")
	default:
		_ = artifact(false, true, sdk.NewTextPart("you said "+text)) && status(sdk.TaskStateCompleted, "done")
	}
}
