package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/fault"
)

type in struct{ Want int }

// counter is a family that counts to what it is asked for.
var counter = Family[in, out]{
	Name: "counter", Description: "Counts.", Version: "1.0.0", Skills: []string{"counting"},
	Decode: func(req a2a.Request) (i in, err error) {
		if len(req.Input) > 0 && json.Unmarshal(req.Input, &i) != nil {
			return i, fault.New(fault.Invalid, "input: wanted an object")
		}
		return i, nil
	},
	Primary: func(i in, feedback *Critique) (out, error) {
		if feedback != nil {
			return out{N: i.Want}, nil // it has learned
		}
		return out{N: i.Want - 1}, nil
	},
	Rubric: Rubric[in, out]{{Name: "counted", Weight: 100, Check: func(i in, o *out) Grade {
		if o.N != i.Want {
			return Gate(finding("N"))
		}
		return Full()
	}}},
}

func serve(t *testing.T, agent string, req a2a.Request) (map[string]any, error) {
	t.Helper()
	for _, spec := range counter.Specs() {
		if spec.Name != agent {
			continue
		}
		raw, err := spec.Serve(t.Context(), req)
		if err != nil {
			return nil, err
		}
		var v map[string]any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		return v, nil
	}
	t.Fatalf("no agent %s", agent)
	return nil, nil
}

// The loop of the pipeline by hand: work, judge, criticise, work again.
func TestFamilyLearns(t *testing.T) {
	t.Parallel()
	req := a2a.Request{Input: json.RawMessage(`{"Want":3}`)}
	first, err := serve(t, "counter", req)
	if err != nil {
		t.Fatal(err)
	}
	judged := req
	judged.Agent = "counter"
	judged.Output, _ = json.Marshal(first)
	score, err := serve(t, "counter_scorer", judged)
	if err != nil || score["score"] != 0.0 || score["passed"] != false {
		t.Fatalf("score = %v, %v; want 0, not passed", score, err)
	}
	said := 0.0
	judged.Score, judged.ScorerFeedback = &said, "the scorer's words"
	critique, err := serve(t, "counter_critic", judged)
	if err != nil || len(critique["issues"].([]any)) != 1 || critique["scorer_feedback"] != "the scorer's words" {
		t.Fatalf("critique = %v, %v", critique, err)
	}
	again := req
	again.Attempt = 1
	again.Feedback, _ = json.Marshal(critique)
	second, err := serve(t, "counter", again)
	if err != nil || second["N"] != 3.0 {
		t.Errorf("with feedback = %v, %v; want 3", second, err)
	}
}

func TestFamilyRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, agent string
		req         a2a.Request
		says        string
	}{
		{"bad input", "counter", a2a.Request{Input: json.RawMessage(`[]`)}, "input"},
		{"bad feedback", "counter", a2a.Request{Feedback: json.RawMessage(`"x"`)}, "critic_feedback"},
		{"nothing to judge", "counter_scorer", a2a.Request{}, "output"},
		{"null to judge", "counter_critic", a2a.Request{Output: json.RawMessage(`null`)}, "output"},
		{"another's output", "counter_scorer", a2a.Request{Agent: "cost", Output: json.RawMessage(`{}`)}, "agent_name"},
	}
	for _, tt := range tests {
		_, err := serve(t, tt.agent, tt.req)
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want invalid naming %s", tt.name, err, tt.says)
		}
	}
}

// What has not the shape of an output is the primary's fault: it is judged, and
// at most 30.
func TestUnreadableOutputs(t *testing.T) {
	t.Parallel()
	for _, output := range []string{`[]`, `"text"`, `7`, `{"N":"three"}`} {
		score, err := serve(t, "counter_scorer", a2a.Request{Output: json.RawMessage(output)})
		if err != nil || score["score"].(float64) > 30 {
			t.Errorf("score of %s = %v, %v; want at most 30", output, score, err)
		}
	}
}
