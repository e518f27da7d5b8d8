package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"truecost.dev/internal/official"
	"truecost.dev/shared/boot"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/gcp/docstore"
	"truecost.dev/shared/runner"
)

// inFlight is how many runs, or chunks, are at work at once.
const inFlight = 50

// patience is how long a run may take before the measurement is given up.
const patience = 2 * time.Minute

// rig is everything that takes part in a measurement.
type rig struct {
	name   string // embedded, official
	dir    string // for logs
	stores *process
	at     ready // addresses of the stores
	stop   []func()

	services *boot.Services
	store    *docstore.Store
	starters map[string]*runner.Runner // by flow
	floor    *floorTopic
	agents   *agents
	engine   *process

	ids   atomic.Int64
	mu    sync.Mutex // guards ended
	ended map[string]chan struct{}
}

// newRig starts the stores, embedded or official, the agents and one engine.
func newRig(ctx context.Context, name string) (r *rig, err error) {
	r = &rig{name: name, starters: map[string]*runner.Runner{}, ended: map[string]chan struct{}{}}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if r.dir, err = os.MkdirTemp("", "truecost-bench"); err != nil {
		return r, err
	}
	r.stop = append(r.stop, func() { _ = os.RemoveAll(r.dir) })
	if name == officialRig {
		err = r.startOfficial(ctx)
	} else if r.stores, err = spawn(r.dir, role{}); err == nil {
		r.at = r.stores.ready
		r.stop = append(r.stop, r.stores.stop)
	}
	if err != nil {
		return r, err
	}
	if err := r.connect(ctx); err != nil {
		return r, err
	}
	if r.agents, err = serveAgents(docstoreTasks(r.services)); err != nil {
		return r, err
	}
	r.stop = append(r.stop, func() { _ = r.agents.server.Close() })
	return r, r.replaceEngine(r.role())
}

func (r *rig) startOfficial(ctx context.Context) error {
	for _, e := range []struct {
		official.Emulator
		address *string
	}{{official.Firestore, &r.at.Firestore}, {official.PubSub, &r.at.PubSub}} {
		address, stop, err := e.Run(ctx, r.dir)
		if err != nil {
			return err
		}
		*e.address = address
		r.stop = append(r.stop, stop)
	}
	return nil
}

// role is a production engine: leases of 90 s, a sweep a minute.
func (r *rig) role() engineRole {
	return engineRole{Firestore: r.at.Firestore, PubSub: r.at.PubSub, Agents: "http://unknown", Lease: 90 * time.Second, Sweep: time.Minute}
}

// connect opens what starts runs and reads how they ended.
func (r *rig) connect(ctx context.Context) error {
	conf, err := r.role().config(ctx)
	if err != nil {
		return err
	}
	r.services = boot.New(conf, slog.New(slog.DiscardHandler))
	r.stop = append(r.stop, func() { _ = r.services.Close() })
	proto, err := r.services.Runner()
	if err != nil {
		return err
	}
	if r.store, err = r.services.Estimates(); err != nil {
		return err
	}
	if r.floor, err = connectTopic(ctx, r.at.PubSub); err != nil {
		return err
	}
	for _, p := range pipelines() {
		r.starters[p.Flow.ID] = &runner.Runner{
			Store: proto.Store, Bus: proto.Bus, Pipelines: []runner.Pipeline{p}, Pace: proto.Pace,
			Log: proto.Log, Now: proto.Now, Sleep: proto.Sleep, Owner: proto.Owner,
		}
	}
	return nil
}

func (r *rig) close() {
	if r.engine != nil {
		r.engine.stop()
	}
	for _, stop := range slices.Backward(r.stop) {
		stop()
	}
}

// replaceEngine starts another engine process. The push subscriptions follow.
func (r *rig) replaceEngine(role engineRole) error {
	if r.engine != nil {
		r.engine.stop()
	}
	if role.Agents == "http://unknown" {
		role.Agents = r.agents.address
	}
	engine, err := spawn(r.dir, roleOf(role))
	if err != nil {
		return err
	}
	r.engine = engine
	go func() { // ends with the process
		for run := range engine.lines {
			close(r.end(strings.TrimSuffix(run, "~1")))
		}
	}()
	return nil
}

// end is closed when a run has ended.
func (r *rig) end(id string) chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended[id] == nil {
		r.ended[id] = make(chan struct{})
	}
	return r.ended[id]
}

// wait returns when a run has ended.
func (r *rig) wait(ctx context.Context, id string) error {
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-r.end(id):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return fmt.Errorf("%s did not end in %v: %s; the engine says:\n%s", id, patience, r.state(ctx, id), r.engine.tail())
	}
}

// counts reads what the embedded servers have done.
func (r *rig) counts() (c counts, err error) {
	if r.stores == nil {
		return c, errors.New("the official emulators do not count")
	}
	return c, r.stores.ask("/counts", &c)
}

// state says where a run stands.
func (r *rig) state(ctx context.Context, id string) string {
	run, err := r.store.Run(ctx, engine.RunID(id, 1))
	if err != nil {
		return err.Error()
	}
	var said strings.Builder
	fmt.Fprintf(&said, "%s at rev %d, open %v", run.Status, run.Rev, run.Open)
	for name, p := range run.Nodes {
		if p.Phase != engine.Fanning {
			continue
		}
		shards, _ := r.store.OpenShards(ctx, runner.FanID{Run: run.RunID(), Node: name, Attempt: p.Attempt})
		for _, s := range shards {
			fmt.Fprintf(&said, "\n%s, shard %d of %d chunks from %d in flight %v, full: %v", name, s.Index, s.Size, s.From, s.InFlight, s.Full())
		}
	}
	return said.String()
}
