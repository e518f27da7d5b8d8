package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
)

func answer(text string) runner.AnswerRequest {
	return runner.AnswerRequest{InputID: "location.0.p.1", By: "anna", Answer: json.RawMessage(text)}
}

// An agent asks a person. The run waits at no cost, goes on in the same
// conversation with the answer, and takes one answer only.
func TestAnAgentAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Asks: map[string]bool{"location": true}})
	w.start(t)
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "waiting_input")
	asked := w.status(t, "questions").([]any)[0].(map[string]any)
	equal(t, "question", asked["prompt"], "Which one?")
	equal(t, "question id", asked["inputId"], "location.0.p.1")
	deadline := w.run(t, "est-1~1").DeadlineAt

	w.clock.Advance(24 * time.Hour)
	w.sweep(t)
	equal(t, "messages while it waits", w.bus.Waiting(), 0)
	must(t, w.runner.Answer(t.Context(), "est-1~1", answer(`{"which": "the first"}`)))
	must(t, w.runner.Answer(t.Context(), "est-1~1", answer(`{"which":"the first"}`)))
	kind(t, "another answer", w.runner.Answer(t.Context(), "est-1~1", answer(`{"which":"the second"}`)), fault.Conflict)
	equal(t, "time that people took", w.run(t, "est-1~1").DeadlineAt.Sub(deadline), 24*time.Hour)
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "complete")
	for _, a := range w.agents.Requests {
		if a.Agent == "location" {
			equal(t, "answer", string(a.Request.Answer), `{"which":"the first"}`)
			equal(t, "conversation", a.Request.ContextID, "talk")
			equal(t, "task", strings.HasPrefix(a.Request.TaskID, "task-"), true)
		}
	}
	must(t, w.runner.Answer(t.Context(), "est-1~1", answer(`{"which":"the first"}`))) // after the end, too
}

func TestAnswersThatWillNotDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Asks: map[string]bool{"location": true}})
	w.start(t)
	w.deliver(t)
	unknown := answer(`{}`)
	unknown.InputID = "location.0.p.2"
	kind(t, "no such question", w.runner.Answer(t.Context(), "est-1~1", unknown), fault.NotFound)
	kind(t, "no such run", w.runner.Answer(t.Context(), "est-2~1", answer(`{}`)), fault.NotFound)
	kind(t, "no JSON", w.runner.Answer(t.Context(), "est-1~1", answer(`{`)), fault.Invalid)
	kind(t, "no object", w.runner.Answer(t.Context(), "est-1~1", answer(`7`)), fault.Invalid)
	accept := answer(`{}`)
	accept.Decision = engine.Accept
	kind(t, "accept of what is no offer", w.runner.Answer(t.Context(), "est-1~1", accept), fault.Invalid)
	w.clock.Advance(8 * 24 * time.Hour)
	late := w.runner.Answer(t.Context(), "est-1~1", answer(`{}`))
	if !errors.Is(late, runner.ErrInputExpired) || fault.KindOf(late) != fault.Conflict {
		t.Errorf("late answer: %v, want ErrInputExpired", late)
	}
	w.sweep(t)
	equal(t, "code", w.run(t, "est-1~1").Error.Code, engine.CodeInputExpired)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func kind(t *testing.T, what string, err error, want fault.Kind) {
	t.Helper()
	if fault.KindOf(err) != want || err == nil {
		t.Errorf("%s: %v, want %s", what, err, want)
	}
}

func TestAPersonGivesUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Asks: map[string]bool{"location": true}})
	w.start(t)
	w.deliver(t)
	giveUp := answer(``)
	giveUp.Decision = engine.GiveUp
	must(t, w.runner.Answer(t.Context(), "est-1~1", giveUp))
	equal(t, "status", w.estimate(t)["status"], "failed")
	equal(t, "code", w.run(t, "est-1~1").Error.Code, engine.CodeGivenUp)
}

// The flow asks before the agent works; its schema judges the answer.
func TestAPause(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	f := runnertest.Flow()
	f.Nodes[1].Pause = &engine.Pause{Prompt: "Go on?", Schema: json.RawMessage(`{"type":"object","required":["ok"],"properties":{"ok":{"type":"boolean"}}}`)}
	w.runner.Pipelines = []runner.Pipeline{{Flow: f}}
	w.start(t)
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "waiting_input")
	equal(t, "cost worked", w.agents.Worked()["cost"], 0)
	req := runner.AnswerRequest{InputID: "cost.0.pause", By: "anna", Answer: json.RawMessage(`{"ok":"yes"}`)}
	err := w.runner.Answer(t.Context(), "est-1~1", req)
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(fault.Public(err), "ok") {
		t.Errorf("an answer against the schema: %v, want it to name ok", err)
	}
	req.Answer = json.RawMessage(`{"ok":true}`)
	must(t, w.runner.Answer(t.Context(), "est-1~1", req))
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "complete")
	for _, a := range w.agents.Requests {
		var in map[string]json.RawMessage
		if a.Agent == "cost" && (json.Unmarshal(a.Request.Input, &in) != nil || string(in["human_input"]) != `{"ok":true}`) {
			t.Errorf("cost was asked with human_input %s", in["human_input"])
		}
	}
}

// No attempt is good enough, and a person takes the best.
func TestAskWhenExhausted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Scores: map[string][]int{"location": {60, 75, 70}}})
	f := runnertest.Flow()
	f.Nodes[0].Gate.Exhausted = engine.Ask
	w.runner.Pipelines = []runner.Pipeline{{Flow: f}}
	w.start(t)
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "waiting_input")
	equal(t, "best attempt is there to look at", w.estimate(t)["locationOutput"].(map[string]any)["attempt"], int64(1))
	must(t, w.runner.Answer(t.Context(), "est-1~1", runner.AnswerRequest{InputID: "location.2.ask", By: "anna", Decision: engine.Accept}))
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "complete")
	equal(t, "partial", w.status(t, "partial"), true)
}

// While a run is held calls at work are recorded and nothing new begins.
func TestHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	w.start(t)
	w.agents.Before = func(string) {
		w.agents.Before = nil
		must(t, w.runner.Hold(t.Context(), "est-1~1", "anna", "the scope changes"))
		must(t, w.runner.Hold(t.Context(), "est-1~1", "anna", "once more"))
	}
	w.deliver(t)
	equal(t, "worked", w.agents.Worked(), map[string]int{"location": 1})
	equal(t, "status", w.estimate(t)["status"], "waiting_input")
	equal(t, "why", w.status(t, "hold"), map[string]any{"by": "anna", "reason": "the scope changes"})
	run := w.run(t, "est-1~1")
	equal(t, "phase", run.Nodes["location"].Phase, engine.Scoring)
	equal(t, "open", len(run.Open), 0)

	w.clock.Advance(5 * time.Hour)
	w.sweep(t)
	w.deliver(t)
	equal(t, "worked while held", w.agents.Worked(), map[string]int{"location": 1})
	must(t, w.runner.Resume(t.Context(), "est-1~1", "anna"))
	must(t, w.runner.Resume(t.Context(), "est-1~1", "anna"))
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "complete")
	kind(t, "hold of a run that ended", w.runner.Hold(t.Context(), "est-1~1", "anna", ""), fault.Conflict)
	kind(t, "resume of a run that ended", w.runner.Resume(t.Context(), "est-1~1", "anna"), fault.Conflict)
}

// A step that opened before the hold and was not begun waits for its end.
func TestHoldBeforeAnythingBegins(t *testing.T) {
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
			w.deliver(t)
			equal(t, "worked", w.agents.Worked(), map[string]int{})
			must(t, w.runner.Resume(t.Context(), "est-1~1", "anna"))
			w.deliver(t)
			equal(t, "status", w.estimate(t)["status"], "complete")
		})
	}
}

// A failed run is tried again as a new one: what had passed is carried over and
// never called, the old run stays as it was.
func TestManualRetry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Broken: map[string]bool{"cost": true}})
	w.start(t)
	kind(t, "retry of a run that goes on", retry(t, w, runner.RetryRequest{Run: "est-1~1", By: "anna"}), fault.Conflict)
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "failed")
	before := w.run(t, "est-1~1")

	w.agents.Broken = nil
	req := runner.RetryRequest{Run: "est-1~1", By: "anna", Edit: json.RawMessage(`{"clarification_output":{"scope":"less"}}`)}
	id, err := w.runner.Retry(t.Context(), req)
	must(t, err)
	equal(t, "run", id, "est-1~2")
	equal(t, "status at once", w.estimate(t)["status"], "processing")
	equal(t, "completed at once", w.status(t, "completedAgents"), []any{"location"})
	again, err := w.runner.Retry(t.Context(), req)
	must(t, err)
	equal(t, "the same retry", again, id)
	kind(t, "another retry", retry(t, w, runner.RetryRequest{Run: "est-1~1", By: "anna", From: "location"}), fault.Conflict)
	other := req
	other.Edit = json.RawMessage(`{"clarification_output":{"scope":"more"}}`)
	kind(t, "another edit", retry(t, w, other), fault.Conflict)
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "complete")
	equal(t, "location worked", w.agents.Worked()["location"], 1)
	equal(t, "the old run", w.run(t, "est-1~1"), before)
	for _, a := range w.agents.Requests {
		if a.Agent == "cost" {
			equal(t, "input", string(a.Request.Input), `{"clarification_output":{"scope":"less"},"location_output":`+outputOf(t, w, "est-1~1", "location.0.p")+`}`)
		}
	}
	kind(t, "retry of one that was tried again", retry(t, w, runner.RetryRequest{Run: "est-1~1", By: "anna"}), fault.Conflict)
	kind(t, "retry of a complete run", retry(t, w, runner.RetryRequest{Run: "est-1~2", By: "anna"}), fault.Conflict)
	kind(t, "retry from no node", retry(t, w, runner.RetryRequest{Run: "est-1~2", By: "anna", From: "roof"}), fault.Invalid)
	kind(t, "edit that is no object", retry(t, w, runner.RetryRequest{Run: "est-1~2", By: "anna", From: "cost", Edit: json.RawMessage(`[1]`)}), fault.Invalid)

	w.runner.Limits.PerMinute = 1
	kind(t, "retry beyond the limit", retry(t, w, runner.RetryRequest{Run: "est-1~2", By: "anna", From: "location"}), fault.Exhausted)
	w.runner.Limits.PerMinute = 0
	id, err = w.runner.Retry(t.Context(), runner.RetryRequest{Run: "est-1~2", By: "anna", From: "location"})
	must(t, err)
	equal(t, "fork", id, "est-1~3")
	w.deliver(t)
	equal(t, "location worked", w.agents.Worked()["location"], 2)
	equal(t, "cost worked", w.agents.Worked()["cost"], 2)
}

func retry(t *testing.T, w *world, req runner.RetryRequest) error {
	t.Helper()
	_, err := w.runner.Retry(t.Context(), req)
	return err
}

func outputOf(t *testing.T, w *world, run string, id engine.StepID) string {
	t.Helper()
	steps, err := w.store.Steps(t.Context(), run, id)
	if err != nil || len(steps) != 1 {
		t.Fatalf("%s of %s: %v, %v", id, run, steps, err)
	}
	return string(steps[0].Result)
}

// A cancel touches the claim of the call at work, stops it and tells its agent.
func TestCancelReachesTheAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Hang: "location"})
	w.runner.Pace.Beat = 5 * time.Millisecond
	w.start(t)
	w.agents.Before = func(string) { must(t, w.runner.Cancel(t.Context(), "est-1~1", "anna")) }
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "canceled")
	if len(w.agents.Canceled) == 0 {
		t.Error("the agent was not told")
	}
}

// An agent that stays at work is looked at again, which uses up no try, and is
// called once.
func TestAnAgentStaysAtWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{Busy: map[string]int{"location": 12}})
	w.start(t)
	w.deliver(t)
	equal(t, "status", w.estimate(t)["status"], "complete")
	equal(t, "location worked", w.agents.Worked()["location"], 1)
	steps, err := w.store.Steps(t.Context(), "est-1~1", "location.0.p")
	must(t, err)
	equal(t, "claims", steps[0].Try, 13)
}

// bounded sees how long it may take to tell an agent that nobody waits any more.
type bounded struct {
	*runnertest.Agents
	left time.Duration
}

func (b *bounded) Cancel(ctx context.Context, agent, task string) error {
	deadline, ok := ctx.Deadline()
	if ok {
		b.left = time.Until(deadline)
	}
	return b.Agents.Cancel(ctx, agent, task)
}

// An agent that does not answer keeps nobody from canceling.
func TestCancelDoesNotWaitForAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &runnertest.Agents{})
	b := &bounded{Agents: w.agents}
	w.runner.Caller = b
	w.start(t)
	_, err := w.store.PutStep(t.Context(), runner.Step{
		Run: "est-1~1", ID: "location.0.p", Status: runner.Claimed, Agent: "location", Call: runner.CallID("est-1~1", "location.0.p"),
		Owner: "other", Try: 1, Fence: 1, Lease: time.Minute, StartedAt: w.clock.Now(),
	})
	must(t, err)
	must(t, w.runner.Cancel(t.Context(), "est-1~1", "u"))
	equal(t, "told", len(w.agents.Canceled), 1)
	if b.left <= 0 || b.left > 30*time.Second {
		t.Errorf("telling the agent may take %v, want some seconds", b.left)
	}
}
