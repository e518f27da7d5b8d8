package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/fault"
)

func TestWhatIsNoEvent(t *testing.T) {
	t.Parallel()
	text := sdk.ContentParts{sdk.NewTextPart("x")}
	status := func(s sdk.TaskState, parts sdk.ContentParts) sdk.Event {
		return &sdk.TaskStatusUpdateEvent{Status: sdk.TaskStatus{State: s, Message: &sdk.Message{Parts: parts}}}
	}
	artifact := func(id sdk.ArtifactID, parts sdk.ContentParts) sdk.Event {
		return &sdk.TaskArtifactUpdateEvent{Artifact: &sdk.Artifact{ID: id, Parts: parts}}
	}
	for i, ev := range []sdk.Event{
		nil, (*sdk.TaskStatusUpdateEvent)(nil), (*sdk.TaskArtifactUpdateEvent)(nil), (*sdk.Message)(nil), &sdk.Task{}, &sdk.TaskArtifactUpdateEvent{},
		status("", text), status("TASK_STATE_SINGING", text), status(atWork, sdk.ContentParts{nil}), status(atWork, sdk.ContentParts{{}}),
		status(atWork, sdk.ContentParts{sdk.NewDataPart(make(chan int))}), status(atWork, sdk.ContentParts{sdk.NewDataPart(json.RawMessage(`{`))}),
		artifact("", text), artifact("a", nil), artifact("a", sdk.ContentParts{nil}),
		&sdk.TaskArtifactUpdateEvent{Append: true, Artifact: &sdk.Artifact{ID: "b", Parts: text}},
	} {
		r := at(atWork, 1, 1)
		if log, err := r.say(ev, time.Unix(0, 0)); !errors.Is(err, sdk.ErrInvalidAgentResponse) || log != nil || r.Seq != 0 {
			t.Errorf("event %d, %T: say() = %v, %v, event %d, want an invalid agent response and nothing said", i, ev, log, err, r.Seq)
		}
	}
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	asked := &sdk.Message{ID: "asked", Role: sdk.MessageRoleUser}
	history := []*sdk.Message{asked}
	for i := range 3 * maxHistory {
		before := history
		last := before[len(before)-1].ID
		history = remember(history, &sdk.Message{ID: fmt.Sprint(i), Role: sdk.MessageRoleAgent})
		if before[len(before)-1].ID != last {
			t.Fatal("remember() changed the history it was given")
		}
	}
	if len(history) != maxHistory || history[0] != asked || history[1].ID != fmt.Sprint(2*maxHistory+1) || history[maxHistory-1].ID != fmt.Sprint(3*maxHistory-1) {
		t.Errorf("remember() left %d messages from %s, %s to %s, want the last %d and the one that a person sent",
			len(history), history[0].ID, history[1].ID, history[len(history)-1].ID, maxHistory)
	}
}

func TestEventsAreNotShared(t *testing.T) {
	t.Parallel()
	r := at(atWork, 1, 1)
	chunk := &sdk.Artifact{ID: "a", Parts: sdk.ContentParts{sdk.NewDataPart(map[string]any{"n": 1})}}
	first, err := r.say(&sdk.TaskArtifactUpdateEvent{Artifact: chunk}, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	seen := snapshot(r.Task)
	chunk.ID = "changed"
	if _, err := r.say(&sdk.TaskArtifactUpdateEvent{Append: true, Artifact: &sdk.Artifact{ID: "a", Parts: chunk.Parts, Metadata: map[string]any{"k": "v"}}}, time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	if a := r.Task.Artifacts[0]; a.ID != "a" || len(a.Parts) != 2 || a.Metadata["k"] != "v" {
		t.Errorf("the artifact is %+v, want a with two parts", a)
	}
	logged := first[0].Event.(*sdk.TaskArtifactUpdateEvent).Artifact
	for name, a := range map[string]*sdk.Artifact{"the log": logged, "a snapshot": seen.Artifacts[0]} {
		if raw, ok := a.Parts[0].Data().(json.RawMessage); a.ID != "a" || len(a.Parts) != 1 || len(a.Metadata) > 0 || !ok || string(raw) != `{"n":1}` {
			t.Errorf("%s has the artifact %+v, want a as it was first, its data as JSON text", name, a)
		}
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   any
		want int
		ok   bool
	}{
		{40, 40, true},
		{int64(101), 100, true},
		{-1, 0, true},
		{39.9, 39, true},
		{json.Number("1e2"), 100, true},
		{json.Number("x"), 0, false},
		{math.NaN(), 0, false},
		{"40", 0, false},
		{nil, 0, false},
	}
	for _, tt := range tests {
		if got, ok := Progress(map[string]any{"progressPercent": tt.in}); ok != tt.ok || ok && got != tt.want {
			t.Errorf("Progress(%v) = %d, %t, want %d, %t", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

func TestFailuresTellStrangersNothing(t *testing.T) {
	t.Parallel()
	secret := errors.New("dial 10.0.0.7")
	tests := []struct {
		err   error
		text  string
		retry bool
	}{
		{secret, "internal error", false},
		{fault.Wrap(fault.Invalid, secret, "no such city"), "no such city", false},
		{fault.Wrap(fault.Unavailable, secret, "the model is away"), "the model is away", true},
		{fault.Wrap(fault.Internal, secret, "row 7"), "internal error", false},
		{errLate, "the agent ran out of time", true},
		{errCanceled, interruptedText, true},
		{nonsense("x"), "invalid agent response", false},
	}
	for _, tt := range tests {
		e, retry := failed(tt.err)
		if got := e.Status.Message.Parts[0].Text(); got != tt.text || retry != tt.retry || e.Metadata["retryable"] != retry {
			t.Errorf("failed(%v) = %q, retry %t, want %q, %t", tt.err, got, retry, tt.text, tt.retry)
		}
	}
}
