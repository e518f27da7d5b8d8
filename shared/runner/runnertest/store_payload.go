package runnertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// noise is a JSON object of about so many bytes that no compression makes small.
func noise(seed uint64, bytes int) json.RawMessage {
	random := rand.New(rand.NewPCG(seed, 0))
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
	text := make([]byte, bytes)
	for i := range text {
		text[i] = digits[random.IntN(len(digits))]
	}
	return fmt.Appendf(nil, `{"noise":"%s"}`, text)
}

// wide is a JSON object with so many members.
func wide(members int) json.RawMessage {
	var b strings.Builder
	for i := range members {
		fmt.Fprintf(&b, `,"member %d":%d`, i, i)
	}
	return json.RawMessage("{" + b.String()[1:] + "}")
}

// payloads are larger than a document, in one way or another.
func payloads() map[string]json.RawMessage {
	return map[string]json.RawMessage{
		"noise":  noise(1, 2<<20),
		"text":   json.RawMessage(`{"text":"` + strings.Repeat("abcdefgh", 400_000) + `"}`),
		"wide":   wide(50_000),
		"narrow": noise(2, 950<<10), // fits once it is compressed, just so
	}
}

func testLarge(t *testing.T, s runner.Store) {
	n := 0
	for name, data := range payloads() {
		n++
		estimate := fmt.Sprintf("est-%d", n)
		run := engine.RunID(estimate, 1)
		c := begin(t, estimate)
		c.Start.Clarification = data
		must(t, s.Commit(t.Context(), c))
		input, err := s.Input(t.Context(), estimate)
		must(t, err)
		sameBytes(t, "input of "+name, data, input)

		held, err := s.PutStep(t.Context(), claim(run, "cost.0.p", "one"))
		must(t, err)
		held.Status, held.Result = runner.Done, data
		put := claim(run, "location.0.p", "two")
		put.Result = data
		_, err = s.PutStep(t.Context(), put)
		must(t, err)
		stored := loaded(t, s, run)
		must(t, s.Commit(t.Context(), runner.Commit{
			Run: &stored, Steps: []runner.Step{held}, EstimateID: estimate,
			Inputs: []runner.Input{{Run: run, ID: "ask", Node: "cost", AskedAt: epoch, Schema: json.RawMessage(`{}`), Answer: data}},
			Outputs: []runner.Output{
				{Node: "cost", Phase: engine.Passed, Data: data, StartedAt: epoch, DoneAt: epoch},
				{Node: "location", Phase: engine.Passed, Data: data, StartedAt: epoch, DoneAt: epoch},
			},
			Feedback: map[string]json.RawMessage{"cost": data},
		}))
		for _, id := range []engine.StepID{"cost.0.p", "location.0.p"} {
			sameBytes(t, "result of "+name, data, step(t, s, run, id).Result)
		}
		inputs, err := s.Inputs(t.Context(), run, "ask")
		must(t, err)
		sameBytes(t, "answer of "+name, data, inputs[0].Answer)
	}
	testLosers(t, s)
}

// testLosers writes large results under one id, of which one may be recorded.
func testLosers(t *testing.T, s runner.Store) {
	started(t, s, "est-race")
	held, err := s.PutStep(t.Context(), claim("est-race~1", "cost.0.p", "one"))
	must(t, err)
	late := held
	late.Version, late.Result = older(held.Version), noise(99, 1300<<10)
	_, err = s.PutStep(t.Context(), late)
	kind(t, "a result on an old claim", err, fault.Conflict)
	if won := race(t, func(i int) error {
		late := held
		late.Fence, late.Result = i, noise(uint64(i), 1300<<10)
		return s.Commit(t.Context(), runner.Commit{Steps: []runner.Step{late}})
	}); won != 1 {
		t.Errorf("%d results were recorded, want 1", won)
	}
	got := step(t, s, "est-race~1", "cost.0.p")
	sameBytes(t, "the result that won", noise(uint64(got.Fence), 1300<<10), got.Result)
}

func sameBytes(t *testing.T, what string, want, got json.RawMessage) {
	t.Helper()
	if !bytes.Equal(want, got) {
		same(t, what, decoded(t, want), decoded(t, got)) // a map may be written in another order
	}
}

func testDeep(t *testing.T, s runner.Store) {
	deep := json.RawMessage(strings.Repeat(`{"d":`, 25) + "1" + strings.Repeat("}", 25))
	strange := json.RawMessage(`{"matrix":[[1,2],[3]],"":"no name","__x__":1,"a.b":{"c/d":"` + "`" + `"},"n":[1,2.25,1e300,-0.0,null,true]}`)
	for i, data := range []json.RawMessage{deep, strange} {
		estimate := fmt.Sprintf("est-%d", i)
		run := engine.RunID(estimate, 1)
		c := begin(t, estimate)
		c.Start.Clarification = data
		must(t, s.Commit(t.Context(), c))
		input, err := s.Input(t.Context(), estimate)
		must(t, err)
		same(t, "input", decoded(t, data), decoded(t, input))
		stored := loaded(t, s, run)
		held := claim(run, "cost.0.p", "one")
		held.Result = data
		must(t, s.Commit(t.Context(), runner.Commit{
			Run: &stored, Steps: []runner.Step{held}, EstimateID: estimate,
			Inputs:   []runner.Input{{Run: run, ID: "ask", AskedAt: epoch, Answer: data, Schema: data}},
			Outputs:  []runner.Output{{Node: "cost", Phase: engine.Passed, Data: data, StartedAt: epoch, DoneAt: epoch}},
			Feedback: map[string]json.RawMessage{"cost": data},
		}))
		same(t, "result", string(data), string(step(t, s, run, "cost.0.p").Result))
		inputs, err := s.Inputs(t.Context(), run, "ask")
		must(t, err)
		same(t, "answer", string(data), string(inputs[0].Answer))
		same(t, "schema", string(data), string(inputs[0].Schema))
	}
}

func testInput(t *testing.T, s runner.Store) {
	started(t, s, "est-1")
	asked := runner.Input{
		Run: "est-1~1", ID: "cost.0.p.1", Node: "cost", Kind: string(engine.AskAgent), Prompt: "Which roof?", Schema: json.RawMessage(`{"type":"object"}`),
		AskedAt: epoch, ExpiresAt: epoch.Add(time.Hour), Task: "task-1", Context: "context-1",
	}
	edit := runner.Input{Run: "est-1~1", ID: "edit.cost", Node: "cost", Kind: "edit", AskedAt: epoch, Answer: json.RawMessage(`{"a":1}`)}
	must(t, s.Commit(t.Context(), runner.Commit{Inputs: []runner.Input{asked, edit}}))
	kind(t, "the same question again", s.Commit(t.Context(), runner.Commit{Inputs: []runner.Input{asked}}), fault.Conflict)
	read := func(want ...runner.Input) {
		t.Helper()
		got, err := s.Inputs(t.Context(), "est-1~1", "cost.0.p.1", "absent", "edit.cost")
		must(t, err)
		if len(got) != len(want) {
			t.Fatalf("Inputs = %d inputs, want %d", len(got), len(want))
		}
		for i := range want {
			if got[i].Version.IsZero() {
				t.Errorf("input %s has no version", got[i].ID)
			}
			asked.Version, want[i].Version = got[0].Version, got[i].Version
		}
		same(t, "inputs", want, got)
	}
	read(asked, edit)

	answered := asked
	answered.Decision, answered.Answer = engine.Answer, json.RawMessage(`{"roof": "slate"}`)
	answered.AnsweredBy, answered.AnsweredAt, answered.RevAt = "anna", new(epoch.Add(time.Minute)), 9
	if won := race(t, func(int) error {
		return s.Commit(t.Context(), runner.Commit{Inputs: []runner.Input{answered}})
	}); won != 1 {
		t.Errorf("%d answers won, want 1", won)
	}
	read(answered, edit)
}
