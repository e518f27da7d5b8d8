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
// other. It is a shelf and no more: what a message, a result or a cancellation
// may do with a stored record is decided in record.go, and made true by writes
// that are refused when the record changed meanwhile.
//
// Records are copies: neither side changes what it gave away. Every method may
// also fail with fault.Unavailable or fault.Timeout when the store cannot be
// reached.
type Tasks interface {
	// Create stores a record and returns it with its Version. It returns
	// fault.Conflict, and changes nothing, when (r.Agent, r.ID) is stored already.
	Create(ctx context.Context, r Record) (Record, error)

	// Get returns a record with Version, and Lapsed by the store's clock. It
	// returns fault.NotFound when there is none.
	Get(ctx context.Context, agent string, id sdk.TaskID) (Record, error)

	// Update replaces the record and starts its lease anew; it returns what is
	// stored with its Version. It returns fault.Conflict, and changes nothing,
	// when the stored record is no longer the one of r.Version, and
	// fault.Conflict or fault.NotFound when there is none.
	Update(ctx context.Context, r Record) (Record, error)
}

// Record is a task with what is needed to run each of its turns once.
type Record struct {
	Agent string
	ID    sdk.TaskID // unique within the agent
	Turns []Turn     // messages of the task, oldest first; the last is the one at work or done

	// Lease is how long a worker may be silent. It is measured by the store's
	// clock from the last write on; clocks of instances play no part.
	Lease time.Duration
	Fence int64 // 1 for the first worker, one more for each that took over or took a turn
	Beats int   // renewals by the present worker: a write must change something to count

	// Retry says that the task failed in a way that may pass: a repetition of the
	// last message runs it again.
	Retry bool

	// Version is the store's own mark of the last write and Lapsed says that the
	// task is at work and its lease has run out. The store fills them in.
	Version time.Time
	Lapsed  bool

	Task *sdk.Task // encode and decode with EncodeTask and DecodeTask
}

// Turn is one message of a task: the first, or an answer to a question.
type Turn struct {
	ID   string `firestore:"id"`   // of the message; unique within the agent
	Hash string `firestore:"hash"` // of its content; the same id with another hash is another message
}

// AtWork reports whether a worker holds the task, or did until its lease ran
// out: only then does a lease mean anything.
func (r Record) AtWork() bool {
	return !r.Task.Status.State.Terminal() && !r.waits()
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

// DecodeTask reads what EncodeTask wrote. The data of artifacts and of the
// status stays as json.RawMessage, so that a stored result is answered byte for
// byte as it was the first time: no number passes through a float and no member
// moves. It returns fault.Internal for anything that is not a task.
func DecodeTask(b []byte) (*sdk.Task, error) {
	var t sdk.Task
	if err := json.Unmarshal(b, &t); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "decode task")
	}
	var raw struct {
		Artifacts []rawParts `json:"artifacts"`
		Status    struct {
			Message rawParts `json:"message"`
		} `json:"status"`
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "decode the parts of task %s", t.ID)
	}
	for i, a := range t.Artifacts {
		raw.Artifacts[i].into(a.Parts)
	}
	if t.Status.Message != nil {
		raw.Status.Message.into(t.Status.Message.Parts)
	}
	return &t, nil
}

// rawParts are the parts of an artifact or a message with their data unparsed.
type rawParts struct {
	Parts []struct {
		Data json.RawMessage `json:"data"`
	} `json:"parts"`
}

// into puts the unparsed data into the same parts, decoded.
func (r rawParts) into(parts sdk.ContentParts) {
	for i, p := range parts {
		if _, ok := p.Content.(sdk.Data); ok {
			p.Content = sdk.Data{Value: r.Parts[i].Data}
		}
	}
}
