package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

// shardDone handles the message that a shard is full.
func (r *Runner) shardDone(ctx context.Context, p *Pipeline, run Run, id engine.StepID) error {
	ref, fan, ok := fanning(&run, id)
	if !ok || ref.Index >= fan.Shards {
		return r.catchUp(ctx, p.Flow, &run.State)
	}
	shards, err := r.Store.Shards(ctx, fanID(&run, ref.Node), ref.Index)
	switch {
	case err != nil || len(shards) == 0:
		return err
	}
	return r.follow(ctx, p, run, ref.Node, shards[0], nil)
}

// complete merges the results of a full shard in order and lets the next shard
// work. Whoever completes the last one ends the fan-out.
func (r *Runner) complete(ctx context.Context, p *Pipeline, run Run, node string, shard Shard) error {
	id, fan := fanID(&run, node), *run.Nodes[node].Fan
	if shard.Complete {
		return r.counted(ctx, p, run, node, fan)
	}
	merged, err := r.merge(ctx, id, &shard)
	if err != nil {
		return err
	}
	step := r.fresh(p, &run, shardID(node, id.Attempt, shard.Index))
	step.Status, step.Try, step.Fence, step.Result, step.DoneAt, step.RevAt = Done, 1, 1, merged, new(r.Now()), run.Rev
	c := Commit{Steps: []Step{step}, Fan: id, Shards: []Shard{{Shard: shard.Shut(), Version: shard.Version}}}
	var first []engine.StepID
	if next, ok := fan.Activates(shard.Index); ok {
		waiting, err := r.Store.Shards(ctx, id, next)
		if err != nil || len(waiting) == 0 {
			return err
		}
		active := waiting[0].Activate().Stamp(r.moment())
		c.Shards = append(c.Shards, Shard{Shard: active, Version: waiting[0].Version})
		first = inFlight(node, id.Attempt, &active)
	}
	switch err := r.Store.Commit(ctx, c); fault.KindOf(err) {
	case "":
	case fault.Conflict: // another worker completed it, and publishes; a duplicate costs a read
	default:
		return fmt.Errorf("complete shard %s: %w", step.ID, err)
	}
	if err := r.publish(ctx, p.Flow, &run.State, first); err != nil {
		return err
	}
	return r.counted(ctx, p, run, node, fan)
}

// merge returns the results of a shard as a JSON list in order; null stands for
// a chunk that failed.
func (r *Runner) merge(ctx context.Context, id FanID, shard *Shard) (json.RawMessage, error) {
	ids := make([]engine.StepID, shard.Size)
	for i := range ids {
		ids[i] = chunkID(id.Node, id.Attempt, shard.From+i)
	}
	steps, err := r.Store.Steps(ctx, id.Run, ids...)
	if err != nil {
		return nil, fmt.Errorf("load the chunks of shard %d of %s: %w", shard.Index, id.Node, err)
	}
	if len(steps) != len(ids) {
		return nil, fault.New(fault.Internal, "shard %d of %s has %d results, wanted %d", shard.Index, id.Node, len(steps), len(ids))
	}
	var b bytes.Buffer
	b.WriteByte('[')
	for i, step := range steps {
		if i > 0 {
			b.WriteByte(',')
		}
		if shard.FailedAt(shard.From + i) {
			b.WriteString("null")
		} else {
			b.Write(step.Result)
		}
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

// counted ends the fan-out when every shard is complete. The count comes after
// the worker's own commit, so the last one always sees them all.
func (r *Runner) counted(ctx context.Context, p *Pipeline, run Run, node string, fan engine.Fan) error {
	id := fanID(&run, node)
	done, err := r.Store.CompleteShards(ctx, id)
	if err != nil {
		return fmt.Errorf("count the shards of %s: %w", node, err)
	}
	if done < fan.Shards {
		r.progress(ctx, &run, node, done, fan.Shards)
		return nil
	}
	indexes := make([]int, fan.Shards)
	for i := range indexes {
		indexes[i] = i
	}
	shards, err := r.Store.Shards(ctx, id, indexes...)
	if err != nil {
		return fmt.Errorf("load the shards of %s: %w", node, err)
	}
	failed := 0
	for _, s := range shards {
		if e, failed, err := r.givenUp(ctx, p, &run, node, &s); err != nil || failed {
			if err != nil {
				return err
			}
			return r.endFan(ctx, run.RunID(), e)
		}
		failed += s.Failures()
	}
	return r.endFan(ctx, run.RunID(), engine.ShardsDone{Node: node, Attempt: id.Attempt, Failed: failed})
}

// progress shows every tenth of a fan-out. It is for the eye alone: nothing
// depends on it, and losing one costs nothing.
func (r *Runner) progress(ctx context.Context, run *Run, node string, done, of int) {
	if done*10/of == (done-1)*10/of {
		return
	}
	err := r.Store.Commit(ctx, Commit{EstimateID: run.EstimateID, Chunks: map[string]ChunkProgress{node: {done, of}}})
	if err != nil {
		r.warn(ctx, "show the progress", &Step{Run: run.RunID(), ID: engine.StepID(node)}, err)
	}
}

// endFan applies the end of a fan-out to the run. Of several that see it, one
// wins.
func (r *Runner) endFan(ctx context.Context, run string, e engine.ShardsDone) error {
	return r.insist(ctx, run, func(run Run, p *Pipeline) error {
		_, _, err := r.control(ctx, p, run, e)
		return err
	})
}

// resendChunks publishes the chunks in flight that nobody works on, and what
// full shards wait for.
func (r *Runner) resendChunks(ctx context.Context, p *Pipeline, run Run, node string, age time.Duration) error {
	id, fan := fanID(&run, node), *run.Nodes[node].Fan
	shards, err := r.Store.OpenShards(ctx, id)
	if err != nil {
		return fmt.Errorf("load the open shards of %s: %w", node, err)
	}
	if len(shards) == 0 {
		return r.counted(ctx, p, run, node, fan)
	}
	var due []engine.StepID
	for _, shard := range shards {
		_, failed := shard.FirstFailure()
		if shard.Full() || failed && p.Flow.Node(node).FanOut.OnItemError == engine.FailAll {
			due = append(due, shardID(node, id.Attempt, shard.Index))
		} else {
			due = append(due, r.forgotten(ctx, &run, node, shard, age)...)
		}
	}
	return r.publish(ctx, p.Flow, &run.State, due)
}

// chunksInFlight lists the chunks at work of those fan-outs of a run that have
// ended.
func (r *Runner) chunksInFlight(ctx context.Context, p *Pipeline, s *engine.State, ended func(node string) bool) ([]engine.StepID, error) {
	var ids []engine.StepID
	run := Run{State: *s}
	for _, n := range p.Flow.Nodes {
		if s.Nodes[n.Name].Phase != engine.Fanning || !ended(n.Name) {
			continue
		}
		shards, err := r.Store.OpenShards(ctx, fanID(&run, n.Name))
		if err != nil {
			return nil, fmt.Errorf("load the open shards of %s: %w", n.Name, err)
		}
		for _, shard := range shards {
			ids = append(ids, inFlight(n.Name, s.Nodes[n.Name].Attempt, &shard.Shard)...)
		}
	}
	return ids, nil
}
