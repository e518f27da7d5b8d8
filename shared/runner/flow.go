package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/schema"
)

// flowCache knows pipelines by the hashes of their flows. Its zero value is
// ready.
type flowCache struct {
	mu     sync.Mutex // guards what follows
	byHash map[string]*Pipeline
	stored map[string]bool           // flows this instance has put into the store
	schema map[string]*schema.Schema // by their text
}

// Deploy stores every flow of this build, so that runs begun with it can be
// finished by any later build. Start does the same for the flow it starts; a
// deployment that calls Deploy spares the first start a write.
func (r *Runner) Deploy(ctx context.Context) error {
	for i := range r.Pipelines {
		if err := r.store(ctx, r.Pipelines[i].Flow); err != nil {
			return err
		}
	}
	return nil
}

func (r *Runner) store(ctx context.Context, f *engine.Flow) error {
	hash := f.Hash()
	r.flows.mu.Lock()
	done := r.flows.stored[hash]
	r.flows.mu.Unlock()
	if done {
		return nil
	}
	if err := r.Store.PutFlow(ctx, f); err != nil {
		return fmt.Errorf("store flow %s: %w", f.ID, err)
	}
	r.flows.mu.Lock()
	defer r.flows.mu.Unlock()
	if r.flows.stored == nil {
		r.flows.stored = map[string]bool{}
	}
	r.flows.stored[hash] = true
	return nil
}

// pipeline returns the pipeline a run is pinned to: of this build, or, begun by
// another one, with the flow that was stored then.
func (r *Runner) pipeline(ctx context.Context, hash string) (*Pipeline, error) {
	if p := r.known(hash); p != nil {
		return p, nil
	}
	f, err := r.Store.Flow(ctx, hash)
	if fault.KindOf(err) == fault.NotFound {
		return nil, fault.Wrap(fault.Internal, err, "flow %s is neither in this build nor stored", hash)
	}
	if err != nil {
		return nil, fmt.Errorf("load flow %s: %w", hash, err)
	}
	p := &Pipeline{Flow: f}
	for i := range r.Pipelines {
		if r.Pipelines[i].Flow.ID == f.ID {
			p.Documents = r.Pipelines[i].Documents
		}
	}
	r.flows.mu.Lock()
	defer r.flows.mu.Unlock()
	r.flows.byHash[hash] = p
	return p, nil
}

func (r *Runner) known(hash string) *Pipeline {
	r.flows.mu.Lock()
	defer r.flows.mu.Unlock()
	if r.flows.byHash == nil {
		r.flows.byHash = map[string]*Pipeline{}
		for i := range r.Pipelines {
			r.flows.byHash[r.Pipelines[i].Flow.Hash()] = &r.Pipelines[i]
		}
	}
	return r.flows.byHash[hash]
}

// conforms checks the output of a node against its schema.
func (c *flowCache) conforms(n *engine.Node, output json.RawMessage) error {
	if len(n.Schema) == 0 {
		return nil
	}
	s, err := c.compiled(n.Schema)
	if err != nil {
		return err
	}
	if err := s.Check(output); err != nil {
		return fault.Wrap(fault.Invalid, err, "%s answered against its schema: %s", n.Agent, fault.Public(err))
	}
	return nil
}

// compiled returns a schema, which takes longer to compile than to check.
func (c *flowCache) compiled(raw json.RawMessage) (*schema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.schema[string(raw)]; s != nil {
		return s, nil
	}
	s, err := schema.Compile(raw)
	if err != nil {
		return nil, err
	}
	if c.schema == nil {
		c.schema = map[string]*schema.Schema{}
	}
	c.schema[string(raw)] = s
	return s, nil
}

// load returns a run with its pipeline; fault.NotFound when there is none. A run
// that newer code wrote is left to newer code: what this code does not know of
// it, it would lose.
func (r *Runner) load(ctx context.Context, id string) (Run, *Pipeline, error) {
	run, err := r.Store.Run(ctx, id)
	if err != nil {
		return run, nil, fmt.Errorf("load run %s: %w", id, err)
	}
	if run.Schema > engine.Schema {
		return run, nil, fault.New(fault.Unavailable, "run %s has schema %d, newer than this code", id, run.Schema)
	}
	p, err := r.pipeline(ctx, run.Flow)
	return run, p, err
}
