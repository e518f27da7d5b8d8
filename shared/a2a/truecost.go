package a2a

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/fault"
)

// trueCost is the dialect of the pipeline: methods of A2A 0.2, parts of A2A 0.1,
// no message id, and a flat result of its own.
type trueCost struct{}

// maxParts is how many parts a message may have.
const maxParts = 64

func (trueCost) detect(r request) bool {
	if _, rpc := r.top["jsonrpc"]; !rpc || !early(version(r.http)) {
		return false
	}
	switch method, _ := r.top.text("method"); method {
	case "message/send", "tasks/get", "tasks/cancel", "agent/card":
		return true
	}
	return false
}

func (trueCost) decode(r request) (call, error) {
	h, err := headOf(r.top)
	if err != nil {
		return call{}, err
	}
	params, ok := object(h.params)
	if !ok && (h.params != nil || h.method != "agent/card") {
		return call{}, fault.New(fault.Invalid, "params: want an object")
	}
	switch h.method {
	case "agent/card":
		return call{op: getCard}, nil
	case "tasks/get":
		id, err := taskIDOf(params)
		return call{op: getTask, task: id}, err
	case "tasks/cancel":
		id, err := taskIDOf(params)
		return call{op: cancelTask, task: id}, err
	}
	msg, err := messageOf(params)
	if err != nil {
		return call{}, err
	}
	// A string id is the message's id; core gives any other message a fresh one.
	_ = json.Unmarshal(h.id, &msg.ID)
	return call{op: sendMessage, message: msg}, nil
}

func (trueCost) encode(r request, a answer) (status int, body []byte) {
	id := echo(r.top)
	switch {
	case a.err != nil:
		return rpcError(id, a.err)
	case a.card != nil:
		return http.StatusOK, rpc(id, "result", shortCardOf(*a.card))
	}
	return http.StatusOK, rpc(id, "result", taskWireOf(a.task))
}

// taskIDOf reads the id of a task by either of its names.
func taskIDOf(params members) (sdk.TaskID, error) {
	for _, name := range []string{"task_id", "id"} {
		if !params.has(name) {
			continue
		}
		id, ok := params.text(name)
		if !ok || id == "" {
			return "", fault.New(fault.Invalid, "params.%s: want a string", name)
		}
		return sdk.TaskID(id), nil
	}
	return "", fault.New(fault.Invalid, "params.task_id: want a string")
}

func messageOf(params members) (*sdk.Message, error) {
	m, ok := object(params["message"])
	if !ok {
		return nil, fault.New(fault.Invalid, "params.message: want an object")
	}
	if role, _ := m.text("role"); role != "user" {
		return nil, fault.New(fault.Invalid, `params.message.role: want "user"`)
	}
	msg := &sdk.Message{Role: sdk.MessageRoleUser}
	if err := conversationOf(params, m, msg); err != nil {
		return nil, err
	}
	var parts []json.RawMessage
	if json.Unmarshal(m["parts"], &parts) != nil || len(parts) == 0 || len(parts) > maxParts {
		return nil, fault.New(fault.Invalid, "params.message.parts: want a list of 1 to %d parts", maxParts)
	}
	for i, raw := range parts {
		p, err := partOf(raw)
		if err != nil {
			return nil, fault.New(fault.Invalid, "params.message.parts[%d]%s", i, err)
		}
		msg.Parts = append(msg.Parts, p)
	}
	return msg, nil
}

// conversationOf reads which task and which context a message belongs to. The
// context is named in the message, as A2A does, or beside it, as the dialect
// did before there were conversations.
func conversationOf(params, message members, msg *sdk.Message) error {
	if message.has("taskId") {
		id, ok := message.text("taskId")
		if !ok || id == "" {
			return fault.New(fault.Invalid, "params.message.taskId: want a string that is not empty")
		}
		msg.TaskID = sdk.TaskID(id)
	}
	if message.has("contextId") {
		id, ok := message.text("contextId")
		if !ok {
			return fault.New(fault.Invalid, "params.message.contextId: want a string")
		}
		msg.ContextID = id
	}
	if !params.has("context") {
		return nil
	}
	c, ok := object(params["context"])
	if !ok {
		return fault.New(fault.Invalid, "params.context: want an object")
	}
	thread, ok := c.text("thread_id")
	if !ok && c.has("thread_id") {
		return fault.New(fault.Invalid, "params.context.thread_id: want a string")
	}
	if msg.ContextID == "" {
		msg.ContextID = thread
	}
	return nil
}

// partOf reads a part of A2A 0.1. Its errors continue the path of the part.
func partOf(raw json.RawMessage) (*sdk.Part, error) {
	p, ok := object(raw)
	if !ok {
		return nil, fmt.Errorf(": want an object")
	}
	kind, _ := p.text("type")
	if p.has("kind") {
		return nil, fmt.Errorf(".kind: this dialect tells parts apart by type")
	}
	for _, other := range []string{"text", "file", "data"} {
		if other != kind && p.has(other) {
			return nil, fmt.Errorf(": want one content, that of its type")
		}
	}
	switch kind {
	case "data":
		if first(p["data"]) != '{' {
			return nil, fmt.Errorf(".data: want an object")
		}
		return sdk.NewDataPart(p["data"]), nil
	case "text":
		text, ok := p.text("text")
		if !ok {
			return nil, fmt.Errorf(".text: want a string")
		}
		return sdk.NewTextPart(text), nil
	case "file":
		return filePartOf(p["file"])
	}
	return nil, fmt.Errorf(`.type: want "text", "file" or "data"`)
}

func filePartOf(raw json.RawMessage) (*sdk.Part, error) {
	f, ok := object(raw)
	if !ok || f.has("bytes") == f.has("uri") {
		return nil, fmt.Errorf(".file: want an object with either bytes or uri")
	}
	var part *sdk.Part
	if f.has("bytes") {
		text, ok := f.text("bytes")
		content, err := base64.StdEncoding.DecodeString(text)
		if !ok || err != nil {
			return nil, fmt.Errorf(".file.bytes: want base64")
		}
		part = sdk.NewRawPart(content)
	} else {
		text, ok := f.text("uri")
		u, err := url.Parse(text)
		if !ok || err != nil || !u.IsAbs() {
			return nil, fmt.Errorf(".file.uri: want an absolute URL")
		}
		part = sdk.NewFileURLPart(sdk.URL(text), "")
	}
	part.Filename, _ = f.text("name")
	part.MediaType, _ = f.text("mimeType")
	return part, nil
}

// taskWire is a task as the dialect writes it.
type taskWire struct {
	TaskID   string          `json:"task_id"`
	Status   string          `json:"status"` // submitted, working, completed, failed
	Result   json.RawMessage `json:"result,omitempty"`
	Error    string          `json:"error,omitempty"`
	Metadata map[string]any  `json:"metadata"`
}

// taskWireOf writes every state the dialect has no word for as failed, with the
// true one in the metadata: callers would take a missing result for an empty one.
// A task that goes on names its context there, and one that waits its question.
func taskWireOf(t *sdk.Task) taskWire {
	state := word(t.Status.State)
	w := taskWire{TaskID: string(t.ID), Status: state, Metadata: map[string]any{}}
	maps.Copy(w.Metadata, t.Metadata)
	w.Metadata["state"] = state
	switch t.Status.State {
	case sdk.TaskStateSubmitted, sdk.TaskStateWorking:
		w.Metadata[metaContext] = t.ContextID
	case sdk.TaskStateCompleted:
		w.Result = resultOf(t)
	case sdk.TaskStateInputRequired:
		q := questionOf(t)
		w.Status, w.Error = "failed", "input required: "+q.Prompt
		w.Metadata[metaContext], w.Metadata[metaQuestion] = t.ContextID, q
	default:
		w.Status = "failed"
		if w.Error = textOf(t.Status.Message); w.Error == "" {
			w.Error = "the task is " + state
		}
	}
	return w
}

// word turns TASK_STATE_INPUT_REQUIRED into input-required.
func word(s sdk.TaskState) string {
	w := strings.ToLower(strings.TrimPrefix(string(s), "TASK_STATE_"))
	if w == "" {
		return "unknown"
	}
	return strings.ReplaceAll(w, "_", "-")
}

// resultOf returns the data of the artifact named result, else of the last
// artifact with data, else the last text.
func resultOf(t *sdk.Task) json.RawMessage {
	var data any
	text := ""
	for _, a := range t.Artifacts {
		for _, p := range a.Parts {
			if v := p.Data(); v != nil {
				data = v
			}
			if s := p.Text(); s != "" {
				text = s
			}
		}
		if a.Name == resultName && data != nil {
			break
		}
	}
	if data == nil {
		data = map[string]string{"text": text}
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return nil // unreachable: data comes from JSON
	}
	return raw
}

func textOf(m *sdk.Message) string {
	if m == nil {
		return ""
	}
	var texts []string
	for _, p := range m.Parts {
		if s := p.Text(); s != "" {
			texts = append(texts, s)
		}
	}
	return strings.Join(texts, "\n")
}
