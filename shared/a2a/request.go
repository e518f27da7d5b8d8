package a2a

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// Request is what one agent of TrueCost asks of another, whatever dialect
// carried it: the data part of a message.
type Request struct {
	EstimateID     string          `json:"estimate_id"`
	Input          json.RawMessage `json:"input,omitempty"`
	Feedback       json.RawMessage `json:"critic_feedback,omitempty"` // of the critic of the attempt before
	Attempt        int             `json:"retry_attempt"`             // 0 is the first try
	PreviousAgents []string        `json:"previous_agents,omitempty"`

	// Scorers and critics get the agent they judge and its output; a critic
	// also the score and the scorer's words.
	Agent          string          `json:"agent_name,omitempty"`
	Output         json.RawMessage `json:"output,omitempty"`
	Score          *float64        `json:"score,omitempty"`
	ScorerFeedback string          `json:"scorer_feedback,omitempty"`

	// A message that answers a question continues the task that asked it, in the
	// context of its first message. The rest of the request comes once more: an
	// agent keeps nothing between turns.
	TaskID    string          `json:"-"` // empty in the first message of a task
	ContextID string          `json:"-"` // empty: the estimate
	Answer    json.RawMessage `json:"human_input,omitempty"`

	ReceivedAt time.Time `json:"-"` // when the front took the message in: the only clock an agent sees
}

// controls are the members of a data part that are not input of the agent.
var controls = []string{"estimate_id", "critic_feedback", "retry_attempt", "previous_agents", "human_input"}

// requestOf reads the request from the first data part of a message. Without a
// member input, the input is the data less the control members.
func requestOf(msg *sdk.Message) (Request, error) {
	for i, p := range msg.Parts {
		raw, ok := p.Data().(json.RawMessage)
		if !ok {
			continue
		}
		path := fmt.Sprintf("params.message.parts[%d].data", i)
		var req Request
		if err := json.Unmarshal(raw, &req); err != nil {
			if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
				return Request{}, fault.Wrap(fault.Invalid, err, "%s.%s: want %s, got %s", path, wrong.Field, wrong.Type, wrong.Value)
			}
			return Request{}, fault.Wrap(fault.Invalid, err, "%s: want the members of a request", path)
		}
		switch {
		case req.EstimateID == "":
			return Request{}, fault.New(fault.Invalid, "%s.estimate_id: want a string that is not empty", path)
		case req.Attempt < 0:
			return Request{}, fault.New(fault.Invalid, "%s.retry_attempt: want 0 or more", path)
		}
		data, _ := wire.Object(raw)
		if data.Has("input") {
			return req, nil
		}
		for _, name := range controls {
			delete(data, name)
		}
		delete(data, "input")
		var err error
		if req.Input, err = json.Marshal(data); err != nil {
			return Request{}, fmt.Errorf("encode the input: %w", err)
		}
		return req, nil
	}
	return Request{}, fault.New(fault.Invalid, "params.message.parts: want a part with data")
}
