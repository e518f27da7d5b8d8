package a2a

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"truecost.dev/shared/fault"
)

// maxAnswer bounds what a client reads of an answer, in bytes.
const maxAnswer = 10 << 20

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

// Result is what an agent answered.
type Result struct {
	TaskID   string
	Output   json.RawMessage // the result object, as it came; never nil
	Metadata Metadata
}

// Metadata says how an answer came about.
type Metadata struct {
	Agent      string
	DurationMS int64 // of the work, not of the call; 0 if unknown
	TokensUsed int64
	State      string // of the task, in the words of A2A 0.2
}

// Call sends req to an agent and waits for its result until ctx ends. id names
// the call: a UUID makes it safe to repeat, for the agent works on it once and
// gives every repetition the same result.
//
// Every failure is a *fault.Error, never an empty result. Transient kinds
// (fault.Kind.Transient) may pass: the agent cannot be reached, answers 408,
// 429 or 5xx, has an internal error, or failed in a way it calls transient;
// RetryAfter tells how long to wait if the agent said so. fault.Invalid,
// NotFound, Unknown and Denied are the caller's; fault.Internal is an answer
// that cannot be read or a defect of the agent; fault.Timeout and fault.Canceled
// also tell that ctx ended.
func (c *Client) Call(ctx context.Context, agent, id string, req Request) (Result, error) {
	ask := sendParams{Message: messageWire{Role: "user", Parts: []partWire{{Type: "data", Data: req}}}}
	ask.Context.ThreadID = req.EstimateID
	t, err := c.roundTrip(ctx, agent, id, "message/send", ask)
	for err == nil && t.running() {
		if err = c.wait(ctx); err == nil {
			t, err = c.roundTrip(ctx, agent, id, "tasks/get", taskParams{TaskID: t.TaskID})
		}
	}
	if err == nil {
		var r Result
		if r, err = t.result(); err == nil {
			return r, nil
		}
	}
	return Result{}, named(agent, err)
}

// named puts the agent's name before the message of a *fault.Error.
func named(agent string, err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		e = fault.Wrap(fault.KindOf(err), err, "%s", fault.Public(err))
	}
	return fault.Wrap(e.Kind, e.Err, "agent %s: %s", agent, e.Msg)
}

func (c *Client) wait(ctx context.Context) error {
	d := c.Poll
	if d <= 0 {
		d = defaultPoll
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ended(ctx, context.Cause(ctx))
	}
}

// ended is the error of a call whose context is over.
func ended(ctx context.Context, cause error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.Wrap(fault.Timeout, cause, "no answer in time")
	}
	return fault.Wrap(fault.Canceled, cause, "the call was canceled")
}

type sendParams struct {
	Message messageWire `json:"message"`
	Context struct {
		ThreadID string `json:"thread_id"`
	} `json:"context"`
}

type messageWire struct {
	Role  string     `json:"role"`
	Parts []partWire `json:"parts"`
}

type partWire struct {
	Type string  `json:"type"`
	Data Request `json:"data"`
}

type taskParams struct {
	TaskID string `json:"task_id"`
}

// roundTrip sends one JSON-RPC request and reads the task it is answered with.
func (c *Client) roundTrip(ctx context.Context, agent, id, method string, params any) (taskAnswer, error) {
	body, err := json.Marshal(struct {
		JSONRPC string `json:"jsonrpc"`
		ID      string `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", id, method, params})
	if err != nil {
		return taskAnswer{}, fault.Wrap(fault.Invalid, err, "the request is not JSON")
	}
	address := strings.TrimSuffix(c.BaseURL, "/") + "/a2a_" + agent
	if c.Resolve != nil {
		address = c.Resolve(agent)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return taskAnswer{}, fault.Wrap(fault.Internal, err, "address %q", address)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	resp, err := c.HTTP.Do(r)
	if err != nil {
		return taskAnswer{}, unreachable(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return taskAnswer{}, unreachable(ctx, err)
	case len(answer) > maxAnswer:
		return taskAnswer{}, fault.New(fault.Internal, "the answer is larger than %d bytes", maxAnswer)
	case resp.StatusCode != http.StatusOK:
		return taskAnswer{}, statusError(resp, answer)
	}
	return parseAnswer(answer, id)
}

// unreachable classifies a call without an answer.
func unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ended(ctx, err)
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return fault.Wrap(fault.Timeout, err, "no answer in time")
	}
	return fault.Wrap(fault.Unavailable, err, "no connection")
}

// statusError is the error of an answer whose HTTP status is not 200, with the
// message of its JSON-RPC body if it has one.
func statusError(resp *http.Response, body []byte) error {
	text := http.StatusText(resp.StatusCode)
	if top, ok := object(body); ok {
		if e, ok := object(top["error"]); ok {
			if m, ok := e.text("message"); ok {
				text = m
			}
		}
	}
	e := fault.New(kindOfStatus(resp.StatusCode), "HTTP %d: %s", resp.StatusCode, text)
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s >= 0 {
		e.Err = &pause{after: time.Duration(s) * time.Second}
	}
	return e
}

// taskAnswer is a result of the dialect as a client reads it.
type taskAnswer struct {
	TaskID   string          `json:"task_id"`
	Status   string          `json:"status"`
	Result   json.RawMessage `json:"result"`
	Error    string          `json:"error"`
	Metadata struct {
		Agent      string  `json:"agent"`
		DurationMS float64 `json:"duration_ms"`
		TokensUsed float64 `json:"tokens_used"`
		State      string  `json:"state"`
		ErrorKind  string  `json:"error_kind"`
		Retryable  bool    `json:"retryable"`
	} `json:"metadata"`
}

// parseAnswer reads a JSON-RPC response to the request named id.
func parseAnswer(body []byte, id string) (taskAnswer, error) {
	var t taskAnswer
	top, ok := object(body)
	if !ok {
		return t, fault.New(fault.Internal, "the answer is not a JSON object")
	}
	if v, _ := top.text("jsonrpc"); v != "2.0" {
		return t, fault.New(fault.Internal, "the answer is not JSON-RPC 2.0")
	}
	if top.has("error") {
		var e struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		}
		if err := json.Unmarshal(top["error"], &e); err != nil {
			return t, fault.Wrap(fault.Internal, err, "the error in the answer cannot be read")
		}
		return t, fault.New(kindOfCode(e.Code), "%s (%d)", e.Message, e.Code)
	}
	if got, ok := top.text("id"); !ok || got != id {
		return t, fault.New(fault.Internal, "the answer belongs to another call")
	}
	if first(top["result"]) != '{' {
		return t, fault.New(fault.Internal, "the answer has neither a result nor an error")
	}
	if err := json.Unmarshal(top["result"], &t); err != nil {
		return t, fault.Wrap(fault.Internal, err, "the result in the answer cannot be read")
	}
	if t.running() && t.TaskID == "" {
		return t, fault.New(fault.Internal, "the answer names no task")
	}
	return t, nil
}

func (t *taskAnswer) running() bool { return t.Status == "working" || t.Status == "submitted" }

// result returns the result of a completed task, or why there is none.
func (t *taskAnswer) result() (Result, error) {
	switch t.Status {
	case "completed":
		if first(t.Result) != '{' {
			return Result{}, fault.New(fault.Internal, "the task is completed and has no result")
		}
		return Result{TaskID: t.TaskID, Output: t.Result, Metadata: Metadata{
			Agent: t.Metadata.Agent, State: t.Metadata.State,
			DurationMS: int64(t.Metadata.DurationMS), TokensUsed: int64(t.Metadata.TokensUsed),
		}}, nil
	case "failed":
		return Result{}, fault.New(t.kind(), "%s", t.Error)
	}
	return Result{}, fault.New(fault.Internal, "the task has the unknown status %q", t.Status)
}

// kind classifies failed work: by the kind the agent names, else by whether it
// says that trying again may help. An agent that says nothing is broken for
// good.
func (t *taskAnswer) kind() fault.Kind {
	for _, k := range fault.Kinds() {
		if string(k) == t.Metadata.ErrorKind {
			return k
		}
	}
	if t.Metadata.Retryable {
		return fault.Unavailable
	}
	return fault.Internal
}
