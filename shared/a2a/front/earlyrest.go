package front

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// earlyREST is A2A 0.3 over HTTP+JSON, below /v1. Its clients do not agree on the
// spelling: those of the SDKs write the JSON of protobuf, some the objects of
// JSON-RPC. A request with a body is answered in the spelling of its body, one
// without in that of the SDKs.
type earlyREST struct{}

// earlyRoutes are the routes of A2A 0.3 with what reads them.
var earlyRoutes = []struct {
	method, form string
	body         bool // is needed
	read         func(p object, s spelling, h http.Header) (call, error)
}{
	{http.MethodPost, "/message:send", true, func(p object, s spelling, _ http.Header) (call, error) { return earlySend(p, s) }},
	{http.MethodPost, "/message:stream", true, func(p object, s spelling, _ http.Header) (call, error) { return earlyStream(p, s) }},
	{http.MethodGet, "/tasks", false, func(p object, _ spelling, _ http.Header) (call, error) { return earlyList(p) }},
	{http.MethodGet, "/tasks/{id}", false, func(p object, _ spelling, _ http.Header) (call, error) { return v1Task(p, getTask, "id") }},
	{http.MethodPost, "/tasks/{id}:cancel", false, func(p object, _ spelling, _ http.Header) (call, error) { return v1Task(p, cancelTask, "id") }},
	{http.MethodGet, "/tasks/{id}:subscribe", false, func(p object, _ spelling, h http.Header) (call, error) { return v1Follow(p, h) }},
	{http.MethodPost, "/tasks/{id}:subscribe", false, func(p object, _ spelling, h http.Header) (call, error) { return v1Follow(p, h) }},
	{http.MethodPost, "/tasks/{id}/pushNotificationConfigs", true, func(p object, _ spelling, _ http.Header) (call, error) { return protoPutHook(p) }},
	{http.MethodGet, "/tasks/{id}/pushNotificationConfigs", false, func(p object, _ spelling, _ http.Header) (call, error) { return v1Hooks(p) }},
	{http.MethodGet, "/tasks/{id}/pushNotificationConfigs/{config}", false, func(p object, _ spelling, _ http.Header) (call, error) { return v1NamedHook(p, getHook) }},
	{http.MethodDelete, "/tasks/{id}/pushNotificationConfigs/{config}", false, func(p object, _ spelling, _ http.Header) (call, error) { return v1NamedHook(p, dropHook) }},
	{http.MethodGet, "/card", false, func(object, spelling, http.Header) (call, error) { return call{op: getExtendedCard}, nil }},
}

// earlyPath returns a path without what leads to the binding, also from where
// 1.0 has its own. The card that 0.2 has elsewhere is that of 0.3.
func earlyPath(path string) string {
	if path == "/agent/authenticatedExtendedCard" {
		return "/card"
	}
	return below("/v1", below("/rest", path))
}

func (earlyREST) detect(r request) bool { return earlyPath(r.path) != below("/rest", r.path) }

func (earlyREST) decode(r request) (call, error) {
	if !early(version(r.http)) {
		return call{}, wrongVersion()
	}
	at := routeOf(earlyPath(r.path))
	var allow []string
	for _, row := range earlyRoutes {
		if row.form != at.form {
			continue
		}
		if row.method != r.http.Method {
			allow = append(allow, row.method)
			continue
		}
		params, err := v1Params(r, at, row.body)
		if err != nil {
			return call{}, err
		}
		if _, ok := params.members["message"]; !ok && params.members["request"] != nil { // its name in protobuf
			params.members["message"] = params.members["request"]
		}
		return row.read(params, spellingOf(r), r.http.Header)
	}
	if allow != nil {
		return call{}, wrongMethod(strings.Join(append(allow, http.MethodOptions), ", "))
	}
	return call{}, noRoute(r)
}

// spellingOf returns how the body of a request is spelled.
func spellingOf(r request) spelling {
	message, _ := wire.Object(r.top["message"])
	if message.Has("kind") || message.Has("parts") || r.top.Has("taskId") {
		return earlySpelling
	}
	return protoSpelling
}

// earlyList reads which tasks to list. States are taken in either spelling.
func earlyList(p object) (call, error) {
	word, err := p.text("status")
	if err != nil {
		return call{}, err
	}
	for _, state := range v1States {
		if word == earlySpelling.state(state) || word == protoSpelling.state(state) {
			p.members["status"], _ = json.Marshal(state) // a string
		}
	}
	return v1List(p)
}

// protoPutHook reads a push configuration out of what clients wrap it in: the
// request, the resource, or the pair that JSON-RPC has.
func protoPutHook(p object) (call, error) {
	id, err := p.text("configId")
	if err != nil {
		return call{}, err
	}
	if inner, ok, err := p.object("config"); err != nil {
		return call{}, err
	} else if ok {
		inner.members["taskId"] = p.members["taskId"]
		p = inner
	}
	c, err := earlyPutHook(p)
	if c.hook.Config.ID == "" {
		c.hook.Config.ID = id
	}
	return c, err
}

// earlyFault is the body of an error: as the servers of 0.3 wrote it, and as its
// later clients read it.
type earlyFault struct {
	Code    int        `json:"code"` // of JSON-RPC
	Message string     `json:"message"`
	Error   restStatus `json:"error"`
}

func (earlyREST) encode(r request, c call, a answer) response {
	s := spellingOf(r)
	status, v := http.StatusOK, earlyRESTAnswer(s, c, a)
	if a.err != nil {
		e := wire.RefusalOf(a.err)
		path := strings.TrimPrefix(e.Message, "params.")
		if rest, ok := strings.CutPrefix(path, "message.parts"); ok && s == protoSpelling {
			path = "message.content" + rest // as parts are called there
		}
		e = &wire.Refusal{Meaning: e.Meaning, Message: path}
		status, v = e.REST, earlyFault{e.Code, e.Message, restStatus{e.REST, e.Status, e.Message, v1Details(e)}}
	}
	body, err := wire.Compact(v)
	if err != nil {
		return earlyREST{}.encode(r, call{}, answer{err: fault.Wrap(fault.Internal, err, "encode an answer")})
	}
	return response{status: status, body: body}
}

// earlyRESTAnswer is what came of a call that was not refused.
func earlyRESTAnswer(s spelling, c call, a answer) any {
	switch {
	case a.task != nil && (c.op == sendMessage || c.op == submitMessage):
		return s.wrapped("task", s.task(a.task))
	case a.task != nil:
		return s.task(a.task)
	case a.message != nil:
		return s.wrapped("message", s.message(a.message))
	case a.page != nil:
		tasks := make([]*earlyTaskJSON, len(a.page.Tasks))
		for i, t := range a.page.Tasks {
			tasks[i] = s.task(t)
		}
		return struct {
			Tasks []*earlyTaskJSON `json:"tasks"`
			Next  string           `json:"nextPageToken"`
		}{tasks, a.page.Next}
	case a.hook != nil:
		return s.hookOf(a.hook)
	case c.op == listHooks:
		return struct {
			Configs []earlyHookJSON `json:"configs"`
		}{s.hooks(a.hooks)}
	case a.card != nil:
		return json.RawMessage(a.card)
	}
	return struct{}{} // of what is gone nothing is left to tell
}

func (earlyREST) frame(r request, c call, f task.Frame) (event, bool) {
	v := spellingOf(r).event(f.Event, c.op == followTask)
	data, err := wire.Compact(v)
	return event{id: strconv.FormatInt(f.Seq, 10), data: data}, v != nil && err == nil
}
