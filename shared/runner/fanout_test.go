package runner_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
)

// fanFlow spreads the items of the input over chunks of two.
func fanFlow(onError engine.ItemError, parallel int) *engine.Flow {
	return &engine.Flow{ID: "fan", Engine: 1, Budget: time.Hour, Nodes: []engine.Node{{
		Name: "price", Agent: "pricer", Weight: 1, Timeout: 5 * time.Second,
		Retry:  engine.Retry{Tries: 3, Base: time.Millisecond, Cap: time.Second},
		FanOut: &engine.FanOut{Over: "input.items", Chunk: 2, MaxParallel: parallel, OnItemError: onError},
	}}}
}

func itemList(n int) json.RawMessage {
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	raw, _ := json.Marshal(map[string]any{"items": items})
	return raw
}

func (w *world) startFan(t *testing.T, f *engine.Flow, input json.RawMessage) {
	t.Helper()
	if err := f.Check(); err != nil {
		t.Fatal(err)
	}
	w.runner.Pipelines = []runner.Pipeline{{Flow: f}}
	req := runnertest.Start("est-1")
	req.Clarification = input
	if _, err := w.runner.Start(t.Context(), req); err != nil {
		t.Fatal(err)
	}
}

func (w *world) run(t *testing.T, id string) runner.Run {
	t.Helper()
	run, err := w.store.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

type joined struct {
	Results []*struct{ First int } `json:"results"`
	Failed  []int                  `json:"failed"`
}

func (w *world) joined(t *testing.T) joined {
	t.Helper()
	steps, err := w.store.Steps(t.Context(), "est-1~1", "price.0.j")
	if err != nil || len(steps) != 1 {
		t.Fatalf("the join: %v, %v", steps, err)
	}
	var out joined
	if err := json.Unmarshal(steps[0].Result, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Chunks come home in any order, twice, to two instances; they are joined in
// the order of the list, each once.
func TestAFanOutJoinsInOrder(t *testing.T) {
	t.Parallel()
	for _, items := range []int{1, 2, 7, 40, 501} {
		t.Run(fmt.Sprint(items), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &runnertest.Agents{})
			w.startFan(t, fanFlow(engine.Collect, 5), itemList(items))
			other := w.another()
			other.Pipelines = w.runner.Pipelines
			if err := w.bus.Deliver(t.Context(), 7, 2, w.runner, other); err != nil {
				t.Fatal(err)
			}
			equal(t, "status", w.run(t, "est-1~1").Status, engine.Completed)
			out := w.joined(t)
			equal(t, "chunks", len(out.Results), (items+1)/2)
			for i, r := range out.Results {
				if r == nil || r.First != 2*i {
					t.Errorf("result %d = %v, want that of the chunk which begins at %d", i, r, 2*i)
				}
			}
			equal(t, "calls", w.agents.Worked()["pricer"], (items+1)/2)
			if rev := w.run(t, "est-1~1").Rev; rev > 5 {
				t.Errorf("the run was written %d times, 5 at most", rev)
			}
		})
	}
}

func TestAFanOutOverNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.startFan(t, fanFlow(engine.Collect, 5), itemList(0))
	w.deliver(t)
	equal(t, "status", w.run(t, "est-1~1").Status, engine.Completed)
	equal(t, "joined", w.joined(t), joined{Results: []*struct{ First int }{}, Failed: []int{}})
}

func TestAFanOutOverNoList(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.startFan(t, fanFlow(engine.Collect, 5), json.RawMessage(`{"items":{"a":1}}`))
	w.deliver(t)
	run := w.run(t, "est-1~1")
	equal(t, "status", run.Status, engine.Failed)
	equal(t, "message", run.Error.Message, "input.items is no list")
}

func TestAFanOutThatIsTooWide(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	f := fanFlow(engine.Collect, 5)
	f.Nodes[0].FanOut.Chunk = 1
	w.startFan(t, f, itemList(engine.MaxChunks+1))
	w.deliver(t)
	run := w.run(t, "est-1~1")
	equal(t, "status", run.Status, engine.Failed)
	equal(t, "message", run.Error.Message, "The list makes 10001 chunks; 10000 are the most. Make the chunks larger.")
}

func TestAChunkThatFails(t *testing.T) {
	t.Parallel()
	t.Run("is collected", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, &runnertest.Agents{Fails: map[int]bool{4: true, 20: true}})
		w.startFan(t, fanFlow(engine.Collect, 3), itemList(40))
		w.deliver(t)
		run := w.run(t, "est-1~1")
		equal(t, "status", run.Status, engine.Completed)
		equal(t, "flags", run.Flags, []string{engine.FlagPartial})
		out := w.joined(t)
		equal(t, "failed", out.Failed, []int{2, 10})
		equal(t, "result of a failed chunk", out.Results[2] == nil, true)
		equal(t, "results", len(out.Results), 20)
	})
	t.Run("fails the node", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, &runnertest.Agents{Fails: map[int]bool{4: true}})
		w.startFan(t, fanFlow(engine.FailAll, 3), itemList(400))
		w.deliver(t)
		run := w.run(t, "est-1~1")
		equal(t, "status", run.Status, engine.Failed)
		equal(t, "code", run.Error.Code, engine.CodeChunkFailed)
		equal(t, "message", run.Error.Message, "Chunk 2: agent pricer cannot do this")
		if n := w.agents.Worked()["pricer"]; n > 20 {
			t.Errorf("%d chunks were called after one had failed the node", n)
		}
	})
}

// A chunk's agent is away for a while: its shard waits, the others go on.
func TestAChunkIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Down: map[string]int{"pricer": 7}})
	f := fanFlow(engine.FailAll, 3)
	f.Nodes[0].Retry.Base, f.Nodes[0].Retry.Cap = time.Minute, time.Hour
	w.startFan(t, f, itemList(40))
	for range 20 {
		w.deliver(t)
		w.clock.Advance(3 * time.Minute)
		w.sweep(t)
	}
	equal(t, "status", w.run(t, "est-1~1").Status, engine.Completed)
	equal(t, "calls", w.agents.Worked()["pricer"], 20)
}

// Every message is lost now and then: the sweeper finds the chunks, the full
// shards and the join.
func TestAFanOutWhoseMessagesAreLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.startFan(t, fanFlow(engine.Collect, 4), itemList(60))
	for round := range 60 {
		if w.run(t, "est-1~1").Status.Ended() {
			break
		}
		w.bus.Lose = round % 3
		for range 5 {
			_ = w.bus.Deliver(t.Context(), uint64(round), 1, w.runner) // a lost publish is an error, and its message comes again
		}
		w.clock.Advance(2 * time.Minute)
		w.bus.Lose = 0
		w.sweep(t)
	}
	equal(t, "status", w.run(t, "est-1~1").Status, engine.Completed)
	equal(t, "calls", w.agents.Worked()["pricer"], 30)
	equal(t, "results", len(w.joined(t).Results), 30)
}

// A cancel reaches the chunks at work: their claims are touched, their agents
// told.
func TestCancelOfAFanOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.startFan(t, fanFlow(engine.Collect, 4), itemList(60))
	canceled := false
	w.agents.Before = func(string) {
		if !canceled {
			canceled = true
			if err := w.runner.Cancel(t.Context(), "est-1~1", "anna"); err != nil {
				t.Errorf("Cancel: %v", err)
			}
		}
	}
	w.deliver(t)
	equal(t, "status", w.run(t, "est-1~1").Status, engine.Canceled)
	equal(t, "told", len(w.agents.Canceled), 1)
	equal(t, "calls", w.agents.Worked()["pricer"], 1)
}

// A message that comes for a chunk that is done does not send the chunks in
// flight again whose messages are on their way: each of them would do the same.
func TestStaleChunksDoNotMultiply(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.startFan(t, fanFlow(engine.Collect, 40), itemList(400))
	if err := w.bus.Deliver(t.Context(), 3, 4, w.runner, w.another()); err != nil {
		t.Fatal(err)
	}
	equal(t, "status", w.run(t, "est-1~1").Status, engine.Completed)
	if n := w.bus.Messages; n > 210 {
		t.Errorf("%d messages for 200 chunks, want few more than one for each", n)
	}
}

// A chunk that fails for good stops the others of its fan-out, also where the
// run goes on without the node.
func TestAFanOutThatIsGivenUpStopsItsChunks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Fails: map[int]bool{0: true}})
	f := fanFlow(engine.FailAll, 4)
	f.Nodes[0].Gate = &engine.Gate{Scorer: "price_scorer", Critic: "price_critic", Threshold: 80, Exhausted: engine.Degrade}
	f.Nodes = append(f.Nodes, engine.Node{Name: "beside", Agent: "beside", Timeout: time.Second, Retry: f.Nodes[0].Retry})
	w.startFan(t, f, itemList(8))
	at := func(id engine.StepID) {
		t.Helper()
		if err := w.runner.Handle(t.Context(), runner.Message{V: 1, Run: "est-1~1", Step: id}); err != nil {
			t.Fatal(err)
		}
	}
	at("price.0.x")
	claim, err := w.store.PutStep(t.Context(), runner.Step{
		Run: "est-1~1", ID: "price.0.k1", Status: runner.Claimed, Agent: "pricer", Call: runner.CallID("est-1~1", "price.0.k1"),
		Owner: "other", Try: 1, Fence: 1, Lease: time.Minute, StartedAt: w.clock.Now(),
	})
	if err != nil {
		t.Fatal(err)
	}
	at("price.0.k0")
	run := w.run(t, "est-1~1")
	equal(t, "phase", run.Nodes["price"].Phase, engine.Degraded)
	equal(t, "status", run.Status, engine.Running)
	equal(t, "calls that are canceled", len(w.agents.Canceled), 1)
	claim.Beats++
	if _, err := w.store.PutStep(t.Context(), claim); fault.KindOf(err) != fault.Conflict {
		t.Errorf("the next heartbeat of the other chunk: %v, want it refused", err)
	}
}

// One chunk's message is lost while the others of its shard go on: the sweeper
// finds it, although the shard is never quiet.
func TestALostChunkInABusyShard(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.startFan(t, fanFlow(engine.Collect, 2), itemList(40))
	must(t, w.runner.Handle(t.Context(), runner.Message{V: 1, Run: "est-1~1", Step: "price.0.x"}))
	w.bus = &runnertest.Bus{}
	w.runner.Bus = w.bus
	for _, chunk := range []engine.StepID{"price.0.k1", "price.0.k2", "price.0.k3"} { // that of k0 is lost
		must(t, w.runner.Handle(t.Context(), runner.Message{V: 1, Run: "est-1~1", Step: chunk}))
		w.clock.Advance(25 * time.Second)
	}
	w.sweep(t)
	equal(t, "messages: one after each chunk, and the lost one", w.bus.Waiting(), 4)
	w.deliver(t)
	equal(t, "status", w.run(t, "est-1~1").Status, engine.Completed)
	equal(t, "calls", w.agents.Worked()["pricer"], 20)
}
