package runner

import (
	"context"
	"encoding/json"
	"fmt"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

// fanID names the fan-out that a node is at.
func fanID(run *Run, node string) FanID {
	return FanID{Run: run.RunID(), Node: node, Attempt: run.Nodes[node].Attempt}
}

// list returns the items of a fan-out.
func (r *Runner) list(ctx context.Context, s *engine.State, n *engine.Node) ([]json.RawMessage, error) {
	key := fmt.Sprintf("list/%s/%s/%s", life(s), n.Name, n.FanOut.Over)
	if v, ok := r.memory.get(key); ok {
		return v.([]json.RawMessage), nil
	}
	raw, err := r.resolve(ctx, s, n.FanOut.Over)
	if err != nil {
		return nil, err
	}
	var items []json.RawMessage
	if raw != nil && json.Unmarshal(raw, &items) != nil {
		return nil, fault.New(fault.Invalid, "%s is no list", n.FanOut.Over)
	}
	const item = 24 // bytes of a slice's header
	r.memory.put(key, items, len(raw)+item*len(items))
	return items, nil
}

// expand cuts the list of a fan-out into chunks and these into shards. It may be
// repeated from anywhere: shards have fixed names and are created once.
func (r *Runner) expand(ctx context.Context, p *Pipeline, run Run, id engine.StepID) error {
	ref, _ := id.Ref()
	n := p.Flow.Node(ref.Node)
	a := answer{Step: r.fresh(p, &run, id)}
	a.DoneAt, a.Status, a.Try, a.Fence = new(a.StartedAt), Done, 1, 1
	items, err := r.list(ctx, &run.State, n)
	chunks := (len(items) + n.FanOut.Chunk - 1) / n.FanOut.Chunk
	switch {
	case fault.KindOf(err) == fault.Invalid:
		a.fail(words(err))
	case err != nil:
		return fmt.Errorf("load the list of %s: %w", id, err)
	case chunks > engine.MaxChunks:
		a.fail(fmt.Sprintf("The list makes %d chunks; %d are the most. Make the chunks larger.", chunks, engine.MaxChunks))
	default:
		a.fan = new(n.FanOut.Fan(chunks))
		a.Result, _ = json.Marshal(a.fan)
	}
	var shards []engine.Shard
	if a.fan != nil && chunks > 0 {
		shards = n.FanOut.Shards(*a.fan)
		for i := range shards {
			shards[i] = shards[i].Stamp(r.moment())
		}
		if err := r.Store.CreateShards(ctx, fanID(&run, ref.Node), shards); err != nil {
			return fmt.Errorf("create the shards of %s: %w", id, err)
		}
	}
	if err := r.record(ctx, p, run, a); err != nil {
		return err
	}
	var first []engine.StepID
	for _, s := range shards {
		first = append(first, inFlight(ref.Node, ref.Attempt, &s)...)
	}
	return r.publish(ctx, p.Flow, &run.State, first)
}

// fail makes an answer of the engine's own work a failure.
func (a *answer) fail(message string) {
	a.Status, a.Result, a.Failure = StepFailed, nil, &engine.Error{Code: engine.CodeAgentFailed, Message: message}
}

func inFlight(node string, attempt int, s *engine.Shard) []engine.StepID {
	ids := make([]engine.StepID, len(s.InFlight))
	for i, f := range s.InFlight {
		ids[i] = chunkID(node, attempt, f.Chunk)
	}
	return ids
}

func chunkID(node string, attempt, index int) engine.StepID {
	return engine.StepRef{Node: node, Attempt: attempt, Role: engine.RoleChunk, Index: index}.ID()
}

func shardID(node string, attempt, index int) engine.StepID {
	return engine.StepRef{Node: node, Attempt: attempt, Role: engine.RoleShard, Index: index}.ID()
}

// fanning returns the place of a chunk or a shard in a fan-out that is at work;
// ok is false when the message is late.
func fanning(run *Run, id engine.StepID) (ref engine.StepRef, fan engine.Fan, ok bool) {
	ref, _ = id.Ref()
	p := run.Nodes[ref.Node]
	if run.Status.Ended() || p.Phase != engine.Fanning || p.Attempt != ref.Attempt {
		return ref, fan, false
	}
	return ref, *p.Fan, true
}

// join makes one output of the shards: {"results": [...], "failed": [...]}, the
// results in order, null for a chunk that failed, whose index stands in failed.
func (r *Runner) join(ctx context.Context, p *Pipeline, run Run, id engine.StepID) error {
	ref, _ := id.Ref()
	n, fan := p.Flow.Node(ref.Node), *run.Nodes[ref.Node].Fan
	ids := make([]engine.StepID, fan.Shards)
	for i := range ids {
		ids[i] = shardID(ref.Node, ref.Attempt, i)
	}
	parts, err := r.Store.Steps(ctx, run.RunID(), ids...)
	if err != nil {
		return fmt.Errorf("load the shards of %s: %w", id, err)
	}
	if len(parts) != fan.Shards {
		return fault.New(fault.Internal, "%s has %d shards, wanted %d", id, len(parts), fan.Shards)
	}
	a := answer{Step: r.fresh(p, &run, id)}
	a.DoneAt, a.Status, a.Try, a.Fence = new(a.StartedAt), Done, 1, 1
	if a.Result, err = joined(parts); err != nil {
		return fmt.Errorf("join %s: %w", id, err)
	}
	if err := r.flows.conforms(n, a.Result); err != nil {
		a.fail(words(err))
	}
	return r.record(ctx, p, run, a)
}

func joined(parts []Step) (json.RawMessage, error) {
	all := struct {
		Results []json.RawMessage `json:"results"`
		Failed  []int             `json:"failed"`
	}{[]json.RawMessage{}, []int{}}
	for _, part := range parts {
		var results []json.RawMessage
		if err := json.Unmarshal(part.Result, &results); err != nil {
			return nil, fmt.Errorf("read %s: %w", part.ID, err)
		}
		for _, result := range results {
			if string(result) == "null" {
				all.Failed = append(all.Failed, len(all.Results))
			}
			all.Results = append(all.Results, result)
		}
	}
	return json.Marshal(all)
}
