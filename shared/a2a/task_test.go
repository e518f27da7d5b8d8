package a2a_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// said is a message of a user with these data parts, each a JSON text.
func said(parts ...string) *sdk.Message {
	msg := &sdk.Message{ID: "m-1", Role: sdk.MessageRoleUser}
	for _, p := range parts {
		msg.Parts = append(msg.Parts, sdk.NewDataPart(json.RawMessage(p)))
	}
	return msg
}

// served is an agent named location whose work is serve.
func served(serve func(context.Context, a2a.Request) (json.RawMessage, error)) task.Agent {
	return a2a.Agent{
		Name: "location_scorer", Description: "Judges prices.", Version: "1.0.0", Skills: []string{"scoring"}, Serve: serve,
	}.Task()
}

// ran returns what an agent yields in a turn: events as JSON, and the error.
func ran(t *testing.T, a task.Agent, turn task.Turn) (events []string, err error) {
	t.Helper()
	for e, bad := range a.Run(t.Context(), turn) {
		if bad != nil {
			return events, bad
		}
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatalf("event %+v: %v", e, err)
		}
		events = append(events, string(text))
	}
	return events, nil
}

func TestTaskYieldsWhatServeReturns(t *testing.T) {
	t.Parallel()
	const completed = `{"contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"},"taskId":"t-1"}`
	tests := []struct {
		name string
		out  string
		err  error
		want []string
		kind fault.Kind
	}{
		{
			"a result", `{ "n": 9007199254740993, "rate": 1.10, "text": "<&>" }`, nil,
			[]string{`{"artifact":{"artifactId":"result","name":"result","parts":[{"data":{"n":9007199254740993,"rate":1.10,"text":"\u003c\u0026\u003e"}}]},` +
				`"contextId":"c-1","lastChunk":true,"taskId":"t-1"}`, completed},
			"",
		},
		{
			"a question", "", a2a.Ask("Which zip code?", json.RawMessage(`{ "type": "string" }`)),
			[]string{`{"contextId":"c-1","status":{"message":{"messageId":"m-1/question","contextId":"c-1",` +
				`"parts":[{"text":"Which zip code?"},{"data":{"type":"string"}}],"role":"ROLE_AGENT","taskId":"t-1"},` +
				`"state":"TASK_STATE_INPUT_REQUIRED"},"taskId":"t-1"}`},
			"",
		},
		{
			"a question without a schema", "", a2a.Ask("Which zip code?", nil),
			[]string{`{"contextId":"c-1","status":{"message":{"messageId":"m-1/question","contextId":"c-1",` +
				`"parts":[{"text":"Which zip code?"}],"role":"ROLE_AGENT","taskId":"t-1"},` +
				`"state":"TASK_STATE_INPUT_REQUIRED"},"taskId":"t-1"}`},
			"",
		},
		{"a question without words", "", a2a.Ask("", nil), nil, fault.Internal},
		{"a question with a schema that is none", "", a2a.Ask("Which?", json.RawMessage(`"text"`)), nil, fault.Internal},
		{"an error", "", fault.New(fault.Exhausted, "too many at once"), nil, fault.Exhausted},
		{"an error of no kind", "", errors.New("disk"), nil, fault.Internal},
		{"no object", `[1]`, nil, nil, fault.Internal},
		{"no JSON", `{"n":`, nil, nil, fault.Internal},
		{"nothing", ``, nil, nil, fault.Internal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			agent := served(func(context.Context, a2a.Request) (json.RawMessage, error) {
				if tt.out == "" {
					return nil, tt.err
				}
				return json.RawMessage(tt.out), tt.err
			})
			got, err := ran(t, agent, task.Turn{TaskID: "t-1", ContextID: "c-1", Message: said(`{"estimate_id":"e"}`)})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Run() (-want +got):\n%s", diff)
			}
			if fault.KindOf(err) != tt.kind {
				t.Errorf("Run() = %v, want kind %q", err, tt.kind)
			}
		})
	}
}

func TestTaskShowsTheRequest(t *testing.T) {
	t.Parallel()
	received := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	text := said(`{"estimate_id":"e","zip":"80202","human_input":7,"retry_attempt":2}`, `{"estimate_id":"other"}`)
	text.Parts = append(sdk.ContentParts{sdk.NewTextPart("please")}, text.Parts...)
	tests := []struct {
		name string
		turn task.Turn
		want a2a.Request
	}{
		{
			"the first turn",
			task.Turn{TaskID: "t-1", ContextID: "c-1", Message: text, Received: received},
			a2a.Request{EstimateID: "e", Input: json.RawMessage(`{"zip":"80202"}`), Attempt: 2, Answer: json.RawMessage("7"), ContextID: "c-1", ReceivedAt: received},
		},
		{
			"an answer",
			task.Turn{TaskID: "t-1", ContextID: "c-1", Message: text, Received: received, Task: &sdk.Task{ID: "t-1"}},
			a2a.Request{EstimateID: "e", Input: json.RawMessage(`{"zip":"80202"}`), Attempt: 2, Answer: json.RawMessage("7"), ContextID: "c-1", ReceivedAt: received, TaskID: "t-1"},
		},
	}
	for _, tt := range tests {
		var got a2a.Request
		agent := served(func(_ context.Context, req a2a.Request) (json.RawMessage, error) {
			got = req
			return json.RawMessage(`{}`), nil
		})
		if _, err := ran(t, agent, tt.turn); err != nil {
			t.Fatalf("%s: Run() = %v, want a result", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: request (-want +got):\n%s", tt.name, diff)
		}
	}
}

// What no agent can read is refused before there is a task.
func TestTaskChecksTheRequest(t *testing.T) {
	t.Parallel()
	agent := served(func(context.Context, a2a.Request) (json.RawMessage, error) {
		t.Error("the agent ran, want it untouched")
		return nil, nil
	})
	tests := []struct {
		msg  *sdk.Message
		want string
	}{
		{said(), "params.message.parts: want a part with data"},
		{said(`[1]`), "params.message.parts[0].data: want the members of a request"},
		{said(`{"input":{}}`), "params.message.parts[0].data.estimate_id: want a string that is not empty"},
		{said(`null`), "params.message.parts[0].data.estimate_id: want a string that is not empty"},
		{said(`{"estimate_id":7}`), "params.message.parts[0].data.estimate_id: want string, got number"},
		{said(`{"estimate_id":"e","retry_attempt":-1}`), "params.message.parts[0].data.retry_attempt: want 0 or more"},
	}
	for _, tt := range tests {
		err := agent.Check(tt.msg)
		if fault.KindOf(err) != fault.Invalid || fault.Public(err) != tt.want {
			t.Errorf("Check() = %v, want invalid: %s", err, tt.want)
		}
		if _, again := ran(t, agent, task.Turn{Message: tt.msg}); fault.Public(again) != tt.want {
			t.Errorf("Run() = %v, want %s", again, tt.want)
		}
	}
	if err := agent.Check(said(`{"estimate_id":"e"}`)); err != nil {
		t.Errorf("Check() = %v, want nil", err)
	}
}

func TestTaskSkill(t *testing.T) {
	t.Parallel()
	got := served(nil)
	want := sdk.AgentSkill{ID: "location_scorer", Name: "location scorer", Description: "Judges prices.", Tags: []string{"scoring"}}
	if len(got.Skills) != 1 || cmp.Diff(want, got.Skills[0].AgentSkill) != "" {
		t.Errorf("Task().Skills = %+v, want %+v", got.Skills, want)
	}
	offer := []task.Skill{{AgentSkill: sdk.AgentSkill{ID: "score"}}, {AgentSkill: sdk.AgentSkill{ID: "explain"}}}
	if got := (a2a.Agent{Name: "x", Offer: func() []task.Skill { return offer }}).Task(); len(got.Skills) != 2 || got.Skills[1].ID != "explain" {
		t.Errorf("Task().Skills = %+v, want what is offered", got.Skills)
	}
}
