package functions_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"truecost.dev/functions/cost"
	"truecost.dev/functions/final"
	"truecost.dev/functions/location"
	"truecost.dev/functions/risk"
	"truecost.dev/functions/scope"
	"truecost.dev/functions/timeline"
	"truecost.dev/internal/sample"
	"truecost.dev/shared/a2a"
	"truecost.dev/shared/agent"
	"truecost.dev/shared/schema"
)

// What the agents' cards promise holds: every request of the pipeline fits the
// input schema of its agent, and every answer on the real projects fits the
// output schema.
func TestSkillsKeepTheirSchemas(t *testing.T) {
	t.Parallel()
	families := [][]agent.Spec{location.Agents(), scope.Agents(), cost.Agents(), risk.Agents(), timeline.Agents(), final.Agents()}
	for _, project := range sample.Names() {
		t.Run(project, func(t *testing.T) {
			if testing.Short() && project != "kitchen" {
				t.Skip("one project is enough in a hurry")
			}
			t.Parallel()
			raw, err := os.ReadFile("../testdata/" + project + ".json")
			if err != nil {
				t.Fatal(err)
			}
			input := map[string]json.RawMessage{"clarification_output": raw}
			for _, family := range families {
				primary, scorer, critic := family[0], family[1], family[2]
				given := encode(t, input)
				out := ask(t, primary, map[string]any{"estimate_id": "est-1", "input": given})
				outs := []json.RawMessage{out}
				if project == "kitchen" { // and once more, after a critique
					outs = append(outs, ask(t, primary, map[string]any{
						"estimate_id": "est-1", "input": given, "retry_attempt": 1, "previous_agents": []string{"location"},
						"critic_feedback": ask(t, critic, map[string]any{
							"estimate_id": "est-1", "agent_name": primary.Name, "output": json.RawMessage(`{}`), "input": given, "score": 12, "scorer_feedback": "weak",
						}),
					}))
				}
				for _, o := range outs {
					ask(t, scorer, map[string]any{"estimate_id": "est-1", "agent_name": primary.Name, "output": o, "input": given})
				}
				input[primary.Name+"_output"] = out
			}
		})
	}
}

// ask calls an agent and holds request and answer to what its skill says.
func ask(t *testing.T, a agent.Spec, data map[string]any) json.RawMessage {
	t.Helper()
	skill := a.Offer()[0]
	raw := encode(t, data)
	fits(t, a.Name+" takes", skill.InputSchema, raw)
	var req a2a.Request
	if err := json.Unmarshal(raw, &req); err != nil {
		t.Fatal(err)
	}
	req.ReceivedAt = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	out, err := a.Serve(t.Context(), req)
	if err != nil {
		t.Fatalf("%s: %v", a.Name, err)
	}
	fits(t, a.Name+" returns", skill.OutputSchema, out)
	return out
}

func fits(t *testing.T, what string, against, document []byte) {
	t.Helper()
	s, err := schema.Compile(against)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := s.Check(document); err != nil {
		t.Errorf("%s what its schema does not allow: %v", what, err)
	}
}

func encode(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// The schemas can fail: an answer without one of its members is refused, and so
// is one of another type.
func TestOutputSchemasBite(t *testing.T) {
	t.Parallel()
	for _, a := range slices.Concat(location.Agents(), final.Agents()) {
		s, err := schema.Compile(a.Offer()[0].OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range []string{`{}`, `[]`, `{"score":"high","findings":null,"confidence":"yes"}`} {
			if s.Check([]byte(document)) == nil {
				t.Errorf("%s may return %s", a.Name, document)
			}
		}
	}
}
