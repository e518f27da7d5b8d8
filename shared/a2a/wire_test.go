package a2a_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/internal/transcript"
	"truecost.dev/shared/a2a"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// scripted is an agent that does what its input says and echoes the request
// otherwise.
func scripted() a2a.Agent {
	var calls atomic.Int64
	return agentFunc(func(ctx context.Context, req a2a.Request) (json.RawMessage, error) {
		n := calls.Add(1)
		switch string(req.Input) {
		case `"invalid"`:
			return nil, fault.New(fault.Invalid, "zip: no such place")
		case `"unavailable"`:
			return nil, fault.Wrap(fault.Unavailable, errors.New("dial 10.0.0.7"), "prices are away")
		case `"panic"`:
			panic("secret of the house")
		case `"nonsense"`:
			return json.RawMessage(`[1]`), nil
		case `"no JSON"`:
			return json.RawMessage(`{"n":`), nil
		case `"canceled"`:
			return nil, context.Canceled
		case `"flaky"`:
			if n == 1 {
				return nil, fault.New(fault.Exhausted, "too many at once")
			}
			return json.RawMessage(`{"n":` + strconv.FormatInt(n, 10) + `}`), nil
		case `"ask"`:
			if req.Answer == nil || string(req.Answer) == `"later"` {
				return nil, a2a.Ask("Which zip code?", json.RawMessage(`{ "type": "string", "maxLength": 5.0 }`))
			}
			return json.RawMessage(`{"zip":` + string(req.Answer) + `,"run":` + strconv.FormatInt(n, 10) + `}`), nil
		case `"ask nothing"`:
			return nil, a2a.Ask("", nil)
		case `"ask nonsense"`:
			return nil, a2a.Ask("Which zip code?", json.RawMessage(`"text"`))
		case `"count"`:
			return json.RawMessage(`{ "n": ` + strconv.FormatInt(n, 10) + `, "text": "<&>", "rate": 1.10 }`), nil
		}
		return echo(ctx, req)
	})
}

// elsewhere is a store in which the tasks of the estimate "elsewhere" are begun
// by another instance, which completes them at the third look, and those of
// "lost" by one that never does.
type elsewhere struct {
	task.Store
	looks atomic.Int64
}

func (e *elsewhere) Create(ctx context.Context, r task.Record, log ...task.Entry) (task.Record, error) {
	stored, err := e.Store.Create(ctx, r, log...)
	if c := r.Task.ContextID; err == nil && (c == "elsewhere" || c == "lost") {
		return task.Record{}, fault.New(fault.Conflict, "another instance was first")
	}
	return stored, err
}

func (e *elsewhere) Get(ctx context.Context, agent string, id sdk.TaskID) (task.Record, error) {
	r, err := e.Store.Get(ctx, agent, id)
	if err != nil || r.Task.ContextID != "elsewhere" || !r.AtWork() || e.looks.Add(1) < 3 {
		return r, err
	}
	r.Task.Status.State = sdk.TaskStateCompleted
	r.Task.Artifacts = []*sdk.Artifact{{ID: "result", Name: "result", Parts: sdk.ContentParts{sdk.NewDataPart(json.RawMessage(`{"n":1}`))}}}
	r.Task.SetMeta(wire.MetaTokens, 42)
	return e.Update(ctx, r)
}

func TestWire(t *testing.T) {
	t.Parallel()
	transcript.Play(t, "testdata/wire/*.txtar", func(*testing.T) http.Handler {
		return handler(scripted(), &elsewhere{Store: tasktest.NewMemory(standing)})
	})
}
