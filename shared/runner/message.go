package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

// Message is a hint that a step is due. It carries references only; everything
// that counts is in the store.
type Message struct {
	V    int           `json:"v"`
	Run  string        `json:"run"`
	Step engine.StepID `json:"step,omitempty"` // empty: only wake the run
	Rev  int           `json:"rev"`            // for logs, never for decisions

	Flow  string `json:"-"`
	Agent string `json:"-"`
}

// messageVersion is written; it and none other is understood so far.
const messageVersion = 1

// Kinds of messages. Calls may take minutes, the others take a moment: they
// travel on two topics, so that the former never slow the latter.
const (
	KindStep   = "step"   // call an agent
	KindChunk  = "chunk"  // call an agent for one chunk of a fan-out
	KindExpand = "expand" // cut a list into chunks
	KindShard  = "shard"  // the chunks of a shard are done
	KindJoin   = "join"   // make one output of the shards
	KindWake   = "wake"   // look what is due
)

// Kind says what a message asks for.
func (m Message) Kind() string {
	ref, _ := m.Step.Ref()
	switch ref.Role {
	case engine.RoleChunk:
		return KindChunk
	case engine.RoleExpand:
		return KindExpand
	case engine.RoleShard:
		return KindShard
	case engine.RoleJoin:
		return KindJoin
	case engine.RolePrimary, engine.RoleScorer, engine.RoleCritic:
		return KindStep
	default:
		return KindWake
	}
}

// Calls reports whether handling the message calls an agent.
func (m Message) Calls() bool { return m.Kind() == KindStep || m.Kind() == KindChunk }

// Attributes are what a subscription may filter by.
func (m Message) Attributes() map[string]string {
	return map[string]string{"kind": m.Kind(), "flow": m.Flow, "agent": m.Agent}
}

// DecodeMessage reads the data of a message. A fault.Invalid one can never be
// handled: acknowledge and count it.
func DecodeMessage(data []byte) (Message, error) {
	var m Message
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&m); err != nil {
		return Message{}, fault.Wrap(fault.Invalid, err, "a step message is a JSON object with v, run and step")
	}
	if d.More() {
		return Message{}, fault.New(fault.Invalid, "a step message is one JSON object")
	}
	if m.V != messageVersion {
		return Message{}, fault.New(fault.Invalid, "message version %d is not understood, wanted %s", m.V, strconv.Itoa(messageVersion))
	}
	if m.Run == "" {
		return Message{}, fault.New(fault.Invalid, "a step message names its run")
	}
	if _, ok := m.Step.Ref(); m.Step != "" && !ok {
		return Message{}, fault.New(fault.Invalid, "%q is not a step id", m.Step)
	}
	return m, nil
}

func (r *Runner) publish(ctx context.Context, f *engine.Flow, s *engine.State, ids []engine.StepID) error {
	if len(ids) == 0 {
		return nil
	}
	messages := make([]Message, len(ids))
	for i, id := range ids {
		messages[i] = Message{V: messageVersion, Run: s.RunID(), Step: id, Rev: s.Rev, Flow: s.FlowID, Agent: f.AgentOf(id)}
	}
	return r.Bus.Publish(ctx, messages...)
}

// catchUp publishes the open steps that somebody should have published by now:
// it repairs a crash between a commit and its publish.
func (r *Runner) catchUp(ctx context.Context, f *engine.Flow, s *engine.State) error {
	return r.publish(ctx, f, s, r.due(s, r.Pace.Grace))
}

// due lists the open steps that have been open for an age and do not wait.
func (r *Runner) due(s *engine.State, age time.Duration) []engine.StepID {
	if s.Hold != nil {
		return nil
	}
	now := r.Now()
	return slices.DeleteFunc(keys(s.Open), func(id engine.StepID) bool {
		return now.Sub(s.Open[id].Since) < age || waits(s.Open[id].NotBefore, now)
	})
}

func waits(notBefore *time.Time, now time.Time) bool {
	return notBefore != nil && notBefore.After(now)
}
