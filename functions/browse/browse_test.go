package browse

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/research"
	"truecost.dev/shared/research/corpus"
	"truecost.dev/shared/schema"
)

var update = flag.Bool("update", false, "rewrite recorded answers")

var received = time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)

func turnOf(data string) task.Turn {
	return task.Turn{TaskID: "t-1", ContextID: "c-1", Received: received, Try: 1, Message: &sdk.Message{
		ID: "m-1", Role: sdk.MessageRoleUser, Parts: sdk.ContentParts{sdk.NewTextPart("hello"), sdk.NewDataPart(json.RawMessage(data))},
	}}
}

// answer runs one turn to its end and returns the result and what was told on
// the way, a line for each event.
func answer(t testing.TB, desk func() (research.Desk, error), data string) (research.Result, []string) {
	t.Helper()
	raw, told, err := events(t.Context(), desk, data)
	if err != nil {
		t.Fatal(err)
	}
	var r research.Result
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	fits(t, raw)
	return r, told
}

func events(ctx context.Context, desk func() (research.Desk, error), data string) (result json.RawMessage, told []string, err error) {
	for e, err := range Agent(desk).Run(ctx, turnOf(data)) {
		switch e := e.(type) {
		case *sdk.TaskStatusUpdateEvent:
			told = append(told, fmt.Sprintf("%s %v%% %s", wire.Word(e.Status.State), e.Metadata[wire.MetaProgress], e.Status.Message.Parts[0].Text()))
		case *sdk.TaskArtifactUpdateEvent:
			told = append(told, fmt.Sprintf("artifact %s append=%v last=%v", e.Artifact.ID, e.Append, e.LastChunk))
			result, _ = e.Artifact.Parts[0].Data().(json.RawMessage)
		}
		if err != nil {
			return nil, told, err
		}
	}
	return result, told, nil
}

var promised = sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile(outputSchema) })

// fits holds a result to what the card promises.
func fits(t testing.TB, raw json.RawMessage) {
	t.Helper()
	s, err := promised()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(raw); err != nil {
		t.Errorf("the result does not fit its schema: %v\n%s", err, raw)
	}
}

func library(t testing.TB) func() (research.Desk, error) {
	t.Helper()
	c := corpus.Embedded()
	t.Cleanup(func() { c.Close() })
	return func() (research.Desk, error) {
		return research.Desk{Search: c, Fetch: nowhere{}, Extractor: research.Extractive{}}, nil
	}
}

// nowhere has no page: what the corpus finds is not fetched.
type nowhere struct{}

func (nowhere) Fetch(_ context.Context, address string) (research.Page, error) {
	return research.Page{}, fmt.Errorf("fetched %s", address)
}

// Each file of testdata/answers has an input and what comes of it on the embedded
// corpus: the events, and the result.
func TestAnswers(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/answers/*.txtar")
	if err != nil || len(names) < 4 {
		t.Fatalf("%d answers, %v", len(names), err)
	}
	desk := library(t)
	for _, name := range names {
		ar, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		raw, told, err := events(t.Context(), desk, string(ar.Files[0].Data))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		fits(t, raw)
		var pretty strings.Builder
		enc := json.NewEncoder(&pretty)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(raw); err != nil {
			t.Fatal(err)
		}
		got := []txtar.File{ar.Files[0], {Name: "events", Data: []byte(strings.Join(told, "\n") + "\n")}, {Name: "result", Data: []byte(pretty.String())}}
		if *update {
			if err := os.WriteFile(name, txtar.Format(&txtar.Archive{Comment: ar.Comment, Files: got}), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if d := cmp.Diff(ar.Files, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// The same question gives the same bytes, whichever process answers.
func TestAnswersAreStable(t *testing.T) {
	t.Parallel()
	first, _, err := events(t.Context(), library(t), bidBond)
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := events(t.Context(), library(t), bidBond)
	if err != nil || string(first) != string(second) {
		t.Errorf("answers differ, %v:\n%s\n%s", err, first, second)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const data = "params.message.parts[1].data"
	topic, text := strings.Repeat("ä", 500), strings.Repeat("ö", 4000)
	tests := []struct{ name, data, at string }{ // at empty: taken
		{"least", `{"search_topic":"a","extraction_instruction":"b"}`, ""},
		{"most", `{"search_topic":"` + topic + `","extraction_instruction":"` + text + `","max_results":10,"freshness_days":36500}`, ""},
		{"by TrueCost's agents", `{"estimate_id":"e","retry_attempt":0,"previous_agents":[],"critic_feedback":null,"search_topic":"a","extraction_instruction":"b"}`, ""},
		{"wrapped", `{"estimate_id":"e","input":{"search_topic":"a","extraction_instruction":"b"}}`, ""},
		{"nothing", `{}`, data + ".extraction_instruction"},
		{"no topic", `{"extraction_instruction":"b"}`, data + ".search_topic"},
		{"no instruction", `{"search_topic":"a"}`, data + ".extraction_instruction"},
		{"empty topic", `{"search_topic":"","extraction_instruction":"b"}`, data + ".search_topic"},
		{"long topic", `{"search_topic":"` + topic + `a","extraction_instruction":"b"}`, data + ".search_topic"},
		{"long instruction", `{"search_topic":"a","extraction_instruction":"` + text + `b"}`, data + ".extraction_instruction"},
		{"topic a number", `{"search_topic":7,"extraction_instruction":"b"}`, data + ".search_topic"},
		{"no result", `{"search_topic":"a","extraction_instruction":"b","max_results":0}`, data + ".max_results"},
		{"too many results", `{"search_topic":"a","extraction_instruction":"b","max_results":11}`, data + ".max_results"},
		{"half a result", `{"search_topic":"a","extraction_instruction":"b","max_results":1.5}`, data + ".max_results"},
		{"results in words", `{"search_topic":"a","extraction_instruction":"b","max_results":"3"}`, data + ".max_results"},
		{"no days", `{"search_topic":"a","extraction_instruction":"b","freshness_days":0}`, data + ".freshness_days"},
		{"too many days", `{"search_topic":"a","extraction_instruction":"b","freshness_days":99999999}`, data + ".freshness_days"},
		{"another member", `{"search_topic":"a","extraction_instruction":"b","url":"x"}`, data + ".url"},
		{"wrapped and wrong", `{"input":{"search_topic":"a"}}`, data + ".input.extraction_instruction"},
		{"an array", `[]`, data},
		{"a string", `"a"`, data},
		{"null", `null`, data},
	}
	a := Agent(nil)
	for _, tt := range tests {
		err := a.Check(turnOf(tt.data).Message)
		if tt.at == "" && err != nil {
			t.Errorf("%s: Check = %v, want nil", tt.name, err)
		}
		if tt.at != "" && (fault.KindOf(err) != fault.Invalid || !strings.HasPrefix(fault.Public(err), tt.at+": ")) {
			t.Errorf("%s: Check = %v, want fault.Invalid at %s", tt.name, err, tt.at)
		}
	}
	if err := a.Check(&sdk.Message{Parts: sdk.ContentParts{sdk.NewTextPart("bid bond?")}}); fault.KindOf(err) != fault.Invalid || !strings.HasPrefix(err.Error(), "params.message.parts: ") {
		t.Errorf("Check of text alone = %v, want fault.Invalid", err)
	}
}

func TestQuestion(t *testing.T) {
	t.Parallel()
	in, err := inputOf(turnOf(`{"search_topic":"a","extraction_instruction":"b","freshness_days":7}`).Message)
	want := research.Question{Topic: "a", Instruction: "b", Results: 3, Since: received.AddDate(0, 0, -7), Now: received}
	if d := cmp.Diff(want, in.question(received)); err != nil || d != "" {
		t.Errorf("question, %v (-want +got):\n%s", err, d)
	}
}

func TestRunFails(t *testing.T) {
	t.Parallel()
	errSpoilt := errors.New("spoilt")
	broken := func() (research.Desk, error) { return research.Desk{}, errSpoilt }
	if _, told, err := events(t.Context(), broken, bidBond); !errors.Is(err, errSpoilt) || len(told) != 1 {
		t.Errorf("without a search: %v after %v, want its error", err, told)
	}
	if _, told, err := events(t.Context(), broken, `{}`); fault.KindOf(err) != fault.Invalid || len(told) != 0 {
		t.Errorf("without an input: %v after %v, want fault.Invalid at once", err, told)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(task.ErrCanceled)
	if _, told, err := events(ctx, library(t), bidBond); !errors.Is(err, task.ErrCanceled) {
		t.Errorf("canceled: %v after %v, want the cause", err, told)
	}
}

// Whoever stops listening ends the work, after whichever event.
func TestRunStops(t *testing.T) {
	t.Parallel()
	desk := library(t)
	for n := 1; n <= 5; n++ {
		got := 0
		for _, err := range Agent(desk).Run(t.Context(), turnOf(bidBond)) {
			if err != nil {
				t.Fatal(err)
			}
			if got++; got == n {
				break
			}
		}
		if got != n {
			t.Errorf("%d events, want %d", got, n)
		}
	}
}

// What the skill shows on a card holds.
func TestSkill(t *testing.T) {
	t.Parallel()
	s := skill()
	if s.ID != "browse_extract" || !json.Valid(s.InputSchema) || !json.Valid(s.OutputSchema) || s.Input == "" || s.Output == "" {
		t.Errorf("skill = %+v", s)
	}
	for _, e := range s.Examples {
		if err := Agent(nil).Check(turnOf(e).Message); err != nil {
			t.Errorf("the example %s is refused: %v", e, err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(bidBond)
	f.Add(`{"input":{"search_topic":"a","extraction_instruction":"b","max_results":3.0}}`)
	f.Fuzz(func(t *testing.T, data string) {
		if !json.Valid([]byte(data)) {
			return
		}
		in, err := inputOf(turnOf(data).Message)
		if err != nil {
			if fault.KindOf(err) != fault.Invalid {
				t.Fatalf("inputOf(%q) = %v, want fault.Invalid", data, err)
			}
			return
		}
		if in.Topic == "" || in.Instruction == "" || in.MaxResults < 1 || in.MaxResults > 10 {
			t.Fatalf("inputOf(%q) = %+v", data, in)
		}
	})
}

func BenchmarkAnswer(b *testing.B) {
	desk := library(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := events(b.Context(), desk, bidBond); err != nil {
			b.Fatal(err)
		}
	}
}
