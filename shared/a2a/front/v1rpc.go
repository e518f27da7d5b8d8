package front

import (
	"net/http"
	"strconv"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// v1RPC is A2A 1.0 over JSON-RPC: every request that says it is 1.0.
type v1RPC struct{}

// v1Methods are the methods of A2A 1.0.
var v1Methods = map[string]func(params object, h http.Header) (call, error){
	"SendMessage":          func(p object, _ http.Header) (call, error) { return v1Send(p, sendMessage) },
	"SendStreamingMessage": func(p object, _ http.Header) (call, error) { return v1Send(p, streamMessage) },
	"GetTask":              func(p object, _ http.Header) (call, error) { return v1Task(p, getTask, "id") },
	"ListTasks":            func(p object, _ http.Header) (call, error) { return v1List(p) },
	"CancelTask":           func(p object, _ http.Header) (call, error) { return v1Task(p, cancelTask, "id") },
	"SubscribeToTask":      v1Follow,

	"CreateTaskPushNotificationConfig": func(p object, _ http.Header) (call, error) { return v1PutHook(p) },
	"GetTaskPushNotificationConfig":    func(p object, _ http.Header) (call, error) { return v1NamedHook(p, getHook) },
	"ListTaskPushNotificationConfigs":  func(p object, _ http.Header) (call, error) { return v1Hooks(p) },
	"DeleteTaskPushNotificationConfig": func(p object, _ http.Header) (call, error) { return v1NamedHook(p, dropHook) },

	"GetExtendedAgentCard": func(object, http.Header) (call, error) { return call{op: getExtendedCard}, nil },
}

// detect takes every request of 1.0, so that a method of another version is
// refused in words that its caller reads.
func (v1RPC) detect(r request) bool {
	_, rpc := r.top["jsonrpc"]
	return rpc && current(version(r.http))
}

func (v1RPC) decode(r request) (call, error) {
	h, err := wire.HeadOf(r.top)
	if err != nil {
		return call{}, err
	}
	decode, ok := v1Methods[h.Method]
	if !ok {
		return call{}, wire.Refuse(http.StatusOK, wire.CodeMethodNotFound,
			"method: A2A 1.0 has no such method; those with a slash go without the header %s", sdk.SvcParamVersion)
	}
	params, ok := wire.Object(h.Params)
	if !ok && h.Params != nil {
		return call{}, fault.New(fault.Invalid, "params: want an object")
	}
	if needs := h.Method != "ListTasks" && h.Method != "GetExtendedAgentCard"; needs && h.Params == nil {
		return call{}, fault.New(fault.Invalid, "params: want an object")
	}
	return decode(object{"params", params}, r.http.Header)
}

func (v1RPC) encode(r request, c call, a answer) response {
	id := wire.Echo(r.top)
	if a.err != nil {
		e := wire.RefusalOf(a.err)
		return response{status: e.HTTP, body: wire.Error(id, v1RPCError{e.Code, e.Message, v1Details(e)})}
	}
	return response{status: http.StatusOK, body: wire.Result(id, v1Result(c, a))}
}

func (v1RPC) frame(r request, _ call, f task.Frame) (event, bool) {
	return event{id: strconv.FormatInt(f.Seq, 10), data: wire.Result(wire.Echo(r.top), wire.Named(f.Event))}, true
}

// v1RPCError is the error of a JSON-RPC answer.
type v1RPCError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    []any  `json:"data"`
}
