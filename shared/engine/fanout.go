package engine

// expanded takes the plan of a fan-out. A list of nothing is joined at once.
func (t *transition) expanded(n *Node, p Progress, e Finished) Verdict {
	switch {
	case e.Failure != nil:
		t.exhausted(n, p, e.Failure)
		t.effects.View = true
		return Applied
	case e.Fan == nil || !e.Fan.sound():
		return Invalid
	}
	p.Fan = &Fan{Chunks: e.Fan.Chunks, Shards: e.Fan.Shards, Active: e.Fan.Active}
	p.Phase = Fanning
	if p.Fan.Chunks == 0 {
		p.Phase = Joining
	}
	t.state.Nodes[n.Name] = p
	return Applied
}

// sound reports whether there can be such a plan.
func (fan *Fan) sound() bool {
	if fan.Chunks == 0 {
		return fan.Shards == 0 && fan.Active == 0
	}
	return fan.Chunks <= MaxChunks && 1 <= fan.Active && fan.Active <= fan.Shards && fan.Shards <= fan.Chunks
}

// shardsDone ends the fan-out: its results are joined, or, when it was given up,
// the node is exhausted.
func (t *transition) shardsDone(e ShardsDone) Verdict {
	n := t.flow.Node(e.Node)
	if n == nil || n.FanOut == nil {
		return Invalid
	}
	p := t.state.Nodes[n.Name]
	if p.Phase != Fanning || p.Attempt != e.Attempt {
		return Stale
	}
	if e.Failed < 0 || e.Failed > p.Fan.Chunks {
		return Invalid
	}
	p.Fan = &Fan{Chunks: p.Fan.Chunks, Shards: p.Fan.Shards, Active: p.Fan.Active, Failed: e.Failed}
	if e.Failure != nil {
		t.exhausted(n, p, e.Failure)
		t.effects.View = true
		return Applied
	}
	p.Phase = Joining
	t.state.Nodes[n.Name] = p
	return Applied
}

// partial reports whether something is missing from the output of a settled node.
func (p Progress) partial() bool {
	return p.Phase == Degraded || (p.Fan != nil && p.Fan.Failed > 0)
}
