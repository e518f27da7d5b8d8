package runner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
)

// A run begun by another build, with a flow this one does not have, is finished
// by it all the same.
func TestAFlowOfAnotherBuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Scores: map[string][]int{"location": {85, 95}}})
	old := w.another()
	strict := runnertest.Flow()
	strict.Nodes[0].Gate.Threshold = 90
	old.Pipelines = []runner.Pipeline{{Flow: strict}}
	_, err := old.Start(t.Context(), runnertest.Start("est-1"))
	must(t, err)
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "complete")
	equal(t, "location worked by the old pass mark", w.agents.Worked()["location"], 2)
}

func TestAFlowThatIsNowhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.foreign = true
	w.start(t)
	if _, err := w.client.Doc("flows/" + runnertest.Flow().Hash()).Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := w.another()
	other.Pipelines = []runner.Pipeline{{Flow: fanFlow(engine.Collect, 1)}}
	err := other.Handle(t.Context(), runner.Message{V: 1, Run: "est-1~1", Step: "location.0.p"})
	if fault.KindOf(err) != fault.Internal || !strings.Contains(err.Error(), "neither in this build nor stored") {
		t.Errorf("Handle = %v, want it to miss the flow", err)
	}
}

// A run of a schema before goes on as it began, keeps its schema, and stays what
// the code before can read: it and its steps have a field for every member.
func TestARunOfASchemaBefore(t *testing.T) {
	t.Parallel()
	for schema := 1; schema < engine.Schema; schema++ {
		t.Run(fmt.Sprint(schema), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &runnertest.Agents{Asks: map[string]bool{"cost": true}})
			w.start(t)
			if _, err := w.client.Doc("runs/est-1~1").Set(t.Context(), before(w.run(t, "est-1~1"), schema)); err != nil {
				t.Fatal(err)
			}
			if schema == 1 {
				kind(t, "hold", w.runner.Hold(t.Context(), "est-1~1", "anna", ""), fault.Conflict)
			}
			w.deliver(t)
			run := w.run(t, "est-1~1")
			equal(t, "schema", run.Schema, schema)
			equal(t, "location", run.Nodes["location"].Phase, engine.Passed)
			if schema == 1 {
				equal(t, "status", run.Status, engine.Failed)
				equal(t, "message", run.Error.Message, "The agent asks a person, which this run cannot.")
			} else {
				equal(t, "status", run.Status, engine.WaitingInput)
			}
			for path, field := range map[string]string{"runs/est-1~1": "rev", "runs/est-1~1/steps/location.0.s": "score"} {
				doc, err := w.client.Doc(path).Get(t.Context())
				must(t, err)
				if _, there := doc.Data()[field].(int64); !there {
					t.Errorf("%s has no field %s", path, field)
				}
			}
		})
	}
}

// before is the document of a run as a schema before has it.
func before(run runner.Run, schema int) map[string]any {
	var m map[string]any
	b, _ := json.Marshal(run.State)
	_ = json.Unmarshal(b, &m)
	m["schema"] = schema
	if schema == 1 {
		delete(m, "viewAt")
	}
	m["wakeAt"], m["createdAt"], m["updatedAt"], m["deadlineAt"] = run.WakeAt, run.CreatedAt, run.UpdatedAt, run.DeadlineAt
	return m
}

// A branch whose condition does not hold is skipped; what an agent gets is what
// the flow maps to it.
func TestConditionsAndMapping(t *testing.T) {
	t.Parallel()
	for _, size := range []int{5, 500} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &runnertest.Agents{})
			f := runnertest.Flow()
			f.Nodes[0].When = []engine.Condition{{Fact: "input.size", Is: engine.More, Value: 100.0}}
			f.Nodes[1].Input = map[string]string{"where": "location.agent", "size": "input.size", "third": "input.list.2", "none": "input.no.such"}
			w.startFan(t, f, fmt.Appendf(nil, `{"size":%d,"list":[1,2,3]}`, size))
			w.deliver(t)
			equal(t, "status", w.estimate(t)["status"], "complete")
			want := `{"size":5,"third":3}`
			if size > 100 {
				want = `{"size":500,"third":3,"where":"location"}`
			}
			for _, a := range w.agents.Requests {
				if a.Agent == "cost" {
					equal(t, "input", string(a.Request.Input), want)
				}
			}
			equal(t, "location worked", w.agents.Worked()["location"] == 1, size > 100)
		})
	}
}

// An output against its schema is asked for once more, under another key, and
// then fails the node.
func TestAnOutputAgainstItsSchema(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	f := runnertest.Flow()
	f.Nodes[0].Schema = json.RawMessage(`{"type":"object","required":["region"]}`)
	w.runner.Pipelines = []runner.Pipeline{{Flow: f}}
	w.start(t)
	w.deliver(t)
	run := w.run(t, "est-1~1")
	equal(t, "status", run.Status, engine.Failed)
	equal(t, "calls", w.agents.Worked()["location"], 2)
	if !strings.Contains(run.Error.Message, "region") {
		t.Errorf("error = %q, want it to name region", run.Error.Message)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	start := func(id string) error {
		req := runnertest.Start(id)
		_, err := w.runner.Start(t.Context(), req)
		return err
	}
	w.runner.Limits = runner.Limits{InFlight: 2}
	must(t, start("est-1"))
	must(t, start("est-2"))
	kind(t, "a third at once", start("est-3"), fault.Exhausted)
	must(t, start("est-2")) // is no new start
	w.deliver(t)
	must(t, start("est-3"))

	w.runner.Limits = runner.Limits{PerMinute: 3}
	kind(t, "a fourth within a minute", start("est-4"), fault.Exhausted)
	w.clock.Advance(61 * time.Second)
	must(t, start("est-4"))
}

// A key stands for the estimate it began.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	start := func(id, owner, input string) (runner.Started, error) {
		req := runnertest.Start(id)
		req.Owner, req.Input, req.Key = owner, input, "order/7"
		return w.runner.Start(t.Context(), req)
	}
	first, err := start("est-1", "anna", "h")
	must(t, err)
	again, err := start("est-2", "anna", "h")
	must(t, err)
	equal(t, "again", again, first)
	_, err = start("est-2", "anna", "other")
	kind(t, "another request under the key", err, fault.Conflict)
	_, err = start("est-3", "bert", "h")
	must(t, err) // another owner's key is another key
}

// The sweeper sees every due run, however many are due at the same time.
func TestTheSweeperPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	const runs = 450
	w.bus.Lose = runs
	for i := range runs {
		_, _ = w.runner.Start(t.Context(), runnertest.Start(fmt.Sprintf("est-%d", i)))
	}
	equal(t, "published", w.bus.Messages, 0)
	w.clock.Advance(3 * time.Minute)
	w.sweep(t)
	equal(t, "sent again", w.bus.Messages, runs)
}

// A sweep that is cut off says so once, and not once for each run that is left.
func TestASweepIsCutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	const runs = 5
	w.bus.Lose = runs
	for i := range runs {
		_, _ = w.runner.Start(t.Context(), runnertest.Start(fmt.Sprintf("est-%d", i)))
	}
	w.clock.Advance(3 * time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	w.runner.Find = finderThen{w.runner.Find, cancel}
	err := w.runner.Sweep(ctx)
	if joined, ok := err.(interface{ Unwrap() []error }); !ok || len(joined.Unwrap()) != 1 {
		t.Errorf("Sweep = %v, want one error", err)
	}
	equal(t, "sent again", w.bus.Messages, 0)
}

// finderThen does something once runs were found.
type finderThen struct {
	runner.Finder
	then func()
}

func (f finderThen) Due(ctx context.Context, now time.Time, after runner.Due, limit int) ([]runner.Due, error) {
	due, err := f.Finder.Due(ctx, now, after, limit)
	f.then()
	return due, err
}

// What a subscription gave up is an alarm and wakes its run.
func TestDeadLetter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.bus.Lose = 1
	_, _ = w.runner.Start(t.Context(), runnertest.Start("est-1"))
	w.clock.Advance(time.Minute)
	must(t, w.runner.DeadLetter(t.Context(), []byte(`{"v":1,"run":"est-1~1","step":"location.0.p"}`), "delivered 20 times"))
	must(t, w.runner.DeadLetter(t.Context(), []byte(`{"v":1,"run":"none~1"}`), "delivered 20 times"))
	must(t, w.runner.DeadLetter(t.Context(), []byte(`nonsense`), "delivered 20 times"))
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "complete")
}

// The claim of a worker that died is taken over, unless its agent must not be
// asked twice.
func TestAnExpiredClaim(t *testing.T) {
	t.Parallel()
	for _, once := range []bool{false, true} {
		t.Run(fmt.Sprintf("ambiguous=%t", once), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &runnertest.Agents{})
			f := runnertest.Flow()
			f.Nodes[0].Ambiguous = once
			w.runner.Pipelines = []runner.Pipeline{{Flow: f}}
			w.start(t)
			dead := runner.Step{
				Run: "est-1~1", ID: "location.0.p", Status: runner.Claimed, Call: runner.CallID("est-1~1", "location.0.p"), Agent: "location",
				Try: 1, Fence: 1, Owner: "dead", Lease: time.Millisecond, StartedAt: w.clock.Now(),
			}
			_, err := w.store.PutStep(t.Context(), dead)
			must(t, err)
			<-time.After(20 * time.Millisecond) // the server's clock decides
			w.deliver(t)
			run := w.run(t, "est-1~1")
			if once {
				equal(t, "ambiguous", run.Error != nil && run.Error.Code == engine.CodeAmbiguous, true)
				equal(t, "calls", w.agents.Worked()["location"], 0)
				return
			}
			equal(t, "status", run.Status, engine.Completed)
			steps, err := w.store.Steps(t.Context(), "est-1~1", "location.0.p")
			must(t, err)
			equal(t, "claims", steps[0].Try, 2)
			equal(t, "fence", steps[0].Fence, 2)
		})
	}
}

// A worker keeps its claim alive and never comes home: its try has failed, once,
// and the claim is anybody's.
func TestAStepThatOutlivesItsTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.start(t)
	stuck := runner.Step{
		Run: "est-1~1", ID: "location.0.p", Status: runner.Claimed, Call: runner.CallID("est-1~1", "location.0.p"), Agent: "location",
		Try: 1, Fence: 1, Owner: "stuck", Lease: time.Hour, StartedAt: w.clock.Now(),
	}
	stuck, err := w.store.PutStep(t.Context(), stuck)
	must(t, err)
	w.deliver(t)
	w.clock.Advance(3 * time.Minute) // the call may take 5 s
	w.sweep(t)
	equal(t, "tries", w.run(t, "est-1~1").Open["location.0.p"].Tries, 1)
	stuck.Beats++
	_, err = w.store.PutStep(t.Context(), stuck)
	kind(t, "the next heartbeat", err, fault.Conflict)
	w.clock.Advance(3 * time.Minute)
	w.sweep(t)
	equal(t, "tries after another sweep", w.run(t, "est-1~1").Open["location.0.p"].Tries, 1)
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "complete")
}
