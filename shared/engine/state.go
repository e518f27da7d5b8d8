package engine

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Schema is the generation of State this code writes.
const Schema = 1

// Status of a run.
type Status string

// The statuses. The last three are ends.
const (
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
	Canceled  Status = "canceled"
)

// Ended reports whether a run in this status can no longer change.
func (s Status) Ended() bool { return s == Completed || s == Failed || s == Canceled }

// Phase of a node.
type Phase string

// The phases. A node moves only forward; an attempt brings it back to Primary.
const (
	Blocked    Phase = "blocked"
	Primary    Phase = "primary"
	Scoring    Phase = "scoring"
	Critiquing Phase = "critiquing"
	Passed     Phase = "passed"
	Degraded   Phase = "degraded"
	NodeFailed Phase = "failed"
)

// settled reports whether nodes that need this one may start.
func (p Phase) settled() bool { return p == Passed || p == Degraded }

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
	WakeAt     *time.Time `json:"wakeAt,omitempty"` // when the sweeper looks; nil once ended

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
	CodeAgentFailed       = "AGENT_FAILED"
	CodeAgentTimeout      = "AGENT_TIMEOUT"
	CodeValidationFailed  = "AGENT_VALIDATION_FAILED"    // the scorer could not judge
	CodeRetriesExhausted  = "AGENT_MAX_RETRIES_EXCEEDED" // no attempt reached the threshold
	CodePipelineTimeout   = "PIPELINE_TIMEOUT"
	FlagPartial           = "partial"
	FlagCriticUnavailable = "critic_unavailable"
)

// RunID returns the id of the run's document.
func (s *State) RunID() string { return RunID(s.EstimateID, s.N) }

// RunID returns the id of the n-th run of an estimate.
func RunID(estimate string, n int) string { return fmt.Sprintf("%s~%d", estimate, n) }

// clone returns a copy that shares nothing mutable with s.
func (s *State) clone() State {
	c := *s
	c.Nodes = maps.Clone(s.Nodes)
	c.Open = maps.Clone(s.Open)
	c.Flags = slices.Clone(s.Flags)
	return c
}

// Role of a step within an attempt.
type Role string

// The roles.
const (
	RolePrimary Role = "p"
	RoleScorer  Role = "s"
	RoleCritic  Role = "c"
)

// StepID names one agent call: {node}.{attempt}.{role}.
type StepID string

// Step returns the id of a step.
func Step(node string, attempt int, role Role) StepID {
	return StepID(node + "." + strconv.Itoa(attempt) + "." + string(role))
}

// Parts takes the id apart; ok is false for what is not a step id.
func (id StepID) Parts() (node string, attempt int, role Role, ok bool) {
	parts := strings.Split(string(id), ".")
	if len(parts) != 3 || parts[0] == "" {
		return "", 0, "", false
	}
	attempt, err := strconv.Atoi(parts[1])
	role = Role(parts[2])
	if err != nil || attempt < 0 || strconv.Itoa(attempt) != parts[1] ||
		(role != RolePrimary && role != RoleScorer && role != RoleCritic) {
		return "", 0, "", false
	}
	return parts[0], attempt, role, true
}

// AgentOf returns the agent that serves a step of the flow, or "".
func (f *Flow) AgentOf(id StepID) string {
	node, _, role, ok := id.Parts()
	n := f.Node(node)
	if !ok || n == nil {
		return ""
	}
	switch {
	case role == RolePrimary:
		return n.Agent
	case n.Gate == nil:
		return ""
	case role == RoleScorer:
		return n.Gate.Scorer
	default:
		return n.Gate.Critic
	}
}
