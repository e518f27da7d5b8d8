package runner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/firestore"
	"github.com/google/go-cmp/cmp"

	"truecost.dev/emulator/firestore/firestoretest"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/gcp/docstore"
	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
)

// world is one store with its agents and bus.
type world struct {
	client *firestore.Client
	store  *docstore.Store
	agents *runnertest.Agents
	bus    *runnertest.Bus
	clock  *runnertest.Clock
	runner *runner.Runner

	foreign bool // the run is not as this code writes it: nobody can fold it
}

func newWorld(t *testing.T, agents *runnertest.Agents) *world {
	t.Helper()
	w := &world{client: firestoretest.Client(t), agents: agents, bus: &runnertest.Bus{}, clock: runnertest.NewClock()}
	w.store = docstore.New(w.client)
	w.runner = w.another()
	t.Cleanup(func() {
		if !w.foreign {
			runnertest.FoldAll(t, w.store, "est-1")
		}
	})
	return w
}

// another returns one more runner on the same store, as a second instance.
func (w *world) another() *runner.Runner {
	return runnertest.NewRunner(w.store, w.bus, w.agents, w.clock)
}

func (w *world) start(t *testing.T) {
	t.Helper()
	if _, err := w.runner.Start(t.Context(), runnertest.Start("est-1")); err != nil {
		t.Fatal(err)
	}
}

func (w *world) deliver(t *testing.T) {
	t.Helper()
	if err := w.bus.Deliver(t.Context(), 1, 1, w.runner); err != nil {
		t.Fatal(err)
	}
}

func (w *world) estimate(t *testing.T) map[string]any {
	t.Helper()
	doc, err := w.store.Estimate(t.Context(), "est-1")
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func (w *world) status(t *testing.T, field string) any {
	t.Helper()
	return w.estimate(t)["pipelineStatus"].(map[string]any)[field]
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestRetriesWithFeedbackUntilItPasses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Scores: map[string][]int{"location": {60, 70, 85}}})
	w.start(t)
	w.deliver(t)

	equal(t, "status", w.estimate(t)["status"], "complete")
	equal(t, "worked", w.agents.Worked(), map[string]int{
		"location": 3, "location_scorer": 3, "location_critic": 2, "cost": 1, "cost_scorer": 1,
	})
	for _, asked := range w.agents.Requests {
		if asked.Agent != "location" {
			continue
		}
		var feedback struct {
			Issues         []string        `json:"issues"`
			Score          int             `json:"score"`
			PreviousOutput json.RawMessage `json:"previous_output"`
		}
		if asked.Request.Attempt == 0 {
			if asked.Request.Feedback != nil {
				t.Error("the first attempt has critic_feedback")
			}
			continue
		}
		if err := json.Unmarshal(asked.Request.Feedback, &feedback); err != nil {
			t.Fatalf("attempt %d: critic_feedback: %v", asked.Request.Attempt, err)
		}
		equal(t, "issues", feedback.Issues, []string{fmt.Sprintf("attempt %d is weak", asked.Request.Attempt-1)})
		equal(t, "score", feedback.Score, []int{60, 70}[asked.Request.Attempt-1])
		if len(feedback.PreviousOutput) == 0 {
			t.Errorf("attempt %d has no previous_output", asked.Request.Attempt)
		}
	}
	equal(t, "scores", w.status(t, "scores"), map[string]any{
		"location": int64(85), "location_attempt_0": int64(60), "location_attempt_1": int64(70), "location_attempt_2": int64(85),
		"cost": int64(90), "cost_attempt_0": int64(90),
	})
	equal(t, "currentAgent", w.status(t, "currentAgent"), nil)
	equal(t, "progress", w.status(t, "progress"), int64(100))
	equal(t, "completedAgents", w.status(t, "completedAgents"), []any{"location", "cost"})
	if feedback, ok := w.status(t, "criticFeedback").(map[string]any)["location"].(map[string]any); !ok || feedback["why_wrong"] != "because" {
		t.Errorf("criticFeedback.location = %v", feedback)
	}
	equal(t, "locationOutput.attempt", w.estimate(t)["locationOutput"].(map[string]any)["attempt"], int64(2))
}

func TestFailsAfterTheLastRetryAndKeepsWhatThereIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Scores: map[string][]int{"cost": {60, 75, 70}}})
	w.start(t)
	w.deliver(t)

	doc := w.estimate(t)
	equal(t, "status", doc["status"], "failed")
	equal(t, "currentAgent", w.status(t, "currentAgent"), "cost_failed")
	equal(t, "error", doc["error"], map[string]any{
		"code": "AGENT_MAX_RETRIES_EXCEEDED", "agent": "cost", "message": "No attempt reached the pass mark; the best one is kept.",
	})
	equal(t, "critics", w.agents.Worked()["cost_critic"], 2)
	equal(t, "locationOutput", doc["locationOutput"].(map[string]any)["agent"], "location")
	equal(t, "best attempt of cost", doc["costOutput"].(map[string]any)["attempt"], int64(1))
	out, err := w.client.Doc("estimates/est-1/agentOutputs/cost").Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "agentOutputs/cost status", out.Data()["status"], "error")
	equal(t, "agentOutputs/cost score", out.Data()["score"], int64(75))
}

func TestAFailingScorerNeverPasses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Broken: map[string]bool{"location_scorer": true}})
	w.start(t)
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "failed")
	equal(t, "code", w.status(t, "error").(map[string]any)["code"], "AGENT_VALIDATION_FAILED")
}

func TestAFailingCriticLeavesTheScorersWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Scores: map[string][]int{"location": {50}}, Broken: map[string]bool{"location_critic": true}})
	w.start(t)
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "complete")
	for _, asked := range w.agents.Requests {
		if asked.Agent == "location" && asked.Request.Attempt == 1 {
			var feedback struct {
				Issues []string `json:"issues"`
			}
			if err := json.Unmarshal(asked.Request.Feedback, &feedback); err != nil {
				t.Fatal(err)
			}
			equal(t, "issues", feedback.Issues, []string{"scored 50"})
		}
	}
}

// Every message three times in random order, to two instances: the documents
// are those of a calm run, and each agent worked once per attempt.
func TestDuplicatesAndDisorderChangeNothing(t *testing.T) {
	t.Parallel()
	script := map[string][]int{"location": {60, 70, 85}, "cost": {79, 80}}
	calm := newWorld(t, &runnertest.Agents{Scores: script})
	calm.start(t)
	calm.deliver(t)
	want := calm.documents(t)
	for seed := range uint64(20) {
		w := newWorld(t, &runnertest.Agents{Scores: script})
		w.start(t)
		if err := w.bus.Deliver(t.Context(), seed, 3, w.runner, w.another()); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := cmp.Diff(want, w.documents(t)); diff != "" {
			t.Fatalf("seed %d: documents differ (-calm +wild):\n%s", seed, diff)
		}
		equal(t, "worked", w.agents.Worked(), calm.agents.Worked())
	}
}

// Eight workers at once on three instances, every message delivered to all.
func TestConcurrentWorkers(t *testing.T) {
	t.Parallel()
	script := map[string][]int{"location": {60, 85}}
	calm := newWorld(t, &runnertest.Agents{Scores: script})
	calm.start(t)
	calm.deliver(t)
	w := newWorld(t, &runnertest.Agents{Scores: script})
	w.start(t)
	runners := []*runner.Runner{w.runner, w.another(), w.another()}
	for round := 0; w.estimate(t)["status"] == "processing"; round++ {
		if round > 100 {
			t.Fatal("the run does not end")
		}
		var workers sync.WaitGroup
		for i := range 8 {
			workers.Go(func() {
				for _, id := range runnertest.Steps() {
					if err := runners[i%3].Handle(t.Context(), runner.Message{V: 1, Run: "est-1~1", Step: id}); err != nil {
						t.Errorf("Handle(%s): %v", id, err)
					}
				}
			})
		}
		workers.Wait()
	}
	equal(t, "worked", w.agents.Worked(), calm.agents.Worked())
	if diff := cmp.Diff(calm.documents(t), w.documents(t)); diff != "" {
		t.Errorf("documents differ (-calm +concurrent):\n%s", diff)
	}
}

// documents returns every document, without what differs between two runs of
// the same work: times and owners.
func (w *world) documents(t *testing.T) map[string]any {
	t.Helper()
	all := map[string]any{}
	collect := func(doc *firestore.DocumentSnapshot) { all[doc.Ref.Path] = timeless(doc.Data()) }
	for _, path := range []string{"estimates", "runs", "estimates/est-1/agentOutputs", "runs/est-1~1/steps"} {
		docs, err := w.client.Collection(path).Documents(t.Context()).GetAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range docs {
			collect(doc)
		}
	}
	return all
}

func timeless(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, member := range v {
			switch k {
			case "owner", "since", "durationMs", "createdAt", "updatedAt", "startedAt", "completedAt", "doneAt", "endedAt",
				"wakeAt", "deadlineAt", "viewAt", "expireAt", "lastUpdated", "beats", "try", "fence", "leaseMs":
			default:
				out[k] = timeless(member)
			}
		}
		return out
	case time.Time:
		return "time"
	case []byte:
		var packed map[string]any
		if json.Unmarshal(v, &packed) != nil {
			return v
		}
		return timeless(packed)
	default:
		return v
	}
}

func TestStartIsIdempotent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.start(t)
	w.start(t)
	w.deliver(t)
	w.start(t)
	equal(t, "worked", w.agents.Worked(), map[string]int{"location": 1, "location_scorer": 1, "cost": 1, "cost_scorer": 1})
	other := runnertest.Start("est-1")
	other.Input = "another"
	if _, err := w.runner.Start(t.Context(), other); fault.KindOf(err) != fault.Conflict {
		t.Errorf("start with another input: %v, want a conflict", err)
	}
	stranger := runnertest.Start("est-1")
	stranger.Owner = "bert"
	if _, err := w.runner.Start(t.Context(), stranger); fault.KindOf(err) != fault.Conflict {
		t.Errorf("start by another owner: %v, want a conflict", err)
	}
}

// The worker dies after its commit and before its publish: no message is left.
// The sweeper, or the client's retry, goes on.
func TestLostPublish(t *testing.T) {
	t.Parallel()
	for _, repair := range []string{"sweep", "start again"} {
		t.Run(repair, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, &runnertest.Agents{})
			w.bus.Lose = 1
			if _, err := w.runner.Start(t.Context(), runnertest.Start("est-1")); err == nil {
				t.Fatal("a lost publish is not reported")
			}
			w.deliver(t)
			equal(t, "worked before repair", w.agents.Worked(), map[string]int{})
			if repair == "sweep" {
				w.sweep(t) // too early: the step is young
				w.clock.Advance(3 * time.Minute)
				w.sweep(t)
			} else {
				w.start(t)
			}
			w.deliver(t)
			equal(t, "status", w.estimate(t)["status"], "complete")
		})
	}
}

func (w *world) sweep(t *testing.T) {
	t.Helper()
	if err := w.runner.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A message is redelivered after the commit went through but the publish of the
// next step did not: catching up sends it.
func TestStaleMessageCatchesUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.start(t)
	w.bus.Lose = 1
	first := runner.Message{V: 1, Run: "est-1~1", Step: "location.0.p"}
	if err := w.runner.Handle(t.Context(), first); fault.KindOf(err) != fault.Unavailable {
		t.Fatalf("Handle with a bus that is away: %v", err)
	}
	w.clock.Advance(11 * time.Second)
	if err := w.runner.Handle(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "complete")
	equal(t, "location worked", w.agents.Worked()["location"], 1)
}

// Agents are away for a while: the run waits, costs no attempt, and finishes.
func TestAgentsAwayAndBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Down: map[string]int{"cost": 5}})
	w.start(t)
	for range 20 {
		w.deliver(t)
		w.clock.Advance(3 * time.Minute)
		w.sweep(t)
	}
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "complete")
	equal(t, "retries", w.status(t, "retries").(map[string]any)["cost"], int64(0))
}

// A step that waits is left alone until its time, by workers and by the
// sweeper.
func TestAWaitingStepIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Down: map[string]int{"location": 3}})
	w.runner.Pipelines = []runner.Pipeline{{Flow: runnertest.Flow()}}
	w.runner.Pipelines[0].Flow.Nodes[0].Retry.Base, w.runner.Pipelines[0].Flow.Nodes[0].Retry.Cap = 10*time.Minute, time.Hour
	w.start(t)
	w.deliver(t)
	before := w.clock.Now()
	if err := w.runner.Handle(t.Context(), runner.Message{V: 1, Run: "est-1~1", Step: "location.0.p"}); err != nil {
		t.Fatal(err)
	}
	equal(t, "worked too early", w.agents.Worked(), map[string]int{})
	equal(t, "waited in the handler", w.clock.Now().Sub(before), time.Duration(0))
	w.clock.Advance(4 * time.Minute) // jitter: at least five
	w.runner.Find = all{w.store}
	w.sweep(t)
	w.runner.Find = w.store
	equal(t, "messages swept too early", w.bus.Waiting(), 0)
	w.clock.Advance(20 * time.Minute)
	w.sweep(t)
	equal(t, "messages swept in time", w.bus.Waiting(), 1)
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "complete")
}

// all finds every run, due or not: the sweeper must see for itself.
type all struct{ *docstore.Store }

func (a all) Due(ctx context.Context, _ time.Time, after runner.Due, limit int) ([]runner.Due, error) {
	return a.Store.Due(ctx, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), after, limit)
}

// What an output means to readers becomes visible with it.
func TestDocumentsComeWithTheOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.runner.Pipelines[0].Documents = func(node string, outputs map[string]json.RawMessage) (runner.Documents, error) {
		if node != "cost" {
			return runner.Documents{}, nil
		}
		for _, name := range []string{"clarification_output", "location_output", "cost_output"} {
			if len(outputs[name]) == 0 {
				t.Errorf("documents of cost are made without %s", name)
			}
		}
		return runner.Documents{
			Root:  map[string]any{"totalCost": 12.5},
			Items: []runner.Document{{Collection: "costItems", ID: "a__material", Fields: map[string]any{"n": 1}}},
		}, nil
	}
	w.start(t)
	w.deliver(t)
	equal(t, "totalCost", w.estimate(t)["totalCost"], 12.5)
	item, err := w.client.Doc("estimates/est-1/costItems/a__material").Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "item", item.Data(), map[string]any{"n": int64(1)})
}

func TestAgentsAwayForGood(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Down: map[string]int{"cost": 1000}})
	w.start(t)
	for range 20 {
		w.deliver(t)
		w.clock.Advance(3 * time.Minute)
		w.sweep(t)
	}
	equal(t, "status", w.estimate(t)["status"], "failed")
	equal(t, "error", w.status(t, "error").(map[string]any)["code"], "AGENT_FAILED")
	if w.estimate(t)["locationOutput"] == nil {
		t.Error("the partial result is gone")
	}
}

// The run is canceled while an agent works: its result comes late, is kept with
// its step, and changes nothing else.
func TestCancelDuringACall(t *testing.T) {
	t.Parallel()
	agents := &runnertest.Agents{}
	w := newWorld(t, agents)
	agents.Before = func(agent string) {
		if agent == "location" {
			if err := w.another().Cancel(context.Background(), "est-1~1", "anna"); err != nil {
				t.Errorf("Cancel: %v", err)
			}
		}
	}
	w.start(t)
	w.deliver(t)
	doc := w.estimate(t)
	equal(t, "status", doc["status"], "canceled")
	if _, there := doc["locationOutput"]; there {
		t.Error("a late result became an output")
	}
	if err := w.runner.Cancel(t.Context(), "est-1~1", "anna"); err != nil {
		t.Errorf("second cancel: %v", err)
	}
	equal(t, "scorer", w.agents.Worked()["location_scorer"], 0)
	steps, err := w.store.Steps(t.Context(), "est-1~1", "location.0.p")
	if err != nil {
		t.Fatal(err)
	}
	if s := steps[0]; !s.Late || s.RevAt != 0 || len(s.Result) == 0 {
		t.Errorf("the late step has late %v, revAt %d and %d bytes of result, want it kept as late", s.Late, s.RevAt, len(s.Result))
	}
}

// A cancel reaches a call in flight: the claim was touched, so the next
// heartbeat is refused and the call ends long before its deadline.
func TestCancelStopsACallInFlight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Hang: "location"})
	w.runner.Pace.Beat = 5 * time.Millisecond
	w.start(t)
	calling := make(chan struct{})
	w.agents.Before = func(string) { close(calling) }
	done := make(chan error)
	go func() {
		done <- w.runner.Handle(context.Background(), runner.Message{V: 1, Run: "est-1~1", Step: "location.0.p"})
	}()
	<-calling
	if err := w.another().Cancel(t.Context(), "est-1~1", "anna"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("Handle of a canceled call: %v", err)
		}
	case <-time.After(4 * time.Second): // the node's deadline is 5 s
		t.Fatal("the call went on after its run was canceled")
	}
}

func TestCancelAfterTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.start(t)
	w.deliver(t)
	if err := w.runner.Cancel(t.Context(), "est-1~1", "anna"); fault.KindOf(err) != fault.Conflict {
		t.Errorf("Cancel of a complete run: %v, want a conflict", err)
	}
	if err := w.runner.Cancel(t.Context(), "nobody~1", "anna"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Cancel of no run: %v, want not found", err)
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Down: map[string]int{"location": 1000}})
	w.start(t)
	w.clock.Advance(61 * time.Minute)
	w.sweep(t)
	equal(t, "status", w.estimate(t)["status"], "failed")
	equal(t, "error", w.status(t, "error").(map[string]any)["code"], "PIPELINE_TIMEOUT")
}

// A worker died while it held a claim. When the lease has run out another takes
// over, with the same call id.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.start(t)
	dead := runner.Step{
		Run: "est-1~1", ID: "location.0.p", Status: runner.Claimed, Call: runner.CallID("est-1~1", "location.0.p"),
		Agent: "location", Try: 1, Fence: 1, Owner: "dead", Lease: 0, StartedAt: w.clock.Now(),
	}
	dead.Lease = time.Hour
	held, err := w.store.PutStep(t.Context(), dead)
	if err != nil {
		t.Fatal(err)
	}
	w.deliver(t)
	equal(t, "worked while the claim is held", w.agents.Worked(), map[string]int{})
	held.Lease = 0 // runs out at once, by the server's clock
	if _, err := w.store.PutStep(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(3 * time.Minute)
	w.sweep(t)
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "complete")
	steps, err := w.store.Steps(t.Context(), "est-1~1", "location.0.p")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "fence", steps[0].Fence, 2)
	equal(t, "call", steps[0].Call, dead.Call)
}

func TestDeleteTakesEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.start(t)
	w.deliver(t)
	if err := w.store.Delete(t.Context(), "est-1"); err != nil {
		t.Fatal(err)
	}
	if left := w.documents(t); len(left) != 0 {
		t.Errorf("after delete there are still %d documents: %v", len(left), left)
	}
	// A message that comes late finds nothing to do.
	if err := w.runner.Handle(t.Context(), runner.Message{V: 1, Run: "est-1~1", Step: "cost.0.s"}); err != nil {
		t.Errorf("Handle after delete: %v", err)
	}
}

func TestDecodeMessage(t *testing.T) {
	t.Parallel()
	m := runner.Message{V: 1, Run: "est-1~1", Step: "scope.1.p", Rev: 17}
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	got, err := runner.DecodeMessage(data)
	if err != nil || got != m {
		t.Errorf("DecodeMessage(%s) = %+v, %v", data, got, err)
	}
	if len(data) > 160 {
		t.Errorf("a message has %d bytes: it carries references only", len(data))
	}
	for _, bad := range []string{"", "null", "{}", `[]`, `{"v":2,"run":"r"}`, `{"v":1}`, `{"v":1,"run":"r","step":"x"}`, `{"v":1,"run":"r"}{}`, `{"v":"1","run":"r"}`} {
		if _, err := runner.DecodeMessage([]byte(bad)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("DecodeMessage(%s): %v, want invalid", bad, err)
		}
	}
}

func FuzzDecodeMessage(f *testing.F) {
	f.Add([]byte(`{"v":1,"run":"est~1","step":"scope.1.p","rev":17}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := runner.DecodeMessage(data)
		if err != nil {
			return
		}
		again, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := runner.DecodeMessage(again); err != nil || back != m {
			t.Errorf("DecodeMessage(%s) = %+v, %v, want %+v", again, back, err, m)
		}
	})
}
