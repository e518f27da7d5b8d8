package front

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

func (fiveStep) encode(r request, c call, a answer) response {
	switch {
	case a.err != nil:
		return fiveStepError(a.err)
	case c.op == submitMessage:
		t := fiveStepTask(a.task)
		return fiveStepResponse(http.StatusAccepted, struct {
			ID            string `json:"task_id"`
			Status        string `json:"status"`
			StatusMessage string `json:"status_message"`
			Updates       string `json:"updates_url"`
		}{t.ID, t.Status, t.StatusMessage, updatesURL(r.base, t.ID)})
	}
	return fiveStepResponse(http.StatusOK, fiveStepRecord(a.task))
}

// updatesURL is where a task is listened to: absolute by configuration, never by
// the Host header; without configuration relative to the address of submit_task.
func updatesURL(base, id string) string {
	path := strings.Replace(wire.FiveStepUpdates, "{task_id}", id, 1)
	if base == "" {
		return strings.TrimPrefix(path, "/")
	}
	return base + path
}

// broken is the last frame of a stream that cannot go on. The task does, unless it
// is no more.
func (fiveStep) broken(c call, err error) event {
	refusal := wire.RefusalOf(err)
	e, data := event{name: "stream_error"}, any(map[string]string{"message": refusal.Message})
	if refusal.Code == wire.CodeTaskNotFound {
		e.name, data = "task_error", map[string]string{"task_id": string(c.task), "status": "error", "status_message": refusal.Message}
	}
	e.data = jsonOf(data)
	return e
}

// told is what the frames of one stream have told so far. A frame tells the whole
// task, an event only what changed.
type told struct {
	task *sdk.Task
	seen int64 // the last event that the listener had before; -1: not even the task as it was submitted
}

func (fiveStep) frame(_ request, c call, f task.Frame) (event, bool) {
	now := c.told.with(f)
	if now == nil || f.Seq <= c.told.seen && !now.Status.State.Terminal() {
		return event{}, false
	}
	t := fiveStepTask(now)
	name := "task_update"
	switch t.Status {
	case "completed":
		name = "task_completion"
	case "failed":
		name = "task_failure"
	}
	return event{name: name, id: strconv.FormatInt(f.Seq, 10), data: jsonOf(t)}, true
}

// with takes an event in and returns the task as it is then; nil after an event
// that no frame tells of.
func (t *told) with(f task.Frame) *sdk.Task {
	if t.task == nil {
		t.task = &sdk.Task{}
	}
	switch e := f.Event.(type) {
	case *sdk.Task:
		now := *e
		now.Metadata = maps.Clone(e.Metadata)
		now.Artifacts = slices.Clone(e.Artifacts)
		t.task = &now
	case *sdk.TaskStatusUpdateEvent:
		t.task.ID, t.task.Status = e.TaskID, e.Status
		for name, value := range e.Metadata {
			t.task.SetMeta(name, value)
		}
	case *sdk.TaskArtifactUpdateEvent:
		t.task.Artifacts = arrived(t.task.Artifacts, e)
		return nil
	default:
		return nil
	}
	return t.task
}

// arrived returns the artifacts of a task after one, or a chunk of one, came.
func arrived(list []*sdk.Artifact, e *sdk.TaskArtifactUpdateEvent) []*sdk.Artifact {
	i := slices.IndexFunc(list, func(a *sdk.Artifact) bool { return a.ID == e.Artifact.ID })
	switch {
	case i < 0:
		return append(list, e.Artifact)
	case e.Append:
		whole := *list[i]
		whole.Parts = append(slices.Clip(whole.Parts), e.Artifact.Parts...)
		list[i] = &whole
	default:
		list[i] = e.Artifact
	}
	return list
}

// fiveStepBody is a task in the words of the five-step protocol: the data of a
// frame has the members down to ErrorMessage, the record of a task has all.
type fiveStepBody struct {
	ID            string             `json:"task_id"`
	Status        string             `json:"status"` // submitted, working, completed, failed or cancelled
	StatusMessage string             `json:"status_message"`
	Progress      int                `json:"progress_percent"`        // 0 to 100, never falling
	Artefacts     []fiveStepArtefact `json:"artefacts,omitempty"`     // once completed
	ErrorMessage  string             `json:"error_message,omitempty"` // once failed

	Requester string          `json:"requesting_agent_id,omitempty"` // as it named itself
	Skill     string          `json:"skill_id,omitempty"`
	Input     json.RawMessage `json:"input_data,omitempty"`
	Created   string          `json:"created_at,omitempty"`
	Updated   *time.Time      `json:"updated_at,omitempty"`
}

// fiveStepArtefact is one thing that a task made. Data, text or an address: one of them.
type fiveStepArtefact struct {
	Name  string          `json:"name"`
	Data  json.RawMessage `json:"data,omitempty"`
	Text  *string         `json:"text,omitempty"`
	URL   string          `json:"url,omitempty"`
	Media string          `json:"media_type,omitempty"`
}

// fiveStepWord returns the status of a state. A task that waits for a person is working:
// requesters know of nothing else.
func fiveStepWord(s sdk.TaskState) string {
	switch s {
	case sdk.TaskStateSubmitted:
		return "submitted"
	case sdk.TaskStateCompleted:
		return "completed"
	case sdk.TaskStateFailed, sdk.TaskStateRejected:
		return "failed"
	case sdk.TaskStateCanceled:
		return "cancelled"
	default:
		return "working"
	}
}

// fiveStepTask tells what frames tell of a task.
func fiveStepTask(t *sdk.Task) fiveStepBody {
	state := t.Status.State
	f := fiveStepBody{
		ID: string(t.ID), Status: fiveStepWord(state), StatusMessage: textOf(t.Status.Message), Progress: progressOf(t),
	}
	if f.StatusMessage == "" {
		f.StatusMessage = "the task is " + f.Status
	}
	switch f.Status {
	case "completed":
		f.Artefacts = artefactsOf(t)
	case "failed":
		f.ErrorMessage = f.StatusMessage
	}
	return f
}

// fiveStepRecord tells all of a task, also of one that another dialect began.
func fiveStepRecord(t *sdk.Task) fiveStepBody {
	f := fiveStepTask(t)
	f.Created, _ = t.Metadata[wire.MetaCreated].(string)
	f.Updated = t.Status.Timestamp
	if len(t.History) == 0 {
		return f
	}
	first := t.History[0]
	f.Skill, _ = first.Metadata[wire.MetaSkill].(string)
	f.Requester, _ = first.Metadata[metaRequester].(string)
	for _, p := range first.Parts {
		if data, ok := p.Content.(sdk.Data); ok {
			f.Input = jsonOf(data.Value)
			break
		}
	}
	return f
}

// progressOf reads the progress, which is whole only once the task is completed.
func progressOf(t *sdk.Task) int {
	if t.Status.State == sdk.TaskStateCompleted {
		return 100
	}
	percent, _ := task.Progress(t.Metadata)
	return percent
}

// artefactsOf makes an artefact of each part, since the dialect has one content
// each; the chunks of a text are one. What an agent returned, an object, is told
// member by member, under the names that the schema of the skill has.
func artefactsOf(t *sdk.Task) []fiveStepArtefact {
	list := []fiveStepArtefact{}
	for _, a := range t.Artifacts {
		var text *string // that the last part continues
		for _, p := range a.Parts {
			if more, ok := p.Content.(sdk.Text); ok && text != nil {
				*text += string(more)
				continue
			}
			f := artefactOf(a, p)
			text = f.Text
			if members := membersOf(f.Data); a.Name == wire.ResultName && members != nil {
				list = append(list, members...)
			} else {
				list = append(list, f)
			}
		}
	}
	return list
}

// membersOf makes artefacts of the members of an object, in their order; nil of
// anything else.
func membersOf(data json.RawMessage) []fiveStepArtefact {
	d := json.NewDecoder(bytes.NewReader(data))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil
	}
	var list []fiveStepArtefact
	for d.More() {
		name, err := d.Token()
		f := fiveStepArtefact{Name: fmt.Sprint(name)}
		if err != nil || d.Decode(&f.Data) != nil {
			return nil // unreachable: it is JSON
		}
		if wire.First(f.Data) == '"' && json.Unmarshal(f.Data, &f.Text) == nil {
			f.Data = nil
		}
		list = append(list, f)
	}
	return list
}

func artefactOf(a *sdk.Artifact, p *sdk.Part) fiveStepArtefact {
	f := fiveStepArtefact{Name: a.Name, Media: p.MediaType}
	if f.Name == "" {
		f.Name = string(a.ID)
	}
	switch content := p.Content.(type) {
	case sdk.Data:
		f.Data = jsonOf(content.Value)
	case sdk.Text:
		f.Text = new(string(content))
	case sdk.URL:
		f.URL = string(content)
	case sdk.Raw:
		f.URL = "data:" + p.MediaType + ";base64," + base64.StdEncoding.EncodeToString(content)
	}
	return f
}

func jsonOf(v any) json.RawMessage {
	raw, err := wire.Compact(v)
	if err != nil {
		return wire.Null // unreachable: what is told comes from JSON
	}
	return raw
}

// fiveStepFault is the body of every error: plain HTTP.
type fiveStepFault struct {
	Error   string `json:"error"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message,omitempty"` // of a 401, where older requesters look for it
	Details any    `json:"details,omitempty"`
}

// names are the dialect's own for what the task model calls otherwise.
var names = strings.NewReplacer(
	"params.message.parts[0].data", "input_data",
	"params.message.metadata."+wire.MetaSkill, "skill_id",
	"params.message.messageId: ", "the Idempotency-Key: ",
)

func fiveStepError(err error) response {
	refusal := wire.RefusalOf(err)
	status := refusal.REST
	switch refusal.Code {
	case wire.CodeUnsupported, wire.CodeNotCancelable:
		status = http.StatusConflict
	case wire.CodeContentType:
		status = http.StatusUnsupportedMediaType
	}
	body := fiveStepFault{Error: names.Replace(refusal.Message), Details: fault.Details(err)}
	if status == http.StatusBadRequest {
		body.Field, _ = faulty(body.Error)
	}
	if status == http.StatusUnauthorized {
		body.Message = body.Error
	}
	return fiveStepResponse(status, body)
}

func fiveStepResponse(status int, v any) response {
	return response{status: status, body: jsonOf(v)}
}
