package a2a_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"

	"truecost.dev/internal/transcript"
	"truecost.dev/shared/a2a"
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
		case `"count"`:
			return json.RawMessage(`{ "n": ` + strconv.FormatInt(n, 10) + `, "text": "<&>", "rate": 1.10 }`), nil
		}
		return echo(ctx, req)
	})
}

func TestWire(t *testing.T) {
	t.Parallel()
	transcript.Play(t, "testdata/wire/*.txtar", func(*testing.T) http.Handler {
		return a2a.NewHandler(scripted(), frozen())
	})
}
