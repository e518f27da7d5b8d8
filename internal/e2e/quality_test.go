package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"truecost.dev/emulator/hub"
	"truecost.dev/shared/a2a"
)

// strict is a scorer that gives one score per attempt.
func strict(agent string, scores ...int) a2a.Agent {
	return a2a.Agent{Name: agent + "_scorer", Serve: func(_ context.Context, r a2a.Request) (json.RawMessage, error) {
		return json.Marshal(map[string]any{"score": scores[r.Attempt], "passed": scores[r.Attempt] >= 80, "feedback": fmt.Sprintf("attempt %d", r.Attempt)})
	}}
}

// Scores of 60, 70 and 85: two critiques, two retries that have them in their
// request, and success. The agent at work is the real one.
func TestWeakOutputIsTriedAgain(t *testing.T) {
	t.Parallel()
	critic := a2a.Agent{Name: "scope_critic", Serve: func(_ context.Context, r a2a.Request) (json.RawMessage, error) {
		return json.Marshal(map[string]any{
			"issues":    []string{fmt.Sprintf("issue of attempt %d", r.Attempt)},
			"why_wrong": "because", "how_to_fix": []string{"mend it"}, "score": *r.Score, "scorer_feedback": r.ScorerFeedback,
		})
	}}
	judged := func(agent string, r a2a.Request) bool { return agent == "scope_scorer" && r.Attempt == 1 }
	st := newStage(t, judged, strict("scope", 60, 70, 85), critic)
	s := start(t, hub.Config{}, st.env())
	st.before(t, s)
	s.begin(t, "deck-1", input(t, "deck"))

	receive(t, st.held, "scope_scorer")
	during := s.get(t, "estimates/deck-1")
	for path, want := range map[string]any{
		"status": "processing", "pipelineStatus.currentAgent": "scope", "pipelineStatus.currentRetry": int64(1),
		"pipelineStatus.agentStatuses.scope": "retrying", "pipelineStatus.scores.scope": int64(60),
		"pipelineStatus.criticFeedback.scope.issues": []any{"issue of attempt 0"}, "scopeOutput": nil,
	} {
		if diff := cmp.Diff(want, during.at(path)); diff != "" {
			t.Errorf("in the second attempt, %s (-want +got):\n%s", path, diff)
		}
	}
	st.open()
	seen := s.end(t, "deck-1", "complete")
	neverFalls(t, seen, "pipelineStatus.progress")
	doc := seen[len(seen)-1]
	for path, want := range map[string]any{
		"pipelineStatus.scores.scope": int64(85), "pipelineStatus.scores.scope_attempt_0": int64(60),
		"pipelineStatus.scores.scope_attempt_1": int64(70), "pipelineStatus.scores.scope_attempt_2": int64(85),
		"pipelineStatus.retries.scope": int64(2), "pipelineStatus.retries.cost": int64(0), "pipelineStatus.currentRetry": int64(0),
		"pipelineStatus.criticFeedback.scope.issues": []any{"issue of attempt 1"},
	} {
		if diff := cmp.Diff(want, doc.at(path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	if out := s.get(t, "estimates/deck-1/agentOutputs/scope"); out["score"] != int64(85) || out["attempt"] != int64(2) {
		t.Errorf("agentOutputs/scope has score %v of attempt %v, want 85 of 2", out["score"], out["attempt"])
	}
	for agent, want := range map[string]int{"scope": 3, "scope_scorer": 3, "scope_critic": 2, "cost": 1, "cost_critic": 0} {
		if got := len(st.requests(agent)); got != want {
			t.Errorf("%s was asked %d times, want %d", agent, got, want)
		}
	}
	checkRetries(t, s, st)
}

// checkRetries compares what scope was asked with what had been said about it.
func checkRetries(t *testing.T, s *system, st *stage) {
	t.Helper()
	for attempt, r := range st.requests("scope") {
		if r.Attempt != attempt || r.EstimateID != "deck-1" {
			t.Errorf("request %d is attempt %d of %s", attempt, r.Attempt, r.EstimateID)
		}
		if attempt == 0 {
			if r.Feedback != nil {
				t.Errorf("the first attempt has critic_feedback %.200s", r.Feedback)
			}
			continue
		}
		var feedback struct {
			Issues   []string        `json:"issues"`
			HowToFix []string        `json:"how_to_fix"`
			WhyWrong string          `json:"why_wrong"`
			Score    int             `json:"score"`
			Words    string          `json:"scorer_feedback"`
			Previous json.RawMessage `json:"previous_output"`
		}
		decode(t, r.Feedback, &feedback)
		before := attempt - 1
		if diff := cmp.Diff([]string{fmt.Sprintf("issue of attempt %d", before)}, feedback.Issues); diff != "" {
			t.Errorf("attempt %d, issues (-want +got):\n%s", attempt, diff)
		}
		if want := []int{60, 70}[before]; feedback.Score != want || feedback.Words != fmt.Sprintf("attempt %d", before) {
			t.Errorf("attempt %d is told score %d, %q; want %d", attempt, feedback.Score, feedback.Words, want)
		}
		if feedback.WhyWrong == "" || len(feedback.HowToFix) == 0 {
			t.Errorf("attempt %d is told neither why nor how: %+v", attempt, feedback)
		}
		made := s.get(t, fmt.Sprintf("runs/deck-1~1/steps/scope.%d.p", before))["result"].([]byte)
		if diff := cmp.Diff(decoded(t, made), decoded(t, feedback.Previous)); diff != "" {
			t.Errorf("attempt %d, previous_output (-made +told):\n%.2000s", attempt, diff)
		}
	}
	for i, r := range st.requests("scope_critic") {
		if r.Attempt != i || r.Agent != "scope" || r.Output == nil || r.Score == nil || int(*r.Score) != []int{60, 70}[i] {
			t.Errorf("critic call %d: attempt %d of %s, score %v", i, r.Attempt, r.Agent, r.Score)
		}
	}
}

// Scores of 60, 70 and 75: the run fails, says who and why, and what there is
// stays readable, the best attempt too. The critic is the real one.
func TestNoAttemptIsGoodEnough(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		scores []int
		best   int
	}{
		"the last is best":   {[]int{60, 70, 75}, 2},
		"the second is best": {[]int{60, 75, 70}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newStage(t, nil, strict("cost", tt.scores...))
			s := start(t, hub.Config{}, st.env())
			st.before(t, s)
			s.begin(t, "deck-1", input(t, "deck"))
			seen := s.end(t, "deck-1", "failed")
			checkFailed(t, seen[len(seen)-1], tt.scores)
			for agent, want := range map[string]int{"cost": 3, "cost_scorer": 3, "cost_critic": 2, "risk": 0} {
				if got := len(st.requests(agent)); got != want {
					t.Errorf("%s was asked %d times, want %d", agent, got, want)
				}
			}
			checkPartial(t, s, tt.scores[tt.best], tt.best)
		})
	}
}

var exhausted = map[string]any{
	"code": "AGENT_MAX_RETRIES_EXCEEDED", "agent": "cost", "message": "No attempt reached the pass mark; the best one is kept.",
}

// checkFailed checks the document of a run that cost has failed.
func checkFailed(t *testing.T, doc version, scores []int) {
	t.Helper()
	for path, want := range map[string]any{
		"pipelineStatus.currentAgent": "cost_failed", "pipelineStatus.error": exhausted, "error": exhausted,
		"pipelineStatus.completedAgents": []any{"location", "scope"}, "pipelineStatus.retries.cost": int64(2),
		"pipelineStatus.scores.cost_attempt_0": int64(scores[0]), "pipelineStatus.scores.cost_attempt_1": int64(scores[1]),
		"pipelineStatus.scores.cost_attempt_2": int64(scores[2]), "pipelineStatus.agentStatuses.cost": "failed",
		"pipelineStatus.agentStatuses.risk": "pending", "pipelineStatus.currentAgents": []any{},
		"riskOutput": nil, "finalOutput": nil, "totalCost": nil,
	} {
		if diff := cmp.Diff(want, doc.at(path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	if p, _ := doc.at("pipelineStatus.progress").(int64); p <= 0 || p >= 100 {
		t.Errorf("progress = %d, want what was done", p)
	}
}

// checkPartial looks for the partial results in Firestore and asks for them.
func checkPartial(t *testing.T, s *system, score, attempt int) {
	t.Helper()
	doc, status := s.get(t, "estimates/deck-1"), s.status(t, "deck-1")
	outputs := s.list(t, "estimates/deck-1/agentOutputs")
	for agent, want := range map[string]string{"location": "complete", "scope": "complete", "cost": "error"} {
		out := outputs[agent]
		if len(elements(doc, "costOutput.divisions")) == 0 || out["status"] != want {
			t.Errorf("agentOutputs/%s is %v, want %s", agent, out["status"], want)
		}
		if diff := cmp.Diff(doc[agent+"Output"], out["output"]); diff != "" {
			t.Errorf("agentOutputs/%s.output (-root +here):\n%.1000s", agent, diff)
		}
		if diff := cmp.Diff(asJSON(t, doc[agent+"Output"]), status[agent+"Output"]); diff != "" || status[agent+"Output"] == nil {
			t.Errorf("get_pipeline_status %sOutput (-document +status):\n%.1000s", agent, diff)
		}
	}
	if len(outputs) != 3 {
		t.Errorf("%d documents in agentOutputs, want those of location, scope and cost", len(outputs))
	}
	if out := outputs["cost"]; out["score"] != int64(score) || out["attempt"] != int64(attempt) {
		t.Errorf("agentOutputs/cost has score %v of attempt %v, want %d of %d", out["score"], out["attempt"], score, attempt)
	}
	if status["status"] != "failed" || status["currentAgent"] != "cost_failed" || !cmp.Equal(status["error"], any(exhausted)) {
		t.Errorf("get_pipeline_status: %v at %v, %v", status["status"], status["currentAgent"], status["error"])
	}
}
