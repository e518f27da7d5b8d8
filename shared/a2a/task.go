package a2a

import (
	"context"
	"encoding/json"
	"iter"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// Task returns the agent as desks and fronts run it, in any dialect: the first
// data part of a message is the Request, what Serve returns is the artifact
// wire.ResultName, and what it asks is a status that waits for a person.
func (a Agent) Task() task.Agent {
	return task.Agent{
		Name: a.Name, Description: a.Description, Version: a.Version,
		Skills: a.offer(),
		Check: func(msg *sdk.Message) error {
			_, err := requestOf(msg)
			return err
		},
		Run: a.run,
	}
}

func (a Agent) offer() []task.Skill {
	if a.Offer != nil {
		return a.Offer()
	}
	return []task.Skill{{AgentSkill: sdk.AgentSkill{
		ID: a.Name, Name: strings.ReplaceAll(a.Name, "_", " "), Description: a.Description, Tags: a.Skills,
	}}}
}

// run calls Serve and yields what came of it. A result is two events and no
// more: each of them may cost a write.
func (a Agent) run(ctx context.Context, turn task.Turn) iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		req, err := requestOf(turn.Message)
		if err != nil {
			yield(nil, err)
			return
		}
		req.ReceivedAt, req.ContextID = turn.Received, turn.ContextID
		if turn.Task != nil {
			req.TaskID = string(turn.TaskID)
		}
		out, err := a.serve(ctx, req)
		if q, ok, bad := questionIn(err); ok && bad == nil {
			yield(question(turn, q), nil)
			return
		} else if ok {
			err = bad
		}
		if err != nil {
			yield(nil, err)
			return
		}
		if yield(result(turn, out), nil) {
			yield(status(turn, sdk.TaskStateCompleted), nil)
		}
	}
}

// serve calls the agent and turns a result that is no object into an error.
func (a Agent) serve(ctx context.Context, req Request) (json.RawMessage, error) {
	out, err := a.Serve(ctx, req)
	if err != nil {
		return nil, err
	}
	// As the encoder of the store will write it, so that the first answer and
	// every later one are the same bytes.
	if out, err = json.Marshal(out); err != nil || wire.First(out) != '{' {
		return nil, fault.Wrap(fault.Internal, err, "agent %s returned no JSON object", a.Name)
	}
	return out, nil
}

// result is the artifact of a turn. Its id is always the same, so that a second
// run replaces what the first one left.
func result(turn task.Turn, out json.RawMessage) *sdk.TaskArtifactUpdateEvent {
	return &sdk.TaskArtifactUpdateEvent{
		TaskID: turn.TaskID, ContextID: turn.ContextID, LastChunk: true,
		Artifact: &sdk.Artifact{ID: wire.ResultName, Name: wire.ResultName, Parts: sdk.ContentParts{sdk.NewDataPart(out)}},
	}
}

// question leaves a task to a person: the prompt as text, the schema as data.
func question(turn task.Turn, q Question) *sdk.TaskStatusUpdateEvent {
	parts := []*sdk.Part{sdk.NewTextPart(q.Prompt)}
	if q.Schema != nil {
		parts = append(parts, sdk.NewDataPart(q.Schema))
	}
	e := status(turn, sdk.TaskStateInputRequired)
	e.Status.Message = &sdk.Message{
		ID: turn.Message.ID + "/question", TaskID: turn.TaskID, ContextID: turn.ContextID,
		Role: sdk.MessageRoleAgent, Parts: parts,
	}
	return e
}

// status is a change of state; the desk knows the time of it.
func status(turn task.Turn, state sdk.TaskState) *sdk.TaskStatusUpdateEvent {
	return &sdk.TaskStatusUpdateEvent{TaskID: turn.TaskID, ContextID: turn.ContextID, Status: sdk.TaskStatus{State: state}}
}
