package a2a_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/a2a/task/tasktest"
	"truecost.dev/shared/fault"
)

// answering is a client whose every call is answered by h.
func answering(h http.HandlerFunc) *a2a.Client {
	return &a2a.Client{HTTP: &http.Client{Transport: inProcess{h}}, BaseURL: "http://agents/"}
}

// says answers every call with a result or an error member, and the right id.
func says(member string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%q,%s}`, callID, member)
	}
}

// status answers every call with an HTTP status.
func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func TestCallFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		answer http.HandlerFunc
		want   fault.Kind
		says   string
	}{
		{"error: bad parameters", says(`"error":{"code":-32602,"message":"estimate_id: want a string"}`), fault.Invalid, "agent cost: estimate_id: want a string (-32602)"},
		{"error: unknown method", says(`"error":{"code":-32601,"message":"m"}`), fault.Invalid, "m"},
		{"error: internal", says(`"error":{"code":-32603,"message":"m"}`), fault.Unavailable, "m"},
		{"error: no such task", says(`"error":{"code":-32001,"message":"m"}`), fault.NotFound, "m"},
		{"error beside a result", says(`"result":{"status":"completed","result":{}},"error":{"code":-32603,"message":"m"}`), fault.Unavailable, "m"},
		{"error that is none", says(`"error":7`), fault.Internal, "cannot be read"},
		{"error before the id was read", status(200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`), fault.Invalid, "m"},
		{"failed, transient", says(`"result":{"status":"failed","error":"busy","metadata":{"error_kind":"exhausted"}}`), fault.Exhausted, "agent cost: busy"},
		{"failed, for good", says(`"result":{"status":"failed","error":"no zip","metadata":{"error_kind":"invalid","retryable":false}}`), fault.Invalid, "no zip"},
		{"failed, retryable of a stranger", says(`"result":{"status":"failed","error":"e","metadata":{"retryable":true}}`), fault.Unavailable, "e"},
		{"failed, of a kind nobody knows", says(`"result":{"status":"failed","error":"e","metadata":{"error_kind":"tired"}}`), fault.Internal, "e"},
		{"failed, nothing else said", says(`"result":{"status":"failed"}`), fault.Internal, ""},
		{"completed without result", says(`"result":{"task_id":"t","status":"completed"}`), fault.Internal, "no result"},
		{"completed with null", says(`"result":{"task_id":"t","status":"completed","result":null}`), fault.Internal, "no result"},
		{"completed with a list", says(`"result":{"task_id":"t","status":"completed","result":[]}`), fault.Internal, "no result"},
		{"status of another word", says(`"result":{"task_id":"t","status":"tired"}`), fault.Internal, "tired"},
		{"canceled", says(`"result":{"task_id":"t","status":"failed","error":"stopped","metadata":{"state":"canceled"}}`), fault.Conflict, "stopped"},
		{"canceled, of a stranger", says(`"result":{"task_id":"t","status":"canceled","error":"e"}`), fault.Conflict, "e"},
		{"rejected", says(`"result":{"task_id":"t","status":"failed","error":"not mine","metadata":{"state":"rejected","retryable":true}}`), fault.Invalid, "not mine"},
		{"input required without a task", says(`"result":{"status":"input-required"}`), fault.Internal, "names no task"},
		{"error: not cancelable", says(`"error":{"code":-32002,"message":"m"}`), fault.Conflict, "m"},
		{"working without a task", says(`"result":{"status":"working"}`), fault.Internal, "names no task"},
		{"neither result nor error", says(`"x":1`), fault.Internal, "neither"},
		{"result null", says(`"result":null`), fault.Internal, "neither"},
		{"result a string", says(`"result":"done"`), fault.Internal, "neither"},
		{"result of another shape", says(`"result":{"status":7}`), fault.Internal, "cannot be read"},
		{"another call", status(200, `{"jsonrpc":"2.0","id":"x","result":{"status":"completed","result":{}}}`), fault.Internal, "another call"},
		{"no JSON-RPC", status(200, `{"id":"x","result":{}}`), fault.Internal, "JSON-RPC"},
		{"no JSON", status(200, `<html>`), fault.Internal, "JSON object"},
		{"empty", status(200, ``), fault.Internal, "JSON object"},
		{"too large", status(200, strings.Repeat(" ", 10<<20)+"{}"), fault.Internal, "larger"},
		{"400", status(400, `no`), fault.Invalid, "HTTP 400"},
		{"401", status(401, ``), fault.Unknown, "HTTP 401"},
		{"403", status(403, ``), fault.Denied, "HTTP 403"},
		{"404", status(404, ``), fault.NotFound, "HTTP 404"},
		{"408", status(408, ``), fault.Timeout, "HTTP 408"},
		{"413", status(413, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"too large"}}`), fault.Invalid, "too large"},
		{"429", status(429, ``), fault.Exhausted, "HTTP 429"},
		{"500", status(500, ``), fault.Unavailable, "HTTP 500"},
		{"502", status(502, `<html>`), fault.Unavailable, "HTTP 502"},
		{"503", status(503, `{"error":"x"}`), fault.Unavailable, "HTTP 503"},
		{"504", status(504, `{"error":{"message":7}}`), fault.Timeout, "HTTP 504"},
		{"304", status(304, ``), fault.Internal, "HTTP 304"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := answering(tt.answer).Call(t.Context(), "cost", callID, a2a.Request{EstimateID: "e"})
			e, ok := errors.AsType[*fault.Error](err)
			if !ok || e.Kind != tt.want || !strings.Contains(e.Msg, tt.says) {
				t.Errorf("Call() = %v, want %q with %q", err, tt.want, tt.says)
			}
			if got.Output != nil {
				t.Errorf("Call() = %s beside an error, want nothing", got.Output)
			}
		})
	}
}

func TestCallSends(t *testing.T) {
	t.Parallel()
	var path, body string
	client := answering(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		path, body = r.Method+" "+r.URL.String(), string(b)
		says(`"result":{"task_id":"t","status":"completed","result":{ "n": 1.10 },"metadata":{"agent":"cost","duration_ms":12.5,"tokens_used":3,"cost_usd":0.0125,"state":"completed"}}`)(w, r)
	})
	got, err := client.Call(t.Context(), "cost_scorer", callID, a2a.Request{
		EstimateID: "e", Agent: "cost", Input: json.RawMessage(`{"a":1}`), Output: json.RawMessage(`{"b":2}`),
	})
	if err != nil {
		t.Fatalf("Call() = %v, want a result", err)
	}
	if want := "POST http://agents/a2a_cost_scorer"; path != want {
		t.Errorf("Call() went to %s, want %s", path, want)
	}
	const want = `{"jsonrpc":"2.0","id":"` + callID + `","method":"message/send","params":{"message":{"role":"user","parts":[{"type":"data","data":` +
		`{"estimate_id":"e","input":{"a":1},"retry_attempt":0,"agent_name":"cost","output":{"b":2}}}]},"context":{"thread_id":"e"}}}`
	if body != want {
		t.Errorf("Call() sent %s, want %s", body, want)
	}
	meta := a2a.Metadata{Agent: "cost", DurationMS: 12, TokensUsed: 3, CostUSD: 0.0125, State: "completed"}
	if string(got.Output) != `{ "n": 1.10 }` || got.State != a2a.Completed || got.TaskID != "t" || got.ContextID != "e" || got.Metadata != meta {
		t.Errorf("Call() = %+v, want task t of context e, completed, the output as it came and %+v", got, meta)
	}
	client.Resolve = func(agent string) string { return "http://elsewhere/agents/" + agent }
	if _, err := client.Call(t.Context(), "cost", callID, a2a.Request{}); err != nil || path != "POST http://elsewhere/agents/cost" {
		t.Errorf("Call() with Resolve went to %s (%v), want http://elsewhere/agents/cost", path, err)
	}
	client.Resolve = func(string) string { return "http://bad host/" }
	if _, err := client.Call(t.Context(), "cost", callID, a2a.Request{}); fault.KindOf(err) != fault.Internal {
		t.Errorf("Call(bad address) = %v, want kind internal", err)
	}
	if _, err := client.Call(t.Context(), "cost", callID, a2a.Request{Input: json.RawMessage("{")}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("Call(bad input) = %v, want kind invalid", err)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		header string
		want   time.Duration
		ok     bool
	}{{"7", 7 * time.Second, true}, {"", 0, false}, {"-1", 0, false}, {"soon", 0, false}}
	for _, tt := range tests {
		client := answering(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", tt.header)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		_, err := client.Call(t.Context(), "cost", callID, a2a.Request{})
		if got, ok := a2a.RetryAfter(fmt.Errorf("step: %w", err)); got != tt.want || ok != tt.ok {
			t.Errorf("RetryAfter(%q) = %s, %t, want %s, %t", tt.header, got, ok, tt.want, tt.ok)
		}
	}
}

// broken is a connection that ends in an error.
type broken struct{ err error }

func (b broken) RoundTrip(*http.Request) (*http.Response, error) { return nil, b.err }

// cut is an answer whose connection ends in the middle of the body.
type cut struct{ err error }

func (c cut) RoundTrip(*http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	_, _ = w.WriteString(`{"jsonrpc"`)
	resp := w.Result()
	resp.Body = io.NopCloser(io.MultiReader(resp.Body, errReader(c)))
	return resp, nil
}

type errReader struct{ err error }

func (e errReader) Read([]byte) (int, error) { return 0, e.err }

// late is a network error that is a timeout.
type late struct{}

func (late) Error() string   { return "i/o timeout" }
func (late) Timeout() bool   { return true }
func (late) Temporary() bool { return true }

func TestCallUnreachable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		http http.RoundTripper
		want fault.Kind
	}{
		{"refused", broken{syscall.ECONNREFUSED}, fault.Unavailable},
		{"reset", broken{syscall.ECONNRESET}, fault.Unavailable},
		{"cut off", cut{io.ErrUnexpectedEOF}, fault.Unavailable},
		{"timeout of the client", broken{late{}}, fault.Timeout},
		{"timeout in the body", cut{late{}}, fault.Timeout},
	}
	for _, tt := range tests {
		client := a2a.Client{HTTP: &http.Client{Transport: tt.http}, BaseURL: "http://agents"}
		_, err := client.Call(t.Context(), "cost", callID, a2a.Request{})
		if got := fault.KindOf(err); got != tt.want {
			t.Errorf("%s: Call() = %v of kind %q, want %q", tt.name, err, got, tt.want)
		}
	}
}

func TestCallPolls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var methods []string
		client := answering(func(w http.ResponseWriter, r *http.Request) {
			var ask struct {
				Method string
				Params struct {
					TaskID string `json:"task_id"`
				}
			}
			_ = json.NewDecoder(r.Body).Decode(&ask)
			methods = append(methods, ask.Method+" "+ask.Params.TaskID)
			answers := []string{`"submitted"`, `"working"`, `"working"`, `"completed","result":{"n":1}`}
			says(`"result":{"task_id":"t","status":`+answers[len(methods)-1]+`}`)(w, r)
		})
		begun := time.Now() //nolint:forbidigo // the clock of the bubble
		got, err := client.Call(t.Context(), "cost", callID, a2a.Request{})
		if err != nil || string(got.Output) != `{"n":1}` {
			t.Errorf("Call() = %s, %v, want the result", got.Output, err)
		}
		if took := time.Since(begun); took != 15*time.Second {
			t.Errorf("Call() took %s, want three waits of 5s", took)
		}
		if got, want := strings.Join(methods, ", "), "message/send , tasks/get t, tasks/get t, tasks/get t"; got != want {
			t.Errorf("Call() sent %s, want %s", got, want)
		}
	})
}

// A task that is still at work when time is up is no error: it can be looked at
// later. An agent that says nothing at all is one.
func TestCallEnds(t *testing.T) {
	t.Parallel()
	working := says(`"result":{"task_id":"t","status":"working"}`)
	silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	tests := map[string]struct {
		answer   http.HandlerFunc
		deadline fault.Kind
	}{"working for ever": {working, ""}, "silent": {silent, fault.Timeout}}
	for name, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
			defer cancel()
			got, err := answering(tt.answer).Call(ctx, "cost", callID, a2a.Request{EstimateID: "e"})
			if fault.KindOf(err) != tt.deadline || err == nil && (got.State != a2a.Working || got.TaskID != "t" || got.ContextID != "e" || ctx.Err() != nil) {
				t.Errorf("%s: Call() until a deadline = %+v, %v, want kind %q or task t working in e before the deadline", name, got, err, tt.deadline)
			}
			ctx, cancel = context.WithCancel(t.Context())
			time.AfterFunc(12*time.Second, cancel)
			_, err = answering(tt.answer).Call(ctx, "cost", callID, a2a.Request{})
			if fault.KindOf(err) != fault.Canceled || !a2a.Ambiguous(err) {
				t.Errorf("%s: Call() until canceled = %v, want kind canceled, ambiguous", name, err)
			}
		})
	}
}

// The whole way round: a kind an agent fails with is the kind the caller sees,
// but for a cut-off, which may pass.
func TestKindsTravel(t *testing.T) {
	t.Parallel()
	for _, kind := range fault.Kinds() {
		client := clientOf(agentFunc(func(context.Context, a2a.Request) (json.RawMessage, error) {
			return nil, fault.New(kind, "why")
		}), tasktest.NewMemory(standing))
		_, err := client.Call(t.Context(), "location", callID, a2a.Request{EstimateID: "e"})
		want := kind
		if kind == fault.Canceled {
			want = fault.Unavailable
		}
		if got := fault.KindOf(err); got != want {
			t.Errorf("an agent failed with %q, Call() = %v of kind %q, want %q", kind, err, got, want)
		}
	}
}

// FuzzDecodeAnswer has a peer answer anything: a call returns an object or a
// fault, never both and never neither.
func FuzzDecodeAnswer(f *testing.F) {
	for _, seed := range []string{
		"", "{}", `{"jsonrpc":"2.0","id":"` + callID + `","result":{"task_id":"t","status":"completed","result":{"n":1}}}`,
		`{"jsonrpc":"2.0","id":"x","error":{"code":1e9,"message":""}}`,
		`{"jsonrpc":"2.0","id":"` + callID + `","result":{"task_id":"t","status":"failed","metadata":{"state":"input-required","question":{"prompt":"?","schema":{}}}}}`,
		`{"jsonrpc":"2.0","id":"` + callID + `","result":{"task_id":"t","status":"working","metadata":{"tokens_used":-1e300,"cost_usd":"x"}}}`,
	} {
		f.Add(200, seed)
	}
	f.Fuzz(func(t *testing.T, code int, body string) {
		if code < 200 || code > 599 {
			return // no final status of HTTP
		}
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		client := answering(func(w http.ResponseWriter, r *http.Request) {
			if calls++; calls > 1 {
				cancel() // it says working for ever
			}
			status(code, body)(w, r)
		})
		client.Poll = time.Nanosecond
		defer cancel()
		got, err := client.Call(ctx, "cost", callID, a2a.Request{})
		if _, ok := errors.AsType[*fault.Error](err); err != nil && !ok {
			t.Errorf("Call() = %v, want a *fault.Error", err)
		}
		if err == nil && got.State == a2a.Completed && (!json.Valid(got.Output) || got.Output[0] != '{') {
			t.Errorf("Call() = %q without an error, want an object", got.Output)
		}
		if err == nil && got.State != a2a.Completed && (got.TaskID == "" || got.Output != nil || (got.State == a2a.InputRequired) != (got.Question != nil)) {
			t.Errorf("Call() = %+v without an error, want a task to ask for and a question if it waits", got)
		}
	})
}

func ExampleClient_Call() {
	agent := a2a.Agent{Name: "location", Serve: func(_ context.Context, req a2a.Request) (json.RawMessage, error) {
		return json.RawMessage(`{"heard":` + string(req.Input) + `}`), nil
	}}
	client := clientOf(agent, tasktest.NewMemory(standing))
	got, err := client.Call(context.Background(), "location", callID, a2a.Request{EstimateID: "est-1", Input: json.RawMessage(`{"zip":"80202"}`)})
	fmt.Println(string(got.Output), err)
	// Output: {"heard":{"zip":"80202"}} <nil>
}
