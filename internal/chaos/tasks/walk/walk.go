// Package walk is an agent that takes steps: so many, each after a pause, with
// an event of progress and a chunk of one artifact for each. Its plan is the data
// of its message, so that whoever sent it knows how it must end.
package walk

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// Name of the agent.
const Name = "walker"

// Plan is what a walk is to be.
type Plan struct {
	Steps   int           `json:"steps"`
	Pause   time.Duration `json:"pause"`   // before each step, in nanoseconds
	Stumble bool          `json:"stumble"` // fail for good after the last step
}

// Agent returns the agent; begun hears of each run, task#try, before it does
// anything.
func Agent(begun func(ctx context.Context, run string) error) task.Agent {
	return task.Agent{
		Name: Name, Description: "Takes steps, with a word on each.", Version: "1.0.0",
		Skills: []task.Skill{{
			AgentSkill:  sdk.AgentSkill{ID: "walk", Name: "Walk", Description: "Takes so many steps.", Tags: []string{"walk"}},
			InputSchema: []byte(`{"type":"object","required":["steps","pause"]}`),
		}},
		Check: func(msg *sdk.Message) error { _, err := planOf(msg); return err },
		Run: func(ctx context.Context, turn task.Turn) iter.Seq2[sdk.Event, error] {
			return func(yield func(sdk.Event, error) bool) {
				if err := begun(ctx, fmt.Sprintf("%s#%d", turn.TaskID, turn.Try)); err != nil {
					yield(nil, err)
					return
				}
				walk(ctx, turn, yield)
			}
		},
	}
}

func planOf(msg *sdk.Message) (p Plan, err error) {
	raw, _ := msg.Parts[0].Data().(json.RawMessage)
	if json.Unmarshal(raw, &p) != nil || p.Steps < 1 {
		return p, fault.New(fault.Invalid, "params.message.parts[0].data: want a plan")
	}
	return p, nil
}

func walk(ctx context.Context, turn task.Turn, yield func(sdk.Event, error) bool) {
	p, err := planOf(turn.Message)
	if err != nil {
		yield(nil, err)
		return
	}
	for i := range p.Steps {
		select {
		case <-ctx.Done():
			yield(nil, fault.Wrap(fault.Canceled, context.Cause(ctx), "the walk was ended"))
			return
		case <-time.After(p.Pause):
		}
		said := sdk.NewMessage(sdk.MessageRoleAgent, sdk.NewTextPart(fmt.Sprintf("step %d of %d", i+1, p.Steps)))
		status := &sdk.TaskStatusUpdateEvent{Status: sdk.TaskStatus{State: sdk.TaskStateWorking, Message: said}}
		status.SetMeta(wire.MetaProgress, 100*i/p.Steps)
		chunk := &sdk.TaskArtifactUpdateEvent{Append: i > 0, LastChunk: i == p.Steps-1, Artifact: &sdk.Artifact{
			ID: "walk", Name: "walk", Parts: sdk.ContentParts{sdk.NewTextPart(Footprint(turn.Try, i))},
		}}
		if !yield(status, nil) || !yield(chunk, nil) {
			return
		}
	}
	if p.Stumble {
		yield(nil, fault.New(fault.Invalid, "the walker stumbled"))
		return
	}
	yield(&sdk.TaskStatusUpdateEvent{Status: sdk.TaskStatus{State: sdk.TaskStateCompleted}}, nil)
}

// Footprint is the text of a chunk.
func Footprint(try, step int) string { return fmt.Sprintf("%d:%d ", try, step) }

// Walked is the text of a whole walk, in one run.
func Walked(try, steps int) string {
	var b strings.Builder
	for i := range steps {
		b.WriteString(Footprint(try, i))
	}
	return b.String()
}
