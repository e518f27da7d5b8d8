package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	pb "github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

type object = map[string]any

// A binding is one way to call the agent: JSON-RPC or HTTP+JSON.
type binding struct {
	name string
	base string
	send func(t *testing.T, b binding, op string, params object, header http.Header) *http.Response
}

// bindings are the two at which the card says that A2A 1.0 is spoken.
func bindings(t *testing.T, agent string) []binding {
	t.Helper()
	var card pb.AgentCard
	body := get(t, agent+"/.well-known/agent-card.json", nil)
	strict(t, body, &card)
	bound := map[string]binding{}
	for _, i := range card.GetSupportedInterfaces() {
		if i.GetProtocolVersion() != "1.0" {
			continue
		}
		switch i.GetProtocolBinding() {
		case "JSONRPC":
			bound["JSONRPC"] = binding{"JSONRPC", i.GetUrl(), rpcRequest}
		case "HTTP+JSON":
			bound["HTTP+JSON"] = binding{"HTTP+JSON", i.GetUrl(), restRequest}
		}
	}
	if len(bound) != 2 {
		t.Fatalf("the card has 1.0 interfaces %v, want JSONRPC and HTTP+JSON", bound)
	}
	return []binding{bound["JSONRPC"], bound["HTTP+JSON"]}
}

func get(t *testing.T, address string, header http.Header) []byte {
	t.Helper()
	resp := do(t, http.MethodGet, address, nil, header) //nolint:bodyclose // do closes it with the test
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s, %v", address, resp.Status, err)
	}
	return body
}

// caller waits longer than any behaviour takes.
var caller = &http.Client{Timeout: time.Minute}

func do(t *testing.T, method, address string, body []byte, header http.Header) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", "1.0")
	maps.Copy(r.Header, header)
	resp, err := caller.Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", method, address, err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func rpcRequest(t *testing.T, b binding, op string, params object, header http.Header) *http.Response {
	t.Helper()
	return do(t, http.MethodPost, b.base, encode(t, object{"jsonrpc": "2.0", "id": 1, "method": op, "params": params}), header)
}

// restRequest puts the members of params where HTTP+JSON has them: in the path,
// the query or the body.
func restRequest(t *testing.T, b binding, op string, params object, header http.Header) *http.Response {
	t.Helper()
	rest := maps.Clone(params)
	take := func(name string) string {
		v := fmt.Sprint(rest[name])
		delete(rest, name)
		return url.PathEscape(v)
	}
	query := func() string {
		q := url.Values{}
		for name, v := range rest {
			q.Set(name, fmt.Sprint(v))
		}
		return "?" + q.Encode()
	}
	switch op {
	case "SendMessage":
		return do(t, http.MethodPost, b.base+"/message:send", encode(t, rest), header)
	case "SendStreamingMessage":
		return do(t, http.MethodPost, b.base+"/message:stream", encode(t, rest), header)
	case "GetTask":
		return do(t, http.MethodGet, b.base+"/tasks/"+take("id")+query(), nil, header)
	case "ListTasks":
		return do(t, http.MethodGet, b.base+"/tasks"+query(), nil, header)
	case "CancelTask":
		return do(t, http.MethodPost, b.base+"/tasks/"+take("id")+":cancel", nil, header)
	case "SubscribeToTask":
		return do(t, http.MethodPost, b.base+"/tasks/"+take("id")+":subscribe", nil, header)
	case "CreateTaskPushNotificationConfig":
		return do(t, http.MethodPost, b.base+"/tasks/"+take("taskId")+"/pushNotificationConfigs", encode(t, rest), header)
	case "GetTaskPushNotificationConfig":
		return do(t, http.MethodGet, b.base+"/tasks/"+take("taskId")+"/pushNotificationConfigs/"+take("id"), nil, header)
	case "ListTaskPushNotificationConfigs":
		return do(t, http.MethodGet, b.base+"/tasks/"+take("taskId")+"/pushNotificationConfigs"+query(), nil, header)
	case "DeleteTaskPushNotificationConfig":
		return do(t, http.MethodDelete, b.base+"/tasks/"+take("taskId")+"/pushNotificationConfigs/"+take("id"), nil, header)
	case "GetExtendedAgentCard":
		return do(t, http.MethodGet, b.base+"/extendedAgentCard", nil, header)
	}
	t.Fatalf("%s has no route", op)
	return nil
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// strict reads body as a message of the protocol's own definition, which
// refuses every member that it does not have and every value of another type.
func strict(t *testing.T, body []byte, m proto.Message) {
	t.Helper()
	if err := protojson.Unmarshal(body, m); err != nil {
		t.Fatalf("%s is no %T: %v", body, m, err)
	}
}

// wrong is an error as either binding tells it.
type wrong struct {
	code   int // of JSON-RPC, or the HTTP status
	reason string
}

// call returns the result of an operation, or its error.
func (b binding) call(t *testing.T, op string, params object) (json.RawMessage, *wrong) {
	t.Helper()
	resp := b.send(t, b, op, params, nil) //nolint:bodyclose // do closes it with the test
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return b.parse(t, resp, body)
}

func (b binding) parse(t *testing.T, resp *http.Response, body []byte) (json.RawMessage, *wrong) {
	t.Helper()
	media := resp.Header.Get("Content-Type")
	if b.name == "JSONRPC" {
		var a struct {
			JSONRPC string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Result  json.RawMessage `json:"result"`
			Error   *struct {
				Code    int      `json:"code"`
				Message string   `json:"message"`
				Data    []object `json:"data"`
			} `json:"error"`
		}
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if err := d.Decode(&a); err != nil || a.JSONRPC != "2.0" || string(a.ID) != "1" || (a.Result == nil) == (a.Error == nil) {
			t.Fatalf("%s is no answer of JSON-RPC to 1: %v", body, err)
		}
		if !strings.HasPrefix(media, "application/json") {
			t.Errorf("Content-Type is %q, want application/json", media)
		}
		if a.Error == nil {
			return a.Result, nil
		}
		if a.Error.Message == "" {
			t.Errorf("%s: the error has no message", body)
		}
		return nil, &wrong{a.Error.Code, reasonIn(t, a.Error.Data)}
	}
	if resp.StatusCode < 400 {
		if !strings.HasPrefix(media, "application/a2a+json") {
			t.Errorf("Content-Type is %q, want application/a2a+json", media)
		}
		return body, nil
	}
	var a struct {
		Error struct {
			Code    int      `json:"code"`
			Status  string   `json:"status"`
			Message string   `json:"message"`
			Details []object `json:"details"`
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &a); err != nil || a.Error.Code != resp.StatusCode || a.Error.Status == "" || a.Error.Message == "" {
		t.Fatalf("%s with %s is no error of HTTP+JSON: %v", body, resp.Status, err)
	}
	if !strings.HasPrefix(media, "application/json") {
		t.Errorf("Content-Type of an error is %q, want application/json", media)
	}
	return nil, &wrong{resp.StatusCode, reasonIn(t, a.Error.Details)}
}

func reasonIn(t *testing.T, details []object) string {
	t.Helper()
	for _, d := range details {
		if d["@type"] == "type.googleapis.com/google.rpc.ErrorInfo" {
			if d["domain"] != "a2a-protocol.org" {
				t.Errorf("the domain of %v is not that of A2A", d)
			}
			reason, _ := d["reason"].(string)
			return reason
		}
	}
	return ""
}

// must returns the result of an operation that succeeds, read as m.
func (b binding) must(t *testing.T, op string, params object, m proto.Message) json.RawMessage {
	t.Helper()
	result, w := b.call(t, op, params)
	if w != nil {
		t.Fatalf("%s(%v): %+v", op, params, *w)
	}
	strict(t, result, m)
	return result
}

// refuses checks that an operation fails for a reason, with the code that the
// binding has for it.
func (b binding) refuses(t *testing.T, op string, params object, reason string) {
	t.Helper()
	result, w := b.call(t, op, params)
	if w == nil {
		t.Fatalf("%s(%v) = %s, want %s", op, params, result, reason)
	}
	row := errorCodes[reason]
	want := wrong{row.rpc, reason}
	if b.name == "HTTP+JSON" {
		want.code = row.rest
	}
	if *w != want {
		t.Errorf("%s(%v): %+v, want %+v", op, params, *w, want)
	}
}

// errorCodes by reason, as the protocol lists them.
var errorCodes = map[string]struct{ rpc, rest int }{
	"INVALID_PARAMS":                     {-32602, 400},
	"TASK_NOT_FOUND":                     {-32001, 404},
	"TASK_NOT_CANCELABLE":                {-32002, 400},
	"PUSH_NOTIFICATION_NOT_SUPPORTED":    {-32003, 400},
	"UNSUPPORTED_OPERATION":              {-32004, 400},
	"CONTENT_TYPE_NOT_SUPPORTED":         {-32005, 400},
	"EXTENDED_AGENT_CARD_NOT_CONFIGURED": {-32007, 400},
	"VERSION_NOT_SUPPORTED":              {-32009, 400},
}

// stream is the answer to a streaming operation.
type stream struct {
	b     binding
	resp  *http.Response
	lines *bufio.Scanner
}

// open starts a streaming operation that succeeds.
func (b binding) open(t *testing.T, op string, params object) *stream {
	t.Helper()
	resp := b.send(t, b, op, params, nil) //nolint:bodyclose // do closes it with the test
	if media := resp.Header.Get("Content-Type"); !strings.HasPrefix(media, "text/event-stream") {
		body, _ := io.ReadAll(resp.Body)
		t.Fatalf("%s(%v): Content-Type %q, %s", op, params, media, body)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return &stream{b, resp, lines}
}

// next returns the next event; ok is false at the end of the stream.
func (s *stream) next(t *testing.T) (e *pb.StreamResponse, ok bool) {
	t.Helper()
	for s.lines.Scan() {
		data, ok := strings.CutPrefix(s.lines.Text(), "data: ")
		if !ok {
			continue
		}
		body := []byte(data)
		if s.b.name == "JSONRPC" {
			var a struct {
				JSONRPC string          `json:"jsonrpc"`
				ID      int             `json:"id"`
				Result  json.RawMessage `json:"result"`
			}
			if err := json.Unmarshal(body, &a); err != nil || a.JSONRPC != "2.0" || a.ID != 1 {
				t.Fatalf("%s is no frame of JSON-RPC to 1: %v", body, err)
			}
			body = a.Result
		}
		e := new(pb.StreamResponse)
		strict(t, body, e)
		if e.GetPayload() == nil {
			t.Fatalf("%s is an empty frame", body)
		}
		return e, true
	}
	return nil, false
}

// rest returns all events that are left.
func (s *stream) rest(t *testing.T) []*pb.StreamResponse {
	t.Helper()
	var all []*pb.StreamResponse
	for {
		e, ok := s.next(t)
		if !ok {
			return all
		}
		all = append(all, e)
	}
}

// message is a user's message with an id that asks for a behaviour. It is no
// UUID, as those of careless callers are not, so each is a task of its own.
func message(behaviour string, more ...object) object {
	m := object{"messageId": behaviour + "-" + fmt.Sprint(time.Now().UnixNano()), "role": "ROLE_USER", "parts": []object{{"text": "hello"}}}
	for _, o := range more {
		maps.Copy(m, o)
	}
	return m
}

// ask sends a message and returns the task.
func (b binding) ask(t *testing.T, m object, configuration ...object) *pb.Task {
	t.Helper()
	params := object{"message": m}
	if len(configuration) > 0 {
		params["configuration"] = configuration[0]
	}
	var r pb.SendMessageResponse
	b.must(t, "SendMessage", params, &r)
	if r.GetTask() == nil {
		t.Fatalf("SendMessage(%v) = %v, want a task", params, &r)
	}
	return r.GetTask()
}
