package a2a

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/fault"
)

// Tasks keeps the tasks of agents, so that any instance can answer for any
// other. Records are copies: neither side changes what it gave away.
//
// Every method may also fail with fault.Unavailable or fault.Timeout when the
// store cannot be reached.
type Tasks interface {
	// Begin stores r and returns it with Fence 1 and fresh true. If (r.Agent,
	// r.ID) is stored already with the same RequestHash, it returns the stored
	// record and fresh false, unless nobody works on it any more: a record that
	// lapsed (see Record.Lapsed) or is to be run again (Record.Retry) is replaced
	// by r with the next Fence, and fresh is true. Of several callers at once one
	// gets fresh.
	//
	// It returns fault.Conflict, and changes nothing, when the stored record has
	// another RequestHash.
	Begin(ctx context.Context, r Record) (stored Record, fresh bool, err error)

	// Finish stores the ended task of a record that Begin gave out and returns
	// what is stored then. The first result wins: a record that has ended (and is
	// not to be run again) stays as it is, and a failure to be run again that
	// comes from an older Fence is dropped. It returns fault.NotFound for a
	// record that was never begun.
	Finish(ctx context.Context, r Record) (stored Record, err error)

	// Get returns a record with Lapsed set by the store's clock, or
	// fault.NotFound.
	Get(ctx context.Context, agent string, id sdk.TaskID) (Record, error)
}

// Record is a task with what is needed to run it once.
type Record struct {
	Agent       string
	ID          sdk.TaskID // unique within the agent
	RequestHash string     // of the message; the same id with another hash is another request

	// Lease is how long the worker may be silent after Begin. It is measured by
	// the store's clock from Begin on; clocks of instances play no part.
	Lease time.Duration
	Fence int64 // 1 for the first worker, one more for each that took over

	// Retry says that the task failed in a way that may pass: the next Begin
	// runs it again.
	Retry bool

	// Lapsed says that the task has not ended and its lease has run out. It is
	// filled in by Get and never stored.
	Lapsed bool

	Task *sdk.Task // encode and decode with EncodeTask and DecodeTask
}

// Ended reports whether the record holds a result that stands.
func (r Record) Ended() bool { return r.Task.Status.State.Terminal() && !r.Retry }

// EncodeTask returns the JSON form of a task for a store.
func EncodeTask(t *sdk.Task) ([]byte, error) {
	b, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("encode task %s: %w", t.ID, err)
	}
	return b, nil
}

// DecodeTask reads what EncodeTask wrote. The data of artifacts stays as
// json.RawMessage, so that a stored result is answered byte for byte as it was
// the first time: no number passes through a float and no member moves. It
// returns fault.Internal for anything that is not a task.
func DecodeTask(b []byte) (*sdk.Task, error) {
	var t sdk.Task
	if err := json.Unmarshal(b, &t); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "decode task")
	}
	var raw struct {
		Artifacts []struct {
			Parts []struct {
				Data json.RawMessage `json:"data"`
			} `json:"parts"`
		} `json:"artifacts"`
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "decode the artifacts of task %s", t.ID)
	}
	for i, a := range t.Artifacts {
		for j, p := range a.Parts {
			if _, ok := p.Content.(sdk.Data); ok {
				p.Content = sdk.Data{Value: raw.Artifacts[i].Parts[j].Data}
			}
		}
	}
	return &t, nil
}
