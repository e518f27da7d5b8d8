package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/fault"
)

var agentPattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// runCall sends one message to an agent and prints the result object.
func runCall(ctx context.Context, c *call) error {
	agent := strings.TrimPrefix(c.args[0], "a2a_")
	if !agentPattern.MatchString(agent) {
		return fault.New(fault.Invalid, "%q is not the name of an agent, as cost or cost_scorer", c.args[0])
	}
	raw, err := c.read(c.args[1])
	if err != nil {
		return err
	}
	req, err := request(raw)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "%s is not a JSON object that an agent can be sent", name(c.args[1]))
	}
	s, err := c.connect(ctx, false)
	if err != nil {
		return err
	}
	defer s.stop()
	ctx, cancel := context.WithTimeout(ctx, workTimeout)
	defer cancel()
	client := &a2a.Client{HTTP: s.http, BaseURL: s.Functions}
	result, err := client.Call(ctx, agent, uuid.NewString(), req)
	if err != nil {
		return err
	}
	switch result.State {
	case a2a.Working:
		return fault.New(fault.Timeout, "agent %s is still at work on task %s", agent, result.TaskID)
	case a2a.InputRequired:
		return fault.New(fault.Conflict, "agent %s asks a question, and this command cannot answer: %s", agent, result.Question.Prompt)
	}
	return c.printJSON(result.Output)
}

// request makes the data of a message from a JSON object: one with an input is
// taken as the data; of any other, what does not control the call is the input.
// An id is made up where none is given.
func request(raw []byte) (a2a.Request, error) {
	var req a2a.Request
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return req, err
	}
	if err := json.Unmarshal(raw, &req); err != nil {
		return req, err
	}
	if req.EstimateID == "" {
		_ = json.Unmarshal(members["estimateId"], &req.EstimateID) // else it stays empty
	}
	if req.EstimateID == "" {
		req.EstimateID = "est-" + strings.ToLower(rand.Text()[:12])
	}
	if req.Input != nil {
		return req, nil
	}
	for _, control := range []string{
		"estimate_id", "critic_feedback", "retry_attempt", "previous_agents", "agent_name", "output", "score", "scorer_feedback", "human_input",
	} {
		delete(members, control)
	}
	if len(members) == 0 {
		return req, nil
	}
	var err error
	req.Input, err = json.Marshal(members)
	return req, err
}
