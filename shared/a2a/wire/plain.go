package wire

import (
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
)

// Plain returns an event as a value that encodes to the JSON of A2A 1.0, the same
// bytes as the SDK's own, in one pass. The SDK's types encode themselves level by
// level, and each level copies and scans what those below it wrote: data of a
// message is read five times over.
func Plain(e sdk.Event) any {
	switch e := e.(type) {
	case *sdk.Task:
		return plainTaskOf(e)
	case *sdk.Message:
		return plainMessageOf(e)
	case *sdk.TaskStatusUpdateEvent:
		return plainStatusUpdate{e.ContextID, plainStatusOf(e.Status), e.TaskID, e.Metadata}
	case *sdk.TaskArtifactUpdateEvent:
		return plainArtifactUpdate{e.Append, plainArtifactOf(e.Artifact), e.ContextID, e.LastChunk, e.TaskID, e.Metadata}
	}
	return e
}

// PlainTasks is Plain for a list of tasks. It is never null.
func PlainTasks(tasks []*sdk.Task) any { return each(append([]*sdk.Task{}, tasks...), plainTaskOf) }

// Named returns an event under the one member that names its kind, as streams
// and the answers to messages have it.
func Named(e sdk.Event) any {
	v := Plain(e)
	switch e.(type) {
	case *sdk.Task:
		return struct {
			V any `json:"task"`
		}{v}
	case *sdk.Message:
		return struct {
			V any `json:"message"`
		}{v}
	case *sdk.TaskStatusUpdateEvent:
		return struct {
			V any `json:"statusUpdate"`
		}{v}
	default:
		return struct {
			V any `json:"artifactUpdate"`
		}{v}
	}
}

// The members of each object in the order in which the SDK writes them.
type (
	plainTask struct {
		ID        sdk.TaskID       `json:"id"`
		Artifacts []*plainArtifact `json:"artifacts,omitempty"`
		ContextID string           `json:"contextId"`
		History   []*plainMessage  `json:"history,omitempty"`
		Metadata  map[string]any   `json:"metadata,omitempty"`
		Status    plainStatus      `json:"status"`
	}
	plainStatus struct {
		Message   *plainMessage `json:"message,omitempty"`
		State     string        `json:"state"`
		Timestamp *time.Time    `json:"timestamp,omitempty"`
	}
	plainMessage struct {
		ID         string         `json:"messageId"`
		ContextID  string         `json:"contextId,omitempty"`
		Extensions []string       `json:"extensions,omitempty"`
		Metadata   map[string]any `json:"metadata,omitempty"`
		Parts      []*plainPart   `json:"parts"`
		References []sdk.TaskID   `json:"referenceTaskIds,omitempty"`
		Role       string         `json:"role"`
		TaskID     sdk.TaskID     `json:"taskId,omitempty"`
	}
	plainArtifact struct {
		ID          sdk.ArtifactID `json:"artifactId"`
		Description string         `json:"description,omitempty"`
		Extensions  []string       `json:"extensions,omitempty"`
		Metadata    map[string]any `json:"metadata,omitempty"`
		Name        string         `json:"name,omitempty"`
		Parts       []*plainPart   `json:"parts"`
	}
	plainPart struct {
		Text      *sdk.Text      `json:"text,omitempty"`
		Raw       *sdk.Raw       `json:"raw,omitempty"`
		Data      any            `json:"data,omitempty"`
		URL       sdk.URL        `json:"url,omitempty"`
		Filename  string         `json:"filename,omitempty"`
		MediaType string         `json:"mediaType,omitempty"`
		Metadata  map[string]any `json:"metadata,omitempty"`
	}
	plainStatusUpdate struct {
		ContextID string         `json:"contextId"`
		Status    plainStatus    `json:"status"`
		TaskID    sdk.TaskID     `json:"taskId"`
		Metadata  map[string]any `json:"metadata,omitempty"`
	}
	plainArtifactUpdate struct {
		Append    bool           `json:"append,omitempty"`
		Artifact  *plainArtifact `json:"artifact"`
		ContextID string         `json:"contextId"`
		LastChunk bool           `json:"lastChunk,omitempty"`
		TaskID    sdk.TaskID     `json:"taskId"`
		Metadata  map[string]any `json:"metadata,omitempty"`
	}
)

// each converts a list; one that is null stays so, and so does null in it.
func each[A, B any](list []*A, one func(*A) *B) []*B {
	if list == nil {
		return nil
	}
	out := make([]*B, len(list))
	for i, v := range list {
		out[i] = one(v)
	}
	return out
}

func plainTaskOf(t *sdk.Task) *plainTask {
	if t == nil {
		return nil
	}
	return &plainTask{t.ID, each(t.Artifacts, plainArtifactOf), t.ContextID, each(t.History, plainMessageOf), t.Metadata, plainStatusOf(t.Status)}
}

func plainStatusOf(s sdk.TaskStatus) plainStatus {
	return plainStatus{plainMessageOf(s.Message), s.State.String(), s.Timestamp}
}

func plainMessageOf(m *sdk.Message) *plainMessage {
	if m == nil {
		return nil
	}
	return &plainMessage{m.ID, m.ContextID, m.Extensions, m.Metadata, each(m.Parts, plainPartOf), m.ReferenceTasks, m.Role.String(), m.TaskID}
}

func plainArtifactOf(a *sdk.Artifact) *plainArtifact {
	if a == nil {
		return nil
	}
	return &plainArtifact{a.ID, a.Description, a.Extensions, a.Metadata, a.Name, each(a.Parts, plainPartOf)}
}

func plainPartOf(p *sdk.Part) *plainPart {
	if p == nil {
		return nil
	}
	out := &plainPart{Filename: p.Filename, MediaType: p.MediaType, Metadata: p.Metadata}
	switch content := p.Content.(type) {
	case sdk.Text:
		out.Text = &content
	case sdk.Raw:
		out.Raw = &content
	case sdk.URL:
		out.URL = content
	case sdk.Data:
		if out.Data = content.Value; out.Data == nil {
			out.Data = Null
		}
	}
	return out
}
