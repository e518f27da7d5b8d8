package engine

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Schema is the generation of State that new runs have. This code also reads the
// one before, and writes what it read: a run keeps its schema to its end.
//
//	1  chain and graph, gates, retries, cancel
//	2  coalesced views, holds, questions, fan-out, conditions, carried outputs
//	3  the same, stored in one piece
const Schema = 3

// Status of a run.
type Status string

// The statuses. The last three are ends.
const (
	Running      Status = "running"
	WaitingInput Status = "waiting_input" // nothing can happen until a person acts
	Completed    Status = "completed"
	Failed       Status = "failed"
	Canceled     Status = "canceled"
)

// Ended reports whether a run in this status can no longer change.
func (s Status) Ended() bool { return s == Completed || s == Failed || s == Canceled }

// Phase of a node.
type Phase string

// The phases. A node moves only forward; an attempt brings it back to Primary or
// Expanding, an answer to where it asked.
const (
	Blocked    Phase = "blocked"
	Waiting    Phase = "waiting_input" // for a person: see Progress.Ask
	Primary    Phase = "primary"
	Expanding  Phase = "expanding" // a fan-out cuts its list into chunks
	Fanning    Phase = "fanning"   // the chunks are at work
	Joining    Phase = "joining"   // their results become one
	Scoring    Phase = "scoring"
	Critiquing Phase = "critiquing"
	Passed     Phase = "passed"
	Degraded   Phase = "degraded"
	Skipped    Phase = "skipped" // its conditions do not hold
	NodeFailed Phase = "failed"
)

// Settled reports whether nodes that need this one may start.
func (p Phase) Settled() bool { return p == Passed || p == Degraded || p == Skipped }

// working reports whether a node in this phase is at work.
func (p Phase) working() bool {
	switch p {
	case Primary, Expanding, Fanning, Joining, Scoring, Critiquing:
		return true
	default:
		return false
	}
}

// State is a run: ids, counters and scores, never a payload.
type State struct {
	Schema     int        `json:"schema"`
	Flow       string     `json:"flow"` // Flow.Hash
	FlowID     string     `json:"flowId"`
	EstimateID string     `json:"estimateId"`
	Owner      string     `json:"ownerId"`
	Project    string     `json:"projectId,omitempty"`
	N          int        `json:"n"`     // 1, and one more per manual retry
	Input      string     `json:"input"` // hash of the start request
	Status     Status     `json:"status"`
	Rev        int        `json:"rev"` // applied events
	CreatedAt  time.Time  `json:"createdAt"`
	UpdatedAt  time.Time  `json:"updatedAt"`
	EndedAt    *time.Time `json:"endedAt,omitempty"`
	DeadlineAt time.Time  `json:"deadlineAt"`
	WakeAt     *time.Time `json:"wakeAt,omitempty"` // when the sweeper looks; nil once ended and while held

	Parent    string            `json:"parent,omitempty"`    // the run that this one tries again
	Carried   []string          `json:"carried,omitempty"`   // nodes that had passed there
	Edits     map[string]string `json:"edits,omitempty"`     // by node: the input that holds members to replace
	Facts     map[string]any    `json:"facts,omitempty"`     // of the run's input, for conditions
	Hold      *Hold             `json:"hold,omitempty"`      // nil: not held
	WaitSince *time.Time        `json:"waitSince,omitempty"` // since when only people can act
	ViewAt    *time.Time        `json:"viewAt,omitempty"`    // when the view was last written

	Nodes map[string]Progress `json:"nodes"`
	Open  map[StepID]OpenStep `json:"open"` // the steps that should happen now: the outbox
	Error *Error              `json:"error,omitempty"`
	Flags []string            `json:"flags,omitempty"` // partial, critic_unavailable
}

// Progress of a node.
type Progress struct {
	Phase   Phase  `json:"st"`
	Attempt int    `json:"attempt"`
	Best    int    `json:"best"`             // attempt with the highest score; the earlier one on a tie
	Scores  []int  `json:"scores,omitempty"` // by attempt
	Out     StepID `json:"out,omitempty"`    // step whose result is the node's output
	Err     *Error `json:"err,omitempty"`

	From  string         `json:"from,omitempty"`  // the run that Out belongs to, when carried from there
	Made  StepID         `json:"made,omitempty"`  // step whose result is this attempt's output, when it is not the obvious one: see Node.Made
	Last  StepID         `json:"last,omitempty"`  // the same of the attempt before
	Turn  int            `json:"turns,omitempty"` // answers that a person gave to the step at hand
	Ask   *Asked         `json:"ask,omitempty"`   // what a Waiting node waits for
	Fan   *Fan           `json:"fan,omitempty"`   // of the attempt at hand
	Facts map[string]any `json:"facts,omitempty"` // of the best attempt's output, for conditions
}

// Asked is a question that a node waits to have answered.
type Asked struct {
	ID        string    `json:"id"`
	Kind      AskKind   `json:"kind"`
	Phase     Phase     `json:"phase"`            // where the node goes on
	Prompt    string    `json:"prompt,omitempty"` // its beginning, at most 500 bytes, less where there are more than 40 nodes; the whole is with the input
	Since     time.Time `json:"since"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// AskKind says who asks.
type AskKind string

// The kinds of questions.
const (
	AskAgent     AskKind = "agent"     // an agent, in the middle of its work
	AskPause     AskKind = "pause"     // the flow, before the agent works
	AskExhausted AskKind = "exhausted" // a gate that no attempt passed: accept the best one?
)

// Fan is the size of a fan-out and, once joined, how much of it failed.
type Fan struct {
	Chunks int `json:"chunks"`
	Shards int `json:"shards"`
	Active int `json:"active"` // shards at work at once
	Failed int `json:"failed,omitempty"`
}

// Hold is a person's wish that nothing new begins.
type Hold struct {
	By     string    `json:"by"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
}

// OpenStep is a step that should happen.
type OpenStep struct {
	Since     time.Time  `json:"since"`
	NotBefore *time.Time `json:"notBefore,omitempty"`
	Tries     int        `json:"tries"` // calls that failed in transport so far
}

// Error is why a node or a run failed, fit for its owner to read.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Agent   string `json:"agent,omitempty"`
}

// Codes of errors.
const (
	CodeAgentFailed      = "AGENT_FAILED"
	CodeAgentTimeout     = "AGENT_TIMEOUT"
	CodeAmbiguous        = "AGENT_AMBIGUOUS"            // it may have worked; asking again might pay twice
	CodeValidationFailed = "AGENT_VALIDATION_FAILED"    // the scorer could not judge
	CodeRetriesExhausted = "AGENT_MAX_RETRIES_EXCEEDED" // no attempt reached the threshold
	CodePipelineTimeout  = "PIPELINE_TIMEOUT"
	CodeInputExpired     = "INPUT_EXPIRED" // nobody answered in time
	CodeGivenUp          = "GIVEN_UP"      // a person was asked and gave up
	CodeChunkFailed      = "CHUNK_FAILED"
)

// Flags of a run.
const (
	FlagPartial           = "partial"
	FlagCriticUnavailable = "critic_unavailable"
)

// RunID returns the id of the run's document.
func (s *State) RunID() string { return RunID(s.EstimateID, s.N) }

// RunID returns the id of the n-th run of an estimate.
func RunID(estimate string, n int) string { return fmt.Sprintf("%s~%d", estimate, n) }

// clone returns a copy that shares nothing with s that a transition changes in
// place. Open is replaced as a whole.
func (s *State) clone() State {
	c := *s
	c.Nodes = maps.Clone(s.Nodes)
	c.Flags = slices.Clone(s.Flags)
	// Progress values are replaced, never changed in place: their maps and
	// pointers may be shared.
	return c
}
