package main

import (
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"truecost.dev/internal/chaos/ledger"
	"truecost.dev/internal/chaos/script"
	"truecost.dev/shared/a2a"
	"truecost.dev/shared/a2a/task/tasktest"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// call finds the id of a call with a fate.
func call(want func(script.Fate) bool) string {
	for i := 0; ; i++ {
		if id := runner.CallID("run~1", engine.StepID(strconv.Itoa(i))); want(script.Of(id)) {
			return id
		}
	}
}

func TestAgentsDoAsTheScriptHasIt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ledger")
	l, err := ledger.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	server := httptest.NewServer(newStage(l, tasktest.NewMemory(time.Now), time.Minute, slog.New(slog.DiscardHandler)).handler())
	defer server.Close()
	client := &a2a.Client{HTTP: server.Client(), BaseURL: server.URL}
	kitchen, err := os.ReadFile("../../../testdata/kitchen.json")
	if err != nil {
		t.Fatal(err)
	}
	input, err := json.Marshal(map[string]json.RawMessage{"clarification_output": kitchen})
	if err != nil {
		t.Fatal(err)
	}
	req := a2a.Request{EstimateID: "est-1", Input: input}

	willing := call(func(f script.Fate) bool { return !f.Refuses && f.Busy == 0 })
	first, err := client.Call(t.Context(), "location", willing, req)
	if err != nil {
		t.Fatal(err)
	}
	again, err := client.Call(t.Context(), "location", willing, req)
	if err != nil || string(again.Output) != string(first.Output) {
		t.Errorf("the same call again = %.80s, %v, want the bytes of the first", again.Output, err)
	}
	var output struct {
		Call string `json:"call"`
		Zip  string `json:"zipCode"`
	}
	if err := json.Unmarshal(first.Output, &output); err != nil || output.Call != willing || output.Zip != "80206" {
		t.Errorf("output = %+v, %v, want a location that names its call", output, err)
	}

	busy := call(func(f script.Fate) bool { return !f.Refuses && f.Busy == 1 })
	if _, err := client.Call(t.Context(), "location_scorer", busy, req); !fault.KindOf(err).Transient() {
		t.Errorf("a busy agent = %v, want a failure that may pass", err)
	}
	judged, err := client.Call(t.Context(), "location_scorer", busy, req)
	var score struct{ Score int }
	if bad := json.Unmarshal(judged.Output, &score); err != nil || bad != nil || score.Score != script.Of(busy).Score {
		t.Errorf("asked again = %s, %v, want score %d", judged.Output, err, script.Of(busy).Score)
	}

	refused := call(func(f script.Fate) bool { return f.Refuses && f.Busy == 0 })
	if _, err := client.Call(t.Context(), "location_critic", refused, req); err == nil || fault.KindOf(err).Transient() {
		t.Errorf("an agent that refuses = %v, want a failure for good", err)
	}

	entries, err := ledger.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	audit := ledger.Check(entries)
	if audit.Calls != 2 || audit.Paid[willing] != 1 || audit.Paid[busy] != 1 || audit.Again != 2 || len(audit.Faults) != 0 {
		t.Errorf("ledger = %+v, want two calls paid once, and two asked again", audit)
	}
	if len(entries) < 6 || entries[4].Kind != ledger.Stored || entries[5].Kind != ledger.Asked {
		t.Errorf("entries = %v, want the first call asked, begun, paid and stored before it is asked again", entries)
	}
}
