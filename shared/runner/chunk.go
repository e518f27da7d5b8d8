package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

// withChunk adds the items of a chunk to what its agent gets.
func (r *Runner) withChunk(ctx context.Context, s *engine.State, w *work, members map[string]json.RawMessage) error {
	items, err := r.list(ctx, s, w.node)
	if err != nil {
		return err
	}
	size := w.node.FanOut.Chunk
	first := min(w.ref.Index*size, len(items))
	chunk := items[first:min(first+size, len(items))]
	if members["items"], err = json.Marshal(chunk); err != nil {
		return err
	}
	members["first"] = json.RawMessage(fmt.Sprint(first))
	return nil
}

// chunk calls the agent for one chunk. The shard is a queue of its own: the
// commit of a chunk puts the next one in flight, and nobody writes the run.
func (r *Runner) chunk(ctx context.Context, p *Pipeline, run Run, id engine.StepID) error {
	ref, fan, ok := fanning(&run, id)
	if !ok || ref.Index >= fan.Chunks {
		return r.catchUp(ctx, p.Flow, &run.State)
	}
	at := fan.ShardOf(ref.Index)
	shards, err := r.Store.Shards(ctx, fanID(&run, ref.Node), at)
	if err != nil || len(shards) == 0 {
		return err
	}
	shard := shards[0]
	entry := shard.Find(ref.Index)
	if entry == nil {
		// Somebody may have died between the commit of this chunk and what follows:
		// at most one chunk then, for each of these messages is followed by another.
		var next []engine.StepID
		if shard.quiet(r.Pace.Grace) {
			next = r.forgotten(ctx, &run, ref.Node, shard, r.Pace.Grace)
		}
		return r.follow(ctx, p, run, ref.Node, shard, next[:min(len(next), 1)])
	}
	return r.work(ctx, p, run, id, entry.NotBefore, func(ctx context.Context, a answer) error {
		return r.recordChunk(ctx, p, run, shard, a)
	})
}

// forgotten lists the chunks of a shard that have been in flight for an age and
// that nobody has claimed (the worker before may have died between its commit and
// its publish), and those whose claim has run out.
func (r *Runner) forgotten(ctx context.Context, run *Run, node string, shard Shard, age time.Duration) []engine.StepID {
	ids := inFlight(node, run.Nodes[node].Attempt, &shard.Shard)
	steps, err := r.Store.Steps(ctx, run.RunID(), ids...)
	if err != nil {
		return nil // the sweeper will see them
	}
	now := r.Now()
	return slices.DeleteFunc(ids, func(id engine.StepID) bool {
		ref, _ := id.Ref()
		entry, held := shard.Find(ref.Index), find(steps, id)
		young := held == nil && now.Sub(entry.Since) < age // its message is on its way
		return young || waits(entry.NotBefore, now) || held.atWork()
	})
}

// recordChunk applies an answer to its shard, however often the other chunks of
// the shard move it meanwhile, and publishes what follows.
func (r *Runner) recordChunk(ctx context.Context, p *Pipeline, run Run, shard Shard, a answer) error {
	ref, _ := a.ID.Ref()
	for try := range commitTries {
		if try > 0 {
			found, err := r.lookAgain(ctx, try, &a, func() (whereabouts, error) { return r.reloadShard(ctx, &run, &shard, &a.Step) })
			switch {
			case err != nil || found == elsewhere:
				return err
			case found == here:
				if _, _, ok := fanning(&run, a.ID); !ok {
					return r.catchUp(ctx, p.Flow, &run.State) // others have gone on, to another attempt perhaps
				}
				return r.follow(ctx, p, run, ref.Node, shard, inFlight(ref.Node, ref.Attempt, &shard.Shard))
			case found == unknown:
				continue
			}
		}
		if done, err := r.applyChunk(ctx, p, &run, shard, &a); done {
			return err
		}
	}
	return fault.New(fault.Unavailable, "chunk %s could not be recorded", a.ID)
}

// applyChunk commits what an answer makes of the shard. done is false when that
// is to be tried again.
func (r *Runner) applyChunk(ctx context.Context, p *Pipeline, run *Run, shard Shard, a *answer) (done bool, err error) {
	ref, _, ok := fanning(run, a.ID)
	if !ok {
		r.late(ctx, *a)
		return true, nil
	}
	after, next, step, verdict := r.shardAfter(p, run, shard, *a)
	if verdict != engine.Applied {
		r.late(ctx, *a)
		return true, nil
	}
	err = r.Store.Commit(ctx, Commit{Steps: []Step{step}, Fan: fanID(run, ref.Node), Shards: []Shard{{Shard: after.Stamp(r.moment()), Version: shard.Version}}})
	switch fault.KindOf(err) {
	case "":
		r.logStep(ctx, run.Rev, a)
		ids := make([]engine.StepID, len(next))
		for i, chunk := range next {
			ids[i] = chunkID(ref.Node, ref.Attempt, chunk)
		}
		return true, r.follow(ctx, p, *run, ref.Node, Shard{Shard: after}, ids)
	case fault.Conflict:
		a.away = 0
	default:
		a.away++
		r.warn(ctx, "commit", &a.Step, err)
	}
	a.refused(err)
	return false, nil
}

// shardAfter returns the shard and the step as the answer leaves them, and the
// chunks that are newly in flight.
func (r *Runner) shardAfter(p *Pipeline, run *Run, shard Shard, a answer) (after engine.Shard, next []int, step Step, verdict engine.Verdict) {
	ref, _ := a.ID.Ref()
	step = a.Step
	if a.retry == nil {
		step.RevAt = run.Rev
		after, next, verdict = shard.Finish(ref.Index, a.Status == StepFailed)
		return after, next, step, verdict
	}
	after, again, next, verdict := shard.Retry(p.Flow.Node(ref.Node), run.RunID(), *a.retry, ref.Index, r.Now())
	if again {
		step.giveBack()
		if entry := after.Find(ref.Index); entry.NotBefore.Sub(r.Now()) <= r.Pace.WaitAtMost {
			next = append(next, ref.Index) // the next delivery waits for it
		}
	} else {
		step.Status, step.RevAt = StepFailed, run.Rev
	}
	return after, next, step, verdict
}

// follow does what a shard waits for after the commit of a chunk, however often:
// it gives the fan-out up, publishes what is newly in flight, merges what is
// full.
func (r *Runner) follow(ctx context.Context, p *Pipeline, run Run, node string, shard Shard, next []engine.StepID) error {
	if e, failed, err := r.givenUp(ctx, p, &run, node, &shard); err != nil || failed {
		if err != nil {
			return err
		}
		return r.endFan(ctx, run.RunID(), e)
	}
	if err := r.publish(ctx, p.Flow, &run.State, next); err != nil {
		return err
	}
	if !shard.Full() {
		return nil
	}
	if shard.Version.IsZero() {
		fresh, err := r.Store.Shards(ctx, fanID(&run, node), shard.Index)
		if err != nil || len(fresh) == 0 {
			return err
		}
		shard = fresh[0]
	}
	return r.complete(ctx, p, run, node, shard)
}

// givenUp returns the end of a fan-out that no failed chunk may survive.
func (r *Runner) givenUp(ctx context.Context, p *Pipeline, run *Run, node string, shard *Shard) (e engine.ShardsDone, failed bool, err error) {
	chunk, failed := shard.FirstFailure()
	if !failed || p.Flow.Node(node).FanOut.OnItemError != engine.FailAll {
		return e, false, nil
	}
	attempt := run.Nodes[node].Attempt
	steps, err := r.Store.Steps(ctx, run.RunID(), chunkID(node, attempt, chunk))
	if err != nil {
		return e, false, fmt.Errorf("load the chunk of %s that failed: %w", node, err)
	}
	why := "it failed"
	if len(steps) > 0 && steps[0].Failure != nil {
		why = steps[0].Failure.Message
	}
	return engine.ShardsDone{Node: node, Attempt: attempt, Failure: &engine.Error{
		Code: engine.CodeChunkFailed, Agent: node, Message: fmt.Sprintf("Chunk %d: %s", chunk, why),
	}}, true, nil
}

// reloadShard reads run, shard and step again and says where the result is.
func (r *Runner) reloadShard(ctx context.Context, run *Run, shard *Shard, step *Step) (whereabouts, error) {
	found, err := r.reload(ctx, run, step)
	if err != nil {
		return found, err
	}
	ref, _ := step.ID.Ref()
	fresh, err := r.Store.Shards(ctx, FanID{Run: step.Run, Node: ref.Node, Attempt: ref.Attempt}, shard.Index)
	if err != nil || len(fresh) == 0 {
		return elsewhere, err
	}
	*shard = fresh[0]
	return found, nil
}
