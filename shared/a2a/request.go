package a2a

import (
	"encoding/json"
	"time"
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

	ReceivedAt time.Time `json:"-"` // when the front took the message in: the only clock an agent sees
}
