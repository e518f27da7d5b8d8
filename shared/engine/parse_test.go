package engine

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/fault"
)

const written = `{
  "id": "bid", "engine": 1, "budget": "1h30m", "overdue": "2s",
  "nodes": [{
    "name": "price", "agent": "pricer", "weight": 2, "timeout": "90s",
    "retry": {"tries": 3, "base": "1s", "cap": 60000000000},
    "gate": {"scorer": "s", "critic": "c", "threshold": 80, "retries": 2, "onExhausted": "ask"},
    "when": [{"fact": "input.timeout", "is": "=", "value": "90s"}],
    "inputs": {"timeout": "input.timeout"},
    "schema": {"properties": {"timeout": {"const": "soon"}}},
    "fanOut": {"over": "input.items", "chunk": 1, "maxParallel": 4, "onItemError": "fail"},
    "pause": {"prompt": "Now?", "expires": "48h"}
  }]
}`

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := Parse([]byte(written))
	if err != nil {
		t.Fatalf("Parse(…) = %v", err)
	}
	want := &Flow{
		ID: "bid", Engine: 1, Budget: 90 * time.Minute, Overdue: 2 * time.Second,
		Nodes: []Node{{
			Name: "price", Agent: "pricer", Weight: 2, Timeout: 90 * time.Second,
			Retry:  Retry{Tries: 3, Base: time.Second, Cap: time.Minute},
			Gate:   &Gate{Scorer: "s", Critic: "c", Threshold: 80, Retries: 2, Exhausted: Ask},
			When:   []Condition{{Fact: "input.timeout", Is: Equal, Value: "90s"}},
			Input:  map[string]string{"timeout": "input.timeout"},
			Schema: json.RawMessage(`{"properties":{"timeout":{"const":"soon"}}}`),
			FanOut: &FanOut{Over: "input.items", Chunk: 1, MaxParallel: 4, OnItemError: FailAll},
			Pause:  &Pause{Prompt: "Now?", Expires: 48 * time.Hour},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Parse(…) (-want +got):\n%s", diff)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"nothing", ``, "a flow is a JSON object"},
		{"half an object", `{"id": "a"`, "a flow is a JSON object"},
		{"two objects", `{} {}`, "something follows it"},
		{"a bracket too many", `{}]`, "something follows it"},
		{"a brace too many", `{}}`, "something follows it"},
		{"a list", `[]`, "cannot unmarshal array"},
		{"an unknown member", `{"id": "a", "owner": "anna"}`, `unknown field "owner"`},
		{"an unknown member of a node", `{"nodes": [{"name": "a", "retries": 3}]}`, `unknown field "retries"`},
		{"a budget", `{"budget": "soon"}`, `budget: "soon" is not a duration such as 90s or 1h30m`},
		{"a pause far below", `{"nodes": [{}, {"retry": {"cap": "1 day"}}]}`, `nodes[1].retry.cap: "1 day" is not a duration`},
		{"part of a nanosecond", `{"budget": 1.5}`, "budget"},
		{"a text for a number", `{"nodes": [{"weight": "heavy"}]}`, "nodes.weight"},
		{"a number beyond all", `{"nodes": [{"when": [{"value": 1e999}]}]}`, "1e999"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, err := Parse([]byte(tt.in))
			if err == nil || fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Parse(%s) = %v, %v, want fault.Invalid with %q", tt.in, f, err, tt.want)
			}
		})
	}
}

// FuzzParse: no bytes make Parse or Check panic, and a flow that was read, stored
// and read again is the same flow under the same address.
func FuzzParse(f *testing.F) {
	f.Add([]byte(written))
	f.Add([]byte(`{"nodes": [{"name": "a", "needs": ["a", ""], "when": [{"fact": ".", "is": "<", "value": 1e300}]}]}`))
	f.Add([]byte(`{"budget": "-1h", "nodes": null}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := Parse(data)
		if err != nil {
			return
		}
		_ = first.Check()
		stored, err := json.Marshal(first)
		if err != nil {
			t.Fatalf("json.Marshal(Parse(%q)) = %v", data, err)
		}
		second, err := Parse(stored)
		if err != nil {
			t.Fatalf("Parse(%s) = %v", stored, err)
		}
		again, err := json.Marshal(second)
		if err != nil || string(again) != string(stored) || first.Hash() != second.Hash() {
			t.Errorf("Parse(%q) is stored as\n%s\nand then as\n%s (%v)", data, stored, again, err)
		}
	})
}
