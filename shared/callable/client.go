package callable

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"

	"truecost.dev/shared/fault"
)

// maxAnswer bounds what a client reads of an answer, in bytes.
const maxAnswer = 10 << 20

// Client calls callable functions as httpsCallable does.
type Client struct {
	BaseURL string       // the function name is appended to it: http://127.0.0.1:5001/truecost/us-central1
	HTTP    *http.Client // with a timeout, or the context needs a deadline
	Token   string       // ID token; empty calls anonymously
}

// Call sends data to the function name and decodes its result into result,
// which may be nil.
//
// Every failure is a *fault.Error. One that the function answered has its kind
// and message, and its details as json.RawMessage. fault.Unavailable also tells
// that there is no connection, fault.Timeout and fault.Canceled that ctx ended,
// fault.Internal that the answer cannot be read.
func (c *Client) Call(ctx context.Context, name string, data, result any) error {
	body, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "%s: the data is not JSON", name)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.BaseURL, "/")+"/"+name, bytes.NewReader(body))
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "%s: the address %q cannot be read", name, c.BaseURL)
	}
	r.Header.Set("Content-Type", "application/json")
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	resp, err := c.HTTP.Do(r)
	if err != nil {
		return unreachable(ctx, name, err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return unreachable(ctx, name, err)
	}
	if len(answer) > maxAnswer {
		return fault.New(fault.Internal, "%s: the answer is larger than %d bytes", name, maxAnswer)
	}
	return decodeAnswer(name, resp.StatusCode, answer, result)
}

// unreachable classifies a call without an answer.
func unreachable(ctx context.Context, name string, err error) error {
	timeout, ok := errors.AsType[net.Error](err)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return fault.Wrap(fault.Canceled, err, "%s: the call was canceled", name)
	case ctx.Err() != nil, ok && timeout.Timeout():
		return fault.Wrap(fault.Timeout, err, "%s: no answer in time", name)
	}
	return fault.Wrap(fault.Unavailable, err, "%s: no connection", name)
}

// decodeAnswer reads an answer with an HTTP status into result. An answer with
// an error is an error whatever its status, and so is a status that is not 200
// whatever its body.
func decodeAnswer(name string, code int, body []byte, result any) error {
	var answer struct {
		Result json.RawMessage `json:"result"`
		Data   json.RawMessage `json:"data"` // of older functions
		Error  *struct {
			Status  string          `json:"status"`
			Message string          `json:"message"`
			Details json.RawMessage `json:"details"`
		} `json:"error"`
	}
	err := json.Unmarshal(body, &answer)
	if err == nil && answer.Error != nil {
		e := fault.New(kindOf(answer.Error.Status, code), "%s", answer.Error.Message)
		if answer.Error.Details != nil {
			e.Details = answer.Error.Details
		}
		return e
	}
	switch {
	case code != http.StatusOK:
		return fault.New(kindOf("", code), "%s: HTTP %d", name, code)
	case err != nil:
		return fault.Wrap(fault.Internal, err, "%s: the answer is not JSON", name)
	case answer.Result == nil && answer.Data == nil:
		return fault.New(fault.Internal, "%s: the answer has neither a result nor an error", name)
	case result == nil:
		return nil
	}
	if answer.Result == nil {
		answer.Result = answer.Data
	}
	if err := json.Unmarshal(answer.Result, result); err != nil {
		return fault.Wrap(fault.Internal, err, "%s: the result cannot be read", name)
	}
	return nil
}
