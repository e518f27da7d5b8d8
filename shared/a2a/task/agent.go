package task

import (
	"context"
	"iter"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
)

// Agent is one agent as fronts, cards and workers see it. It sees no dialect:
// what a message says comes in a Turn, what it does goes out as events.
type Agent struct {
	Name        string // location, location_scorer; names the function and the tasks
	Title       string // for people; empty: Name with spaces
	Description string
	Version     string
	Skills      []Skill // at least one

	// InputModes and OutputModes are the media types of parts that the agent takes
	// and makes. Nil: application/json.
	InputModes, OutputModes []string

	// Check refuses a message before a task is begun, with fault.Invalid that
	// names the member at fault. Nil takes every message.
	Check func(msg *sdk.Message) error

	// Run does the work of one turn. Its events become the task in their order:
	//
	//	*sdk.TaskStatusUpdateEvent    the state, with words or without
	//	*sdk.TaskArtifactUpdateEvent  an artifact, or what is appended to one
	//	*sdk.Message                  the whole answer, without a task; only as the first and last event
	//
	// A terminal state, or one that waits for a person, ends the turn. A turn that
	// ends without either is a failure of the agent. An error becomes the failed
	// task: its kind and public message go out, its text goes to the log.
	//
	// Run keeps nothing between turns. It may be run again for a message it has
	// seen: when an instance died, or when the failure before was of a transient
	// kind; so artifacts have fixed ids, and the first chunk of one replaces what
	// is there. ctx ends at the deadline and when the task was canceled or taken
	// over, not when the caller leaves; context.Cause tells which.
	Run func(ctx context.Context, turn Turn) iter.Seq2[sdk.Event, error]

	// Deadline of one turn; 0 leaves it to the desk.
	Deadline time.Duration

	// EveryMessage runs a message again although its UUID was seen before: for
	// agents whose callers reuse them.
	EveryMessage bool
}

// Skill is one thing an agent can be asked for.
type Skill struct {
	sdk.AgentSkill

	Input, Output string // what goes in and what comes out, in words
	InputSchema   []byte // JSON Schema 2020-12, or nil
	OutputSchema  []byte
}

// Caller is who asks, as the front verified it. The zero Caller is anybody:
// where callers need not say who they are, they share their tasks.
type Caller struct {
	ID string // subject of a token
}

// Turn is one message for an agent to work on.
type Turn struct {
	TaskID    sdk.TaskID
	ContextID string
	Message   *sdk.Message // the data of its parts is json.RawMessage
	Task      *sdk.Task    // as it was before the turn; nil in the first turn of a task
	Caller    Caller
	Received  time.Time // when the front took the message in: the only clock an agent sees
	Try       int       // 1, and one more for each run of the same turn before
}

// TaskInfo lets the SDK's constructors of events take a turn.
func (t Turn) TaskInfo() sdk.TaskInfo { return sdk.TaskInfo{TaskID: t.TaskID, ContextID: t.ContextID} }
