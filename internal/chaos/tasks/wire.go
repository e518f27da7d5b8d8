package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/wire"
)

// answerTime is how long anybody waits for an answer, or for the end of a stream.
const answerTime = 30 * time.Second

// maxAnswer bounds an answer in bytes.
const maxAnswer = 1 << 20

// frame is one of server-sent events.
type frame struct{ name, id, data string }

// answer is a response: a body, or the frames of a stream up to the first that
// was not wanted, or up to where it was cut off.
type answer struct {
	status int
	body   []byte
	stream bool
}

// ask sends a request; each, if it is not nil, gets the frames of a stream until
// it returns false.
func (e *errand) ask(ctx context.Context, method, url string, body any, headers map[string]string, each func(frame) bool) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	var in io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return answer{}, err
		}
		in = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, in)
	if err != nil {
		return answer{}, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	res, err := e.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }() // only read
	a := answer{status: res.StatusCode}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") && each != nil {
		a.stream = true
		return a, frames(res.Body, each)
	}
	a.body, err = io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	return a, err
}

// frames reads events. One that was cut off is none.
func frames(r io.Reader, each func(frame) bool) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxAnswer)
	var f frame
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			f.name = value
		case "id":
			f.id = value
		case "data":
			f.data = value
		case "":
			if lines.Text() == "" && f.data != "" {
				if !each(f) {
					return nil
				}
				f = frame{}
			}
		}
	}
	return lines.Err()
}

// later reports whether a status asks for another try.
func later(status int) bool { return status == http.StatusTooManyRequests || status >= 500 }

// rpc is an answer of JSON-RPC.
type rpc struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// call asks for a method of A2A 1.0. Its error is final; without one and without
// result, another try may help.
func (e *errand) call(ctx context.Context, at, method string, params any, last string, each func(frame) bool) (json.RawMessage, error) {
	headers := map[string]string{"A2A-Version": "1.0"}
	if last != "" {
		headers["Last-Event-ID"] = last
	}
	a, err := e.ask(ctx, http.MethodPost, at, map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, headers, each)
	if err != nil || a.stream || later(a.status) {
		return nil, nil //nolint:nilerr,nilnil // whoever was asked is being killed, or an instance is away
	}
	var r rpc
	if err := json.Unmarshal(a.body, &r); err != nil {
		return nil, fmt.Errorf("%s answers %d %s", method, a.status, a.body)
	}
	if r.Error != nil && r.Error.Code == wire.CodeServer {
		return nil, nil //nolint:nilnil // as above
	}
	if r.Error != nil {
		return nil, &refused{method, r.Error.Code, r.Error.Message}
	}
	return r.Result, nil
}

// refused is an answer that another try would get again.
type refused struct {
	method  string
	code    int
	message string
}

func (r *refused) Error() string { return fmt.Sprintf("%s: %s (%d)", r.method, r.message, r.code) }

// message is the errand's, as A2A 1.0 has it.
func (e *errand) message() map[string]any {
	return map[string]any{"message": map[string]any{"messageId": e.id, "role": "ROLE_USER", "parts": []any{map[string]any{"data": e.plan}}}}
}

// stateOf returns the state that a frame of A2A 1.0 tells, and the event in the
// form of the log, "" of one that is the task itself.
func stateOf(result json.RawMessage) (state sdk.TaskState, event string, err error) {
	e, err := task.DecodeEvent(result)
	if err != nil {
		return "", "", err
	}
	switch e := e.(type) {
	case *sdk.Task:
		return e.Status.State, "", nil
	case *sdk.TaskStatusUpdateEvent:
		state = e.Status.State
	}
	text, err := task.EncodeEvent(e)
	return state, string(text), err
}
