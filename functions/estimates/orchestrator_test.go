package estimates_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/functions/estimates"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/gcp/docstore"
	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
	"truecost.dev/shared/schema"
)

// orchestrator returns the agent over a service whose bus delivers whenever the
// agent pauses.
func (s *service) orchestrator() task.Agent {
	store := docstore.New(s.client)
	watching := runnertest.NewRunner(store, s.bus, s.agents, s.clock)
	watching.Sleep = func(ctx context.Context, d time.Duration) error {
		s.clock.Advance(d)
		return errors.Join(ctx.Err(), s.bus.Deliver(ctx, 1, 1, s.runner))
	}
	return estimates.Orchestrator(estimates.Ports{
		Runner: func() (*runner.Runner, error) { return watching, nil },
		Store:  func() (estimates.Store, error) { return store, nil },
		Runs:   func() (estimates.Runs, error) { return store, nil },
	})
}

func message(t *testing.T, data any) *sdk.Message {
	t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return sdk.NewMessage(sdk.MessageRoleUser, sdk.NewDataPart(json.RawMessage(raw)))
}

// turn runs a turn and tells its events, one a line; metadata are those of the
// last status.
func turn(ctx context.Context, t *testing.T, a task.Agent, given task.Turn) (story string, metadata map[string]any) {
	t.Helper()
	given.TaskID, given.ContextID, given.Caller = "task-1", "context-1", task.Caller{ID: "anna"}
	if given.Task == nil {
		if err := a.Check(given.Message); err != nil {
			t.Fatal(err)
		}
	}
	var lines []string
	for ev, err := range a.Run(ctx, given) {
		switch e := ev.(type) {
		case *sdk.TaskStatusUpdateEvent:
			words := ""
			if e.Status.Message != nil {
				words = e.Status.Message.Parts[0].Text()
			}
			lines, metadata = append(lines, fmt.Sprintf("%s %v %s", e.Status.State, e.Metadata["progressPercent"], words)), e.Metadata
		case *sdk.TaskArtifactUpdateEvent:
			lines = append(lines, fmt.Sprintf("%s %s", e.Artifact.Name, e.Artifact.Parts[0].Data()))
		}
		if err != nil {
			lines = append(lines, "error "+string(fault.KindOf(err)))
		}
	}
	return strings.Join(lines, "\n"), metadata
}

func TestOrchestratorShowsARun(t *testing.T) {
	t.Parallel()
	s := newService(t)
	a := s.orchestrator()
	order := message(t, map[string]any{"estimateId": "est-1", "clarificationOutput": deck(t, nil)})
	const end = `result {"agent":"cost","attempt":0,"confidence":0.9,"summary":"done"}
TASK_STATE_COMPLETED 100 `
	got, metadata := turn(t.Context(), t, a, task.Turn{Message: order})
	if want := "TASK_STATE_WORKING 0 location\n" + end; got != want || metadata["runId"] != "est-1~1" || metadata["estimateId"] != "est-1" {
		t.Errorf("events =\n%s\n%v\nwant\n%s", got, metadata, want)
	}
	// The same scope again is the same run, which has ended.
	if got, _ := turn(t.Context(), t, a, task.Turn{Message: order}); got != end {
		t.Errorf("events of the same again =\n%s\nwant\n%s", got, end)
	}
	if n := s.agents.Worked()["location"]; n != 1 {
		t.Errorf("location worked %d times", n)
	}
}

func TestOrchestratorShowsAFailure(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.agents.Broken = map[string]bool{"location": true}
	got, _ := turn(t.Context(), t, s.orchestrator(), task.Turn{Message: message(t, map[string]any{"estimateId": "est-1", "clarificationOutput": deck(t, nil)})})
	if want := "TASK_STATE_WORKING 0 location\nTASK_STATE_FAILED 0 location: "; !strings.HasPrefix(got, want) {
		t.Errorf("events =\n%s\nwant\n%s…", got, want)
	}
}

// A question of the run is one of the task; what is no answer leaves it asked.
func TestOrchestratorAsks(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.agents.Asks = map[string]bool{"location": true}
	a := s.orchestrator()
	got, metadata := turn(t.Context(), t, a, task.Turn{Message: message(t, map[string]any{"estimateId": "est-1", "clarificationOutput": deck(t, nil)})})
	if want := "TASK_STATE_WORKING 0 location\nTASK_STATE_INPUT_REQUIRED 0 Which one?"; got != want || metadata["inputId"] == "" {
		t.Fatalf("events =\n%s\n%v\nwant\n%s", got, metadata, want)
	}
	asked := &sdk.Task{Metadata: metadata}
	got, _ = turn(t.Context(), t, a, task.Turn{Task: asked, Message: message(t, map[string]any{"answer": "the left one"})})
	if !strings.HasPrefix(got, "TASK_STATE_INPUT_REQUIRED") || strings.Contains(got, "\n") {
		t.Errorf("events after a wrong answer =\n%s\nwant the question again", got)
	}
	got, metadata = turn(t.Context(), t, a, task.Turn{Task: asked, Message: message(t, map[string]any{"answer": map[string]any{"which": "left"}})})
	if !strings.HasSuffix(got, "TASK_STATE_COMPLETED 100 ") || metadata["inputId"] != "" {
		t.Errorf("events after the answer =\n%s\n%v\nwant the end", got, metadata)
	}
}

// A canceled task takes its run with it; an instance that only stops looking
// leaves the run alone.
func TestOrchestratorLetsGo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		cause error
		want  string
	}{
		{"canceled", task.ErrCanceled, "canceled"},
		{"taken over", fault.New(fault.Canceled, "another instance took the task over"), "running"},
		{"too late", fault.New(fault.Timeout, "the agent ran out of time"), "running"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			s.agents.Before = func(string) { cancel(tt.cause) }
			got, _ := turn(ctx, t, s.orchestrator(), task.Turn{Message: message(t, map[string]any{"estimateId": "est-1", "clarificationOutput": deck(t, nil)})})
			if want := "error " + string(fault.KindOf(tt.cause)); !strings.HasSuffix(got, want) {
				t.Errorf("events =\n%s\nwant %s at the end", got, want)
			}
			run, err := docstore.New(s.client).Run(t.Context(), "est-1~1")
			if err != nil || string(run.Status) != tt.want {
				t.Errorf("run is %s (%v), want %s", run.Status, err, tt.want)
			}
		})
	}
}

func TestOrchestratorChecks(t *testing.T) {
	t.Parallel()
	check := newService(t).orchestrator().Check
	tests := []struct {
		name string
		msg  *sdk.Message
		want string // of the error; empty: none
	}{
		{"a scope", message(t, map[string]any{"estimateId": "est-1", "clarificationOutput": deck(t, nil)}), ""},
		{"the older names", message(t, map[string]any{"estimate_id": "est-1", "clarification_output": deck(t, nil)}), ""},
		{"as agents of the pipeline have it", message(t, map[string]any{"estimate_id": "est-1", "input": map[string]any{"clarification_output": deck(t, nil)}}), ""},
		{"as the input itself", message(t, map[string]any{"estimate_id": "est-1", "input": deck(t, nil)}), ""},
		{"an input without a scope", message(t, map[string]any{"estimate_id": "est-1", "input": map[string]any{"a": 1}}), "clarificationOutput"},
		{"no data", sdk.NewMessage(sdk.MessageRoleUser, sdk.NewTextPart("a kitchen")), "params.message.parts: want a part with data"},
		{"a list", message(t, []int{1}), "params.message.parts[0].data: want an object"},
		{"no scope", message(t, map[string]any{"estimateId": "est-1"}), "clarificationOutput"},
		{"a bad id", message(t, map[string]any{"estimateId": "a/b", "clarificationOutput": deck(t, nil)}), "estimateId"},
		{"an id that is none", message(t, map[string]any{"estimateId": 7, "clarificationOutput": deck(t, nil)}), "params.message.parts[0].data: "},
		{"a scope of nothing", message(t, map[string]any{"estimateId": "est-1", "clarificationOutput": map[string]any{}}), "not valid"},
	}
	for _, tt := range tests {
		err := check(tt.msg)
		if tt.want == "" && err != nil || tt.want != "" && (fault.KindOf(err) != fault.Invalid || !strings.Contains(fault.Public(err), tt.want)) {
			t.Errorf("%s: check = %v, want %q", tt.name, err, tt.want)
		}
	}
	answer := message(t, map[string]any{"answer": true})
	if answer.TaskID = "task-1"; check(answer) != nil {
		t.Errorf("check(an answer) = %v, want nil", check(answer))
	}
}

// The schemas of its card hold.
func TestOrchestratorSchemas(t *testing.T) {
	t.Parallel()
	skill := newService(t).orchestrator().Skills[0]
	in, err := schema.Compile(skill.InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]any{"estimateId": "est-1", "clarificationOutput": deck(t, nil)})
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Check(raw); err != nil {
		t.Errorf("a scope: %v", err)
	}
	if in.Check([]byte(`{"estimateId":"a/b"}`)) == nil {
		t.Error("an id with a slash fits")
	}
	if _, err := schema.Compile(skill.OutputSchema); err != nil {
		t.Error(err)
	}
}
