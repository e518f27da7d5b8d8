package front

import (
	"encoding/json"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/wire"
)

// flatTask is a task as TrueCost's dialect writes it.
type flatTask struct {
	TaskID   string          `json:"task_id"`
	Status   string          `json:"status"` // submitted, working, completed, failed
	Result   json.RawMessage `json:"result,omitempty"`
	Error    string          `json:"error,omitempty"`
	Metadata map[string]any  `json:"metadata"`
}

// flatQuestion is what a task waits with.
type flatQuestion struct {
	Prompt string          `json:"prompt"`
	Schema json.RawMessage `json:"schema,omitempty"`
}

// flatTaskOf writes every state the dialect has no word for as failed, with the
// true one in the metadata: callers would take a missing result for an empty one.
// A task that goes on names its context there, and one that waits its question.
func flatTaskOf(agent string, t *sdk.Task) flatTask {
	state := wire.Word(t.Status.State)
	w := flatTask{TaskID: string(t.ID), Status: state, Metadata: map[string]any{
		wire.TrueCostMeta[wire.MetaAgent]: agent, wire.TrueCostMeta[wire.MetaDuration]: 0, wire.TrueCostMeta[wire.MetaTokens]: 0,
	}}
	for name, value := range t.Metadata {
		if ours, ok := wire.TrueCostMeta[name]; ok {
			name = ours
		}
		w.Metadata[name] = value
	}
	w.Metadata[wire.MetaState] = state
	switch t.Status.State {
	case sdk.TaskStateSubmitted, sdk.TaskStateWorking:
		w.Metadata[wire.MetaContext] = t.ContextID
	case sdk.TaskStateCompleted:
		w.Result = resultOf(t)
	case sdk.TaskStateInputRequired:
		q := questionOf(t.Status.Message)
		w.Status, w.Error = "failed", "input required: "+q.Prompt
		w.Metadata[wire.MetaContext], w.Metadata[wire.MetaQuestion] = t.ContextID, q
	default:
		w.Status = "failed"
		if w.Error = textOf(t.Status.Message); w.Error == "" {
			w.Error = "the task is " + state
		}
	}
	return w
}

// resultOf returns the data of the artifact named result, else of the last
// artifact with data, else the last text.
func resultOf(t *sdk.Task) json.RawMessage {
	var data any
	text := ""
	for _, a := range t.Artifacts {
		var own any
		for _, p := range a.Parts {
			if v := p.Data(); v != nil {
				own = v
			}
			if s := p.Text(); s != "" {
				text = s
			}
		}
		if own != nil {
			data = own
		}
		if own != nil && a.Name == wire.ResultName {
			break
		}
	}
	if data == nil {
		data = map[string]string{"text": text}
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return nil // unreachable: data comes from JSON
	}
	return raw
}

// questionOf reads the question in a status: the prompt is its text, the schema
// of the answer its data.
func questionOf(m *sdk.Message) flatQuestion {
	q := flatQuestion{Prompt: textOf(m)}
	if m == nil {
		return q
	}
	for _, p := range m.Parts {
		if raw, ok := p.Data().(json.RawMessage); ok {
			q.Schema = raw
		}
	}
	return q
}

func textOf(m *sdk.Message) string {
	if m == nil {
		return ""
	}
	var texts []string
	for _, p := range m.Parts {
		if s := p.Text(); s != "" {
			texts = append(texts, s)
		}
	}
	return strings.Join(texts, "\n")
}
