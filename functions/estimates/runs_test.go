package estimates_test

import (
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/*.json")

// ids lists the runs of a page.
func ids(page map[string]any) []string {
	list := []string{}
	for _, run := range page["runs"].([]any) {
		list = append(list, at(run, "runId").(string))
	}
	return list
}

func TestListRuns(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.agents.Scores = map[string][]int{"cost": {1, 2, 3}}
	s.begin(t, "anna", "bad-1")
	s.work(t)
	s.agents.Scores = nil
	for _, id := range []string{"est-1", "est-2"} {
		s.clock.Advance(time.Minute)
		s.begin(t, "anna", id)
	}
	s.begin(t, "bert", "est-3")
	s.work(t)
	s.clock.Advance(time.Minute)
	s.begin(t, "anna", "new-1")
	s.want(t, http.StatusOK, "retry_pipeline", "anna", fields{"estimateId": "bad-1"})
	tests := []struct {
		data fields
		want []string
	}{
		{fields{}, []string{"new-1~1", "bad-1~2", "est-2~1", "est-1~1", "bad-1~1"}},
		{fields{"status": "completed"}, []string{"est-2~1", "est-1~1"}},
		{fields{"status": "failed"}, []string{"bad-1~1"}},
		{fields{"status": "canceled"}, []string{}},
		{fields{"estimateId": "bad-1"}, []string{"bad-1~2", "bad-1~1"}},
		{fields{"estimateId": "est-3"}, []string{}},
		{fields{"flowId": "two", "limit": 1}, []string{"new-1~1"}},
		{fields{"flowId": "three"}, []string{}},
		{fields{"since": "2026-03-02T15:02:00Z", "status": "completed"}, []string{"est-2~1"}},
		{fields{"after": "est-1~1"}, []string{"bad-1~1"}},
	}
	for _, tt := range tests {
		equal(t, "list_runs", ids(s.want(t, http.StatusOK, "list_runs", "anna", tt.data)), tt.want)
	}
	equal(t, "runs of bert", ids(s.want(t, http.StatusOK, "list_runs", "bert", fields{})), []string{"est-3~1"})

	// Pages follow each other without gap or repetition, and the last says so.
	var all []string
	for after := any(""); after != nil; {
		page := s.want(t, http.StatusOK, "list_runs", "anna", fields{"limit": 2, "after": after})
		all = append(all, ids(page)...)
		after = page["next"]
	}
	equal(t, "pages", all, tests[0].want)
}

// What a run shows is in testdata/run.json: a scorer that was away, a critic
// that fails, weak attempts, the end.
func TestGetRun(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.agents.Scores = map[string][]int{"cost": {60, 75, 70}}
	s.agents.Down = map[string]int{"location_scorer": 1}
	s.agents.Broken = map[string]bool{"cost_critic": true}
	s.runner.Sleep = func(ctx context.Context, _ time.Duration) error { // pauses are random
		s.clock.Advance(time.Second)
		return ctx.Err()
	}
	s.begin(t, "anna", "est-1")
	s.work(t)
	s.clock.Advance(time.Hour)
	run := s.want(t, http.StatusOK, "get_run", "anna", fields{"estimateId": "est-1"})
	got, err := json.MarshalIndent(run, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	const file = "testdata/run.json"
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("get_run (-want +got):\n%s", diff)
	}
	for _, secret := range []string{"owner", "hash", "task", "call"} {
		if strings.Contains(strings.ToLower(string(got)), `"`+secret) {
			t.Errorf("get_run gives away a member that begins with %s", secret)
		}
	}

	// A long history comes in pages.
	var steps []any
	for data := (fields{"runId": "est-1~1", "limit": 4}); ; {
		page := s.want(t, http.StatusOK, "get_run", "anna", data)
		steps = append(steps, page["history"].([]any)...)
		equal(t, "totals of a page", page["totals"], run["totals"])
		if page["historyNext"] == nil {
			break
		}
		data["after"] = page["historyNext"]
	}
	equal(t, "pages of the history", any(steps), run["history"])
	s.problem(t, http.StatusBadRequest, "INVALID_FIELD", "get_run", "anna", fields{"runId": "est-1~1", "after": "roof.0.p"})
}
