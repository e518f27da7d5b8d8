package estimates_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"cloud.google.com/go/firestore"
	"github.com/google/go-cmp/cmp"

	"truecost.dev/emulator/firestore/firestoretest"
	"truecost.dev/functions/estimates"
	"truecost.dev/shared/callable"
	"truecost.dev/shared/gcp/docstore"
	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
)

// service serves the callables over a store of its own.
type service struct {
	client *firestore.Client
	bus    *runnertest.Bus
	runner *runner.Runner
	agents *runnertest.Agents
	clock  *runnertest.Clock
	serve  map[string]http.Handler
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{
		client: firestoretest.Client(t), bus: &runnertest.Bus{}, agents: &runnertest.Agents{}, clock: runnertest.NewClock(),
		serve: map[string]http.Handler{},
	}
	store := docstore.New(s.client)
	s.runner = runnertest.NewRunner(store, s.bus, s.agents, s.clock)
	for _, fn := range estimates.Callables(estimates.Ports{
		Runner: func() (*runner.Runner, error) { return s.runner, nil },
		Store:  func() (estimates.Store, error) { return store, nil },
		Runs:   func() (estimates.Runs, error) { return store, nil },
	}) {
		s.serve[fn.Name] = callable.NewHandler(fn, callable.Options{
			Verify: callable.UnsignedVerifier, AllowAnonymous: true, Log: slog.New(slog.DiscardHandler),
		})
	}
	return s
}

// call sends data as user and returns the HTTP status with result or error.
func (s *service) call(t *testing.T, name, user string, data any) (int, map[string]any) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(body)))
	r.Header.Set("Content-Type", "application/json")
	if user != "" {
		// {"alg":"none","type":"JWT"} . {"sub": user} .
		r.Header.Set("Authorization", "Bearer eyJhbGciOiJub25lIiwidHlwZSI6IkpXVCJ9."+encode(t, map[string]string{"sub": user})+".")
	}
	w := httptest.NewRecorder()
	s.serve[name].ServeHTTP(w, r)
	var answer map[string]map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%s answered %s", name, w.Body.String())
	}
	if result := answer["result"]; result != nil {
		if result["success"] != true {
			t.Errorf("%s: success = %v", name, result["success"])
		}
		data, _ := result["data"].(map[string]any)
		return w.Code, data
	}
	return w.Code, answer["error"]
}

func (s *service) count(t *testing.T) int {
	t.Helper()
	n := 0
	for _, collection := range []string{"estimates", "runs"} {
		docs, err := s.client.Collection(collection).Documents(t.Context()).GetAll()
		if err != nil {
			t.Fatal(err)
		}
		n += len(docs)
	}
	return n
}

func deck(t *testing.T, change func(map[string]any)) map[string]any {
	t.Helper()
	raw, err := os.ReadFile("../../testdata/deck.json")
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(v)
	}
	return v
}

func TestStart(t *testing.T) {
	t.Parallel()
	s := newService(t)
	input := map[string]any{"estimateId": "est-1", "clarificationOutput": deck(t, nil)}
	code, got := s.call(t, "start_deep_pipeline", "anna", input)
	if code != http.StatusOK || got["estimateId"] != "est-1" || got["status"] != "processing" || got["runId"] != "est-1~1" {
		t.Fatalf("start = %d %v", code, got)
	}
	if n := len(s.agents.Requests); n != 0 {
		t.Errorf("%d agents ran before the answer", n)
	}
	// The same again is the same; another input or another user is a conflict.
	if code, again := s.call(t, "start_deep_pipeline", "anna", input); code != http.StatusOK || !cmp.Equal(again, got) {
		t.Errorf("start again = %d %v, want %v", code, again, got)
	}
	other := map[string]any{"estimateId": "est-1", "clarificationOutput": deck(t, func(v map[string]any) { v["timestamp"] = "2026-01-01T00:00:00Z" })}
	if code, e := s.call(t, "start_deep_pipeline", "anna", other); code != http.StatusConflict || e["status"] != "ALREADY_EXISTS" {
		t.Errorf("start with another input = %d %v, want a conflict", code, e)
	}
	if code, _ := s.call(t, "start_deep_pipeline", "bert", input); code != http.StatusConflict {
		t.Errorf("start of another's id = %d, want %d", code, http.StatusConflict)
	}
	if n := s.count(t); n != 2 {
		t.Errorf("%d documents, want one estimate and one run", n)
	}
}

func TestStartRefusesBadInput(t *testing.T) {
	t.Parallel()
	s := newService(t)
	tests := []struct {
		name, user string
		data       any
		code       int
		detail     string // details.code
		says       string
	}{
		{"no data", "anna", nil, 400, "INVALID_FIELD", "wanted an object"},
		{"text", "anna", "x", 400, "INVALID_FIELD", "wanted an object"},
		{"no clarification", "anna", map[string]any{"estimateId": "e"}, 400, "MISSING_FIELD", "clarificationOutput"},
		{"id of another shape", "anna", map[string]any{"estimateId": 7}, 400, "INVALID_FIELD", "estimateId: wanted a text"},
		{"userId of another shape", "", map[string]any{"userId": true}, 400, "INVALID_FIELD", "userId: wanted a text"},
		{"bad key", "anna", map[string]any{"idempotencyKey": "a b", "clarificationOutput": deck(t, nil)}, 400, "INVALID_FIELD", "idempotencyKey: wanted 1 to 128"},
		{"bad id", "anna", map[string]any{"estimateId": "a/b", "clarificationOutput": deck(t, nil)}, 400, "INVALID_FIELD", "letters"},
		{"reserved id", "anna", map[string]any{"estimateId": "__x__", "clarificationOutput": deck(t, nil)}, 400, "INVALID_FIELD", "not __like_this__"},
		{"another's userId", "anna", map[string]any{"userId": "bert", "clarificationOutput": deck(t, nil)}, 403, "", "userId"},
		{"wrong version", "anna", map[string]any{"clarificationOutput": deck(t, func(v map[string]any) { v["schemaVersion"] = "2.0.0" })}, 400, "VALIDATION_ERROR", "schemaVersion"},
		{"two faults", "anna", map[string]any{"clarificationOutput": deck(t, func(v map[string]any) { delete(v, "cadData"); delete(v, "flags") })}, 400, "VALIDATION_ERROR", "and 1 more"},
	}
	for _, tt := range tests {
		code, e := s.call(t, "start_deep_pipeline", tt.user, tt.data)
		details, _ := e["details"].(map[string]any)
		if code != tt.code || tt.detail != "" && details["code"] != tt.detail || !strings.Contains(e["message"].(string), tt.says) {
			t.Errorf("%s: start = %d %v, want %d %s saying %q", tt.name, code, e, tt.code, tt.detail, tt.says)
		}
	}
	if n := s.count(t); n != 0 {
		t.Errorf("bad input left %d documents", n)
	}
}

func TestManage(t *testing.T) {
	t.Parallel()
	s := newService(t)
	id := map[string]any{"estimateId": "est-1"}
	if code, _ := s.call(t, "start_deep_pipeline", "anna", map[string]any{"estimateId": "est-1", "clarificationOutput": deck(t, nil)}); code != 200 {
		t.Fatalf("start = %d", code)
	}
	for _, name := range []string{"get_pipeline_status", "cancel_pipeline", "delete_estimate"} {
		for _, user := range []string{"bert", ""} {
			if code, e := s.call(t, name, user, id); code != http.StatusNotFound {
				t.Errorf("%s by %q = %d %v, want not found", name, user, code, e)
			}
		}
		if code, e := s.call(t, name, "anna", map[string]any{}); code != http.StatusBadRequest || e["details"].(map[string]any)["code"] != "MISSING_FIELD" {
			t.Errorf("%s without an id = %d %v", name, code, e)
		}
		if code, _ := s.call(t, name, "anna", map[string]any{"estimateId": "none"}); code != http.StatusNotFound {
			t.Errorf("%s of no estimate = %d, want 404", name, code)
		}
	}
	code, got := s.call(t, "get_pipeline_status", "anna", id)
	if code != 200 || got["status"] != "processing" || got["currentAgent"] != "location" || got["progress"] != 0.0 {
		t.Errorf("status = %d %v", code, got)
	}
	for _, secret := range []string{"clarificationOutput", "userId"} {
		if _, there := got[secret]; there {
			t.Errorf("the status gives away %s", secret)
		}
	}
	if code, got := s.call(t, "cancel_pipeline", "anna", id); code != 200 || got["status"] != "canceled" {
		t.Errorf("cancel = %d %v", code, got)
	}
	if _, got := s.call(t, "get_pipeline_status", "anna", id); got["status"] != "canceled" {
		t.Errorf("status after cancel = %v", got["status"])
	}
	if code, got := s.call(t, "delete_estimate", "anna", id); code != 200 || got["deleted"] != true {
		t.Errorf("delete = %d %v", code, got)
	}
	if n := s.count(t); n != 0 {
		t.Errorf("delete left %d documents", n)
	}
}

func TestDeleteOfARunInFlight(t *testing.T) {
	t.Parallel()
	s := newService(t)
	if code, _ := s.call(t, "start_deep_pipeline", "anna", map[string]any{"estimateId": "est-1", "clarificationOutput": deck(t, nil)}); code != 200 {
		t.Fatalf("start = %d", code)
	}
	if code, e := s.call(t, "delete_estimate", "anna", map[string]any{"estimateId": "est-1"}); code != 200 {
		t.Fatalf("delete = %d %v", code, e)
	}
	if err := s.bus.Deliver(t.Context(), 1, 2, s.runner); err != nil {
		t.Fatal(err)
	}
	if n := s.count(t); n != 0 {
		t.Errorf("messages after the delete brought back %d documents", n)
	}
}
