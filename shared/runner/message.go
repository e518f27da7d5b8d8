package runner

import (
	"bytes"
	"context"
	"encoding/json"
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

// Attributes are what a subscription may filter by.
func (m Message) Attributes() map[string]string {
	kind := "step"
	if m.Step == "" {
		kind = "wake"
	}
	return map[string]string{"kind": kind, "flow": m.Flow, "agent": m.Agent}
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
	if _, _, _, ok := m.Step.Parts(); m.Step != "" && !ok {
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
	var due []engine.StepID
	now := r.Now()
	for id, step := range s.Open {
		forgotten := now.Sub(step.Since) >= r.Pace.Grace
		if forgotten && !waits(step, now) {
			due = append(due, id)
		}
	}
	return r.publish(ctx, f, s, due)
}

func waits(step engine.OpenStep, now time.Time) bool {
	return step.NotBefore != nil && step.NotBefore.After(now)
}
