package front

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"truecost.dev/shared/a2a/wire"
)

// TestSniff has a row for each rule by which dialects are told apart, and for
// each mix-up of path, header and body.
func TestSniff(t *testing.T) {
	t.Parallel()
	const (
		oneMethod = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}`
		slash     = `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","parts":[{"kind":"text","text":"x"}]}}}`
		threaded  = `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"parts":[]},"context":{"thread_id":"t"}}}`
		typed     = `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"parts":[{"type":"data","data":{}}]}}}`
		both      = `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"parts":[{"type":"data","kind":"data","data":{}}]}}}`
		getFlat   = `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"task_id":"t"}}`
		getID     = `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t"}}`
		getBoth   = `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t","task_id":"t"}}`
	)
	tests := []struct {
		rule, method, path, version, body string
		codec                             string
		code                              int // 0: the codec takes it
	}{
		{"4 submit", "POST", "/submit_task", "", "{}", "fiveStep", 0},
		{"4 submit with a header", "POST", "/submit_task/", "1.0", "{}", "fiveStep", 0},
		{"4 updates", "GET", "/task_updates/t", "", "", "fiveStep", 0},
		{"3 organisations", "POST", "/agent-to-agent/acme/location/tasks", "", slash, "v1REST", wire.CodeMethodNotFound},
		{"5 sales", "POST", "/salesops/messages", "", "{}", "v1REST", wire.CodeMethodNotFound},
		{"5 components", "GET", "/components/jobs/1/events", "", "", "v1REST", wire.CodeMethodNotFound},
		{"6 send", "POST", "/message:send", "", "{}", "v1REST", 0},
		{"6 stream", "POST", "/message:stream/", "1.0", "{}", "v1REST", 0},
		{"6 tasks", "GET", "/tasks", "", "", "v1REST", 0},
		{"6 task", "GET", "/tasks/t", "0.3", "", "v1REST", 0},
		{"6 card", "GET", "/extendedAgentCard", "", "", "v1REST", 0},
		{"6 below rest", "POST", "/rest/message:send", "", "{}", "v1REST", 0},
		{"6 path before body", "POST", "/message:send", "", slash, "v1REST", 0},
		{"6 path before header", "POST", "/v1/message:send", "1.0", "{}", "earlyREST", 0},
		{"6 below v1", "GET", "/v1/tasks/t", "", "", "earlyREST", 0},
		{"6 v1 below rest", "GET", "/rest/v1/tasks/t", "", "", "earlyREST", 0},
		{"7 a version to come", "POST", "/", "2.0", oneMethod, "v1RPC", wire.CodeVersion},
		{"7 a version to come, with a slash", "POST", "/", "2.0", slash, "v1RPC", wire.CodeVersion},
		{"7 0.2", "POST", "/", "0.2", slash, "v1RPC", wire.CodeVersion},
		{"8 1.0", "POST", "/", "1.0", oneMethod, "v1RPC", 0},
		{"8 1.0.1", "POST", "/a2a_location/", "1.0.1", oneMethod, "v1RPC", 0},
		{"8 at any path", "POST", "/somewhere/else", "1.0", oneMethod, "v1RPC", 0},
		{"9 organisations by method", "POST", "/", "", `{"jsonrpc":"2.0","id":1,"method":"build","params":{}}`, "earlyRPC", wire.CodeMethodNotFound},
		{"10 a thread", "POST", "/", "", threaded, "trueCost", 0},
		{"10 parts with a type", "POST", "/", "0.3", typed, "trueCost", 0},
		{"10 a thread with 1.0", "POST", "/", "1.0", threaded, "v1RPC", 0},
		{"11 task_id", "POST", "/", "", getFlat, "trueCost", 0},
		{"11 task_id and id", "POST", "/", "", getBoth, "earlyRPC", 0},
		{"11 card", "POST", "/", "", `{"jsonrpc":"2.0","id":1,"method":"agent/card"}`, "trueCost", 0},
		{"12 kind", "POST", "/", "", slash, "earlyRPC", 0},
		{"12 kind and type", "POST", "/", "", both, "earlyRPC", 0},
		{"12 0.3.0", "POST", "/", "0.3.0", getID, "earlyRPC", 0},
		{"12 unknown with a slash", "POST", "/", "", `{"jsonrpc":"2.0","id":1,"method":"tasks/explode"}`, "earlyRPC", 0},
		{"13 1.0 without its header", "POST", "/", "", oneMethod, "earlyRPC", wire.CodeMethodNotFound},
		{"13 1.0 with the header of 0.3", "POST", "/", "0.3", oneMethod, "earlyRPC", wire.CodeMethodNotFound},
		{"13 a slash with the header of 1.0", "POST", "/", "1.0", slash, "v1RPC", 0}, // who refuses the method in its words
		{"13 nobody's", "POST", "/", "", `{"jsonrpc":"2.0","id":1,"method":"Explode"}`, "earlyRPC", wire.CodeMethodNotFound},
		{"14 sales by body", "POST", "/", "", `{"message_id":"m","type":"REQUEST","payload":{}}`, "earlyRPC", wire.CodeInvalidRequest},
		{"15 components by body", "POST", "/", "", `{"type":"BUILD_COMPONENT_REQUEST","id":"c","payload":{}}`, "earlyRPC", wire.CodeInvalidRequest},
		{"16 anything", "POST", "/", "", `{"hello":"world"}`, "earlyRPC", wire.CodeInvalidRequest},
		{"16 anything with 1.0", "POST", "/", "1.0", `{"hello":"world"}`, "v1RPC", wire.CodeInvalidRequest},
		{"16 nothing", "POST", "/", "", "", "earlyRPC", wire.CodeParse},
		{"no route", "GET", "/favicon.ico", "", "", "v1REST", wire.CodeMethodNotFound},
		{"no route", "POST", "/chat", "", "{}", "v1REST", wire.CodeMethodNotFound},
		{"wrong method", "GET", "/", "", "", "earlyRPC", wire.CodeInvalidRequest},
		{"wrong method with 1.0", "PUT", "/", "1.0", "{}", "v1RPC", wire.CodeInvalidRequest},
	}
	h, _ := newFront(t, scripted(), Options{})
	f := h.(*front)
	for _, tt := range tests {
		for _, inQuery := range []bool{false, true} {
			r := httptest.NewRequestWithContext(t.Context(), tt.method, tt.path, http.NoBody)
			if inQuery {
				r = httptest.NewRequestWithContext(t.Context(), tt.method, tt.path+"?A2A-Version="+tt.version, http.NoBody)
			} else {
				r.Header.Set("A2A-Version", tt.version)
			}
			in := request{http: r, path: f.below(r.URL.Path), agent: f.desk.Agent()}
			if tt.body != "" && tt.method == http.MethodPost {
				top, err := parse([]byte(tt.body))
				if err != nil {
					t.Fatalf("%s: parse(%s) = %v", tt.rule, tt.body, err)
				}
				in.top = top
			}
			c, err := sniff(f.codecs, in)
			name := strings.TrimPrefix(fmt.Sprintf("%T", c), "front.")
			code := 0
			if err != nil {
				code = wire.RefusalOf(err).Code
			}
			if name != tt.codec || code != tt.code {
				t.Errorf("rule %s: sniff(%s %s, %q, %s) = %s, %d, want %s, %d", tt.rule, tt.method, tt.path, tt.version, tt.body, name, code, tt.codec, tt.code)
			}
		}
	}
}

// Whatever leads to an agent, and a slash at the end, is not part of its paths.
func TestBelow(t *testing.T) {
	t.Parallel()
	h, _ := newFront(t, scripted(), Options{})
	f := h.(*front)
	tests := map[string]string{
		"": "/", "/": "/", "//": "/", "/tasks": "/tasks", "/tasks/": "/tasks", "/a2a_location": "/", "/a2a_location/": "/", "/a2a_location/tasks/t": "/tasks/t",
		"/a2a/location/rest/tasks/": "/rest/tasks", "/a2a_location_scorer": "/a2a_location_scorer", "/other": "/other",
	}
	for path, want := range tests {
		if got := f.below(path); got != want {
			t.Errorf("below(%q) = %q, want %q", path, got, want)
		}
	}
}
