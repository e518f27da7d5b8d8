package runnertest

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// Commit implements runner.Store.
func (m *Memory) Commit(ctx context.Context, c runner.Commit) error {
	_, err := m.commit(ctx, func(b *batch) {
		if c.Run != nil {
			b.put(runPath(c.Run.RunID()), c.Run.Version, c.Run, limits{most: maxRun})
		}
		for _, s := range c.Steps {
			b.step(s)
		}
		for _, s := range c.Touch {
			b.touch(stepPath(s.Run, s.ID))
		}
		for _, s := range c.Shards {
			b.shard(c.Fan, s)
		}
		for _, in := range c.Inputs {
			fields, size := inputDocument(in)
			b.put(inputPath(in.Run, in.ID), in.Version, fields, size)
		}
		b.key(c.Idempotency)
		if c.EstimateID != "" {
			b.estimate(&c)
		}
		if c.Project != "" && c.View != nil {
			b.set("projects/"+c.Project+"/pipeline/status", c.View, limits{})
		}
	})
	return err
}

func (b *batch) step(s runner.Step) {
	fields, size := stepDocument(s)
	b.put(stepPath(s.Run, s.ID), s.Version, fields, size)
}

func (b *batch) shard(fan runner.FanID, s runner.Shard) {
	b.put(shardPath(fan, s.Index), s.Version, s.Shard, limits{})
}

// touch moves the version of a document that exists.
func (b *batch) touch(path string) {
	d, there := b.stored(path)
	if !there {
		b.refuse(fault.New(fault.NotFound, "%s does not exist", path))
		return
	}
	b.set(path, d.Fields, limits{payload: -len(d.Fields)}) // it has fitted before
}

// key records an idempotency key. One that no longer counts may still be stored.
func (b *batch) key(i *runner.Idempotency) {
	if i == nil {
		return
	}
	path := keyPath(i.Owner, i.Key)
	if d, there := b.stored(path); there && b.at.Sub(d.Version) > keyAge {
		b.set(path, i, limits{})
		return
	}
	b.put(path, time.Time{}, i, limits{})
}

// estimate writes what frontends see: the root, once, and what lies below it.
func (b *batch) estimate(c *runner.Commit) {
	var e Estimate
	path := estimatePath(c.EstimateID)
	d, there := b.stored(path)
	fresh := c.Start != nil && !c.Start.Keep
	switch {
	case fresh && there:
		b.refuse(fault.New(fault.Conflict, "%s exists already", path))
		return
	case fresh:
		e = Estimate{Owner: c.Run.Owner, Project: c.Run.Project, Clarification: c.Start.Clarification}
	case there:
		decode(d.Fields, &e)
	}
	root := b.root(c, &e)
	if root && !there && !fresh {
		b.refuse(fault.New(fault.NotFound, "there is no estimate %s", c.EstimateID))
		return
	}
	if root {
		b.set(path, e, e.limits())
	}
	for _, o := range c.Outputs {
		fields, size := outputDocument(o)
		b.set(path+"/agentOutputs/"+o.Node, fields, size)
	}
	for _, item := range c.Documents.Items {
		b.set(path+"/"+item.Collection+"/"+item.ID, item.Fields, limits{})
	}
}

// root applies a commit to the root of its estimate and reports whether that is a
// write.
func (b *batch) root(c *runner.Commit, e *Estimate) bool {
	if c.Start != nil {
		b.members(&e.Fields, c.Start.Fields)
		e.Feedback, e.Chunks = nil, nil
	}
	b.members(&e.Fields, c.Documents.Root)
	if c.View != nil {
		e.View = *c.View
	}
	for _, o := range c.Outputs {
		if e.Outputs == nil {
			e.Outputs = map[string]int{}
		}
		e.Outputs[o.Node] = len(o.Data)
	}
	for node, said := range c.Feedback {
		merge(&e.Feedback, map[string]json.RawMessage{node: brief(said)})
	}
	merge(&e.Chunks, c.Chunks)
	return c.Start != nil || c.View != nil || len(c.Documents.Root)+len(c.Outputs)+len(c.Feedback)+len(c.Chunks) > 0
}

func (b *batch) members(into *map[string]json.RawMessage, fields map[string]any) {
	encoded := make(map[string]json.RawMessage, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		v, err := json.Marshal(fields[name])
		if err != nil {
			b.refuse(fault.Wrap(fault.Invalid, err, "encode field %s", name))
			return
		}
		encoded[name] = v
	}
	merge(into, encoded)
}

func merge[V any](into *map[string]V, members map[string]V) {
	if len(members) > 0 && *into == nil {
		*into = make(map[string]V, len(members))
	}
	maps.Copy(*into, members)
}

// brief is a critique as the root shows it: cut when it is long, text when it is
// too deep for a map.
func brief(said json.RawMessage) json.RawMessage {
	const most, deep = 16 << 10, maxLevels - 2
	switch {
	case len(said) > most:
		return json.RawMessage(`{"truncated":true}`)
	case levels(said) > deep:
		text, err := json.Marshal(string(said))
		if err != nil {
			panic(err) // a text always encodes
		}
		return text
	default:
		return said
	}
}
