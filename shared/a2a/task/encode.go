package task

import (
	"encoding/json"
	"fmt"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// EncodeTask returns the JSON form of a task for a store.
func EncodeTask(t *sdk.Task) ([]byte, error) {
	b, err := json.Marshal(wire.Plain(t))
	if err != nil {
		return nil, fmt.Errorf("encode task %s: %w", t.ID, err)
	}
	return b, nil
}

// DecodeTask reads what EncodeTask wrote. The data of every part stays as
// json.RawMessage, null included, so that a stored result is answered byte for
// byte as it was the first time: no number passes through a float and no member
// moves. It returns fault.Internal for anything that is not a task.
func DecodeTask(b []byte) (*sdk.Task, error) {
	var t storedTask
	if err := json.Unmarshal(b, &t); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "decode task")
	}
	return t.task(), nil
}

// EncodeEvent returns the JSON form of an event for a store: an object with the
// one member that names its kind, as A2A 1.0 writes events.
func EncodeEvent(e sdk.Event) ([]byte, error) {
	b, err := json.Marshal(wire.Named(e))
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", e, err)
	}
	return b, nil
}

// DecodeEvent reads what EncodeEvent wrote, as DecodeTask does. It returns
// fault.Internal for anything that is not an event.
func DecodeEvent(b []byte) (sdk.Event, error) {
	var e struct {
		Message        *storedMessage `json:"message"`
		Task           *storedTask    `json:"task"`
		StatusUpdate   *storedUpdate  `json:"statusUpdate"`
		ArtifactUpdate *storedArrival `json:"artifactUpdate"`
	}
	if err := json.Unmarshal(b, &e); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "decode event")
	}
	switch {
	case e.Message != nil:
		return e.Message.message(), nil
	case e.Task != nil:
		return e.Task.task(), nil
	case e.StatusUpdate != nil:
		u := e.StatusUpdate.TaskStatusUpdateEvent
		u.Status = e.StatusUpdate.Status.status()
		return &u, nil
	case e.ArtifactUpdate != nil:
		u := e.ArtifactUpdate.TaskArtifactUpdateEvent
		u.Artifact = e.ArtifactUpdate.Artifact.artifact()
		return &u, nil
	}
	return nil, fault.New(fault.Internal, "decode event: it has no kind that is known")
}

// The SDK's types with the parts in them replaced: its own reader of parts makes
// floats of numbers and refuses the data null.
type (
	storedTask struct {
		sdk.Task
		Artifacts []*storedArtifact `json:"artifacts"`
		History   []*storedMessage  `json:"history"`
		Status    storedStatus      `json:"status"`
	}
	storedStatus struct {
		sdk.TaskStatus
		Message *storedMessage `json:"message"`
	}
	storedMessage struct {
		sdk.Message
		Parts []storedPart `json:"parts"`
	}
	storedArtifact struct {
		sdk.Artifact
		Parts []storedPart `json:"parts"`
	}
	storedUpdate struct {
		sdk.TaskStatusUpdateEvent
		Status storedStatus `json:"status"`
	}
	storedArrival struct {
		sdk.TaskArtifactUpdateEvent
		Artifact *storedArtifact `json:"artifact"`
	}
	storedPart struct {
		Text      *sdk.Text       `json:"text"`
		Raw       *sdk.Raw        `json:"raw"`
		Data      json.RawMessage `json:"data"` // nil when absent, null when null
		URL       sdk.URL         `json:"url"`
		Filename  string          `json:"filename"`
		MediaType string          `json:"mediaType"`
		Metadata  map[string]any  `json:"metadata"`
	}
)

func (t *storedTask) task() *sdk.Task {
	t.Task.Status = t.Status.status()
	for _, a := range t.Artifacts {
		t.Task.Artifacts = append(t.Task.Artifacts, a.artifact())
	}
	for _, m := range t.History {
		t.Task.History = append(t.Task.History, m.message())
	}
	return &t.Task
}

func (s *storedStatus) status() sdk.TaskStatus {
	s.TaskStatus.Message = s.Message.message()
	return s.TaskStatus
}

func (m *storedMessage) message() *sdk.Message {
	if m == nil {
		return nil
	}
	m.Message.Parts = partsOf(m.Parts)
	return &m.Message
}

func (a *storedArtifact) artifact() *sdk.Artifact {
	if a == nil {
		return nil
	}
	a.Artifact.Parts = partsOf(a.Parts)
	return &a.Artifact
}

func partsOf(stored []storedPart) sdk.ContentParts {
	if stored == nil {
		return nil
	}
	parts := make(sdk.ContentParts, len(stored))
	for i, s := range stored {
		p := &sdk.Part{Filename: s.Filename, MediaType: s.MediaType, Metadata: s.Metadata}
		switch {
		case s.Data != nil:
			p.Content = sdk.Data{Value: s.Data}
		case s.Text != nil:
			p.Content = *s.Text
		case s.Raw != nil:
			p.Content = *s.Raw
		default:
			p.Content = s.URL
		}
		parts[i] = p
	}
	return parts
}
