package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"truecost.dev/shared/fault"
)

// defaultPoll is how long a client waits between two looks at a working task.
const defaultPoll = 5 * time.Second

// Client calls agents in the dialect of TrueCost. Its zero value lacks HTTP.
type Client struct {
	HTTP *http.Client // adds identity if any is needed; follows the deadline of the context

	// Resolve returns the address of an agent. Nil: BaseURL/a2a_<agent>.
	Resolve func(agent string) string
	BaseURL string

	Poll time.Duration // between two looks at a working task; 0 is 5 s
}

// States of a Result.
const (
	Completed     = "completed"
	Working       = "working"
	InputRequired = "input_required"
)

// Result is what an agent answered.
type Result struct {
	State     string // Completed, Working or InputRequired
	TaskID    string
	ContextID string // empty if neither side named one

	Output   json.RawMessage // of Completed: the result object, as it came
	After    time.Duration   // of Working: when to look again; 0 if the agent did not say
	Question *Question       // of InputRequired

	Metadata Metadata
}

// Metadata says how an answer came about. Figures are the agent's own; one it
// did not report, or that cannot be, is 0.
type Metadata struct {
	Agent      string
	DurationMS int64 // of the work, not of the call
	TokensUsed int64
	CostUSD    float64 // what a model charged, in dollars: for the record, never for a sum of the estimate
	State      string  // of the task, in the words of A2A 0.2
}

// Call sends req to an agent. id names the call: a UUID makes it safe to
// repeat, for the agent works on it once and gives every repetition the same
// task and the same result.
//
// While the agent says it is still working, Call looks again every Poll, as
// long as more than one Poll is left of ctx (for ever without a deadline). An
// answer that is not final is no error: State is Working when there is no time
// for another look, when the agent asked to be left alone for longer than Poll,
// or when a look failed in a way that may pass; and InputRequired when a person
// must answer, by a call with TaskID, ContextID and Answer set and an id of its
// own.
//
// Every failure is a *fault.Error, never an empty result. Transient kinds
// (fault.Kind.Transient) may pass: the agent cannot be reached, answers 408,
// 429 or 5xx, has an internal error, or failed in a way it calls transient;
// RetryAfter tells how long to wait if the agent said so, Ambiguous whether it
// may have worked all the same. fault.Invalid, NotFound, Unknown and Denied are
// the caller's; fault.Conflict is a task that was canceled or takes no message
// now; fault.Internal is an answer that cannot be read or a defect of the
// agent; fault.Timeout and fault.Canceled also tell that ctx ended.
func (c *Client) Call(ctx context.Context, agent, id string, req Request) (Result, error) {
	t, err := c.roundTrip(ctx, agent, id, "message/send", sendParamsOf(req))
	for err == nil && t.state() == Working && c.mayLook(ctx, t.after) {
		if err = c.wait(ctx, t.after); err != nil {
			break
		}
		var next taskAnswer
		next, err = c.roundTrip(ctx, agent, id, "tasks/get", taskParams{TaskID: t.TaskID})
		if fault.KindOf(err).Transient() {
			// The work goes on whether we see it or not.
			t.after, _ = RetryAfter(err)
			err = nil
			break
		}
		t = next
	}
	r, err := t.resultOr(err)
	if err != nil {
		return Result{}, named(agent, err)
	}
	if r.ContextID == "" {
		r.ContextID = req.context()
	}
	return r, nil
}

// Look asks for the task that an earlier call left working, once. Its errors
// are those of Call; fault.NotFound is a task the agent does not know (any
// more).
func (c *Client) Look(ctx context.Context, agent, task string) (Result, error) {
	t, err := c.roundTrip(ctx, agent, task, "tasks/get", taskParams{TaskID: task})
	r, err := t.resultOr(err)
	if err != nil {
		return Result{}, named(agent, err)
	}
	return r, nil
}

// Cancel tells an agent that nobody waits for a task any more. It is best
// effort: a task unknown or ended is no error, and an agent that was told may
// finish all the same.
func (c *Client) Cancel(ctx context.Context, agent, task string) error {
	_, err := c.roundTrip(ctx, agent, task, "tasks/cancel", taskParams{TaskID: task})
	if kind := fault.KindOf(err); err == nil || kind == fault.NotFound || kind == fault.Conflict {
		return nil
	}
	return named(agent, err)
}

// named puts the agent's name before the message of a *fault.Error.
func named(agent string, err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		e = fault.Wrap(fault.KindOf(err), err, "%s", fault.Public(err))
	}
	return fault.Wrap(e.Kind, e.Err, "agent %s: %s", agent, e.Msg)
}

func (c *Client) poll() time.Duration {
	if c.Poll <= 0 {
		return defaultPoll
	}
	return c.Poll
}

// mayLook reports whether to wait for another look at a task: not when the
// agent asked for a longer pause, and not when the look could come too late. A
// quarter of the pause is left for the look itself.
func (c *Client) mayLook(ctx context.Context, after time.Duration) bool {
	pause := c.poll()
	if after > pause {
		return false
	}
	deadline, ok := ctx.Deadline()
	return !ok || time.Until(deadline) > pause+pause/4
}

// wait waits until the next look: after, if the agent said so, else Poll.
func (c *Client) wait(ctx context.Context, after time.Duration) error {
	if after <= 0 {
		after = c.poll()
	}
	timer := time.NewTimer(after)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ended(ctx, &unanswered{context.Cause(ctx)}) // the agent is at it
	}
}
