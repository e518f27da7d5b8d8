package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

// fanID names the fan-out that a node is at.
func fanID(run *Run, node string) FanID {
	return FanID{Run: run.RunID(), Node: node, Attempt: run.Nodes[node].Attempt}
}

// list returns the items of a fan-out.
func (r *Runner) list(ctx context.Context, s *engine.State, n *engine.Node) ([]json.RawMessage, error) {
	key := fmt.Sprintf("list/%s/%s/%s", s.RunID(), n.Name, n.FanOut.Over)
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
		a.fail(fault.Public(err))
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
	if p.Phase != engine.Fanning || p.Attempt != ref.Attempt {
		return ref, fan, false
	}
	return ref, *p.Fan, true
}

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
		// Somebody may have died between the commit of this chunk and what follows.
		return r.follow(ctx, p, run, ref.Node, shard, r.forgotten(ctx, &run, ref.Node, shard))
	}
	if soon, err := r.await(ctx, id, entry.NotBefore); err != nil || !soon {
		return err
	}
	held, mine, err := r.claim(ctx, p, &run, id)
	if err != nil || !mine {
		return err
	}
	a := answer{Step: held.Step}
	if !held.Finished() {
		if a, mine = r.execute(ctx, p, &run, held); !mine {
			return nil
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	return r.recordChunk(ctx, p, run, shard, a)
}

// forgotten lists the chunks in flight of a shard that nobody has claimed: the
// worker before may have died between its commit and its publish.
func (r *Runner) forgotten(ctx context.Context, run *Run, node string, shard Shard) []engine.StepID {
	ids := inFlight(node, run.Nodes[node].Attempt, &shard.Shard)
	steps, err := r.Store.Steps(ctx, run.RunID(), ids...)
	if err != nil {
		return nil // the sweeper will see them
	}
	now := r.Now()
	return slices.DeleteFunc(ids, func(id engine.StepID) bool {
		ref, _ := id.Ref()
		held := find(steps, id)
		return waits(shard.Find(ref.Index).NotBefore, now) || held != nil && !held.Finished() && !held.Expired()
	})
}

// recordChunk applies an answer to its shard, however often the other chunks of
// the shard move it meanwhile, and publishes what follows.
func (r *Runner) recordChunk(ctx context.Context, p *Pipeline, run Run, shard Shard, a answer) error {
	ref, _ := a.ID.Ref()
	for try := range commitTries {
		if try > 0 {
			if err := r.Sleep(ctx, jitter(commitPause)); err != nil {
				return fmt.Errorf("record %s: %w", a.ID, err)
			}
			found, err := r.reloadShard(ctx, &run, &shard, &a.Step)
			switch {
			case err != nil:
				r.warn(ctx, "reload", &a.Step, err)
				continue
			case found == elsewhere:
				return nil
			case found == here:
				return r.follow(ctx, p, run, ref.Node, shard, inFlight(ref.Node, ref.Attempt, &shard.Shard))
			}
		}
		if _, _, ok := fanning(&run, a.ID); !ok {
			return r.late(ctx, a)
		}
		after, next, step, verdict := r.shardAfter(p, &run, shard, a)
		if verdict != engine.Applied {
			return r.late(ctx, a)
		}
		err := r.Store.Commit(ctx, Commit{Steps: []Step{step}, Fan: fanID(&run, ref.Node), Shards: []Shard{{after, shard.Version}}})
		if err == nil {
			r.logStep(ctx, run.Rev, &a)
			ids := make([]engine.StepID, len(next))
			for i, chunk := range next {
				ids[i] = chunkID(ref.Node, ref.Attempt, chunk)
			}
			return r.follow(ctx, p, run, ref.Node, Shard{Shard: after}, ids)
		}
		if fault.KindOf(err) != fault.Conflict {
			r.warn(ctx, "commit", &a.Step, err)
		}
		a.refused(err)
	}
	return fault.New(fault.Unavailable, "chunk %s could not be recorded", a.ID)
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
	c := Commit{Steps: []Step{step}, Fan: id, Shards: []Shard{{shard.Shut(), shard.Version}}}
	var first []engine.StepID
	if next, ok := fan.Activates(shard.Index); ok {
		waiting, err := r.Store.Shards(ctx, id, next)
		if err != nil || len(waiting) == 0 {
			return err
		}
		active := waiting[0].Activate()
		c.Shards = append(c.Shards, Shard{active, waiting[0].Version})
		first = inFlight(node, id.Attempt, &active)
	}
	switch err := r.Store.Commit(ctx, c); fault.KindOf(err) {
	case "":
		r.remember(step)
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
	if len(n.Schema) > 0 {
		if err := conforms(n.Schema, a.Result, n.Agent); err != nil {
			a.fail(fault.Public(err))
		}
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

// resendChunks publishes the chunks in flight that nobody works on, and what
// full shards wait for.
func (r *Runner) resendChunks(ctx context.Context, p *Pipeline, run Run, node string) error {
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
			due = append(due, r.forgotten(ctx, &run, node, shard)...)
		}
	}
	return r.publish(ctx, p.Flow, &run.State, due)
}

// chunksInFlight lists the chunks at work of every fan-out of a run.
func (r *Runner) chunksInFlight(ctx context.Context, p *Pipeline, s *engine.State) ([]engine.StepID, error) {
	var ids []engine.StepID
	run := Run{State: *s}
	for _, n := range p.Flow.Nodes {
		if s.Nodes[n.Name].Phase != engine.Fanning {
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
