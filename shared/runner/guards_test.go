package runner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
)

// eager hands a message out before Publish returns.
type eager struct{ to *runner.Runner }

func (e eager) Publish(ctx context.Context, messages ...runner.Message) error {
	for _, m := range messages {
		if err := e.to.Handle(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// A message may arrive before its publisher goes on: what it is about is stored
// by then.
func TestMessagesThatArriveAtOnce(t *testing.T) {
	t.Parallel()
	for name, flow := range map[string]*engine.Flow{"chain": runnertest.Flow(), "fan": fanFlow(engine.Collect, 3)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &runnertest.Agents{Scores: map[string][]int{"location": {60, 90}}})
			w.runner.Bus = eager{w.runner}
			w.startFan(t, flow, itemList(20))
			equal(t, "status", w.run(t, "est-1~1").Status, engine.Completed)
		})
	}
}

// A call that a worker is at is not sent again by the sweeper.
func TestTheSweeperLeavesCallsAtWorkAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.start(t)
	w.clock.Advance(3 * time.Minute)
	_, err := w.store.PutStep(t.Context(), runner.Step{
		Run: "est-1~1", ID: "location.0.p", Status: runner.Claimed, Call: runner.CallID("est-1~1", "location.0.p"), Agent: "location",
		Try: 1, Fence: 1, Owner: "another", Lease: time.Hour, StartedAt: w.clock.Now(),
	})
	must(t, err)
	before := w.bus.Messages
	w.sweep(t)
	equal(t, "messages", w.bus.Messages, before)
	equal(t, "tries", w.run(t, "est-1~1").Open["location.0.p"].Tries, 0)
}

// Nothing is sent while a run is held, even if the sweeper happens to look at it.
func TestASweepOfAHeldRun(t *testing.T) {
	t.Parallel()
	for name, flow := range map[string]*engine.Flow{"chain": runnertest.Flow(), "fan": fanFlow(engine.Collect, 3)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &runnertest.Agents{})
			w.startFan(t, flow, itemList(20))
			if name == "fan" { // up to the chunks
				must(t, w.runner.Handle(t.Context(), runner.Message{V: 1, Run: "est-1~1", Step: "price.0.x"}))
			}
			must(t, w.runner.Hold(t.Context(), "est-1~1", "anna", ""))
			w.clock.Advance(3 * time.Minute)
			w.runner.Find = held{w.store}
			before := w.bus.Messages
			w.sweep(t)
			equal(t, "messages", w.bus.Messages, before)
		})
	}
}

// held finds the run although nobody asked to be woken.
type held struct{ runner.Finder }

func (held) Due(context.Context, time.Time, runner.Due, int) ([]runner.Due, error) {
	return []runner.Due{{Run: "est-1~1"}}, nil
}

// Two workers are at chunks of one shard: whoever comes second finds the shard
// changed, and leaves what the first did as it is.
func TestChunksOfAShardAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.startFan(t, fanFlow(engine.Collect, 3), itemList(20))
	other := w.another()
	other.Pipelines = w.runner.Pipelines
	w.agents.Before = func(string) {
		w.agents.Before = nil
		must(t, other.Handle(t.Context(), runner.Message{V: 1, Run: "est-1~1", Step: "price.0.k1"}))
	}
	for _, id := range []engine.StepID{"price.0.x", "price.0.k0"} {
		must(t, w.runner.Handle(t.Context(), runner.Message{V: 1, Run: "est-1~1", Step: id}))
	}
	shards, err := w.store.Shards(t.Context(), runner.FanID{Run: "est-1~1", Node: "price"}, 0)
	must(t, err)
	var flying []int
	for _, f := range shards[0].InFlight {
		flying = append(flying, f.Chunk)
	}
	equal(t, "in flight after two of three", flying, []int{2, 3, 4})
	w.deliver(t)
	equal(t, "status", w.run(t, "est-1~1").Status, engine.Completed)
	equal(t, "calls", w.agents.Worked()["pricer"], 10)
}

// The messages of chunks vanish: the sweeper finds which are due.
func TestTheSweeperFindsChunks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.startFan(t, fanFlow(engine.Collect, 3), itemList(20))
	must(t, w.runner.Handle(t.Context(), runner.Message{V: 1, Run: "est-1~1", Step: "price.0.x"}))
	w.bus = &runnertest.Bus{}
	w.runner.Bus = w.bus
	w.clock.Advance(2 * time.Minute)
	w.sweep(t)
	equal(t, "messages", w.bus.Waiting(), 3)
	w.deliver(t)
	equal(t, "status", w.run(t, "est-1~1").Status, engine.Completed)
}

// signing writes the estimate into what an agent answers, and looks whether what
// it is given is of its estimate.
type signing struct {
	runner.Caller
	t *testing.T
}

func (s signing) Call(ctx context.Context, agent, id string, req a2a.Request) (a2a.Result, error) {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(req.Input, &in); err != nil {
		return a2a.Result{}, err
	}
	for _, given := range []json.RawMessage{in["location_output"], req.Output} {
		if len(given) > 0 && !strings.Contains(string(given), req.EstimateID) {
			s.t.Errorf("%s of %s is given %s", agent, req.EstimateID, given)
		}
	}
	result, err := s.Caller.Call(ctx, agent, id, req)
	if err == nil {
		result.Output = fmt.Appendf(nil, `{"of":%q,%s`, req.EstimateID, result.Output[1:])
	}
	return result, err
}

// An instance that works on several runs keeps what it remembers of them apart.
func TestRunsShareNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.runner.Caller = signing{w.agents, t}
	for _, estimate := range []string{"est-1", "est-2"} {
		_, err := w.runner.Start(t.Context(), runnertest.Start(estimate))
		must(t, err)
		w.deliver(t)
		equal(t, "status of "+estimate, w.run(t, estimate+"~1").Status, engine.Completed)
	}
}

// resets breaks every connection after the request was sent.
type resets struct{ calls *int }

func (r resets) RoundTrip(*http.Request) (*http.Response, error) {
	*r.calls++
	return nil, syscall.ECONNRESET
}

// A call whose answer is lost is repeated, unless its agent must not be asked
// twice.
func TestAnAmbiguousCall(t *testing.T) {
	t.Parallel()
	for _, once := range []bool{false, true} {
		t.Run(fmt.Sprintf("ambiguous=%t", once), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &runnertest.Agents{})
			calls := 0
			w.runner.Caller = &a2a.Client{HTTP: &http.Client{Transport: resets{&calls}}, BaseURL: "http://agents"}
			f := runnertest.Flow()
			f.Nodes[0].Ambiguous = once
			w.runner.Pipelines = []runner.Pipeline{{Flow: f}}
			w.start(t)
			w.deliver(t)
			code := engine.CodeAgentFailed
			if once {
				code = engine.CodeAmbiguous
			}
			run := w.run(t, "est-1~1")
			if run.Error == nil {
				t.Fatalf("status is %s, want failed", run.Status)
			}
			equal(t, "code", run.Error.Code, code)
			equal(t, "one call", calls == 1, once)
		})
	}
}

// An agent that must not be asked twice said that it is at work, and the worker
// that looked after its task fell silent. Another looks again: that pays nothing.
func TestATaskAtWorkOutlivesItsWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Busy: map[string]int{"location": 1}})
	f := runnertest.Flow()
	f.Nodes[0].Ambiguous = true
	w.runner.Pipelines = []runner.Pipeline{{Flow: f}}
	w.start(t)
	must(t, w.runner.Handle(t.Context(), runner.Message{V: 1, Run: "est-1~1", Step: "location.0.p"}))
	steps, err := w.store.Steps(t.Context(), "est-1~1", "location.0.p")
	must(t, err)
	dead := steps[0]
	if dead.Task == "" {
		t.Fatal("the agent left no task at work")
	}
	dead.Owner, dead.Takeovers, dead.Lease = "dead", 1, 0 // it had taken over from one that was silent
	_, err = w.store.PutStep(t.Context(), dead)
	must(t, err)
	w.clock.Advance(time.Minute)
	w.deliver(t)
	w.sweep(t)
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "complete")
	equal(t, "calls of location", w.agents.Worked()["location"], 1)
}
