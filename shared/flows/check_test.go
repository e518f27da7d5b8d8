package flows_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/flows"
)

func node(name string, needs ...string) engine.Node {
	return engine.Node{
		Name: name, Agent: name + "_agent", Needs: needs, Timeout: time.Minute,
		Retry: engine.Retry{Tries: 1, Base: time.Second, Cap: time.Second},
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*engine.Flow)
		want   []string
	}{
		{"good", func(*engine.Flow) {}, nil},
		{"unknown agents", func(f *engine.Flow) {
			f.Nodes[1].Agent = "nobody"
			f.Nodes[1].Gate = &engine.Gate{Scorer: "judge", Critic: "b_agent", Exhausted: engine.Fail}
		}, []string{`nodes[1].agent: there is no agent "nobody"`, `nodes[1].gate.scorer: there is no agent "judge"`}},
		{"nameless agents are named once", func(f *engine.Flow) { f.Nodes[0].Agent = "" }, []string{`nodes[0].agent: a node names its agent`}},
		{"schemas", func(f *engine.Flow) {
			f.Nodes[0].Schema = json.RawMessage(` {"type":"text"}`)
			f.Nodes[0].Pause = &engine.Pause{Prompt: "?", Schema: json.RawMessage(`{"items":{"$ref":"#/x"}}`)}
			f.Nodes[1].Schema = json.RawMessage(`[]`)
		}, []string{
			`nodes[0].schema: type: wanted one of "array", "boolean", "integer", "null", "number", "object", "string", not "text"`,
			`nodes[0].pause.schema: items.$ref: there is no "#/x" in the schema`,
			`nodes[1].schema: wanted a JSON object`,
		}},
		{"those of a node together", func(f *engine.Flow) {
			f.Budget = 0
			f.Outputs = []string{"c"}
			f.Nodes[0].Agent, f.Nodes[1].Timeout = "nobody", 0
		}, []string{
			`budget: 0s is not a positive duration`,
			`nodes[0]: no output of the flow needs "a"`,
			`nodes[0].agent: there is no agent "nobody"`,
			`nodes[1].timeout: 0s is not a positive duration`,
			`nodes[1]: no output of the flow needs "b"`,
			`outputs[0]: there is no node "c"`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &engine.Flow{ID: "test", Engine: 1, Budget: time.Hour, Nodes: []engine.Node{node("a"), node("b", "a")}}
			tt.change(f)
			err := flows.Check(f, map[string]bool{"a_agent": true, "b_agent": true})
			if len(tt.want) == 0 {
				if err != nil {
					t.Errorf("Check = %v, want nil", err)
				}
				return
			}
			if got, want := err.Error(), strings.Join(tt.want, "\n"); got != want {
				t.Errorf("Check = \n%s\nwant\n%s", got, want)
			}
			invalid, ok := errors.AsType[*flows.InvalidError](err)
			if !ok || len(invalid.Problems) != len(tt.want) || fault.KindOf(err) != fault.Invalid || fault.Public(err) != err.Error() {
				t.Errorf("Check = %#v, want an InvalidError that is fault.Invalid and says everything", err)
			}
		})
	}
}

// The problems of every node stand in the order of the nodes, whoever found them.
func TestCheckKeepsFlowOrder(t *testing.T) {
	t.Parallel()
	f := &engine.Flow{ID: "test", Engine: 1, Budget: time.Hour}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"} {
		n := node(name)
		n.Weight = -1
		f.Nodes = append(f.Nodes, n)
	}
	invalid, ok := errors.AsType[*flows.InvalidError](flows.Check(f, nil))
	if !ok || len(invalid.Problems) != 2*len(f.Nodes) {
		t.Fatalf("Check = %v, want two problems per node", invalid)
	}
	for i, p := range invalid.Problems {
		want := []string{"weight", "agent"}[i%2]
		if !strings.HasSuffix(p.Path, "."+want) {
			t.Errorf("problem %d = %v, want one of .%s", i, p, want)
		}
	}
	if got := invalid.Problems[20].Path; got != "nodes[10].weight" {
		t.Errorf("problem 20 is in %s, want nodes[10].weight", got)
	}
}
