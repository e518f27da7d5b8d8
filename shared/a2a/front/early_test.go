package front

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/wire"
)

// requestTo is a request that passed the guard.
func requestTo(t *testing.T, method, target, body string) (request, error) {
	t.Helper()
	in, err := http.NewRequestWithContext(t.Context(), method, "http://agents"+target, http.NoBody)
	if err != nil {
		return request{}, err
	}
	r := request{http: in, path: strings.TrimSuffix(in.URL.Path, "/"), agent: task.Agent{Name: "location"}}
	if body == "" {
		return r, nil
	}
	r.top, err = parse([]byte(body))
	return r, err
}

// earlyRefusal returns what a codec of 0.3 says to a request, nil if it takes it.
func earlyRefusal(t *testing.T, c codec, method, target, body string) *wire.Refusal {
	t.Helper()
	r, err := requestTo(t, method, target, body)
	if err == nil {
		_, err = c.decode(r)
	}
	if err == nil {
		return nil
	}
	return wire.RefusalOf(err)
}

// rpc is a request of JSON-RPC.
func rpc(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
}

func TestEarlyRPCRefuses(t *testing.T) {
	t.Parallel()
	const part = `{"kind":"text","text":"x"}`
	msg := func(members string) string { return rpc("message/send", `{"message":{`+members+`}}`) }
	with := func(parts string) string {
		return msg(`"kind":"message","messageId":"m","role":"user","parts":` + parts)
	}
	conf := func(c string) string {
		return rpc("message/send", `{"message":{"messageId":"m","role":"user","parts":[`+part+`]},"configuration":`+c+`}`)
	}
	tests := []struct {
		name, body string
		code       int // 0: taken
		says       string
	}{
		{"jsonrpc absent", `{"id":1,"method":"tasks/get","params":{"id":"t"}}`, -32600, "jsonrpc"},
		{"no id", `{"jsonrpc":"2.0","method":"tasks/get","params":{"id":"t"}}`, -32600, "id"},
		{"id an object", `{"jsonrpc":"2.0","id":{},"method":"tasks/get","params":{"id":"t"}}`, -32600, "id"},
		{"method unknown", rpc("tasks/list", `{}`), -32601, "method"},
		{"params absent", `{"jsonrpc":"2.0","id":1,"method":"message/send"}`, -32602, "params: want an object"},
		{"params a list", rpc("tasks/get", `[]`), -32602, "params: want an object"},
		{"card without params", `{"jsonrpc":"2.0","id":1,"method":"agent/getAuthenticatedExtendedCard"}`, 0, ""},
		{"card with a list", rpc("agent/getAuthenticatedExtendedCard", `[]`), -32602, "params: want an object"},
		{"no message", rpc("message/send", `{}`), -32602, "params.message: want an object"},
		{"message a string", rpc("message/stream", `{"message":"x"}`), -32602, "params.message: want an object"},
		{"message of another kind", msg(`"kind":"task","messageId":"m","role":"user","parts":[` + part + `]`), -32602, "params.message.kind"},
		{"message without kind", msg(`"messageId":"m","role":"user","parts":[` + part + `]`), 0, ""},
		{"no messageId", msg(`"role":"user","parts":[` + part + `]`), -32602, "params.message.messageId: want a string that is not empty"},
		{"messageId a number", msg(`"messageId":1,"role":"user","parts":[` + part + `]`), -32602, "params.message.messageId: want a string"},
		{"no role", msg(`"messageId":"m","parts":[` + part + `]`), -32602, `params.message.role: want "user"`},
		{"role agent", msg(`"messageId":"m","role":"agent","parts":[` + part + `]`), -32602, `params.message.role: want "user"`},
		{"role of 1.0", msg(`"messageId":"m","role":"ROLE_USER","parts":[` + part + `]`), -32602, `params.message.role: want "user"`},
		{"no parts", msg(`"messageId":"m","role":"user"`), -32602, "params.message.parts: want a list"},
		{"no part", with(`[]`), -32602, "params.message.parts: want a list"},
		{"64 parts", with("[" + part + strings.Repeat(","+part, 63) + "]"), 0, ""},
		{"65 parts", with("[" + part + strings.Repeat(","+part, 64) + "]"), -32602, "params.message.parts: want a list"},
		{"part null", with(`[null]`), -32602, "params.message.parts[0]: want an object"},
		{"part without kind", with(`[{"text":"x"}]`), -32602, "params.message.parts[0]"},
		{"part with kind and type", with(`[{"kind":"text","type":"text","text":"x"}]`), -32602, "params.message.parts[0].type"},
		{"part of unknown kind", with(`[` + part + `,{"kind":"video"}]`), -32602, `params.message.parts[1].kind: want "text"`},
		{"part with two contents", with(`[{"kind":"text","text":"x","data":{}}]`), -32602, "params.message.parts[0]: want one content"},
		{"part without content", with(`[{"kind":"data"}]`), -32602, "params.message.parts[0].data: want an object"},
		{"data a list", with(`[{"kind":"data","data":[1]}]`), -32602, "params.message.parts[0].data: want an object"},
		{"file not base64", with(`[{"kind":"file","file":{"bytes":"%"}}]`), -32602, "params.message.parts[0].file.bytes: want base64"},
		{"file at a relative address", with(`[{"kind":"file","file":{"uri":"x"}}]`), -32602, "params.message.parts[0].file.uri: want an absolute URL"},
		{"metadata of a part a list", with(`[{"kind":"text","text":"x","metadata":[]}]`), -32602, "params.message.parts[0].metadata: want an object"},
		{"wrapped data without it", with(`[{"kind":"data","data":{},"metadata":{"data_part_compat":true}}]`), -32602, "params.message.parts[0].data.value"},
		{"contextId a number", msg(`"messageId":"m","contextId":1,"role":"user","parts":[` + part + `]`), -32602, "params.message.contextId: want a string"},
		{"taskId a number", msg(`"messageId":"m","taskId":1,"role":"user","parts":[` + part + `]`), -32602, "params.message.taskId: want a string"},
		{"references of numbers", msg(`"messageId":"m","referenceTaskIds":[1],"role":"user","parts":[` + part + `]`), -32602, "params.message.referenceTaskIds: want a list of strings"},
		{"extensions a string", msg(`"messageId":"m","extensions":"x","role":"user","parts":[` + part + `]`), -32602, "params.message.extensions: want a list of strings"},
		{"metadata a string", msg(`"messageId":"m","metadata":"x","role":"user","parts":[` + part + `]`), -32602, "params.message.metadata: want an object"},
		{"metadata beside the message", rpc("message/send", `{"metadata":1,"message":{"messageId":"m","role":"user","parts":[`+part+`]}}`), -32602, "params.metadata: want an object"},
		{"configuration a list", conf(`[]`), -32602, "params.configuration: want an object"},
		{"blocking a string", conf(`{"blocking":"yes"}`), -32602, "params.configuration.blocking: want true or false"},
		{"historyLength below 0", conf(`{"historyLength":-1}`), -32602, "params.configuration.historyLength: want a whole number"},
		{"modes a string", conf(`{"acceptedOutputModes":"text/plain"}`), -32602, "params.configuration.acceptedOutputModes: want a list of strings"},
		{"hook without url", conf(`{"pushNotificationConfig":{}}`), -32602, "params.configuration.pushNotificationConfig.url: want a string that is not empty"},
		{"hook with schemes of numbers", conf(`{"pushNotificationConfig":{"url":"https://x.example","authentication":{"schemes":[1]}}}`), -32602, "params.configuration.pushNotificationConfig.authentication.schemes"},
		{"unknown members", conf(`{"whatever":1}`), 0, ""},
		{"no task", rpc("tasks/get", `{}`), -32602, "params.id: want a string that is not empty"},
		{"task a number", rpc("tasks/cancel", `{"id":1}`), -32602, "params.id: want a string"},
		{"history of a task below 0", rpc("tasks/get", `{"id":"t","historyLength":-1}`), -32602, "params.historyLength: want a whole number"},
		{"no task to listen to", rpc("tasks/resubscribe", `{"id":""}`), -32602, "params.id: want a string that is not empty"},
		{"hook of no task", rpc("tasks/pushNotificationConfig/set", `{"pushNotificationConfig":{"url":"https://x.example"}}`), -32602, "params.taskId"},
		{"no hook", rpc("tasks/pushNotificationConfig/set", `{"taskId":"t"}`), -32602, "params.pushNotificationConfig: want an object"},
		{"hook without its id", rpc("tasks/pushNotificationConfig/get", `{"id":"t"}`), 0, ""},
		{"no hook to delete", rpc("tasks/pushNotificationConfig/delete", `{"id":"t"}`), -32602, "params.pushNotificationConfigId"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := earlyRefusal(t, earlyRPC{}, http.MethodPost, "/", tt.body)
			switch {
			case tt.code == 0 && got != nil:
				t.Errorf("decode(%s) = %v, want a call", tt.body, got)
			case tt.code != 0 && (got == nil || got.Code != tt.code || !strings.HasPrefix(got.Message, tt.says)):
				t.Errorf("decode(%s) = %v, want %d %s", tt.body, got, tt.code, tt.says)
			}
		})
	}
}

func TestEarlyRESTRefuses(t *testing.T) {
	t.Parallel()
	with := func(parts string) string {
		return `{"message":{"messageId":"m","role":"ROLE_USER","content":` + parts + `}}`
	}
	tests := []struct {
		name, method, path, body string
		code, status             int // 0: taken
		says                     string
	}{
		{"a good message", "POST", "/v1/message:send", with(`[{"text":"x"}]`), 0, 0, ""},
		{"a good message by its old name", "POST", "/v1/message:send", `{"request":{"message_id":"m","role":"ROLE_USER","content":[{"text":""}]}}`, 0, 0, ""},
		{"a good message as in JSON-RPC", "POST", "/v1/message:stream", `{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]}}`, 0, 0, ""},
		{"below /rest", "POST", "/rest/v1/message:send", with(`[{"text":"x"}]`), 0, 0, ""},
		{"no body", "POST", "/v1/message:send", "", -32700, 400, ""},
		{"role of the other spelling", "POST", "/v1/message:send", `{"message":{"messageId":"m","role":"user","content":[{"text":"x"}]}}`, -32602, 400, `params.message.role: want "ROLE_USER"`},
		{"content of the other spelling", "POST", "/v1/message:send", `{"message":{"messageId":"m","role":"user","kind":"message","content":[]}}`, -32602, 400, "params.message.parts"},
		{"no content", "POST", "/v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER"}}`, -32602, 400, "params.message.content: want a list"},
		{"part null", "POST", "/v1/message:send", with(`[null]`), -32602, 400, "params.message.content[0]: want an object"},
		{"part empty", "POST", "/v1/message:send", with(`[{}]`), -32602, 400, "params.message.content[0]: want one of"},
		{"part with two contents", "POST", "/v1/message:send", with(`[{"text":"x","data":{"data":{}}}]`), -32602, 400, "params.message.content[0]: want one of"},
		{"text a number", "POST", "/v1/message:send", with(`[{"text":1}]`), -32602, 400, "params.message.content[0].text: want a string"},
		{"data a list", "POST", "/v1/message:send", with(`[{"data":{"data":[]}}]`), -32602, 400, "params.message.content[0].data.data: want an object"},
		{"data bare", "POST", "/v1/message:send", with(`[{"data":[]}]`), -32602, 400, "params.message.content[0].data.data: want an object"},
		{"file empty", "POST", "/v1/message:send", with(`[{"file":{}}]`), -32602, 400, "params.message.content[0].file: want an object"},
		{"file not base64", "POST", "/v1/message:send", with(`[{"file":{"fileWithBytes":"%"}}]`), -32602, 400, "params.message.content[0].file.fileWithBytes"},
		{"file at a relative address", "POST", "/v1/message:send", with(`[{"file":{"file_with_uri":"x"}}]`), -32602, 400, "params.message.content[0].file.fileWithUri"},
		{"metadata a list", "POST", "/v1/message:send", with(`[{"text":"x","metadata":[]}]`), -32602, 400, "params.message.content[0].metadata"},
		{"blocking a string", "POST", "/v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"x"}]},"configuration":{"blocking":"x"}}`, -32602, 400, "params.configuration.blocking"},
		{"hook without url", "POST", "/v1/message:send", `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"x"}]},"configuration":{"pushNotification":{}}}`, -32602, 400, "params.configuration.pushNotification.url"},
		{"method of another route", "GET", "/v1/message:send", "", -32600, 405, "this path is asked with POST"},
		{"unknown route", "GET", "/v1/whatever", "", -32601, 404, ""},
		{"unknown action", "POST", "/v1/tasks/t:explain", "", -32601, 404, ""},
		{"a task", "GET", "/v1/tasks/t?historyLength=0", "", 0, 0, ""},
		{"history below 0", "GET", "/v1/tasks/t?historyLength=-1", "", -32602, 400, "params.historyLength"},
		{"a list", "GET", "/v1/tasks?status=canceled&pageSize=3&includeArtifacts=true", "", 0, 0, ""},
		{"a list in protobuf", "GET", "/v1/tasks?status=TASK_STATE_CANCELLED&lastUpdatedAfter=2026-03-02T09:00:00Z", "", 0, 0, ""},
		{"a list of no state", "GET", "/v1/tasks?status=done", "", -32602, 400, "params.status: want a state of a task"},
		{"a list too long", "GET", "/v1/tasks?pageSize=101", "", -32602, 400, "params.pageSize"},
		{"a list since never", "GET", "/v1/tasks?lastUpdatedAfter=yesterday", "", -32602, 400, "params.lastUpdatedAfter"},
		{"cancel", "POST", "/v1/tasks/t:cancel", "", 0, 0, ""},
		{"cancel with GET", "GET", "/v1/tasks/t:cancel", "", -32600, 405, ""},
		{"listen", "GET", "/v1/tasks/t:subscribe", "", 0, 0, ""},
		{"listen with POST", "POST", "/v1/tasks/t:subscribe", "{}", 0, 0, ""},
		{"hook of the request", "POST", "/v1/tasks/t/pushNotificationConfigs", `{"parent":"tasks/t","configId":"c","config":{"name":"tasks/t/pushNotificationConfigs/c","pushNotificationConfig":{"url":"https://x.example"}}}`, 0, 0, ""},
		{"hook of the resource", "POST", "/v1/tasks/t/pushNotificationConfigs", `{"name":"x","pushNotificationConfig":{"url":"https://x.example"}}`, 0, 0, ""},
		{"hook of the pair", "POST", "/v1/tasks/t/pushNotificationConfigs", `{"taskId":"t","pushNotificationConfig":{"url":"https://x.example"}}`, 0, 0, ""},
		{"hook of another task", "POST", "/v1/tasks/t/pushNotificationConfigs", `{"taskId":"u","pushNotificationConfig":{"url":"https://x.example"}}`, -32602, 400, "params.taskId"},
		{"no hook", "POST", "/v1/tasks/t/pushNotificationConfigs", `{"config":{}}`, -32602, 400, "params.config.pushNotificationConfig"},
		{"a hook", "GET", "/v1/tasks/t/pushNotificationConfigs/c", "", 0, 0, ""},
		{"a hook gone", "DELETE", "/v1/tasks/t/pushNotificationConfigs/c", "", 0, 0, ""},
		{"hooks", "GET", "/v1/tasks/t/pushNotificationConfigs", "", 0, 0, ""},
		{"hooks with PUT", "PUT", "/v1/tasks/t/pushNotificationConfigs", "", -32600, 405, "this path is asked with POST, GET, OPTIONS"},
		{"card", "GET", "/v1/card", "", 0, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := earlyRefusal(t, earlyREST{}, tt.method, tt.path, tt.body)
			switch {
			case tt.code == 0 && got != nil:
				t.Errorf("decode(%s %s %s) = %v, want a call", tt.method, tt.path, tt.body, got)
			case tt.code != 0 && (got == nil || got.Code != tt.code || got.REST != tt.status || !strings.HasPrefix(got.Message, tt.says)):
				t.Errorf("decode(%s %s %s) = %+v, want %d, HTTP %d %s", tt.method, tt.path, tt.body, got, tt.code, tt.status, tt.says)
			}
		})
	}
	r, _ := requestTo(t, "GET", "/v1/tasks/t", "")
	r.http.Header.Set(sdk.SvcParamVersion, "1.0")
	if _, err := (earlyREST{}).decode(r); wire.RefusalOf(err).Code != wire.CodeVersion {
		t.Errorf("decode() of a caller of 1.0 = %v, want code %d", err, wire.CodeVersion)
	}
}

// What the absence of blocking means is the spelling's.
func TestEarlyBlocking(t *testing.T) {
	t.Parallel()
	early := `{"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]}%s}`
	proto := `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"x"}]}%s}`
	tests := []struct {
		body, conf string
		want       operation
	}{
		{early, ``, sendMessage},
		{early, `,"configuration":{}`, sendMessage},
		{early, `,"configuration":{"blocking":true}`, sendMessage},
		{early, `,"configuration":{"blocking":false}`, submitMessage},
		{proto, ``, sendMessage},
		{proto, `,"configuration":{}`, submitMessage},
		{proto, `,"configuration":{"blocking":true}`, sendMessage},
		{proto, `,"configuration":{"blocking":false}`, submitMessage},
	}
	for _, tt := range tests {
		r, err := requestTo(t, http.MethodPost, "/v1/message:send", fmt.Sprintf(tt.body, tt.conf))
		if err != nil {
			t.Fatal(err)
		}
		if c, err := (earlyREST{}).decode(r); err != nil || c.op != tt.want || !c.send.Keep {
			t.Errorf("decode(%s%s) = operation %d, %v, want %d", tt.body, tt.conf, c.op, err, tt.want)
		}
	}
}

// parts of messages that 0.3 can say: it has no media type for text and data.
func anyPart() *rapid.Generator[*sdk.Part] {
	return rapid.Custom(func(t *rapid.T) *sdk.Part {
		p := &sdk.Part{Metadata: anyMetadata().Draw(t, "metadata")}
		switch rapid.IntRange(0, 3).Draw(t, "content") {
		case 0:
			p.Content = sdk.Text(rapid.String().Draw(t, "text"))
		case 1:
			p.Content = sdk.Data{Value: json.RawMessage(rapid.SampledFrom([]string{
				`{}`, `{"n":9007199254740993,"x":"<&>","z":1.10}`, `[1,2]`, `null`, `"text"`, `-0.0`, `{"value":3}`, `true`,
			}).Draw(t, "data"))}
		case 2:
			p.Content = sdk.Raw(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "raw"))
			p.Filename, p.MediaType = rapid.StringMatching(`[a-z]{0,5}`).Draw(t, "name"), "text/plain"
		default:
			p.Content = sdk.URL(rapid.StringMatching(`https://[a-z]{1,5}\.example/[a-z]{0,5}`).Draw(t, "url"))
		}
		return p
	})
}

func anyMetadata() *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		if !rapid.Bool().Draw(t, "any") {
			return nil
		}
		return map[string]any{rapid.StringMatching(`[a-z]{1,4}`).Draw(t, "key"): rapid.Float64Range(-1e6, 1e6).Draw(t, "value")}
	})
}

func anyMessage() *rapid.Generator[*sdk.Message] {
	id := rapid.StringMatching(`[a-z0-9-]{0,8}`)
	return rapid.Custom(func(t *rapid.T) *sdk.Message {
		return &sdk.Message{
			ID: "m" + id.Draw(t, "id"), ContextID: id.Draw(t, "context"), TaskID: sdk.TaskID(id.Draw(t, "task")), Role: sdk.MessageRoleUser,
			Parts:      rapid.SliceOfN(anyPart(), 1, 4).Draw(t, "parts"),
			Extensions: []string{"https://x.example/e"}, Metadata: anyMetadata().Draw(t, "metadata"),
		}
	})
}

// A message of 1.0, said in 0.3 and read again, means the same.
func TestEarlyMessageKeepsItsMeaning(t *testing.T) {
	t.Parallel()
	for _, s := range []spelling{earlySpelling, protoSpelling} {
		rapid.Check(t, func(t *rapid.T) {
			want := anyMessage().Draw(t, "message")
			if s == earlySpelling {
				want.ReferenceTasks = []sdk.TaskID{"t-0"}
			}
			text, err := wire.Compact(map[string]any{"message": s.message(want)})
			if err != nil {
				t.Fatal(err)
			}
			members, _ := wire.Object(text)
			got, err := earlyMessage(object{"params", members}, s)
			if err != nil {
				t.Fatalf("earlyMessage(%s) = %v, want a message", text, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("earlyMessage(%s) (-want +got):\n%s", text, diff)
			}
		})
	}
}

// FuzzEarlyRPC decodes any body. What it refuses, it refuses with a code of the
// protocol; a message that it takes means the same when it is said again.
func FuzzEarlyRPC(f *testing.F) {
	for _, seed := range []string{
		rpc("message/send", `{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"data","data":{"a":1.10}}]},"configuration":{"blocking":false,"pushNotificationConfig":{"url":"https://x.example"}}}`),
		rpc("message/stream", `{"message":{"messageId":"m","role":"user","parts":[{"kind":"file","file":{"bytes":"AA==","name":"x"}},{"kind":"file","file":{"uri":"https://x.example"}}]}}`),
		rpc("message/send", `{"message":{"messageId":"m","role":"user","parts":[{"kind":"data","data":{"value":[1]},"metadata":{"data_part_compat":true}}]}}`),
		rpc("tasks/get", `{"id":"t","historyLength":2}`), rpc("tasks/pushNotificationConfig/set", `{"taskId":"t","pushNotificationConfig":{"url":"https://x.example"}}`),
		rpc("tasks/pushNotificationConfig/delete", `{"id":"t","pushNotificationConfigId":"c"}`), `{}`, `{"jsonrpc":"2.0","id":1,"method":"tasks/"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) { saysTheSameAgain(t, earlyRPC{}, http.MethodPost, "/", body) })
}

// FuzzEarlyREST does the same at any path below /v1.
func FuzzEarlyREST(f *testing.F) {
	f.Add("POST", "/message:send", []byte(`{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"x"},{"data":{"data":{"a":1.10}}},{"file":{"fileWithBytes":"QUE9PQ=="}}]}}`))
	f.Add("POST", "/message:stream", []byte(`{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]}}`))
	f.Add("POST", "/tasks/t/pushNotificationConfigs", []byte(`{"config":{"pushNotificationConfig":{"url":"https://x.example"}}}`))
	f.Add("GET", "/tasks?status=working&pageSize=2", []byte(nil))
	f.Add("DELETE", "/tasks/t/pushNotificationConfigs/c", []byte(nil))
	f.Fuzz(func(t *testing.T, method, path string, body []byte) {
		saysTheSameAgain(t, earlyREST{}, method, "/v1"+path, body)
	})
}

func saysTheSameAgain(t *testing.T, c codec, method, target string, body []byte) {
	t.Helper()
	r, err := requestTo(t, method, target, string(body))
	if err != nil {
		return // turned away by the guard
	}
	asked, err := c.decode(r)
	out := c.encode(r, asked, answer{err: err, message: asked.send.Message})
	if !json.Valid(out.body) {
		t.Fatalf("encode() = %s, want JSON", out.body)
	}
	if err != nil {
		if e := wire.RefusalOf(err); e.Code == wire.CodeInternal {
			t.Fatalf("decode() = %v, want a refusal", err)
		}
		return
	}
	msg := asked.send.Message
	if msg == nil {
		return
	}
	s := earlySpelling
	if _, rest := c.(earlyREST); rest {
		s = spellingOf(r)
	}
	if s == protoSpelling {
		msg.ReferenceTasks = nil // which it cannot say
	}
	text, err := wire.Compact(map[string]any{"message": s.message(msg)})
	if err != nil {
		t.Fatal(err)
	}
	members, _ := wire.Object(text)
	again, err := earlyMessage(object{"params", members}, s)
	if err != nil {
		t.Fatalf("earlyMessage(%s) = %v, want what was read before", text, err)
	}
	once, _ := json.Marshal(msg)
	twice, _ := json.Marshal(again)
	if !bytes.Equal(once, twice) {
		t.Fatalf("said again: %s, want %s", twice, once)
	}
}
