package engine

import (
	"strconv"
	"strings"
)

// Role of a step within an attempt.
type Role string

// The roles. Expand, Shard and Join are the engine's own work; the others call
// an agent.
const (
	RolePrimary Role = "p"
	RoleScorer  Role = "s"
	RoleCritic  Role = "c"
	RoleChunk   Role = "k" // k{index}: one call of a fan-out
	RoleExpand  Role = "x" // cut the list into chunks
	RoleShard   Role = "d" // d{index}: the chunks of a shard are done
	RoleJoin    Role = "j" // the shards become one output
)

// indexed reports whether a role carries an index.
func (r Role) indexed() bool { return r == RoleChunk || r == RoleShard }

// CallsAgent reports whether a step of this role is the call of an agent.
func (r Role) CallsAgent() bool {
	return r == RolePrimary || r == RoleScorer || r == RoleCritic || r == RoleChunk
}

// StepID names one step: {node}.{attempt}.{role}, with an index behind the roles
// k and d, and .{turn} behind a call that a person's answer continues.
type StepID string

// StepRef is a StepID taken apart.
type StepRef struct {
	Node    string
	Attempt int
	Role    Role
	Index   int // of a chunk or a shard
	Turn    int // answers given before; 0 for the first call
}

// Step returns the id of a step without index and turn.
func Step(node string, attempt int, role Role) StepID {
	return StepRef{Node: node, Attempt: attempt, Role: role}.ID()
}

// ID returns the id that r describes.
func (r StepRef) ID() StepID {
	var room [64]byte // enough for the longest name; on the stack
	b := append(room[:0], r.Node...)
	b = append(b, '.')
	b = strconv.AppendInt(b, int64(r.Attempt), 10)
	b = append(b, '.')
	b = append(b, r.Role...)
	if r.Role.indexed() {
		b = strconv.AppendInt(b, int64(r.Index), 10)
	}
	if r.Turn > 0 {
		b = append(b, '.')
		b = strconv.AppendInt(b, int64(r.Turn), 10)
	}
	return StepID(b)
}

// Ref takes the id apart; ok is false for what is not a step id. Ref and ID are
// inverse: a number has one spelling.
func (id StepID) Ref() (r StepRef, ok bool) {
	node, rest, ok := strings.Cut(string(id), ".")
	if !ok || node == "" {
		return StepRef{}, false
	}
	attempt, rest, ok := strings.Cut(rest, ".")
	if !ok {
		return StepRef{}, false
	}
	role, turn, turned := strings.Cut(rest, ".")
	r = StepRef{Node: node}
	if r.Attempt, ok = number(attempt); !ok || !r.role(role) || (turned && !r.turn(turn)) {
		return StepRef{}, false
	}
	return r, true
}

func (r *StepRef) role(s string) (ok bool) {
	if s == "" {
		return false
	}
	r.Role = Role(s[:1])
	if r.Role.indexed() {
		r.Index, ok = number(s[1:])
		return ok
	}
	return len(s) == 1 && (r.Role.CallsAgent() || r.Role == RoleExpand || r.Role == RoleJoin)
}

func (r *StepRef) turn(s string) (ok bool) {
	r.Turn, ok = number(s)
	return ok && r.Turn > 0 && r.Role.CallsAgent() && r.Role != RoleChunk
}

func number(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0 && strconv.Itoa(n) == s
}

// AgentOf returns the agent that serves a step of the flow, or "".
func (f *Flow) AgentOf(id StepID) string {
	r, ok := id.Ref()
	n := f.Node(r.Node)
	if !ok || n == nil {
		return ""
	}
	switch r.Role {
	case RolePrimary, RoleChunk:
		return n.Agent
	case RoleScorer, RoleCritic:
		if n.Gate == nil {
			return ""
		}
		if r.Role == RoleScorer {
			return n.Gate.Scorer
		}
		return n.Gate.Critic
	default:
		return ""
	}
}
