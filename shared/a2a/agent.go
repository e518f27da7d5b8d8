package a2a

import (
	"context"
	"encoding/json"

	"truecost.dev/shared/a2a/task"
)

// Agent is one agent as the table of functions sees it.
type Agent struct {
	Name        string // location, location_scorer, location_critic
	Description string
	Version     string
	Skills      []string // words a caller may search for

	// Offer is what a caller can ask for, with the schemas of what goes in and
	// comes out; it is asked when the agent is served, not at the start of a
	// program. Nil: one skill made of Name, Description and Skills.
	Offer func() []task.Skill

	// Serve does the work. It returns the result, a JSON object, or what Ask
	// returns, to ask a person, or any other error, whose kind and public message
	// become the failed task. It keeps nothing between calls, and it may be run
	// again for a message it has already seen: when an instance died, or when the
	// failure before was of a transient kind. ctx ends at the deadline and when
	// the task was canceled or taken over, not when the caller leaves;
	// context.Cause tells which.
	Serve func(ctx context.Context, req Request) (json.RawMessage, error)
}
