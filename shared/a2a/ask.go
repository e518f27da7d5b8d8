package a2a

import (
	"encoding/json"
	"errors"

	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// Question is what an agent wants to know of a person.
type Question struct {
	Prompt string          `json:"prompt"`           // in words for people; never empty
	Schema json.RawMessage `json:"schema,omitempty"` // JSON Schema of the answer, an object; nil: any JSON value will do
}

// Ask returns the error with which Serve ends a turn to ask a person. The task
// waits, and costs nothing while it does; the message that answers it calls
// Serve again with Request.Answer set, beside whatever else that message
// carries. Nothing an agent knew is kept in between. schema may be nil.
func Ask(prompt string, schema json.RawMessage) error {
	return &asked{Question{Prompt: prompt, Schema: schema}}
}

// asked is a question on its way out of Serve.
type asked struct{ Question }

func (a *asked) Error() string { return "asked: " + a.Prompt }

// questionIn returns the question that an error of Serve is, with its schema as
// a store writes it.
func questionIn(err error) (q Question, ok bool, bad error) {
	a, ok := errors.AsType[*asked](err)
	if !ok {
		return q, false, nil
	}
	q = a.Question
	if q.Prompt == "" {
		return q, true, fault.New(fault.Internal, "the agent asked without words")
	}
	if q.Schema != nil {
		schema, err := json.Marshal(q.Schema)
		if err != nil || wire.First(schema) != '{' {
			return q, true, fault.Wrap(fault.Internal, err, "the agent asked with a schema that is no JSON object")
		}
		q.Schema = schema
	}
	return q, true, nil
}
