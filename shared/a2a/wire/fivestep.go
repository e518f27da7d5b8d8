package wire

import (
	"encoding/json"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
)

// Where the five-step protocol answers, below the address of an agent. A card
// tells them to requesters, which read them there. An older form of the protocol
// has the status at /tasks/{id}: in A2A over plain HTTP that is another document,
// and a request says nothing that tells the two apart, so every path here is one
// that A2A does not have.
const (
	FiveStepLogin   = "/login"
	FiveStepSubmit  = "/submit_task"
	FiveStepUpdates = "/task_updates/{task_id}"
	FiveStepStatus  = "/task_status/{task_id}"
	FiveStepCancel  = "/cancel_task/{task_id}"
)

// FiveStepTask is a task in the words of the five-step protocol: the data of a
// frame has the members down to ErrorMessage, the record of a task has all.
type FiveStepTask struct {
	ID            string     `json:"task_id"`
	Status        string     `json:"status"` // submitted, working, completed, failed or cancelled
	StatusMessage string     `json:"status_message"`
	Progress      int        `json:"progress_percent"`        // 0 to 100, never falling
	Artefacts     []Artefact `json:"artefacts,omitempty"`     // once completed
	ErrorMessage  string     `json:"error_message,omitempty"` // once failed

	Requester string          `json:"requesting_agent_id,omitempty"` // as it named itself
	Skill     string          `json:"skill_id,omitempty"`
	Input     json.RawMessage `json:"input_data,omitempty"`
	Created   *time.Time      `json:"created_at,omitempty"`
	Updated   *time.Time      `json:"updated_at,omitempty"`
}

// Artefact is one thing that a task made. Data, text or an address: one of them.
type Artefact struct {
	Name  string          `json:"name"`
	Data  json.RawMessage `json:"data,omitempty"`
	Text  *string         `json:"text,omitempty"`
	URL   string          `json:"url,omitempty"`
	Media string          `json:"media_type,omitempty"`
}

// FiveStepWord returns the status of a state. A task that waits for a person is working:
// requesters know of nothing else.
func FiveStepWord(s sdk.TaskState) string {
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
