package front

import (
	"encoding/json"
	"net/http"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/card"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// trueCost is the dialect of the pipeline: methods of A2A 0.2, parts of A2A 0.1,
// no message id, a flat result of its own, and callers who poll.
type trueCost struct{}

// detect tells the dialect from A2A 0.3, whose methods it shares, by what only
// one of them has: a thread beside the message, parts with a type, task_id.
func (trueCost) detect(r request) bool {
	if _, rpc := r.top["jsonrpc"]; !rpc || !early(version(r.http)) {
		return false
	}
	var params struct {
		TaskID  json.RawMessage `json:"task_id"`
		ID      json.RawMessage `json:"id"`
		Context struct {
			Thread json.RawMessage `json:"thread_id"`
		} `json:"context"`
		Message struct {
			Parts []struct {
				Type json.RawMessage `json:"type"`
				Kind json.RawMessage `json:"kind"`
			} `json:"parts"`
		} `json:"message"`
	}
	_ = json.Unmarshal(r.top["params"], &params) // in one go, for inputs are large; what does not fit is absent
	switch method, _ := r.top.Text("method"); method {
	case "agent/card":
		return true
	case "tasks/get", "tasks/cancel":
		return given(params.TaskID) && !given(params.ID)
	case "message/send":
		for _, p := range params.Message.Parts {
			if given(p.Type) && !given(p.Kind) {
				return true
			}
		}
		return given(params.Context.Thread)
	}
	return false
}

// given reports whether a member is there and not null.
func given(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] != 'n' }

func (trueCost) decode(r request) (call, error) {
	h, err := wire.HeadOf(r.top)
	if err != nil {
		return call{}, err
	}
	params, ok := wire.Object(h.Params)
	if !ok && (h.Params != nil || h.Method != "agent/card") {
		return call{}, fault.New(fault.Invalid, "params: want an object")
	}
	switch h.Method {
	case "agent/card":
		return call{op: getCard}, nil
	case "tasks/get":
		id, err := nameOf(params, "params", "task_id")
		return call{op: getTask, task: sdk.TaskID(id)}, err
	case "tasks/cancel":
		id, err := nameOf(params, "params", "task_id")
		return call{op: cancelTask, task: sdk.TaskID(id), ended: true}, err
	}
	msg, err := trueCostMessage(params)
	if err != nil {
		return call{}, err
	}
	// A string id is the message's id: a UUID among them names a call that may be
	// repeated. Any other id is good for no more than an answer.
	if _ = json.Unmarshal(h.ID, &msg.ID); msg.ID == "" {
		msg.ID = string(h.ID)
	}
	return call{op: callMessage, send: task.Send{Message: msg}}, nil
}

// nameOf reads a member that is a string and not empty.
func nameOf(m wire.Members, path, name string) (string, error) {
	s, ok := m.Text(name)
	if !ok || s == "" {
		return "", fault.New(fault.Invalid, "%s.%s: want a string that is not empty", path, name)
	}
	return s, nil
}

func trueCostMessage(params wire.Members) (*sdk.Message, error) {
	m, ok := wire.Object(params["message"])
	if !ok {
		return nil, fault.New(fault.Invalid, "params.message: want an object")
	}
	if role, _ := m.Text("role"); role != "user" {
		return nil, fault.New(fault.Invalid, `params.message.role: want "user"`)
	}
	if m.Has("kind") {
		return nil, fault.New(fault.Invalid, "params.message.kind: a message whose parts have a type has none")
	}
	parts, err := partsOf(m["parts"], "params.message.parts", func(raw json.RawMessage) (*sdk.Part, error) { return partOf(raw, "type") })
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		if p.MediaType != "" { // what is sent along is no reason to refuse, whatever the agent reads
			p.Metadata, p.MediaType = map[string]any{"mimeType": p.MediaType}, ""
		}
	}
	msg := &sdk.Message{Role: sdk.MessageRoleUser, Parts: parts}
	if err := threadOf(params, m, msg); err != nil {
		return nil, err
	}
	if msg.ContextID == "" && msg.TaskID == "" {
		msg.ContextID = estimateOf(parts)
	}
	return msg, nil
}

// threadOf reads which task and which context a message belongs to. The context
// is named in the message, as A2A does, or beside it, as the dialect did before
// there were conversations.
func threadOf(params, message wire.Members, msg *sdk.Message) error {
	if message.Has("taskId") {
		id, err := nameOf(message, "params.message", "taskId")
		if err != nil {
			return err
		}
		msg.TaskID = sdk.TaskID(id)
	}
	if message.Has("contextId") {
		id, ok := message.Text("contextId")
		if !ok {
			return fault.New(fault.Invalid, "params.message.contextId: want a string")
		}
		msg.ContextID = id
	}
	if !params.Has("context") {
		return nil
	}
	c, ok := wire.Object(params["context"])
	if !ok {
		return fault.New(fault.Invalid, "params.context: want an object")
	}
	thread, ok := c.Text("thread_id")
	if !ok && c.Has("thread_id") {
		return fault.New(fault.Invalid, "params.context.thread_id: want a string")
	}
	if msg.ContextID == "" {
		msg.ContextID = thread
	}
	return nil
}

// estimateOf returns the estimate that a message without a context belongs to:
// what its first data part says.
func estimateOf(parts sdk.ContentParts) string {
	for _, p := range parts {
		if raw, ok := p.Data().(json.RawMessage); ok {
			data, _ := wire.Object(raw)
			id, _ := data.Text("estimate_id")
			return id
		}
	}
	return ""
}

func (trueCost) encode(r request, c call, a answer) response {
	id := wire.Echo(r.top)
	switch {
	case a.err != nil:
		return plainError(id, a.err, "params.message.messageId: ", "id: ")
	case c.op == getCard:
		return response{status: http.StatusOK, body: wire.Result(id, card.ShortOf(r.agent))}
	case a.message != nil:
		a.task = &sdk.Task{
			ID: a.message.TaskID, ContextID: a.message.ContextID, Status: sdk.TaskStatus{State: sdk.TaskStateCompleted},
			Artifacts: []*sdk.Artifact{{Parts: a.message.Parts}},
		}
	}
	return response{status: http.StatusOK, body: wire.Result(id, flatTaskOf(r.agent.Name, a.task))}
}

// frame has no words: the callers of this dialect poll.
func (trueCost) frame(request, call, task.Frame) (event, bool) { return event{}, false }

// plainError is the answer to a JSON-RPC request that was refused, in dialects
// whose errors have no details. Renamed are pairs of what a member is called in
// the task model and in the dialect.
func plainError(id json.RawMessage, err error, renamed ...string) response {
	e := wire.RefusalOf(err)
	return response{status: e.HTTP, body: wire.Error(id, struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{e.Code, strings.NewReplacer(renamed...).Replace(e.Message)})}
}
