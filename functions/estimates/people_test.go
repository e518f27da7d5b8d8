package estimates_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

// fields are the data of a call.
type fields = map[string]any

// begin starts an estimate of a user.
func (s *service) begin(t *testing.T, user, id string) {
	t.Helper()
	s.want(t, http.StatusOK, "start_deep_pipeline", user, fields{"estimateId": id, "clarificationOutput": deck(t, nil)})
}

// work delivers every message.
func (s *service) work(t *testing.T) {
	t.Helper()
	if err := s.bus.Deliver(t.Context(), 1, 1, s.runner); err != nil {
		t.Fatal(err)
	}
}

// want calls a function, which must answer with an HTTP status.
func (s *service) want(t *testing.T, code int, name, user string, data fields) map[string]any {
	t.Helper()
	got, answer := s.call(t, name, user, data)
	if got != code {
		t.Fatalf("%s by %s of %.300v = %d %v, want %d", name, user, data, got, answer, code)
	}
	return answer
}

// problem calls a function, which must refuse with a published code.
func (s *service) problem(t *testing.T, status int, code, name, user string, data fields) string {
	t.Helper()
	e := s.want(t, status, name, user, data)
	if details, _ := e["details"].(map[string]any); details["code"] != code {
		t.Errorf("%s of %.300v: details %v, want the code %s", name, data, e["details"], code)
	}
	return e["message"].(string)
}

// at returns the value at a path of names.
func at(v any, path ...string) any {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// calls are every function that is about one estimate or run, with whatever
// else it needs.
var calls = map[string]fields{
	"get_pipeline_status": {}, "delete_estimate": {}, "cancel_pipeline": {}, "get_run": {}, "retry_pipeline": {},
	"provide_input": {"inputId": "location.0.p.1", "decision": "accept"}, "hold_pipeline": {}, "resume_pipeline": {},
}

// with returns the data of a call with one member more.
func with(data fields, name string, value any) fields {
	all := maps.Clone(data)
	all[name] = value
	return all
}

// A stranger is told of another's estimate and run what is told of ids that
// were never used, and changes nothing.
func TestStrangers(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.begin(t, "anna", "est-1")
	before := s.want(t, http.StatusOK, "get_run", "anna", fields{"estimateId": "est-1"})
	for name, data := range calls {
		for member, ids := range map[string][2]string{"estimateId": {"est-1", "est-2"}, "runId": {"est-1~1", "est-2~1"}} {
			if member == "runId" && (name == "get_pipeline_status" || name == "delete_estimate") {
				continue
			}
			for _, user := range []string{"bert", ""} {
				theirs := s.want(t, http.StatusNotFound, name, user, with(data, member, ids[0]))
				nobodys := s.want(t, http.StatusNotFound, name, user, with(data, member, ids[1]))
				nobodys["message"] = strings.ReplaceAll(nobodys["message"].(string), "est-2", "est-1")
				equal(t, name+" by a stranger", theirs, nobodys)
			}
		}
		// An estimate of one's own is no way to the run of another.
		if name != "get_pipeline_status" && name != "delete_estimate" {
			s.want(t, http.StatusNotFound, name, "anna", with(with(data, "estimateId", "other"), "runId", "est-1~1"))
		}
	}
	equal(t, "the run after all that", s.want(t, http.StatusOK, "get_run", "anna", fields{"estimateId": "est-1"}), before)
	for _, user := range []string{"bert", ""} {
		list := s.want(t, http.StatusOK, "list_runs", user, fields{"estimateId": "est-1"})
		equal(t, "runs of a stranger", list["runs"], any([]any{}))
		s.problem(t, http.StatusNotFound, "NOT_FOUND", "list_runs", user, fields{"after": "est-1~1"})
	}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	s := newService(t)
	long := strings.Repeat("x", 201<<10)
	tests := []struct {
		name string
		data fields
		code string
		says string
	}{
		{"get_run", fields{}, "MISSING_FIELD", "estimateId: wanted the id of an estimate, or runId"},
		{"cancel_pipeline", fields{}, "MISSING_FIELD", "estimateId"},
		{"get_pipeline_status", fields{"runId": "e~1"}, "MISSING_FIELD", "estimateId"},
		{"get_run", fields{"runId": "e"}, "INVALID_FIELD", "runId: wanted the id of a run"},
		{"get_run", fields{"runId": "e~0"}, "INVALID_FIELD", "runId"},
		{"get_run", fields{"runId": 1}, "INVALID_FIELD", "runId: wanted a text"},
		{"get_run", fields{"estimateId": "a/b"}, "INVALID_FIELD", "estimateId: wanted 1 to 128"},
		{"get_run", fields{"estimateId": "e", "limit": 0}, "INVALID_FIELD", "limit: wanted a number from 1 to 100"},
		{"get_run", fields{"estimateId": "e", "limit": "5"}, "INVALID_FIELD", "limit: wanted a whole number"},
		{"list_runs", fields{"limit": 101}, "INVALID_FIELD", "limit: wanted a number from 1 to 100"},
		{"list_runs", fields{"limit": 1.5}, "INVALID_FIELD", "limit: wanted a whole number"},
		{"list_runs", fields{"status": "done"}, "INVALID_FIELD", "status: wanted running"},
		{"list_runs", fields{"since": "yesterday"}, "INVALID_FIELD", "since: wanted a time"},
		{"list_runs", fields{"flowId": "a b"}, "INVALID_FIELD", "flowId"},
		{"list_runs", fields{"after": "e"}, "INVALID_FIELD", "after"},
		{"list_runs", fields{"estimateId": "a/b"}, "INVALID_FIELD", "estimateId"},
		{"retry_pipeline", fields{}, "MISSING_FIELD", "estimateId"},
		{"retry_pipeline", fields{"estimateId": "e", "from": "a/b"}, "INVALID_FIELD", "from: wanted the name of a node"},
		{"retry_pipeline", fields{"estimateId": "e", "edit": []int{}}, "INVALID_FIELD", "edit: wanted an object"},
		{"retry_pipeline", fields{"estimateId": "e", "edit": fields{"a": long}}, "INVALID_FIELD", "edit: wanted at most 204800 bytes"},
		{"provide_input", fields{"estimateId": "e"}, "MISSING_FIELD", "inputId"},
		{"provide_input", fields{"estimateId": "e", "inputId": "a/b"}, "INVALID_FIELD", "inputId"},
		{"provide_input", fields{"estimateId": "e", "inputId": "i"}, "MISSING_FIELD", "answer"},
		{"provide_input", fields{"estimateId": "e", "inputId": "i", "answer": nil}, "MISSING_FIELD", "answer"},
		{"provide_input", fields{"estimateId": "e", "inputId": "i", "decision": "maybe"}, "INVALID_FIELD", "decision: wanted answer, accept or give_up"},
		{"provide_input", fields{"estimateId": "e", "inputId": "i", "answer": long}, "INVALID_FIELD", "answer: wanted at most 204800 bytes"},
		{"hold_pipeline", fields{"estimateId": "e", "reason": long}, "INVALID_FIELD", "reason: wanted at most 500 bytes"},
		{"hold_pipeline", fields{}, "MISSING_FIELD", "estimateId"},
		{"resume_pipeline", fields{}, "MISSING_FIELD", "estimateId"},
	}
	for _, tt := range tests {
		if says := s.problem(t, http.StatusBadRequest, tt.code, tt.name, "anna", tt.data); !strings.HasPrefix(says, tt.says) {
			t.Errorf("%s of %.300v says %q, want %q", tt.name, tt.data, says, tt.says)
		}
	}
	for name, data := range calls {
		if code, _ := s.call(t, name, "anna", []int{1}); code != http.StatusBadRequest {
			t.Errorf("%s of a list = %d, want 400", name, code)
		}
		s.want(t, http.StatusForbidden, name, "anna", with(with(data, "estimateId", "e"), "userId", "bert"))
	}
}

// A failed run is tried again as a new one, which is the estimate's from then
// on.
func TestRetry(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.agents.Scores = map[string][]int{"cost": {10, 20, 30}}
	id := fields{"estimateId": "est-1"}
	s.begin(t, "anna", "est-1")
	s.problem(t, http.StatusConflict, "PIPELINE_INVALID_STATE", "retry_pipeline", "anna", id)
	s.work(t)
	equal(t, "status", s.want(t, http.StatusOK, "get_pipeline_status", "anna", id)["status"], any("failed"))
	s.problem(t, http.StatusBadRequest, "INVALID_FIELD", "retry_pipeline", "anna", with(id, "from", "roof"))

	s.agents.Scores = nil
	again := with(fields{"runId": "est-1~1"}, "edit", fields{"note": "mind the beam"})
	got := s.want(t, http.StatusOK, "retry_pipeline", "anna", again)
	equal(t, "retry", got, map[string]any{"estimateId": "est-1", "runId": "est-1~2", "parent": "est-1~1", "status": "processing"})
	equal(t, "the same again", s.want(t, http.StatusOK, "retry_pipeline", "anna", again), got)
	s.problem(t, http.StatusConflict, "PIPELINE_INVALID_STATE", "retry_pipeline", "anna", id) // that is est-1~2, at work
	status := s.want(t, http.StatusOK, "get_pipeline_status", "anna", id)
	equal(t, "the run that is shown", status["runId"], any("est-1~2"))
	equal(t, "its status", status["status"], any("processing"))
	s.work(t)

	run := s.want(t, http.StatusOK, "get_run", "anna", id)
	equal(t, "run", run["runId"], any("est-1~2"))
	equal(t, "run status", run["status"], any("completed"))
	equal(t, "parent", run["parent"], any("est-1~1"))
	nodes := run["nodes"].([]any)
	equal(t, "location carried", at(nodes[0], "carried"), any(true))
	equal(t, "cost edited", at(nodes[1], "edited"), any(true))
	equal(t, "steps", at(run, "totals", "steps"), any(2.0))
	equal(t, "questions: an edit is none", run["questions"], any([]any{}))
	equal(t, "the run before", s.want(t, http.StatusOK, "get_run", "anna", fields{"runId": "est-1~1"})["status"], any("failed"))
	s.problem(t, http.StatusConflict, "PIPELINE_INVALID_STATE", "retry_pipeline", "anna", again)

	// Whatever ends an estimate ends its latest run.
	s.want(t, http.StatusOK, "retry_pipeline", "anna", with(id, "from", "location"))
	got = s.want(t, http.StatusOK, "cancel_pipeline", "anna", id)
	equal(t, "canceled", got["runId"], any("est-1~3"))
	s.want(t, http.StatusOK, "retry_pipeline", "anna", id)
	s.want(t, http.StatusOK, "delete_estimate", "anna", id)
	s.work(t)
	if n := s.count(t); n != 0 {
		t.Errorf("delete left %d documents", n)
	}
}

// An agent asks; the owner is shown the question and answers it.
func TestProvideInput(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.agents.Asks = map[string]bool{"location": true}
	id := fields{"estimateId": "est-1"}
	s.begin(t, "anna", "est-1")
	s.work(t)
	run := s.want(t, http.StatusOK, "get_run", "anna", id)
	equal(t, "status", run["status"], any("waiting_input"))
	equal(t, "agent that asks", run["currentAgent"], any("location"))
	equal(t, "questions", run["questions"], any([]any{map[string]any{
		"inputId": "location.0.p.1", "node": "location", "kind": "agent", "open": true, "prompt": "Which one?", "schema": nil,
		"askedAt": "2026-03-02T15:00:00Z", "expiresAt": "2026-03-09T15:00:00Z", "decision": "", "answer": nil, "answeredBy": "",
		"answeredAt": nil, "omitted": []any{},
	}}))
	give := with(id, "inputId", "location.0.p.1")
	s.problem(t, http.StatusNotFound, "NOT_FOUND", "provide_input", "anna", with(with(id, "inputId", "cost.0.p.1"), "answer", fields{}))
	s.problem(t, http.StatusBadRequest, "INVALID_FIELD", "provide_input", "anna", with(give, "answer", 7))
	s.problem(t, http.StatusBadRequest, "INVALID_FIELD", "provide_input", "anna", with(give, "decision", "accept"))
	give = with(give, "answer", fields{"which": "this"})
	for range 2 {
		got := s.want(t, http.StatusOK, "provide_input", "anna", give)
		equal(t, "answer", got, map[string]any{"estimateId": "est-1", "runId": "est-1~1", "inputId": "location.0.p.1", "decision": "answer"})
	}
	s.problem(t, http.StatusConflict, "PIPELINE_INVALID_STATE", "provide_input", "anna", with(give, "answer", fields{"which": "that"}))
	s.work(t)
	run = s.want(t, http.StatusOK, "get_run", "anna", id)
	equal(t, "status", run["status"], any("completed"))
	asked := run["questions"].([]any)[0]
	for name, want := range map[string]any{"open": false, "decision": "answer", "answeredBy": "anna", "answer": map[string]any{"which": "this"}} {
		equal(t, name, at(asked, name), want)
	}
}

// An answer after a week is too late, and one that the protocol could not carry
// back is left out of what is shown.
func TestAnswersThatAreNotShown(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.agents.Asks = map[string]bool{"location": true}
	for _, id := range []string{"est-1", "est-2", "est-3"} {
		s.begin(t, "anna", id)
	}
	s.work(t)
	give := fields{"inputId": "location.0.p.1"}
	for id, answer := range map[string]fields{"est-1": {"@type": "x"}, "est-2": {"text": strings.Repeat("x", 17<<10)}} {
		s.want(t, http.StatusOK, "provide_input", "anna", with(with(give, "estimateId", id), "answer", answer))
		run := s.want(t, http.StatusOK, "get_run", "anna", fields{"estimateId": id})
		asked := run["questions"].([]any)[0]
		equal(t, id+" omitted", at(asked, "omitted"), any([]any{"answer"}))
		equal(t, id+" answer", at(asked, "answer"), nil)
	}
	s.clock.Advance(8 * 24 * time.Hour)
	late := with(with(give, "estimateId", "est-3"), "answer", fields{})
	s.problem(t, http.StatusConflict, "INPUT_EXPIRED", "provide_input", "anna", late)
}

// An exhausted node asks whether its best attempt will do.
func TestAccept(t *testing.T) {
	t.Parallel()
	s := newService(t)
	flow := *s.runner.Pipelines[0].Flow
	gate := *flow.Nodes[0].Gate
	gate.Exhausted = engine.Ask
	flow.Nodes[0].Gate = &gate
	s.runner.Pipelines = []runner.Pipeline{{Flow: &flow}}
	s.agents.Scores = map[string][]int{"location": {10, 30, 20}}
	s.begin(t, "anna", "est-1")
	s.begin(t, "anna", "est-2")
	s.work(t)
	for id, tt := range map[string]struct{ decision, status string }{"est-1": {"accept", "completed"}, "est-2": {"give_up", "failed"}} {
		run := s.want(t, http.StatusOK, "get_run", "anna", fields{"estimateId": id})
		asked := run["questions"].([]any)[0]
		equal(t, "kind", at(asked, "kind"), any("exhausted"))
		s.want(t, http.StatusOK, "provide_input", "anna", fields{"estimateId": id, "inputId": at(asked, "inputId"), "decision": tt.decision})
		s.work(t)
		run = s.want(t, http.StatusOK, "get_run", "anna", fields{"estimateId": id})
		equal(t, id+" after "+tt.decision, run["status"], any(tt.status))
	}
}

// A run that is held finishes what is at work and begins nothing.
func TestHold(t *testing.T) {
	t.Parallel()
	s := newService(t)
	id := fields{"estimateId": "est-1"}
	s.begin(t, "anna", "est-1")
	for range 2 {
		got := s.want(t, http.StatusOK, "hold_pipeline", "anna", with(id, "reason", "lunch"))
		equal(t, "hold", got, map[string]any{"estimateId": "est-1", "runId": "est-1~1", "held": true})
	}
	s.work(t)
	run := s.want(t, http.StatusOK, "get_run", "anna", id)
	equal(t, "status", run["status"], any("waiting_input"))
	equal(t, "hold", run["hold"], any(map[string]any{"by": "anna", "reason": "lunch"}))
	equal(t, "agents that worked", len(s.agents.Worked()), 0)
	s.clock.Advance(time.Minute)
	open := s.want(t, http.StatusOK, "get_run", "anna", id)["open"].([]any)
	equal(t, "open step", at(open[0], "step"), any("location.0.p"))
	equal(t, "its age", at(open[0], "ageMs"), any(60000.0))
	for range 2 {
		got := s.want(t, http.StatusOK, "resume_pipeline", "anna", id)
		equal(t, "resume", got, map[string]any{"estimateId": "est-1", "runId": "est-1~1", "held": false})
	}
	s.work(t)
	equal(t, "status", s.want(t, http.StatusOK, "get_run", "anna", id)["status"], any("completed"))
	for _, name := range []string{"hold_pipeline", "resume_pipeline", "cancel_pipeline"} {
		s.problem(t, http.StatusConflict, "PIPELINE_INVALID_STATE", name, "anna", id)
	}
}

// A key stands for what it started; limits say when to come again.
func TestKeysAndLimits(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.runner.Limits = runner.Limits{InFlight: 2}
	start := func(id, key string) fields {
		return fields{"estimateId": id, "idempotencyKey": key, "clarificationOutput": deck(t, nil)}
	}
	first := s.want(t, http.StatusOK, "start_deep_pipeline", "anna", start("est-1", "monday"))
	equal(t, "the same key", s.want(t, http.StatusOK, "start_deep_pipeline", "anna", start("est-9", "monday")), first)
	other := start("est-9", "monday")
	other["clarificationOutput"] = deck(t, func(v map[string]any) { v["timestamp"] = "2026-01-01T00:00:00Z" })
	s.problem(t, http.StatusConflict, "PIPELINE_INVALID_STATE", "start_deep_pipeline", "anna", other)
	s.want(t, http.StatusOK, "start_deep_pipeline", "bert", start("est-2", "monday"))
	s.want(t, http.StatusOK, "start_deep_pipeline", "anna", start("est-3", ""))
	e := s.want(t, http.StatusTooManyRequests, "start_deep_pipeline", "anna", start("est-4", ""))
	equal(t, "status word", e["status"], any("RESOURCE_EXHAUSTED"))
	equal(t, "code", at(e, "details", "code"), any("LIMIT_REACHED"))
	s.want(t, http.StatusOK, "start_deep_pipeline", "anna", start("est-3", "")) // is at work already
}
