package a2a_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/fault"
)

// sayings answers the first call with the first result, and so on; the last one
// stays. It counts the calls.
func sayings(calls *int, results ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var ask struct{ ID string }
		_ = json.NewDecoder(r.Body).Decode(&ask)
		result := results[min(*calls, len(results)-1)]
		*calls++
		if header, rest, ok := strings.Cut(result, "|"); ok {
			w.Header().Set("Retry-After", header)
			result = rest
		}
		if result == "503" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%q,%s}`, ask.ID, result)
	}
}

const (
	atWork = `"result":{"task_id":"t","status":"working","metadata":{"context_id":"c"}}`
	done   = `"result":{"task_id":"t","status":"completed","result":{"n":1}}`
)

func TestCallLooksAgain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		answers []string
		state   string
		kind    fault.Kind
		after   time.Duration
		calls   int
		took    time.Duration
	}{
		{"working, then completed", []string{atWork, done}, a2a.Completed, "", 0, 2, 5 * time.Second},
		{"a pause asked for is kept", []string{"2|" + atWork, "3|" + atWork, done}, a2a.Completed, "", 0, 3, 5 * time.Second},
		{"no pause at all is none asked for", []string{"0|" + atWork, done}, a2a.Completed, "", 0, 2, 5 * time.Second},
		{"a longer pause is the caller's", []string{"60|" + atWork}, a2a.Working, "", time.Minute, 1, 0},
		{"a pause beyond reason is a day", []string{"999999999999|" + atWork}, a2a.Working, "", 24 * time.Hour, 1, 0},
		{"a look that fails and may pass", []string{atWork, "7|503"}, a2a.Working, "", 7 * time.Second, 2, 5 * time.Second},
		{"a look that fails for good", []string{atWork, `"error":{"code":-32001,"message":"no such task"}`}, "", fault.NotFound, 0, 2, 5 * time.Second},
		{"interrupted meanwhile", []string{atWork, `"result":{"task_id":"t","status":"failed","error":"send again","metadata":{"retryable":true}}`}, "", fault.Unavailable, 0, 2, 5 * time.Second},
		{"canceled meanwhile", []string{atWork, `"result":{"task_id":"t","status":"failed","metadata":{"state":"canceled"}}`}, "", fault.Conflict, 0, 2, 5 * time.Second},
		{"asks meanwhile", []string{atWork, `"result":{"task_id":"t","status":"input_required"}`}, a2a.InputRequired, "", 0, 2, 5 * time.Second},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			begun, calls := time.Now(), 0 //nolint:forbidigo // the clock of the bubble
			got, err := answering(sayings(&calls, tt.answers...)).Call(t.Context(), "cost", callID, a2a.Request{})
			if fault.KindOf(err) != tt.kind || got.State != tt.state || got.After != tt.after {
				t.Errorf("%s: Call() = %+v, %v, want state %q after %s, kind %q", tt.name, got, err, tt.state, tt.after, tt.kind)
			}
			if got.State == a2a.Working && (got.TaskID != "t" || got.ContextID != "c") {
				t.Errorf("%s: Call() = task %q of context %q, want t of c", tt.name, got.TaskID, got.ContextID)
			}
			if took := time.Since(begun); calls != tt.calls || took != tt.took {
				t.Errorf("%s: %d calls in %s, want %d in %s", tt.name, calls, took, tt.calls, tt.took)
			}
		})
	}
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, result, prompt, schema string }{
		{
			"the dialect", `"status":"failed","error":"input required: Which zip?","metadata":{"state":"input-required","question":{"prompt":"Which zip?","schema":{"type":"string","maxLength":5.0}}}`,
			"Which zip?", `{"type":"string","maxLength":5.0}`,
		},
		{"in plain words", `"status":"failed","error":"Which zip?","metadata":{"state":"input-required"}`, "Which zip?", ""},
		{"by its status", `"status":"input_required","error":"Which zip?"`, "Which zip?", ""},
		{"credentials", `"status":"failed","error":"Sign in.","metadata":{"state":"auth-required"}`, "Sign in.", ""},
		{"silent", `"status":"auth_required"`, "The agent needs an answer and did not say to what.", ""},
		{"of another shape", `"status":"input-required","error":"e","metadata":{"question":"which?"}`, "e", ""},
		{"schema of another shape", `"status":"input-required","metadata":{"question":{"prompt":"p","schema":"string"}}`, "p", ""},
	}
	for _, tt := range tests {
		calls := 0
		client := answering(sayings(&calls, `"result":{"task_id":"t",`+tt.result+`}`))
		called, err := client.Call(t.Context(), "cost", callID, a2a.Request{EstimateID: "e"})
		looked, lookErr := client.Look(t.Context(), "cost", "t")
		if err != nil || lookErr != nil || called.Question == nil || looked.Question == nil {
			t.Errorf("%s: Call() = %+v, %v, Look() = %+v, %v, want a question", tt.name, called, err, looked, lookErr)
			continue
		}
		for _, got := range []a2a.Result{called, looked} {
			if got.State != a2a.InputRequired || got.TaskID != "t" || got.Question.Prompt != tt.prompt || string(got.Question.Schema) != tt.schema || got.Output != nil {
				t.Errorf("%s: got %+v, question %+v, want task t and %q with schema %s", tt.name, got, got.Question, tt.prompt, tt.schema)
			}
		}
	}
}

// What an agent of somebody else reports about its cost comes through; a figure
// that cannot be is none, and loses no result.
func TestFigures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		metadata string
		want     a2a.Metadata
	}{
		{`{"agent":"x","tokens_used":1234,"cost_usd":0.0185,"duration_ms":7}`, a2a.Metadata{Agent: "x", TokensUsed: 1234, CostUSD: 0.0185, DurationMS: 7}},
		{`{"tokens_used":12.9}`, a2a.Metadata{TokensUsed: 12}},
		{`{"tokens_used":"many","cost_usd":"free","agent":7,"duration_ms":[]}`, a2a.Metadata{}},
		{`{"tokens_used":-3,"cost_usd":-0.5}`, a2a.Metadata{}},
		{`{"tokens_used":9007199254740992,"cost_usd":1e400}`, a2a.Metadata{}},
		{`{"tokens_used":null}`, a2a.Metadata{}},
		{`null`, a2a.Metadata{}},
		{`[]`, a2a.Metadata{}},
		{`"none"`, a2a.Metadata{}},
	}
	for _, tt := range tests {
		calls := 0
		client := answering(sayings(&calls, `"result":{"task_id":"t","status":"completed","result":{"n":1},"metadata":`+tt.metadata+`}`))
		got, err := client.Call(t.Context(), "cost", callID, a2a.Request{})
		if err != nil || got.Metadata != tt.want || string(got.Output) != `{"n":1}` {
			t.Errorf("Call() with metadata %s = %+v, %v, want %+v", tt.metadata, got, err, tt.want)
		}
	}
}

func TestLook(t *testing.T) {
	t.Parallel()
	var body string
	calls := 0
	client := answering(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body = string(b)
		r.Body = io.NopCloser(strings.NewReader(body))
		sayings(&calls, "9|"+atWork, done, `"error":{"code":-32001,"message":"no such task"}`, "503")(w, r)
	})
	got, err := client.Look(t.Context(), "cost", "t")
	if err != nil || got.State != a2a.Working || got.After != 9*time.Second || got.ContextID != "c" {
		t.Errorf("Look(working) = %+v, %v, want working, again after 9s", got, err)
	}
	if want := `{"jsonrpc":"2.0","id":"t","method":"tasks/get","params":{"task_id":"t"}}`; body != want {
		t.Errorf("Look() sent %s, want %s", body, want)
	}
	if got, err := client.Look(t.Context(), "cost", "t"); err != nil || string(got.Output) != `{"n":1}` {
		t.Errorf("Look(completed) = %+v, %v, want the result", got, err)
	}
	for _, want := range []fault.Kind{fault.NotFound, fault.Unavailable} {
		if got, err := client.Look(t.Context(), "cost", "t"); fault.KindOf(err) != want || got.State != "" || !strings.HasPrefix(fault.Public(err), "agent cost: ") {
			t.Errorf("Look() = %+v, %v, want kind %q of agent cost", got, err, want)
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, answer string
		want         fault.Kind
	}{
		{"canceled", `"result":{"task_id":"t","status":"failed","metadata":{"state":"canceled"}}`, ""},
		{"completed before", done, ""},
		{"unknown", `"error":{"code":-32001,"message":"m"}`, ""},
		{"not cancelable", `"error":{"code":-32002,"message":"m"}`, ""},
		{"not served", `"error":{"code":-32601,"message":"m"}`, fault.Invalid},
		{"away", "503", fault.Unavailable},
	}
	for _, tt := range tests {
		calls := 0
		if err := answering(sayings(&calls, tt.answer)).Cancel(t.Context(), "cost", "t"); fault.KindOf(err) != tt.want || calls != 1 {
			t.Errorf("%s: Cancel() = %v after %d calls, want kind %q after 1", tt.name, err, calls, tt.want)
		}
	}
}

func TestCallAnswers(t *testing.T) {
	t.Parallel()
	var body string
	calls := 0
	client := answering(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body = string(b)
		r.Body = io.NopCloser(strings.NewReader(body))
		sayings(&calls, done)(w, r)
	})
	got, err := client.Call(t.Context(), "cost", callID, a2a.Request{EstimateID: "e", TaskID: "t", ContextID: "c", Answer: json.RawMessage(`"80202"`)})
	if err != nil || got.ContextID != "c" {
		t.Errorf("Call(an answer) = %+v, %v, want context c", got, err)
	}
	const want = `{"jsonrpc":"2.0","id":"` + callID + `","method":"message/send","params":{"message":{"role":"user","taskId":"t","contextId":"c",` +
		`"parts":[{"type":"data","data":{"estimate_id":"e","retry_attempt":0,"human_input":"80202"}}]},"context":{"thread_id":"c"}}}`
	if body != want {
		t.Errorf("Call(an answer) sent %s, want %s", body, want)
	}
}
