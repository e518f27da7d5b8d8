package a2a_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"truecost.dev/shared/a2a"
)

// send is a message/send whose member message is m.
func send(m string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":` + m + `}}`
}

// parts is a message/send with these parts.
func parts(list string) string { return send(`{"role":"user","parts":` + list + `}`) }

// data is a message/send with one data part.
func data(d string) string { return parts(`[{"type":"data","data":` + d + `}]`) }

// nested is a body that nests n deep.
func nested(n int) string {
	d := strings.Repeat("[", n-6) + strings.Repeat("]", n-6)
	return data(`{"estimate_id":"e","input":` + d + `}`)
}

// wireError is what a refused caller reads.
type wireError struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func TestHostileInput(t *testing.T) {
	t.Parallel()
	good := `{"type":"data","data":{"estimate_id":"e"}}`
	tests := []struct {
		name, body string
		code       int    // 0: served
		id         string // as echoed
		says       string // in the message
	}{
		{"empty", "", -32700, "null", "JSON"},
		{"blank", " \n", -32700, "null", "JSON"},
		{"truncated", `{"jsonrpc":"2.0","id":1`, -32700, "null", "JSON"},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", -32700, "null", "UTF-8"},
		{"bytes after the object", data(`{"estimate_id":"e"}`) + "x", -32700, "null", "JSON"},
		{"two objects", data(`{"estimate_id":"e"}`) + data(`{"estimate_id":"e"}`), -32700, "null", "JSON"},
		{"batch", "[" + data(`{"estimate_id":"e"}`) + "]", -32600, "null", "object"},
		{"scalar", "3", -32600, "null", "object"},
		{"null", "null", -32600, "null", "object"},
		{"empty object", "{}", -32600, "null", "jsonrpc"},
		{"no jsonrpc", `{"id":1,"method":"agent/card"}`, -32600, "1", "jsonrpc"},
		{"jsonrpc 1.0", `{"jsonrpc":"1.0","id":"a","method":"agent/card"}`, -32600, `"a"`, "jsonrpc"},
		{"jsonrpc a number", `{"jsonrpc":2.0,"id":"a","method":"agent/card"}`, -32600, `"a"`, "jsonrpc"},
		{"jsonrpc in capitals", `{"JSONRPC":"2.0","id":"a","method":"agent/card"}`, -32600, `"a"`, "jsonrpc"},
		{"no id", `{"jsonrpc":"2.0","method":"agent/card"}`, -32600, "null", "id"},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"agent/card"}`, -32600, "null", "id"},
		{"id object", `{"jsonrpc":"2.0","id":{},"method":"agent/card"}`, -32600, "null", "id"},
		{"id list", `{"jsonrpc":"2.0","id":[1],"method":"agent/card"}`, -32600, "null", "id"},
		{"id boolean", `{"jsonrpc":"2.0","id":true,"method":"agent/card"}`, -32600, "null", "id"},
		{"id with spaces round it", `{"jsonrpc":"2.0","id": 12345678901234567890 ,"method":"agent/card"}`, 0, "12345678901234567890", ""},
		{"no method", `{"jsonrpc":"2.0","id":1}`, -32600, "1", "method"},
		{"method a number", `{"jsonrpc":"2.0","id":1,"method":7}`, -32600, "1", "method"},
		{"method unknown", `{"jsonrpc":"2.0","id":1,"method":"SendMessage"}`, -32601, "1", "method"},
		{"unknown members", `{"jsonrpc":"2.0","id":1,"method":"agent/card","params":{"x":1},"y":2}`, 0, "1", ""},
		{"card with a list", `{"jsonrpc":"2.0","id":1,"method":"agent/card","params":[]}`, -32602, "1", "params"},
		{"no params", `{"jsonrpc":"2.0","id":1,"method":"message/send"}`, -32602, "1", "params"},
		{"params null", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":null}`, -32602, "1", "params"},
		{"params a list", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":[]}`, -32602, "1", "params"},
		{"no message", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}`, -32602, "1", "params.message"},
		{"message a string", send(`"hello"`), -32602, "1", "params.message"},
		{"no role", send(`{"parts":[` + good + `]}`), -32602, "1", "role"},
		{"role agent", send(`{"role":"agent","parts":[` + good + `]}`), -32602, "1", "role"},
		{"no parts", send(`{"role":"user"}`), -32602, "1", "parts"},
		{"parts an object", parts(`{}`), -32602, "1", "parts"},
		{"parts empty", parts(`[]`), -32602, "1", "parts"},
		{"64 parts", parts("[" + good + strings.Repeat(","+good, 63) + "]"), 0, "1", ""},
		{"65 parts", parts("[" + good + strings.Repeat(","+good, 64) + "]"), -32602, "1", "parts"},
		{"10000 parts", parts("[" + good + strings.Repeat(","+good, 9999) + "]"), -32602, "1", "parts"},
		{"part null", parts(`[null]`), -32602, "1", "parts[0]"},
		{"part without type", parts(`[{"data":{"estimate_id":"e"}}]`), -32602, "1", "parts[0]"},
		{"part of A2A 0.3", parts(`[{"kind":"data","data":{"estimate_id":"e"}}]`), -32602, "1", "parts[0].kind"},
		{"part with kind and type", parts(`[{"kind":"data","type":"data","data":{"estimate_id":"e"}}]`), -32602, "1", "parts[0].kind"},
		{"part of unknown type", parts(`[` + good + `,{"type":"video"}]`), -32602, "1", "parts[1].type"},
		{"part with two contents", parts(`[{"type":"data","data":{"estimate_id":"e"},"text":"x"}]`), -32602, "1", "one content"},
		{"part without content", parts(`[{"type":"data"}]`), -32602, "1", "parts[0].data"},
		{"data a list", parts(`[{"type":"data","data":[]}]`), -32602, "1", "parts[0].data"},
		{"text a number", parts(`[` + good + `,{"type":"text","text":1}]`), -32602, "1", "parts[1].text"},
		{"file empty", parts(`[` + good + `,{"type":"file","file":{}}]`), -32602, "1", "parts[1].file"},
		{"file twice", parts(`[` + good + `,{"type":"file","file":{"bytes":"","uri":"http://x/"}}]`), -32602, "1", "parts[1].file"},
		{"file not base64", parts(`[` + good + `,{"type":"file","file":{"bytes":"%%%"}}]`), -32602, "1", "bytes"},
		{"file at a relative address", parts(`[` + good + `,{"type":"file","file":{"uri":"../secret"}}]`), -32602, "1", "uri"},
		{"text alone", parts(`[{"type":"text","text":"hello"}]`), -32602, "1", "type data"},
		{"no estimate", data(`{"input":{}}`), -32602, "1", "estimate_id"},
		{"estimate empty", data(`{"estimate_id":""}`), -32602, "1", "estimate_id"},
		{"estimate a number", data(`{"estimate_id":7}`), -32602, "1", "estimate_id"},
		{"attempt a string", data(`{"estimate_id":"e","retry_attempt":"1"}`), -32602, "1", "retry_attempt"},
		{"attempt below 0", data(`{"estimate_id":"e","retry_attempt":-1}`), -32602, "1", "retry_attempt"},
		{"agents before a string", data(`{"estimate_id":"e","previous_agents":"location"}`), -32602, "1", "previous_agents"},
		{"context a string", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"context":"x","message":{"role":"user","parts":[` + good + `]}}}`, -32602, "1", "params.context"},
		{"thread a number", `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"context":{"thread_id":1},"message":{"role":"user","parts":[` + good + `]}}}`, -32602, "1", "thread_id"},
		{"nested 64 deep", nested(64), 0, "1", ""},
		{"nested 65 deep", nested(65), -32602, "1", "64"},
		{"nested 100000 deep", nested(100000), -32602, "null", "64"},
		{"brackets in a string", data(`{"estimate_id":"` + strings.Repeat(`[\"`, 100) + `"}`), 0, "1", ""},
		{"no task", `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{}}`, -32602, "1", "task_id"},
		{"task a number", `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"task_id":1,"id":"x"}}`, -32602, "1", "task_id"},
		{"task empty", `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":""}}`, -32602, "1", "id"},
	}
	h := a2a.NewHandler(agentFunc(echo), frozen())
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(tt.body)))
			got := decode(t, w)
			switch {
			case w.Code != http.StatusOK:
				t.Errorf("HTTP %d, want 200", w.Code)
			case string(got.ID) != tt.id:
				t.Errorf("id %s, want %s", got.ID, tt.id)
			case tt.code == 0 && (got.Error != nil || got.Result == nil):
				t.Errorf("answer %s, want a result", w.Body)
			case tt.code != 0 && (got.Error == nil || got.Error.Code != tt.code || !strings.Contains(got.Error.Message, tt.says)):
				t.Errorf("answer %s, want error %d about %q", w.Body, tt.code, tt.says)
			}
		})
	}
}

func decode(t *testing.T, w *httptest.ResponseRecorder) wireError {
	t.Helper()
	var got wireError
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.JSONRPC != "2.0" {
		t.Fatalf("answer %s (%v), want JSON-RPC 2.0", w.Body, err)
	}
	if media := w.Header().Get("Content-Type"); media != "application/json" {
		t.Errorf("Content-Type %q, want application/json", media)
	}
	return got
}

// endless is a body that never ends, and counts what was read of it.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return copy(p, bytes.Repeat([]byte(" "), len(p))), nil
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	const limit = 1 << 10
	opt := frozen()
	opt.MaxBody = limit
	h := a2a.NewHandler(agentFunc(echo), opt)
	fitting := data(`{"estimate_id":"e"}`)
	body := new(endless)
	tests := []struct {
		name string
		r    *http.Request
		want int
	}{
		{"exactly the limit", httptest.NewRequest(http.MethodPost, "/", strings.NewReader(fitting+strings.Repeat(" ", limit-len(fitting)))), http.StatusOK},
		{"one byte more, said before", httptest.NewRequest(http.MethodPost, "/", strings.NewReader(fitting+strings.Repeat(" ", limit-len(fitting)+1))), http.StatusRequestEntityTooLarge},
		{"never ending", httptest.NewRequest(http.MethodPost, "/", io.MultiReader(strings.NewReader(fitting), body)), http.StatusRequestEntityTooLarge},
	}
	for _, tt := range tests {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, tt.r)
		if got := decode(t, w); w.Code != tt.want || tt.want != http.StatusOK && got.Error.Code != -32600 {
			t.Errorf("%s: HTTP %d, %s, want %d", tt.name, w.Code, w.Body, tt.want)
		}
	}
	if body.read > 4*limit {
		t.Errorf("read %d bytes of a body without end, want about %d", body.read, limit)
	}
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	h := a2a.NewHandler(agentFunc(echo), frozen())
	tests := map[string]int{
		"": 200, "application/json": 200, "application/json; charset=utf-8": 200, "Application/JSON": 200, "application/a2a+json": 200,
		"text/plain": 415, "application/x-www-form-urlencoded": 415, "json": 415, ";": 415,
	}
	for media, want := range tests {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(data(`{"estimate_id":"e"}`)))
		r.Header.Set("Content-Type", media)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := decode(t, w); w.Code != want || (want == 415) != (got.Error != nil && got.Error.Code == -32005) {
			t.Errorf("Content-Type %q: HTTP %d, %s, want %d", media, w.Code, w.Body, want)
		}
	}
}
