package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"pgregory.net/rapid"
)

// The plain form of any event is the SDK's, byte for byte.
func TestPlain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(t)
		for _, pair := range []struct{ plain, sdk any }{{Plain(e), e}, {Named(e), sdk.StreamResponse{Event: e}}} {
			got, err := json.Marshal(pair.plain)
			if err != nil {
				t.Fatalf("Marshal() = %v", err)
			}
			if want, err := json.Marshal(pair.sdk); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("the plain form is\n%s, want (%v)\n%s", got, err, want)
			}
		}
	})
}

func TestPlainTasks(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(PlainTasks(nil))
	if err != nil || string(got) != "[]" {
		t.Errorf("PlainTasks(nil) = %s (%v), want []", got, err)
	}
}

func drawEvent(t *rapid.T) sdk.Event {
	metadata := rapid.Just(map[string]any{"a": 1.5, "b": []any{"<&>", nil}})
	some := func(name string) map[string]any {
		if rapid.Bool().Draw(t, name) {
			return metadata.Draw(t, name)
		}
		return nil
	}
	text := func(name string) string { return rapid.SampledFrom([]string{"", "x", "<&>\u2028", "é"}).Draw(t, name) }
	texts := rapid.SampledFrom([][]string{nil, {}, {"https://example.com/a"}})
	part := func() *sdk.Part {
		p := &sdk.Part{Filename: text("filename"), MediaType: text("media"), Metadata: some("part")}
		p.Content = rapid.SampledFrom([]sdk.PartContent{
			nil, sdk.Text(""), sdk.Text("<b>"),
			sdk.Raw{},
			sdk.Raw(nil), sdk.Raw("\x00\xff"), sdk.URL(""), sdk.URL("https://example.com/?a&b"),
			sdk.Data{},
			sdk.Data{Value: json.RawMessage(`null`)},
			sdk.Data{Value: json.RawMessage(`{ "n": 1.10, "t": "<&>" }`)},
			sdk.Data{Value: map[string]any{"b": 1, "a": false}},
			sdk.Data{Value: ""},
		}).Draw(t, "content")
		return rapid.SampledFrom([]*sdk.Part{p, p, p, nil}).Draw(t, "part")
	}
	parts := func() sdk.ContentParts {
		list := rapid.SampledFrom([]sdk.ContentParts{nil, {}}).Draw(t, "none")
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			list = append(list, part())
		}
		return list
	}
	message := func() *sdk.Message {
		if rapid.IntRange(0, 3).Draw(t, "no message") == 0 {
			return nil
		}
		return &sdk.Message{
			ID: text("id"), ContextID: text("context"), Extensions: texts.Draw(t, "extensions"), Metadata: some("message"), Parts: parts(), TaskID: sdk.TaskID(text("task")),
			ReferenceTasks: rapid.SampledFrom([][]sdk.TaskID{nil, {}, {"t"}}).Draw(t, "references"),
			Role:           rapid.SampledFrom([]sdk.MessageRole{"", sdk.MessageRoleUser, sdk.MessageRoleAgent}).Draw(t, "role"),
		}
	}
	artifact := func() *sdk.Artifact {
		if rapid.IntRange(0, 5).Draw(t, "no artifact") == 0 {
			return nil
		}
		return &sdk.Artifact{ID: "a", Description: text("description"), Extensions: texts.Draw(t, "extensions"), Metadata: some("artifact"), Name: text("name"), Parts: parts()}
	}
	at := time.Date(2026, 3, 2, 9, 0, 0, 1e6, time.FixedZone("", 3600))
	status := sdk.TaskStatus{
		Message: message(), State: rapid.SampledFrom([]sdk.TaskState{"", sdk.TaskStateWorking, sdk.TaskStateCompleted}).Draw(t, "state"),
		Timestamp: rapid.SampledFrom([]*time.Time{nil, &at}).Draw(t, "time"),
	}
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		task := &sdk.Task{ID: "t", ContextID: text("context"), Metadata: some("task"), Status: status}
		for range rapid.IntRange(0, 2).Draw(t, "history") {
			task.History = append(task.History, message())
		}
		for range rapid.IntRange(0, 2).Draw(t, "artifacts") {
			task.Artifacts = append(task.Artifacts, artifact())
		}
		return task
	case 1:
		return &sdk.TaskStatusUpdateEvent{ContextID: text("context"), Status: status, TaskID: "t", Metadata: some("event")}
	case 2:
		return &sdk.TaskArtifactUpdateEvent{
			Append: rapid.Bool().Draw(t, "append"), Artifact: artifact(), ContextID: text("context"),
			LastChunk: rapid.Bool().Draw(t, "last"), TaskID: "t", Metadata: some("event"),
		}
	}
	if m := message(); m != nil {
		return m
	}
	return &sdk.Message{ID: "m"}
}

// BenchmarkPlain encodes a message with 5 KB of data, as the SDK does and in one
// pass.
func BenchmarkPlain(b *testing.B) {
	data := json.RawMessage(`{"list":[` + strings.Repeat(`{"k":1.5,"t":"some words"},`, 200) + `null]}`)
	m := &sdk.Message{ID: "m", Role: sdk.MessageRoleUser, Parts: sdk.ContentParts{sdk.NewDataPart(data)}}
	for name, v := range map[string]any{"sdk": sdk.StreamResponse{Event: m}, "plain": Named(m)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := json.Marshal(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
