package front

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// v1REST is A2A 1.0 over HTTP+JSON, at the agent's address and below /rest.
type v1REST struct{}

// route is a path of the HTTP+JSON binding taken apart: a name for its form, and
// what it names.
type route struct {
	form         string // /tasks/{id}:cancel
	task, config string
}

// routeOf takes a path apart; form is empty for one that the binding does not have.
func routeOf(path string) route {
	switch path {
	case "/message:send", "/message:stream", "/tasks", "/extendedAgentCard", "/card":
		return route{form: path}
	}
	rest, ok := strings.CutPrefix(path, "/tasks/")
	id, below, deep := strings.Cut(rest, "/")
	if !ok || id == "" {
		return route{}
	}
	if !deep {
		if i := strings.LastIndexByte(id, ':'); i > 0 {
			return route{form: "/tasks/{id}" + id[i:], task: id[:i]}
		}
		return route{form: "/tasks/{id}", task: id}
	}
	word, config, named := strings.Cut(below, "/")
	switch {
	case word != "pushNotificationConfigs" || strings.Contains(config, "/") || named && config == "":
		return route{}
	case named:
		return route{form: "/tasks/{id}/pushNotificationConfigs/{config}", task: id, config: config}
	}
	return route{form: "/tasks/{id}/pushNotificationConfigs", task: id}
}

// v1Routes are the routes of A2A 1.0 with what they ask for.
var v1Routes = []struct {
	method, form, rpc string
	body              bool // is needed
}{
	{http.MethodPost, "/message:send", "SendMessage", true},
	{http.MethodPost, "/message:stream", "SendStreamingMessage", true},
	{http.MethodGet, "/tasks", "ListTasks", false},
	{http.MethodGet, "/tasks/{id}", "GetTask", false},
	{http.MethodPost, "/tasks/{id}:cancel", "CancelTask", false},
	{http.MethodGet, "/tasks/{id}:subscribe", "SubscribeToTask", false},
	{http.MethodPost, "/tasks/{id}:subscribe", "SubscribeToTask", false},
	{http.MethodPost, "/tasks/{id}/pushNotificationConfigs", "CreateTaskPushNotificationConfig", true},
	{http.MethodGet, "/tasks/{id}/pushNotificationConfigs", "ListTaskPushNotificationConfigs", false},
	{http.MethodGet, "/tasks/{id}/pushNotificationConfigs/{config}", "GetTaskPushNotificationConfig", false},
	{http.MethodDelete, "/tasks/{id}/pushNotificationConfigs/{config}", "DeleteTaskPushNotificationConfig", false},
	{http.MethodGet, "/extendedAgentCard", "GetExtendedAgentCard", false},
}

func (v1REST) detect(r request) bool {
	path := below("/rest", r.path)
	return path != r.path || path == "/message:send" || path == "/message:stream" || path == "/extendedAgentCard" ||
		path == "/tasks" || strings.HasPrefix(path, "/tasks/")
}

// below returns a path without the prefix it may have.
func below(prefix, path string) string {
	if rest, ok := strings.CutPrefix(path, prefix); ok && (rest == "" || rest[0] == '/') {
		return rest
	}
	return path
}

func (v1REST) decode(r request) (call, error) {
	if v := version(r.http); v != "" && !current(v) {
		return call{}, wrongVersion()
	}
	at := routeOf(below("/rest", r.path))
	var allow []string
	for _, row := range v1Routes {
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
		return v1Methods[row.rpc](params, r.http.Header)
	}
	if allow != nil {
		return call{}, wrongMethod(strings.Join(append(allow, http.MethodOptions), ", "))
	}
	return call{}, noRoute(r)
}

// v1Params puts the parameters of a call together from its path, its body and its
// query. What the path names, nothing else may name otherwise.
func v1Params(r request, at route, body bool) (object, error) {
	if body {
		if _, err := r.object(); err != nil {
			return object{}, err
		}
	}
	o := object{"params", wire.Members{}}
	maps.Copy(o.members, r.top)
	if r.http.Method != http.MethodPost {
		query(r.http.URL.Query(), o.members)
	}
	named := map[string]string{"id": at.task}
	if strings.Contains(at.form, "/pushNotificationConfigs") {
		named = map[string]string{"taskId": at.task, "id": at.config}
	}
	for name, value := range named {
		if value == "" {
			continue
		}
		if other, err := o.text(name); err != nil || other != "" && other != value {
			return object{}, o.want(name, "what the path says")
		}
		o.members[name], _ = json.Marshal(value) // a string
	}
	return o, nil
}

// query puts the parameters of a query among the members of an object: numbers
// and booleans where the protocol has them, else strings.
func query(values url.Values, members wire.Members) {
	for name, list := range values { // members of an object have no order
		value := list[0]
		_, number := strconv.Atoi(value)
		bare := number == nil || value == "true" || value == "false"
		switch {
		case value == "":
		case bare && slices.Contains([]string{"historyLength", "pageSize", "includeArtifacts", "history_length", "page_size", "include_artifacts"}, name):
			members[name] = json.RawMessage(value)
		default:
			members[name], _ = json.Marshal(value) // a string
		}
	}
}

func (v1REST) encode(r request, c call, a answer) response {
	status, v, media := http.StatusOK, any(nil), mediaA2A
	if a.err != nil {
		e := wire.RefusalOf(a.err)
		e = &wire.Refusal{Meaning: e.Meaning, Message: strings.TrimPrefix(e.Message, "params.")}
		status, v = e.REST, restError{restStatus{e.REST, e.Status, e.Message, v1Details(e)}}
		media = "" // errors are google.rpc's, and JSON for everybody
	} else {
		v = v1Result(c, a)
	}
	body, err := wire.Compact(v)
	if err != nil {
		return v1REST{}.encode(request{}, call{}, answer{err: fault.Wrap(fault.Internal, err, "encode an answer")})
	}
	if accept := r.accept(); strings.Contains(accept, "application/json") && !strings.Contains(accept, mediaA2A) {
		media = ""
	}
	return response{status: status, media: media, body: body}
}

func (v1REST) frame(_ request, _ call, f task.Frame) (event, bool) {
	data, err := wire.Compact(wire.Named(f.Event))
	return event{id: strconv.FormatInt(f.Seq, 10), data: data}, err == nil
}

// mediaA2A is the media type of answers, unless the caller names JSON alone.
const mediaA2A = "application/a2a+json"

// restError is the body of an error: google.rpc.Status.
type restError struct {
	Error restStatus `json:"error"`
}

type restStatus struct {
	Code    int    `json:"code"` // of HTTP
	Status  string `json:"status"`
	Message string `json:"message"`
	Details []any  `json:"details"`
}
