package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"truecost.dev/emulator/firestore/firestoretest"
	"truecost.dev/shared/a2a"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/gcp/docstore"
	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
)

// noise returns a JSON string of n bytes that does not compress.
func noise(n int) json.RawMessage {
	rng := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-"[rng.IntN(64)]
	}
	text, _ := json.Marshal(string(b))
	return text
}

// An output that no document can hold is kept beside it.
func TestALargeOutput(t *testing.T) {
	t.Parallel()
	bulk := noise(3 << 20)
	w := newWorld(t, &runnertest.Agents{Big: map[string]json.RawMessage{"location": bulk}})
	w.start(t)
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "complete")
	for _, a := range w.agents.Requests {
		if a.Agent == "cost" && !strings.Contains(string(a.Request.Input), string(bulk)) {
			t.Error("the next agent did not get the whole of it")
		}
	}
}

// What follows from an output and can never be stored ends the run with a
// reason; it does not go round until the deadline.
func TestDocumentsTooLargeToStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.runner.Pipelines[0].Documents = func(node string, _ map[string]json.RawMessage) (runner.Documents, error) {
		if node != "cost" {
			return runner.Documents{}, nil
		}
		return runner.Documents{Items: []runner.Document{{Collection: "costItems", ID: "a", Fields: map[string]any{"x": string(noise(2 << 20))}}}}, nil
	}
	w.start(t)
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "failed")
	failure, _ := w.estimate(t)["error"].(map[string]any)
	equal(t, "code", failure["code"], "AGENT_VALIDATION_FAILED")
	equal(t, "calls", w.agents.Worked()["cost"], 1)
}

// A critique of any size reaches the agent.
func TestALargeCritique(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{
		Scores: map[string][]int{"location": {60, 90}}, Big: map[string]json.RawMessage{"location_critic": noise(3 << 20)},
	})
	w.start(t)
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "complete")
	equal(t, "location worked", w.agents.Worked()["location"], 2)
}

// A critique with a finding for each of a thousand lines reaches the agent whole
// and the document that frontends watch cut short.
func TestALongCritiqueDoesNotSwellTheEstimate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{
		Scores: map[string][]int{"location": {60, 90}}, Big: map[string]json.RawMessage{"location_critic": noise(400 << 10)},
	})
	w.start(t)
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "complete")
	said, err := json.Marshal(w.status(t, "criticFeedback"))
	if err != nil || len(said) > 20<<10 {
		t.Errorf("criticFeedback has %d bytes, %v; want it cut", len(said), err)
	}
	for _, asked := range w.agents.Requests {
		if asked.Agent == "location" && asked.Request.Attempt == 1 && len(asked.Request.Feedback) < 400<<10 {
			t.Errorf("the agent got %d bytes of the critique, want all", len(asked.Request.Feedback))
		}
	}
}

// When the last try has failed the step says so: it is no claim any more.
func TestAStepThatFailedForGoodIsRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Down: map[string]int{"location": 1000}})
	w.start(t)
	for range 20 {
		w.deliver(t)
		w.clock.Advance(3 * time.Minute)
		w.sweep(t)
	}
	equal(t, "status", w.estimate(t)["status"], "failed")
	steps, err := w.store.Steps(t.Context(), "est-1~1", "location.0.p")
	if err != nil {
		t.Fatal(err)
	}
	s := steps[0]
	if s.Status != runner.StepFailed || s.RevAt == 0 || s.Failure == nil || s.DoneAt == nil {
		t.Errorf("step = %s, revAt %d, failure %v, done at %v; want it failed, with the reason", s.Status, s.RevAt, s.Failure, s.DoneAt)
	}
}

// The answer to a commit is lost. A try that is given back is counted once.
func TestALostAnswerToAGivenBackClaim(t *testing.T) {
	t.Parallel()
	server, client := firestoretest.Server(t)
	store := docstore.New(client)
	bus, clock := &runnertest.Bus{}, runnertest.NewClock()
	r := runnertest.NewRunner(store, bus, &runnertest.Agents{Down: map[string]int{"location": 3}}, clock)
	if _, err := r.Start(t.Context(), runnertest.Start("est-1")); err != nil {
		t.Fatal(err)
	}
	commits := 0
	server.Faults().After(func(method string, _ proto.Message) error {
		if method == "Commit" {
			if commits++; commits == 2 { // the first is the claim
				return status.Error(codes.DeadlineExceeded, "the answer is lost")
			}
		}
		return nil
	})
	if err := r.Handle(t.Context(), runner.Message{V: 1, Run: "est-1~1", Step: "location.0.p"}); err != nil {
		t.Fatal(err)
	}
	run, err := store.Run(t.Context(), "est-1~1")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "tries", run.Open["location.0.p"].Tries, 1)
	equal(t, "rev", run.Rev, 2)
}

// A heartbeat is refused at the very moment the result comes: the result is
// recorded all the same.
func TestAResultInHandOutlivesItsClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.runner.Pace.Beat = time.Millisecond
	w.start(t)
	var once bool
	w.agents.Stay = func(ctx context.Context, agent string) {
		if agent != "location" || once {
			return
		}
		once = true
		steps, err := w.store.Steps(context.Background(), "est-1~1", "location.0.p")
		if err != nil || len(steps) == 0 {
			t.Errorf("the claim: %v, %v", steps, err)
			return
		}
		taken := steps[0] // by another worker
		for taken.Owner, taken.Fence = "other", 2; ; {
			if _, err := w.store.PutStep(context.Background(), taken); fault.KindOf(err) != fault.Conflict {
				break
			}
			steps, _ = w.store.Steps(context.Background(), "est-1~1", "location.0.p")
			taken.Version = steps[0].Version
		}
		<-ctx.Done() // the heartbeat was refused; the answer was on its way already
	}
	if err := w.runner.Handle(t.Context(), runner.Message{V: 1, Run: "est-1~1", Step: "location.0.p"}); err != nil {
		t.Fatal(err)
	}
	run, err := w.store.Run(t.Context(), "est-1~1")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "phase", run.Nodes["location"].Phase, engine.Scoring)
}

// An estimate that is deleted stops the call in flight at its next heartbeat.
func TestDeleteStopsACallInFlight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Hang: "location"})
	w.runner.Pace.Beat = 5 * time.Millisecond
	w.start(t)
	w.agents.Before = func(string) {
		if err := w.store.Delete(context.Background(), "est-1"); err != nil {
			t.Errorf("Delete: %v", err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second) // the node's deadline is 5 s
	defer cancel()
	if err := w.runner.Handle(ctx, runner.Message{V: 1, Run: "est-1~1", Step: "location.0.p"}); err != nil {
		t.Errorf("Handle of a deleted call: %v", err)
	}
	if ctx.Err() != nil {
		t.Error("the call went on after its estimate was deleted")
	}
	equal(t, "documents left", len(w.documents(t)), 0)
}

// A delete that is cut off anywhere can be asked for again.
func TestDeleteInterrupted(t *testing.T) {
	t.Parallel()
	for cut := range 8 {
		server, client := firestoretest.Server(t)
		w := &world{client: client, store: docstore.New(client), agents: &runnertest.Agents{}, bus: &runnertest.Bus{}, clock: runnertest.NewClock()}
		w.runner = w.another()
		w.start(t)
		w.deliver(t)
		commits := 0
		server.Faults().Before(func(method string, _ proto.Message) error {
			if method == "Commit" {
				if commits++; commits > cut {
					return status.Error(codes.PermissionDenied, "cut off")
				}
			}
			return nil
		})
		first := w.store.Delete(t.Context(), "est-1")
		server.Faults().Before(nil)
		if err := w.store.Delete(t.Context(), "est-1"); err != nil {
			t.Fatal(err)
		}
		if left := w.documents(t); len(left) != 0 {
			t.Errorf("cut after %d commits (%v), and asked for again: %v are left", cut, first, left)
		}
	}
}

// Somebody takes the estimate away by hand: its run ends at the deadline and is
// swept no more.
func TestARunWithoutItsEstimateEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	req := runnertest.Start("est-1")
	req.Project = "p1"
	if _, err := w.runner.Start(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if _, err := w.client.Doc("estimates/est-1").Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.deliver(t)
	w.clock.Advance(61 * time.Minute)
	w.sweep(t)
	run, err := w.store.Run(t.Context(), "est-1~1")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "status", run.Status, engine.Failed)
	project, err := w.client.Doc("projects/p1/pipeline/status").Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "status of the project", project.Data()["status"], any("error"))
}

// What newer code wrote is left to newer code, whoever asks.
func TestARunOfANewerSchemaIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.foreign = true
	w.start(t)
	run := w.client.Doc("runs/est-1~1")
	if _, err := run.Set(t.Context(), map[string]any{"schema": engine.Schema + 1, "status": "running", "estimateId": "est-1", "wakeAt": time.Unix(0, 0)}); err != nil {
		t.Fatal(err)
	}
	if err := w.runner.Cancel(t.Context(), "est-1~1", "anna"); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("Cancel: %v, want unavailable", err)
	}
	if err := w.runner.Handle(t.Context(), runner.Message{V: 1, Run: "est-1~1"}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("Handle: %v, want unavailable", err)
	}
	if err := w.runner.Sweep(t.Context()); err == nil {
		t.Error("Sweep says nothing of a run it cannot read")
	}
	doc, err := run.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "status", doc.Data()["status"], "running")
}

// A caller that panics leaves no heart beating.
func TestAPanicStopsTheHeartbeat(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	beats := make(chan struct{}, 1000)
	w.runner.Store = beating{w.store, beats}
	w.runner.Pace.Beat = time.Millisecond
	w.runner.Caller = panicking{w.agents, beats}
	w.start(t)
	func() {
		defer func() { _ = recover() }()
		_ = w.runner.Handle(context.Background(), runner.Message{V: 1, Run: "est-1~1", Step: "location.0.p"})
	}()
	for {
		select {
		case <-beats:
		case <-time.After(100 * time.Millisecond):
			return
		}
		if len(beats) > 100 {
			t.Fatal("heartbeats go on after the handler is gone")
		}
	}
}

type beating struct {
	runner.Store
	beats chan struct{}
}

func (b beating) PutStep(ctx context.Context, s runner.Step) (runner.Step, error) {
	if s.Beats > 0 {
		b.beats <- struct{}{}
	}
	return b.Store.PutStep(ctx, s)
}

type panicking struct {
	runner.Caller
	beats chan struct{}
}

func (p panicking) Call(context.Context, string, string, a2a.Request) (a2a.Result, error) {
	<-p.beats
	panic(errors.New("a defect"))
}
