package front

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/wire"
)

// spelling is one of the two ways in which A2A 0.3 writes its objects.
type spelling bool

const (
	// earlySpelling is that of the specification: members kind, states in lower
	// case. JSON-RPC has it, and HTTP+JSON for callers who begin with it.
	earlySpelling spelling = false

	// protoSpelling is the JSON mapping of the protocol's protobuf definition, which
	// the clients of HTTP+JSON settled on: no kind, enumerations in capitals,
	// messages with content, answers wrapped in their kind.
	protoSpelling spelling = true
)

// The objects of A2A 0.3 in both spellings; each leaves out the members of the
// other.
type (
	earlyTaskJSON struct {
		Kind      string         `json:"kind,omitempty"`
		ID        sdk.TaskID     `json:"id"`
		ContextID string         `json:"contextId"`
		Status    earlyStatus    `json:"status"`
		Artifacts []*earlyResult `json:"artifacts,omitempty"`
		History   []*earlySaying `json:"history,omitempty"`
		Metadata  map[string]any `json:"metadata,omitempty"`
	}
	earlyStatus struct {
		State     string       `json:"state"`
		Message   *earlySaying `json:"message,omitempty"`
		Timestamp *time.Time   `json:"timestamp,omitempty"`
	}
	earlySaying struct { // a message
		Kind       string         `json:"kind,omitempty"`
		ID         string         `json:"messageId"`
		ContextID  string         `json:"contextId,omitempty"`
		TaskID     sdk.TaskID     `json:"taskId,omitempty"`
		Role       string         `json:"role"`
		Parts      []earlyPart    `json:"parts,omitzero"`
		Content    []earlyPart    `json:"content,omitzero"` // the parts in protobuf
		References []sdk.TaskID   `json:"referenceTaskIds,omitempty"`
		Extensions []string       `json:"extensions,omitempty"`
		Metadata   map[string]any `json:"metadata,omitempty"`
	}
	earlyResult struct { // an artifact
		ID          sdk.ArtifactID `json:"artifactId"`
		Name        string         `json:"name,omitempty"`
		Description string         `json:"description,omitempty"`
		Parts       []earlyPart    `json:"parts"`
		Extensions  []string       `json:"extensions,omitempty"`
		Metadata    map[string]any `json:"metadata,omitempty"`
	}
	earlyPart struct {
		Kind     string          `json:"kind,omitempty"`
		Text     *string         `json:"text,omitempty"`
		Data     json.RawMessage `json:"data,omitempty"`
		File     *earlyFile      `json:"file,omitempty"`
		Metadata map[string]any  `json:"metadata,omitempty"`
	}
	earlyFile struct {
		Name      string  `json:"name,omitempty"`
		MediaType string  `json:"mimeType,omitempty"`
		Bytes     *string `json:"bytes,omitempty"`
		URI       string  `json:"uri,omitempty"`
		WithBytes *string `json:"fileWithBytes,omitempty"` // in protobuf
		WithURI   string  `json:"fileWithUri,omitempty"`   // in protobuf
	}
	earlyChange struct { // of a status
		Kind      string         `json:"kind,omitempty"`
		TaskID    sdk.TaskID     `json:"taskId"`
		ContextID string         `json:"contextId"`
		Status    earlyStatus    `json:"status"`
		Final     bool           `json:"final"`
		Metadata  map[string]any `json:"metadata,omitempty"`
	}
	earlyArrival struct { // of an artifact
		Kind      string         `json:"kind,omitempty"`
		TaskID    sdk.TaskID     `json:"taskId"`
		ContextID string         `json:"contextId"`
		Artifact  *earlyResult   `json:"artifact"`
		Append    bool           `json:"append,omitempty"`
		LastChunk bool           `json:"lastChunk,omitempty"`
		Metadata  map[string]any `json:"metadata,omitempty"`
	}
)

// EarlyTask returns a task as A2A 0.3 tells it to webhooks.
func EarlyTask(t *sdk.Task) ([]byte, error) {
	body, err := wire.Compact(earlySpelling.task(t))
	if err != nil {
		return nil, fmt.Errorf("encode task %s: %w", t.ID, err)
	}
	return body, nil
}

// kind returns the word that tells an object apart, where there is one.
func (s spelling) kind(word string) string {
	if s == protoSpelling {
		return ""
	}
	return word
}

func (s spelling) task(t *sdk.Task) *earlyTaskJSON {
	w := &earlyTaskJSON{Kind: s.kind("task"), ID: t.ID, ContextID: t.ContextID, Status: s.status(t.Status), Metadata: t.Metadata}
	for _, a := range t.Artifacts {
		w.Artifacts = append(w.Artifacts, s.artifact(a))
	}
	for _, m := range t.History {
		w.History = append(w.History, s.message(m))
	}
	return w
}

func (s spelling) status(st sdk.TaskStatus) earlyStatus {
	w := earlyStatus{State: s.state(st.State), Timestamp: st.Timestamp}
	if st.Message != nil {
		w.Message = s.message(st.Message)
	}
	return w
}

// state returns the word for a state. In protobuf canceled has two l.
func (s spelling) state(state sdk.TaskState) string {
	switch {
	case s == earlySpelling:
		return wire.Word(state)
	case state == sdk.TaskStateCanceled:
		return "TASK_STATE_CANCELLED"
	}
	return state.String()
}

func (s spelling) message(m *sdk.Message) *earlySaying {
	w := &earlySaying{
		Kind: s.kind("message"), ID: m.ID, ContextID: m.ContextID, TaskID: m.TaskID,
		Extensions: m.Extensions, Metadata: m.Metadata,
	}
	if s == protoSpelling { // which has no references
		w.Role, w.Content = m.Role.String(), s.parts(m.Parts)
		return w
	}
	w.Role, w.Parts, w.References = strings.ToLower(strings.TrimPrefix(string(m.Role), "ROLE_")), s.parts(m.Parts), m.ReferenceTasks
	return w
}

func (s spelling) artifact(a *sdk.Artifact) *earlyResult {
	return &earlyResult{
		ID: a.ID, Name: a.Name, Description: a.Description, Parts: s.parts(a.Parts), Extensions: a.Extensions, Metadata: a.Metadata,
	}
}

func (s spelling) parts(parts sdk.ContentParts) []earlyPart {
	list := make([]earlyPart, len(parts))
	for i, p := range parts {
		list[i] = s.part(p)
	}
	return list
}

func (s spelling) part(p *sdk.Part) earlyPart {
	w := earlyPart{Metadata: p.Metadata}
	switch c := p.Content.(type) {
	case sdk.Text:
		w.Kind, w.Text = s.kind("text"), new(string(c))
	case sdk.Raw:
		w.Kind, w.File = s.kind("file"), &earlyFile{Name: p.Filename, MediaType: p.MediaType}
		text := base64.StdEncoding.EncodeToString(c)
		if s == protoSpelling { // its clients encode twice, and so must their servers
			w.File.WithBytes = new(base64.StdEncoding.EncodeToString([]byte(text)))
		} else {
			w.File.Bytes = &text
		}
	case sdk.URL:
		w.Kind, w.File = s.kind("file"), &earlyFile{Name: p.Filename, MediaType: p.MediaType}
		if s == protoSpelling {
			w.File.WithURI = string(c)
		} else {
			w.File.URI = string(c)
		}
	case sdk.Data:
		w.Kind = s.kind("data")
		w.Data, w.Metadata = earlyData(c.Value, p.Metadata)
		if s == protoSpelling {
			w.Data = json.RawMessage(`{"data":` + string(w.Data) + `}`)
		}
	}
	return w
}

// metaWrapped marks data that is no object: 0.3 knows objects alone, so it goes
// as the member value of one. It is the mark of the SDKs of A2A.
const metaWrapped = "data_part_compat"

// earlyData returns the data of a part as an object, with the metadata to it.
func earlyData(value any, meta map[string]any) (json.RawMessage, map[string]any) {
	raw := jsonOf(value)
	if wire.First(raw) == '{' {
		return raw, meta
	}
	marked := map[string]any{metaWrapped: true}
	maps.Copy(marked, meta)
	return json.RawMessage(`{"value":` + string(raw) + `}`), marked
}

// event writes an event of a stream, nil for one that 0.3 has no word for. What
// ends a turn is final, unless the listener stays for the next.
func (s spelling) event(e sdk.Event, stays bool) any {
	var word string
	var v any
	switch e := e.(type) {
	case *sdk.Task:
		word, v = "task", s.task(e)
	case *sdk.Message:
		word, v = "message", s.message(e)
	case *sdk.TaskStatusUpdateEvent:
		state := e.Status.State
		waits := state == sdk.TaskStateInputRequired || state == sdk.TaskStateAuthRequired
		word, v = "statusUpdate", &earlyChange{
			Kind: s.kind("status-update"), TaskID: e.TaskID, ContextID: e.ContextID, Status: s.status(e.Status),
			Final: state.Terminal() || waits && !stays, Metadata: e.Metadata,
		}
	case *sdk.TaskArtifactUpdateEvent:
		word, v = "artifactUpdate", &earlyArrival{
			Kind: s.kind("artifact-update"), TaskID: e.TaskID, ContextID: e.ContextID, Artifact: s.artifact(e.Artifact),
			Append: e.Append, LastChunk: e.LastChunk, Metadata: e.Metadata,
		}
	default:
		return nil
	}
	return s.wrapped(word, v)
}

// wrapped returns what answers carry: in protobuf an object with one member.
func (s spelling) wrapped(word string, v any) any {
	if s == protoSpelling {
		return map[string]any{word: v}
	}
	return v
}

// The push configurations of A2A 0.3.
type (
	earlyHookJSON struct {
		TaskID sdk.TaskID  `json:"taskId,omitempty"`
		Name   string      `json:"name,omitempty"` // in protobuf
		Config earlyConfig `json:"pushNotificationConfig"`
	}
	earlyConfig struct {
		ID    string     `json:"id,omitempty"`
		URL   string     `json:"url"`
		Token string     `json:"token,omitempty"`
		Auth  *earlyAuth `json:"authentication,omitempty"`
	}
	earlyAuth struct {
		Schemes     []string `json:"schemes"`
		Credentials string   `json:"credentials,omitempty"`
	}
)

// hook is the name of the member with the push configuration that comes with a
// message.
func (s spelling) hook() string {
	if s == protoSpelling {
		return "pushNotification"
	}
	return "pushNotificationConfig"
}

func (s spelling) hookOf(c *sdk.PushConfig) earlyHookJSON {
	w := earlyHookJSON{Config: earlyConfig{ID: c.ID, URL: c.URL, Token: c.Token}}
	if c.Auth != nil {
		w.Config.Auth = &earlyAuth{Schemes: []string{}, Credentials: c.Auth.Credentials}
		if c.Auth.Scheme != "" {
			w.Config.Auth.Schemes = []string{c.Auth.Scheme}
		}
	}
	if s == protoSpelling {
		w.Name = fmt.Sprintf("tasks/%s/pushNotificationConfigs/%s", c.TaskID, c.ID)
	} else {
		w.TaskID = c.TaskID
	}
	return w
}

// hooks is never null on the wire.
func (s spelling) hooks(list []*sdk.PushConfig) []earlyHookJSON {
	all := make([]earlyHookJSON, len(list))
	for i, c := range list {
		all[i] = s.hookOf(c)
	}
	return all
}
