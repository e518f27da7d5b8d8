package front

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// earlyRPC is A2A 0.3 over JSON-RPC, and 0.2 with it: methods with a slash,
// everything told apart by its kind.
type earlyRPC struct{}

// earlyMethods read the parameters of the methods of A2A 0.3.
var earlyMethods = map[string]func(p object, h http.Header) (call, error){
	"message/send":      func(p object, _ http.Header) (call, error) { return earlySend(p, earlySpelling) },
	"message/stream":    func(p object, _ http.Header) (call, error) { return earlyStream(p, earlySpelling) },
	"tasks/get":         func(p object, _ http.Header) (call, error) { return v1Task(p, getTask, "id") },
	"tasks/cancel":      func(p object, _ http.Header) (call, error) { return v1Task(p, cancelTask, "id") },
	"tasks/resubscribe": v1Follow,

	"tasks/pushNotificationConfig/set":    func(p object, _ http.Header) (call, error) { return earlyPutHook(p) },
	"tasks/pushNotificationConfig/get":    func(p object, _ http.Header) (call, error) { return earlyGetHook(p) },
	"tasks/pushNotificationConfig/list":   func(p object, _ http.Header) (call, error) { return v1Task(p, listHooks, "id") },
	"tasks/pushNotificationConfig/delete": func(p object, _ http.Header) (call, error) { return earlyHook(p, dropHook) },

	"agent/getAuthenticatedExtendedCard": func(object, http.Header) (call, error) { return call{op: getExtendedCard}, nil },
}

func (earlyRPC) detect(r request) bool {
	method, _ := r.top.Text("method")
	_, rpc := r.top["jsonrpc"]
	return rpc && early(version(r.http)) && strings.Contains(method, "/")
}

func (earlyRPC) decode(r request) (call, error) {
	h, err := wire.HeadOf(r.top)
	if err != nil {
		return call{}, err
	}
	read, ok := earlyMethods[h.Method]
	if !ok {
		return call{}, wire.Refuse(http.StatusOK, wire.CodeMethodNotFound, "method: this agent has no such method")
	}
	params, ok := wire.Object(h.Params)
	if !ok && (h.Params != nil || h.Method != "agent/getAuthenticatedExtendedCard") {
		return call{}, fault.New(fault.Invalid, "params: want an object")
	}
	return read(object{"params", params}, r.http.Header)
}

// earlySend reads message/send. Like the servers of that time it waits for the
// end of the turn unless the caller says otherwise. In protobuf, where nobody can
// leave a boolean out, to configure anything but blocking is to say so.
func earlySend(p object, s spelling) (call, error) {
	send, history, err := earlyMessageAnd(p, s)
	c := call{op: sendMessage, send: send, history: history}
	if err != nil {
		return c, err
	}
	conf, ok, err := p.object("configuration")
	if err != nil || !ok || s == earlySpelling && conf.raw("blocking") == nil {
		return c, err
	}
	wait, err := conf.flag("blocking")
	if !wait {
		c.op = submitMessage
	}
	return c, err
}

func earlyStream(p object, s spelling) (call, error) {
	send, history, err := earlyMessageAnd(p, s)
	return call{op: streamMessage, send: send, history: history}, err
}

// earlyMessageAnd reads a message and what its caller wants of the answer.
func earlyMessageAnd(p object, s spelling) (send task.Send, history *int, err error) {
	send.Keep = true
	if send.Message, err = earlyMessage(p, s); err != nil {
		return send, nil, err
	}
	if _, err = p.metadata(); err != nil {
		return send, nil, err
	}
	conf, ok, err := p.object("configuration")
	if !ok || err != nil {
		return send, nil, err
	}
	if history, err = conf.count("historyLength", 0, math.MaxInt32); err != nil {
		return send, nil, err
	}
	if send.Modes, err = conf.texts("acceptedOutputModes"); err != nil {
		return send, nil, err
	}
	hook, ok, err := conf.object(s.hook())
	if ok {
		send.Hook, err = earlyHookOf(hook)
	}
	return send, history, err
}

func earlyPutHook(p object) (call, error) {
	id, err := p.name("taskId")
	if err != nil {
		return call{}, err
	}
	conf, ok, err := p.object("pushNotificationConfig")
	if err == nil && !ok {
		err = p.want("pushNotificationConfig", "an object")
	}
	if err != nil {
		return call{}, err
	}
	hook, err := earlyHookOf(conf)
	if err != nil {
		return call{}, err
	}
	hook.Config.TaskID = sdk.TaskID(id)
	return call{op: putHook, task: hook.Config.TaskID, hook: *hook}, nil
}

// earlyGetHook reads which configuration of a task is meant. In 0.2 a task had
// one, so that without an id the first is answered.
func earlyGetHook(p object) (call, error) {
	if p.raw("pushNotificationConfigId") == nil {
		return v1Task(p, listHooks, "id")
	}
	return earlyHook(p, getHook)
}

func earlyHook(p object, op operation) (call, error) {
	c, err := v1Task(p, op, "id")
	if err != nil {
		return c, err
	}
	c.hook.Config.TaskID = c.task
	c.hook.Config.ID, err = p.name("pushNotificationConfigId")
	return c, err
}

// earlyHookOf reads where to tell of a task. Of several schemes the first counts.
func earlyHookOf(o object) (*task.Hook, error) {
	h := &task.Hook{Early: true}
	var err error
	if h.Config.URL, err = o.name("url"); err != nil {
		return nil, err
	}
	if h.Config.ID, err = o.text("id"); err != nil {
		return nil, err
	}
	if h.Config.Token, err = o.text("token"); err != nil {
		return nil, err
	}
	auth, ok, err := o.object("authentication")
	if !ok || err != nil {
		return h, err
	}
	h.Config.Auth = &sdk.PushAuthInfo{}
	schemes, err := auth.texts("schemes")
	if err != nil {
		return nil, err
	}
	if len(schemes) > 0 {
		h.Config.Auth.Scheme = schemes[0]
	}
	h.Config.Auth.Credentials, err = auth.text("credentials")
	return h, err
}

func (earlyRPC) encode(r request, c call, a answer) response {
	id := wire.Echo(r.top)
	if a.err != nil {
		return plainError(id, a.err)
	}
	method, _ := r.top.Text("method")
	s := earlySpelling
	var result any
	switch {
	case a.task != nil:
		result = s.task(a.task)
	case a.message != nil:
		result = s.message(a.message)
	case a.hook != nil:
		result = s.hookOf(a.hook)
	case a.card != nil:
		result = json.RawMessage(a.card)
	case c.op == listHooks && strings.HasSuffix(method, "/get"):
		if len(a.hooks) == 0 {
			return plainError(id, fault.New(fault.NotFound, "the task has no push configuration"))
		}
		result = s.hookOf(a.hooks[0])
	case c.op == listHooks:
		result = s.hooks(a.hooks)
	default: // of delete
		result = wire.Null
	}
	return response{status: http.StatusOK, body: wire.Result(id, result)}
}

func (earlyRPC) frame(r request, c call, f task.Frame) (event, bool) {
	v := earlySpelling.event(f.Event, c.op == followTask)
	return event{id: strconv.FormatInt(f.Seq, 10), data: wire.Result(wire.Echo(r.top), v)}, v != nil
}
