package a2a

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// maxAnswer bounds what a client reads of an answer, in bytes.
const maxAnswer = 10 << 20

type sendParams struct {
	Message messageWire `json:"message"`
	Context struct {
		ThreadID string `json:"thread_id"`
	} `json:"context"`
}

type messageWire struct {
	Role      string     `json:"role"`
	TaskID    string     `json:"taskId,omitempty"`
	ContextID string     `json:"contextId,omitempty"`
	Parts     []partWire `json:"parts"`
}

type partWire struct {
	Type string  `json:"type"`
	Data Request `json:"data"`
}

type taskParams struct {
	TaskID string `json:"task_id"`
}

func sendParamsOf(req Request) sendParams {
	p := sendParams{Message: messageWire{
		Role: "user", TaskID: req.TaskID, ContextID: req.ContextID,
		Parts: []partWire{{Type: "data", Data: req}},
	}}
	p.Context.ThreadID = req.context()
	return p
}

// context returns the context a request belongs to.
func (r Request) context() string {
	if r.ContextID != "" {
		return r.ContextID
	}
	return r.EstimateID
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
	if ctx.Err() != nil {
		return taskAnswer{}, ended(ctx, context.Cause(ctx)) // before anything was sent
	}
	var trip tripTrace
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trip.hooks()), http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return taskAnswer{}, fault.Wrap(fault.Internal, err, "address %q", address)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	resp, err := c.HTTP.Do(r)
	if err != nil {
		if !trip.unsent(err) {
			err = &unanswered{err}
		}
		return taskAnswer{}, unreachable(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return taskAnswer{}, unreachable(ctx, &unanswered{err})
	case len(answer) > maxAnswer:
		return taskAnswer{}, fault.New(fault.Internal, "the answer is larger than %d bytes", maxAnswer)
	case resp.StatusCode != http.StatusOK:
		return taskAnswer{}, statusError(resp, answer)
	}
	t, err := parseAnswer(answer, id)
	t.after = retryAfter(resp)
	return t, err
}

// tripTrace follows one request on its way out.
type tripTrace struct {
	asked atomic.Bool // a connection was asked for, so that the other mark means something
	wrote atomic.Bool // the head of the request went out
}

func (t *tripTrace) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn:      func(string) { t.asked.Store(true) },
		WroteHeaders: func() { t.wrote.Store(true) },
	}
}

// unsent reports whether a request that ended in err certainly never reached
// the agent: no connection came about, or it broke before the head of the
// request was out. A transport that does not tell is believed only about
// connections refused and names unknown.
func (t *tripTrace) unsent(err error) bool {
	if t.asked.Load() {
		return !t.wrote.Load()
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true
	}
	_, dns := errors.AsType[*net.DNSError](err)
	return dns || errors.Is(err, syscall.ECONNREFUSED)
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

// ended is the error of a call whose context is over.
func ended(ctx context.Context, cause error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.Wrap(fault.Timeout, cause, "no answer in time")
	}
	return fault.Wrap(fault.Canceled, cause, "the call was canceled")
}

// statusError is the error of an answer whose HTTP status is not 200, with the
// message of its JSON-RPC body if it has one. Of what happened behind a gateway
// that got no answer nobody knows.
func statusError(resp *http.Response, body []byte) error {
	text := http.StatusText(resp.StatusCode)
	if top, ok := wire.Object(body); ok {
		if e, ok := wire.Object(top["error"]); ok {
			if m, ok := e.Text("message"); ok {
				text = m
			}
		}
	}
	e := fault.New(wire.KindOfStatus(resp.StatusCode), "HTTP %d: %s", resp.StatusCode, text)
	if s := resp.Header.Get("Retry-After"); s != "" {
		if after, ok := seconds(s); ok {
			e.Err = &pause{after: after}
		}
	}
	if resp.StatusCode == http.StatusBadGateway || resp.StatusCode == http.StatusGatewayTimeout {
		e.Err = &unanswered{e.Err}
	}
	return e
}

// retryAfter is how long the answer asks to be left alone; 0 if it does not say.
func retryAfter(resp *http.Response) time.Duration {
	after, _ := seconds(resp.Header.Get("Retry-After"))
	return after
}

// seconds reads a Retry-After in seconds, at most a day of them; dates are not
// sent by agents.
func seconds(s string) (time.Duration, bool) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, false
	}
	return time.Duration(min(n, 24*60*60)) * time.Second, true
}
