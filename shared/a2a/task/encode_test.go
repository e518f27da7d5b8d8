package task_test

import (
	"encoding/json"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// everyPart has a part of each content, with data that a reader of JSON likes to
// change.
func everyPart() sdk.ContentParts {
	text := sdk.NewTextPart("ü <b> \u2028")
	text.Metadata = map[string]any{"lang": "de"}
	raw := sdk.NewRawPart([]byte{0, 1, 255})
	raw.Filename, raw.MediaType = "a.bin", "application/octet-stream"
	return sdk.ContentParts{
		text, raw, sdk.NewTextPart(""), sdk.NewRawPart([]byte{}), sdk.NewFileURLPart("https://example.com/a", "text/plain"),
		sdk.NewDataPart(json.RawMessage(`{"z":1.10,"a":[9007199254740993,null]}`)), sdk.NewDataPart(json.RawMessage("null")), sdk.NewDataPart(json.RawMessage("7.0")),
	}
}

func everyTask() *sdk.Task {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	said := &sdk.Message{
		ID: "m", ContextID: "c", TaskID: "t", Role: sdk.MessageRoleAgent, Parts: everyPart(), Metadata: map[string]any{"k": "v"},
		Extensions: []string{"e"}, ReferenceTasks: []sdk.TaskID{"other"},
	}
	return &sdk.Task{
		ID: "t", ContextID: "c", Status: sdk.TaskStatus{State: sdk.TaskStateInputRequired, Message: said, Timestamp: &at},
		Artifacts: []*sdk.Artifact{{ID: "a", Name: "result", Description: "d", Parts: everyPart()}},
		History:   []*sdk.Message{said}, Metadata: map[string]any{"agent": "location"},
	}
}

func TestTasksAreReadAsTheyWere(t *testing.T) {
	t.Parallel()
	for _, want := range []*sdk.Task{everyTask(), {ID: "t", Status: sdk.TaskStatus{State: sdk.TaskStateWorking}}} {
		b, err := task.EncodeTask(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := task.DecodeTask(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("DecodeTask(EncodeTask(t)) (-want +got):\n%s", diff)
		}
	}
}

func TestEventsAreReadAsTheyWere(t *testing.T) {
	t.Parallel()
	whole := everyTask()
	for _, want := range []sdk.Event{
		whole, whole.Status.Message,
		&sdk.TaskStatusUpdateEvent{TaskID: "t", ContextID: "c", Status: whole.Status, Metadata: map[string]any{"progressPercent": 40.0}},
		&sdk.TaskStatusUpdateEvent{TaskID: "t", ContextID: "c", Status: sdk.TaskStatus{State: sdk.TaskStateWorking}},
		&sdk.TaskArtifactUpdateEvent{TaskID: "t", ContextID: "c", Artifact: whole.Artifacts[0], Append: true, LastChunk: true},
	} {
		b, err := task.EncodeEvent(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := task.DecodeEvent(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("DecodeEvent(EncodeEvent(%T)) (-want +got):\n%s", want, diff)
		}
	}
}

func TestWhatIsNoTaskOrEvent(t *testing.T) {
	t.Parallel()
	for _, text := range []string{``, `[]`, `{"id":7}`, `{"status":{"message":{"parts":[{"raw":7}]}}}`} {
		if _, err := task.DecodeTask([]byte(text)); fault.KindOf(err) != fault.Internal || err == nil {
			t.Errorf("DecodeTask(%s) = %v, want kind internal", text, err)
		}
	}
	for _, text := range []string{``, `[]`, `{}`, `{"unheard":{}}`, `{"message":7}`} {
		if _, err := task.DecodeEvent([]byte(text)); fault.KindOf(err) != fault.Internal || err == nil {
			t.Errorf("DecodeEvent(%s) = %v, want kind internal", text, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, e := range []sdk.Event{everyTask(), everyTask().Status.Message, &sdk.TaskArtifactUpdateEvent{Artifact: everyTask().Artifacts[0]}} {
		b, err := task.EncodeEvent(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"artifactUpdate":{"artifact":null}}`))
	f.Add([]byte(`{"task":{"history":[null],"artifacts":[null]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := task.DecodeEvent(b)
		if err != nil {
			return
		}
		again, err := task.EncodeEvent(e)
		if err != nil {
			t.Fatalf("EncodeEvent of what was read from %s: %v", b, err)
		}
		if _, err := task.DecodeEvent(again); err != nil {
			t.Errorf("DecodeEvent(%s), written from %s: %v", again, b, err)
		}
	})
}
