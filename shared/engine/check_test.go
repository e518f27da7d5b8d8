package engine

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// sound is a flow with everything a flow can have, and no fault.
func sound() Flow {
	retry := Retry{Tries: 3, Base: time.Second, Cap: time.Minute}
	return Flow{
		ID: "sound", Engine: 1, Budget: time.Hour, Input: "brief", Outputs: []string{"sum"}, MaxParallel: 50, Overdue: time.Second,
		Nodes: []Node{
			{Name: "list", Agent: "lister", Timeout: time.Second, Retry: retry, Schema: json.RawMessage(`{"type":"object"}`)},
			{
				Name: "price", Agent: "pricer", Needs: []string{"list"}, Timeout: time.Second, Retry: retry, Weight: 3,
				Gate:   &Gate{Scorer: "judge", Critic: "critic", Threshold: 80, Retries: 2, Exhausted: Ask},
				FanOut: &FanOut{Over: "list.items", Chunk: 10, MaxParallel: 8, OnItemError: Collect},
				When:   []Condition{{Fact: "list.count", Is: More, Value: 0.0}, {Fact: "input.kind", Is: NotEqual, Value: "repair"}},
			},
			{
				Name: "sum", Agent: "adder", Needs: []string{"price"}, Timeout: time.Second, Retry: retry,
				Input: map[string]string{"prices": "price", "names": "list.names", "client": "input.client"},
				Pause: &Pause{Prompt: "Add up?", Schema: json.RawMessage(`{}`), Expires: time.Hour},
			},
		},
	}
}

func TestSoundFlow(t *testing.T) {
	t.Parallel()
	f := sound()
	if err := f.Check(); err != nil {
		t.Fatalf("Check() = %v, want nil", err)
	}
	if got, want := strings.Join(f.Agents(), " "), "adder critic judge lister pricer"; got != want {
		t.Errorf("Agents() = %s, want %s", got, want)
	}
	if got, want := strings.Join(f.Above("sum"), " "), "list price"; got != want {
		t.Errorf("Above(sum) = %s, want %s", got, want)
	}
	if got, want := strings.Join(f.Below("list"), " "), "price sum"; got != want {
		t.Errorf("Below(list) = %s, want %s", got, want)
	}
	if got := f.Above("nowhere"); len(got) > 0 {
		t.Errorf("Above(nowhere) = %v, want none", got)
	}
	if got := f.InputName(); got != "brief" {
		t.Errorf("InputName() = %s, want brief", got)
	}
	if got := (&Flow{}).InputName(); got != "clarification_output" {
		t.Errorf("InputName() of a flow that names none = %s, want clarification_output", got)
	}
}

// TestFlowCheckNamesEveryFault breaks the sound flow in one place each. The path
// must be there, and, unless the fault has consequences, nothing else.
func TestFlowCheckNamesEveryFault(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxFact+1)
	tests := []struct {
		name  string
		spoil func(*Flow)
		want  string // the faults, a line each
	}{
		{"no id", func(f *Flow) { f.ID = "" }, `id: "" is not a name of small letters, digits and underscores`},
		{"generation", func(f *Flow) { f.Engine = 2 }, `engine: 2 is not a generation this code has, wanted 1`},
		{"no budget", func(f *Flow) { f.Budget = 0 }, `budget: 0s is not a positive duration`},
		{"input name", func(f *Flow) { f.Input = "a b" }, `input: "a b" is not a name of small letters, digits and underscores`},
		{"too parallel", func(f *Flow) { f.MaxParallel = 51 }, `maxParallel: 51 is not within 1 and 50; wider work is a fan-out`},
		{"less than parallel", func(f *Flow) { f.MaxParallel = -1 }, `maxParallel: -1 is not within 1 and 50; wider work is a fan-out`},
		{"overdue", func(f *Flow) { f.Overdue = -1 }, `overdue: -1ns is negative`},
		{"no nodes", func(f *Flow) { f.Nodes, f.Outputs = nil, nil }, `nodes: wanted 1 to 200, not 0`},
		{"dotted name", func(f *Flow) { f.Nodes[2].Name = "a.b"; f.Outputs = nil }, `nodes[2].name: "a.b" is not a name of small letters, digits and underscores`},
		{"reserved name", func(f *Flow) { f.Nodes[2].Name = "input"; f.Outputs = nil }, `nodes[2].name: "input" is what the run's input is called`},
		{"twice", func(f *Flow) { f.Nodes = append(f.Nodes, f.Nodes[2]) }, `nodes[3].name: "sum" is there twice`},
		{"unknown need", func(f *Flow) { f.Nodes[2].Needs = []string{"price", "tax"}; f.Outputs = nil }, `nodes[2].needs[1]: there is no node "tax"`},
		{"itself", func(f *Flow) { f.Nodes[0].Needs = []string{"list"}; f.Outputs = nil }, `nodes: "list" needs itself, through its needs`},
		{"cycle, out of reach", func(f *Flow) { f.Nodes[0].Needs = []string{"price"} }, "nodes: \"list\" needs itself, through its needs\noutputs[0]: \"sum\" is never reached"},
		{"unknown need, out of reach", func(f *Flow) { f.Nodes[0].Needs = []string{"tax"} }, "nodes[0].needs[0]: there is no node \"tax\"\noutputs[0]: \"sum\" is never reached"},
		{"no agent", func(f *Flow) { f.Nodes[1].Agent = "" }, `nodes[1].agent: a node names its agent`},
		{"weight", func(f *Flow) { f.Nodes[1].Weight = -1 }, `nodes[1].weight: -1 is negative`},
		{"no timeout", func(f *Flow) { f.Nodes[1].Timeout = 0 }, `nodes[1].timeout: 0s is not a positive duration`},
		{"no tries", func(f *Flow) { f.Nodes[1].Retry.Tries = 0 }, `nodes[1].retry: wanted tries of at least 1 and 0 < base ≤ cap, not 0, 1s, 1m0s`},
		{"no base", func(f *Flow) { f.Nodes[1].Retry.Base = 0 }, `nodes[1].retry: wanted tries of at least 1 and 0 < base ≤ cap, not 3, 0s, 1m0s`},
		{"cap", func(f *Flow) { f.Nodes[1].Retry.Cap = 1 }, `nodes[1].retry: wanted tries of at least 1 and 0 < base ≤ cap, not 3, 1s, 1ns`},
		{"no critic", func(f *Flow) { f.Nodes[1].Gate.Critic = "" }, `nodes[1].gate: a gate names its scorer and its critic`},
		{"threshold", func(f *Flow) { f.Nodes[1].Gate.Threshold = 101 }, `nodes[1].gate.threshold: 101 is not within 0 and 100`},
		{"retries", func(f *Flow) { f.Nodes[1].Gate.Retries = 11 }, `nodes[1].gate.retries: 11 is not within 0 and 10`},
		{"exhausted", func(f *Flow) { f.Nodes[1].Gate.Exhausted = "" }, `nodes[1].gate.onExhausted: "" is not one of "fail", "degrade" and "ask"`},
		{"chunk", func(f *Flow) { f.Nodes[1].FanOut.Chunk = 0 }, `nodes[1].fanOut.chunk: 0 is not a number of items`},
		{"too wide", func(f *Flow) { f.Nodes[1].FanOut.MaxParallel = 401 }, `nodes[1].fanOut.maxParallel: 401 is not within 1 and 400`},
		{"item error", func(f *Flow) { f.Nodes[1].FanOut.OnItemError = "skip" }, `nodes[1].fanOut.onItemError: "skip" is neither "fail" nor "collect"`},
		{"fans over what it does not need", func(f *Flow) { f.Nodes[1].FanOut.Over = "sum.items" }, `nodes[1].fanOut.over: "sum" is not among the needs of "price"`},
		{"fans over nothing", func(f *Flow) { f.Nodes[1].FanOut.Over = "" }, "nodes[1].fanOut.over: \"\" begins neither with \"input\" nor with a node\nnodes[1].fanOut.over: \"\" has an empty member name"},
		{"empty member", func(f *Flow) { f.Nodes[1].FanOut.Over = "list..items" }, `nodes[1].fanOut.over: "list..items" has an empty member name`},
		{"reads nobody", func(f *Flow) { f.Nodes[2].Input["names"] = "tax.names" }, `nodes[2].inputs.names: "tax.names" begins neither with "input" nor with a node`},
		{"reads itself", func(f *Flow) { f.Nodes[2].Input["names"] = "sum" }, `nodes[2].inputs.names: "sum" is not among the needs of "sum"`},
		{"schema", func(f *Flow) { f.Nodes[0].Schema = json.RawMessage(`[]`) }, `nodes[0].schema: wanted a JSON object`},
		{"prompt", func(f *Flow) { f.Nodes[2].Pause.Prompt = "" }, `nodes[2].pause.prompt: a person is asked something`},
		{"expires", func(f *Flow) { f.Nodes[2].Pause.Expires = -1 }, `nodes[2].pause.expires: -1ns is negative`},
		{"pause schema", func(f *Flow) { f.Nodes[2].Pause.Schema = json.RawMessage(`7`) }, `nodes[2].pause.schema: wanted a JSON object`},
		{"unknown output", func(f *Flow) { f.Outputs = []string{"sum", "tax"} }, `outputs[1]: there is no node "tax"`},
		{"for nobody", func(f *Flow) { f.Outputs = []string{"price"} }, `nodes[2]: no output of the flow needs "sum"`},
		{"condition on what comes later", func(f *Flow) { f.Nodes[1].When[0].Fact = "sum.x" }, `nodes[1].when[0].fact: "sum" is not among the needs of "price"`},
		{"condition on a whole output", func(f *Flow) { f.Nodes[1].When[0].Fact = "list" }, `nodes[1].when[0].fact: "list" names no member`},
		{"relation", func(f *Flow) { f.Nodes[1].When[0].Is = "~" }, `nodes[1].when[0].is: "~" is not one of = != < <= > >= present absent`},
		{"more than a text", func(f *Flow) { f.Nodes[1].When[0].Value = "ten" }, `nodes[1].when[0].value: wanted a number, not ten`},
		{"present with a value", func(f *Flow) { f.Nodes[1].When[0] = Condition{"list.count", Present, 1.0} }, `nodes[1].when[0].value: wanted no value, not 1`},
		{"equal to a list", func(f *Flow) { f.Nodes[1].When[0] = Condition{"list.count", Equal, []any{}} }, `nodes[1].when[0].value: wanted a number, a boolean or a text of at most 200 bytes, not []`},
		{"equal to a novel", func(f *Flow) { f.Nodes[1].When[0] = Condition{"list.count", Equal, long} }, `nodes[1].when[0].value: wanted a number, a boolean or a text of at most 200 bytes, not ` + long},
		{"two faults", func(f *Flow) { f.ID = "A"; f.Nodes[0].Agent = "" }, "id: \"A\" is not a name of small letters, digits and underscores\nnodes[0].agent: a node names its agent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := sound()
			tt.spoil(&f)
			err := f.Check()
			if err == nil {
				t.Fatalf("Check() = nil, want %s", tt.want)
			}
			if err.Error() != tt.want {
				t.Errorf("Check() =\n%v\nwant\n%s", err, tt.want)
			}
		})
	}
}

func TestFlowCheckTooManyNodes(t *testing.T) {
	t.Parallel()
	f := Flow{ID: "f", Engine: 1, Budget: 1}
	for range MaxNodes + 1 {
		f.Nodes = append(f.Nodes, sound().Nodes[0])
	}
	if err := f.Check(); err == nil || !strings.HasPrefix(err.Error(), "nodes: wanted 1 to 200, not 201\n") {
		t.Errorf("Check() = %v, want it to count the nodes", err)
	}
}

// TestHashIsTheAddress: what a flow does without does not show in its address.
func TestHashIsTheAddress(t *testing.T) {
	t.Parallel()
	f := shapes(Gate{Threshold: 80, Retries: 2, Exhausted: Fail})["plain"]
	const want = "sha256:"
	first := f.Hash()
	if !strings.HasPrefix(first, want) || len(first) != len(want)+64 {
		t.Fatalf("Hash() = %s, want sha256: and 64 digits", first)
	}
	same := f
	same.Outputs, same.Nodes = []string{}, append([]Node(nil), f.Nodes...)
	if got := same.Hash(); got != first {
		t.Errorf("Hash() of the same flow = %s, want %s", got, first)
	}
	same.Nodes[0].Timeout++
	if got := same.Hash(); got == first {
		t.Error("Hash() of another timeout is the same")
	}
	b, _ := json.Marshal(f.Nodes[0])
	for _, absent := range []string{"gate", "when", "inputs", "schema", "fanOut", "pause", "ambiguous", "needs"} {
		if strings.Contains(string(b), `"`+absent+`"`) {
			t.Errorf("a node without %s encodes as %s", absent, b)
		}
	}
}
