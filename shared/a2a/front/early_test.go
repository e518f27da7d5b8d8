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

// rpc is a request of JSON-RPC.
func rpc(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
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

// Webhooks of 0.3 are told the task as JSON-RPC has it.
func TestEarlyTask(t *testing.T) {
	t.Parallel()
	got, err := EarlyTask(&sdk.Task{
		ID: "t-1", ContextID: "c-1", Status: sdk.TaskStatus{State: sdk.TaskStateAuthRequired},
		Artifacts: []*sdk.Artifact{{ID: "a", Parts: sdk.ContentParts{sdk.NewDataPart(map[string]any{"text": "<&>"})}}},
	})
	const want = `{"kind":"task","id":"t-1","contextId":"c-1","status":{"state":"auth-required"},` +
		`"artifacts":[{"artifactId":"a","parts":[{"kind":"data","data":{"text":"<&>"}}]}]}`
	if err != nil || string(got) != want {
		t.Errorf("EarlyTask() = %s, %v, want %s", got, err, want)
	}
	if _, err := EarlyTask(&sdk.Task{ID: "t-1", Metadata: map[string]any{"f": func() {}}}); err == nil {
		t.Error("EarlyTask(a func) = nil, want an error")
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
