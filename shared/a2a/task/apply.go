package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// apply makes an event of an agent part of the task, and returns it as it goes
// into the log: with the ids of the task, the time, and data as JSON text. The
// task is changed in place, what the event holds is not. It returns a fault that
// wraps sdk.ErrInvalidAgentResponse for what is no event of a task.
func apply(t *sdk.Task, ev sdk.Event, seq int64, now time.Time) (sdk.Event, error) {
	switch e := ev.(type) {
	case *sdk.TaskStatusUpdateEvent:
		if e != nil {
			return applyStatus(t, *e, seq, now)
		}
	case *sdk.TaskArtifactUpdateEvent:
		if e != nil && e.Artifact != nil {
			return applyArtifact(t, *e)
		}
	case *sdk.Message:
		if e != nil { // somebody knows the task already, so the message is its end
			return applyStatus(t, sdk.TaskStatusUpdateEvent{Status: sdk.TaskStatus{State: sdk.TaskStateCompleted, Message: e}}, seq, now)
		}
	}
	return nil, nonsense("an event of type %T", ev)
}

func nonsense(format string, args ...any) error {
	return fault.Wrap(fault.Internal, fmt.Errorf("%w: %s", sdk.ErrInvalidAgentResponse, fmt.Sprintf(format, args...)), "the agent answered")
}

var states = []sdk.TaskState{
	sdk.TaskStateSubmitted, sdk.TaskStateWorking, sdk.TaskStateInputRequired, sdk.TaskStateAuthRequired,
	sdk.TaskStateCompleted, sdk.TaskStateFailed, sdk.TaskStateCanceled, sdk.TaskStateRejected,
}

func applyStatus(t *sdk.Task, e sdk.TaskStatusUpdateEvent, seq int64, now time.Time) (sdk.Event, error) {
	if !slices.Contains(states, e.Status.State) {
		return nil, nonsense("the state %q", e.Status.State)
	}
	e.TaskID, e.ContextID, e.Status.Timestamp = t.ID, t.ContextID, &now
	if e.Status.Message != nil {
		said, err := spoken(e.Status.Message, t, seq)
		if err != nil {
			return nil, err
		}
		said.TaskID = t.ID
		e.Status.Message = said
	}
	e.Metadata = maps.Clone(e.Metadata)
	if p, ok := Progress(e.Metadata); ok {
		known, _ := Progress(t.Metadata)
		e.Metadata[wire.MetaProgress] = max(p, known)
	} else {
		delete(e.Metadata, wire.MetaProgress)
	}
	if t.Status.State.Terminal() { // it is worked on again: why it had failed is past
		t.Metadata = maps.Clone(t.Metadata)
		delete(t.Metadata, wire.MetaErrorKind)
		delete(t.Metadata, wire.MetaRetryable)
	}
	if t.Status.Message != nil {
		t.History = remember(t.History, t.Status.Message)
	}
	t.Status = e.Status
	t.Metadata = merged(t.Metadata, e.Metadata)
	return &e, nil
}

// spoken returns a message of the agent as it is kept.
func spoken(m *sdk.Message, t *sdk.Task, seq int64) (*sdk.Message, error) {
	own := *m
	parts, err := settled(m.Parts)
	if err != nil {
		return nil, err
	}
	own.Parts, own.Role, own.ContextID = parts, sdk.MessageRoleAgent, t.ContextID
	if own.ID == "" {
		own.ID = fmt.Sprintf("%s-%d", t.ID, seq)
	}
	return &own, nil
}

func applyArtifact(t *sdk.Task, e sdk.TaskArtifactUpdateEvent) (sdk.Event, error) {
	if e.Artifact.ID == "" || len(e.Artifact.Parts) == 0 {
		return nil, nonsense("an artifact without an id or without parts")
	}
	parts, err := settled(e.Artifact.Parts)
	if err != nil {
		return nil, err
	}
	chunk := *e.Artifact
	chunk.Parts = parts
	e.TaskID, e.ContextID, e.Artifact = t.ID, t.ContextID, &chunk
	i := slices.IndexFunc(t.Artifacts, func(a *sdk.Artifact) bool { return a.ID == chunk.ID })
	whole := chunk // what grows is not what the log has
	switch {
	case i < 0 && e.Append:
		return nil, nonsense("more of the artifact %q, of which there is none", chunk.ID)
	case i < 0:
		t.Artifacts = append(t.Artifacts, &whole)
	case !e.Append:
		t.Artifacts[i] = &whole
	default:
		a := t.Artifacts[i]
		a.Parts = append(a.Parts, parts...)
		a.Metadata = merged(a.Metadata, chunk.Metadata)
	}
	t.Metadata = merged(t.Metadata, e.Metadata)
	return &e, nil
}

// merged returns the metadata with more of it. Neither map is changed.
func merged(m, more map[string]any) map[string]any {
	if len(more) == 0 {
		return m
	}
	m = maps.Clone(m)
	if m == nil {
		m = make(map[string]any, len(more))
	}
	maps.Copy(m, more)
	return m
}

// remember adds a message to a history. Of a long one the oldest message goes,
// but for the last that a person sent: it may be waiting in the queue.
func remember(history []*sdk.Message, m *sdk.Message) []*sdk.Message {
	history = append(history, m)
	if len(history) <= maxHistory {
		return history
	}
	oldest := 0
	if lastOf(history, sdk.MessageRoleUser) == 0 {
		oldest = 1
	}
	return slices.Concat(history[:oldest], history[oldest+1:])
}

// lastOf returns where the last message of a role is; -1 when there is none.
func lastOf(history []*sdk.Message, role sdk.MessageRole) int {
	for i, m := range slices.Backward(history) {
		if m.Role == role {
			return i
		}
	}
	return -1
}

// settled returns parts with their data as a store writes it, so that the first
// answer and every later one are the same bytes.
func settled(parts sdk.ContentParts) (sdk.ContentParts, error) {
	own := make(sdk.ContentParts, len(parts))
	for i, p := range parts {
		if p == nil || p.Content == nil {
			return nil, nonsense("part %d without content", i)
		}
		own[i] = p
		data, ok := p.Content.(sdk.Data)
		if !ok {
			continue
		}
		raw, err := json.Marshal(data.Value)
		if err != nil {
			return nil, nonsense("part %d with data that is no JSON: %v", i, err)
		}
		part := *p
		part.Content = sdk.Data{Value: json.RawMessage(raw)}
		own[i] = &part
	}
	return own, nil
}

// snapshot returns a copy of a task that later events do not change.
func snapshot(t *sdk.Task) *sdk.Task {
	own := *t
	own.Artifacts = slices.Clone(t.Artifacts)
	for i, a := range own.Artifacts {
		one := *a
		one.Parts = slices.Clip(a.Parts)
		own.Artifacts[i] = &one
	}
	own.History = slices.Clip(t.History)
	return &own
}

// Progress returns the progress that metadata of a status or a task tells, from
// 0 to 100; ok is false when it tells none.
func Progress(meta map[string]any) (percent int, ok bool) {
	switch v := meta[wire.MetaProgress].(type) {
	case int:
		return min(max(v, 0), 100), true
	case int64:
		return int(min(max(v, 0), 100)), true
	case float64:
		return int(min(max(v, 0), 100)), !math.IsNaN(v)
	case json.Number:
		f, err := v.Float64()
		return int(min(max(f, 0), 100)), err == nil
	}
	return 0, false
}

// canceled is the end of a task that nobody waits for any more.
func canceled() *sdk.TaskStatusUpdateEvent {
	return end(sdk.TaskStateCanceled, fault.Conflict, "the task was canceled")
}

// failed is the end of a task because of an error; retry reports whether the
// same message may succeed later. A request cut off by the end of the instance
// may.
func failed(err error) (e *sdk.TaskStatusUpdateEvent, retry bool) {
	kind, text := fault.KindOf(err), fault.Public(err)
	switch {
	case errors.Is(err, sdk.ErrInvalidAgentResponse):
		text = sdk.ErrInvalidAgentResponse.Error()
	case kind == fault.Canceled:
		kind, text = fault.Unavailable, interruptedText
	}
	return end(sdk.TaskStateFailed, kind, text), kind.Transient()
}

const interruptedText = "the work was interrupted; send the message again"

func end(state sdk.TaskState, kind fault.Kind, text string) *sdk.TaskStatusUpdateEvent {
	return &sdk.TaskStatusUpdateEvent{
		Status:   sdk.TaskStatus{State: state, Message: &sdk.Message{Parts: sdk.ContentParts{sdk.NewTextPart(text)}}},
		Metadata: map[string]any{wire.MetaErrorKind: string(kind), wire.MetaRetryable: kind.Transient()},
	}
}
