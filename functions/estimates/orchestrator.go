package estimates

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// The task of the orchestrator is the mirror of a run.
const (
	orchestratorTime = 15 * time.Minute       // for which one message is answered; the run may go on
	lookEvery        = 500 * time.Millisecond // at the run
	letGo            = 10 * time.Second       // to end a run whose task was canceled
)

// Names in the metadata of its tasks.
const (
	metaEstimate = "estimateId"
	metaRun      = "runId"
	metaInput    = "inputId" // of the question that the task waits with
)

// Orchestrator returns the agent that estimates as a whole. A message with a
// clarified scope starts the pipeline, as start_deep_pipeline does, and its task
// shows the run: its progress, its questions and, at the end, the final estimate.
// The same message again, or the same scope for the same estimate, shows the same
// run. A task that is canceled takes the run with it; one whose time is up does
// not.
func Orchestrator(p Ports) task.Agent {
	return task.Agent{
		Name: "orchestrator", Title: "Estimate", Version: "1.0.0", Skills: []task.Skill{estimating()},
		Description: "Estimates a construction project from its clarified scope: location, scope, cost, risk, timeline and final agents in order, each judged and improved.",
		Check:       check, Run: p.mirror, Deadline: orchestratorTime,
	}
}

func estimating() task.Skill {
	s := task.Skill{
		Input:       "a data part with estimateId and clarificationOutput; as the answer to a question answer, with decision where it is not to answer",
		Output:      "the final estimate: one total with its breakdown, schedule, risks and sources",
		InputSchema: []byte(orderSchema), OutputSchema: []byte(`{"type":"object","required":["estimateId","executiveSummary","costBreakdown","timeline","riskSummary"]}`),
	}
	s.ID, s.Name, s.Tags = "estimate", "Estimate", []string{"estimate", "construction", "cost", "schedule", "risk"}
	s.Description = "Takes a clarified scope through the whole pipeline and returns the estimate."
	s.Examples = []string{"Estimate this kitchen remodel.", "What does this addition cost, how long does it take, and what may go wrong?"}
	return s
}

const orderSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{
"estimateId":{"type":"string","pattern":"^[A-Za-z0-9_-]{1,128}$","description":"absent: the one in the scope"},
"clarificationOutput":{"type":"object","description":"ClarificationOutput 3.0.0: the clarified scope"},
"projectId":{"type":"string"},
"decision":{"enum":["answer","accept","give_up"],"description":"in an answer to a question"},
"answer":{"description":"in an answer to a question: what it asks for"}}}`

// order is the data of a message: what to estimate, or the answer to a question.
type order struct {
	starting
	Decision engine.Decision `json:"decision"`
	Answer   json.RawMessage `json:"answer"`
}

// orderOf reads the first data part of a message.
func orderOf(msg *sdk.Message) (order, error) {
	for i, part := range msg.Parts {
		raw, ok := part.Data().(json.RawMessage)
		if !ok {
			continue
		}
		var o order
		path := fmt.Sprintf("params.message.parts[%d].data", i)
		if wire.First(raw) != '{' {
			return o, fault.New(fault.Invalid, "%s: want an object", path)
		}
		if err := json.Unmarshal(raw, &o); err != nil {
			return o, fault.Wrap(fault.Invalid, misfit(err), "%s: %s", path, fault.Public(misfit(err)))
		}
		return o, nil
	}
	return order{}, fault.New(fault.Invalid, "params.message.parts: want a part with data")
}

// check refuses what no run could be started with. An answer is checked against
// its question, by the run.
func check(msg *sdk.Message) error {
	o, err := orderOf(msg)
	if err != nil || msg.TaskID != "" {
		return err
	}
	if _, _, err := o.clarified(); err != nil {
		return fault.Wrap(fault.Invalid, err, "params.message.parts: %s", fault.Public(err))
	}
	return nil
}

// mirror starts or answers a run and shows it until it ends or asks.
func (p Ports) mirror(ctx context.Context, turn task.Turn) iter.Seq2[sdk.Event, error] {
	return func(yield func(sdk.Event, error) bool) {
		r, err := p.Runner()
		var run string
		if err == nil {
			run, err = p.take(ctx, r, turn)
		}
		switch {
		case err == nil:
			err = p.follow(ctx, r, turn, run, func(e sdk.Event) bool { return yield(e, nil) })
		case run != "" && fault.KindOf(err) == fault.Invalid: // the question stands
			words := sdk.NewMessage(sdk.MessageRoleAgent, sdk.NewTextPart(fault.Public(err)))
			yield(sdk.NewStatusUpdateEvent(turn, sdk.TaskStateInputRequired, words), nil)
			return
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// take does what the message asks for and returns the run that it is about.
func (p Ports) take(ctx context.Context, r *runner.Runner, turn task.Turn) (string, error) {
	o, err := orderOf(turn.Message)
	if err != nil {
		return "", err
	}
	user := orElse(turn.Caller.ID, anonymous) // nobody is let in but on the local system
	if turn.Task == nil || turn.Task.Metadata[metaRun] == nil {
		got, err := p.begin(ctx, user, &o.starting)
		return got.RunID, err
	}
	id, _ := turn.Task.Metadata[metaRun].(string)
	input, _ := turn.Task.Metadata[metaInput].(string)
	run, err := p.run(ctx, subject{RunID: id}, user)
	if err != nil || input == "" {
		return id, err
	}
	return id, r.Answer(ctx, run.RunID(), runner.AnswerRequest{InputID: input, By: user, Decision: o.Decision, Answer: o.Answer})
}

// follow hands on what changes in a run, and its end.
func (p Ports) follow(ctx context.Context, r *runner.Runner, turn task.Turn, id string, tell func(sdk.Event) bool) error {
	runs, err := p.Runs()
	if err != nil {
		return err
	}
	known := &flows{from: runs}
	for rev := -1; ; {
		run, err := runs.Run(ctx, id)
		if err != nil {
			return p.left(ctx, r, turn, id, err)
		}
		if run.Rev != rev {
			rev = run.Rev
			flow, err := known.of(ctx, &run.State)
			if err != nil {
				return err
			}
			if over, err := p.show(ctx, turn, flow, &run, tell); over || err != nil {
				return err
			}
		}
		if err := r.Sleep(ctx, lookEvery); err != nil {
			return p.left(ctx, r, turn, id, err)
		}
	}
}

// left ends the run of a task that was canceled; any other reason to stop looking
// at it leaves it alone.
func (p Ports) left(ctx context.Context, r *runner.Runner, turn task.Turn, id string, err error) error {
	cause := context.Cause(ctx)
	if !errors.Is(cause, task.ErrCanceled) {
		if cause != nil {
			return cause //nolint:wrapcheck // the desk's own words
		}
		return fmt.Errorf("look at run %s: %w", id, err)
	}
	ctx, stop := context.WithTimeoutCause(context.WithoutCancel(ctx), letGo, errors.New("time to cancel a run is up"))
	defer stop()
	if err := r.Cancel(ctx, id, orElse(turn.Caller.ID, anonymous)); err != nil {
		return fmt.Errorf("cancel run %s: %w", id, err)
	}
	return cause //nolint:wrapcheck // the desk's own words
}

// show tells what a run is at, and reports whether the turn ends with it.
func (p Ports) show(ctx context.Context, turn task.Turn, flow *engine.Flow, run *runner.Run, tell func(sdk.Event) bool) (over bool, err error) {
	view := engine.Project(flow, run.State)
	say := func(state sdk.TaskState, words, input string) bool {
		e := sdk.NewStatusUpdateEvent(turn, state, nil)
		e.Metadata = map[string]any{metaEstimate: run.EstimateID, metaRun: run.RunID(), metaInput: input, wire.MetaProgress: view.Progress}
		if words != "" {
			e.Status.Message = sdk.NewMessage(sdk.MessageRoleAgent, sdk.NewTextPart(words))
		}
		return tell(e)
	}
	switch {
	case run.Status == engine.Completed:
		result, err := p.result(ctx, turn, flow, run)
		if err == nil && tell(result) {
			say(sdk.TaskStateCompleted, "", "")
		}
		return true, err
	case run.Status == engine.Canceled:
		say(sdk.TaskStateCanceled, "the run was canceled", "")
		return true, nil
	case run.Status == engine.Failed:
		say(sdk.TaskStateFailed, failure(view.Error), "")
		return true, nil
	case len(view.Questions) > 0:
		say(sdk.TaskStateInputRequired, view.Questions[0].Prompt, view.Questions[0].InputID)
		return true, nil
	}
	words := "waiting"
	if view.CurrentAgent != nil {
		words = *view.CurrentAgent
		if view.CurrentRetry > 0 {
			words = fmt.Sprintf("%s, attempt %d", words, view.CurrentRetry+1)
		}
	}
	return !say(sdk.TaskStateWorking, words, ""), nil
}

// result is what the last agent of the flow returned.
func (p Ports) result(ctx context.Context, turn task.Turn, flow *engine.Flow, run *runner.Run) (sdk.Event, error) {
	store, err := p.Store()
	if err != nil {
		return nil, err
	}
	doc, err := store.Estimate(ctx, run.EstimateID)
	if err != nil {
		return nil, fmt.Errorf("load estimate %s: %w", run.EstimateID, err)
	}
	last := flow.Nodes[len(flow.Nodes)-1].Name
	out, err := json.Marshal(doc[last+"Output"])
	if err != nil || wire.First(out) != '{' {
		return nil, fault.Wrap(fault.Internal, err, "estimate %s has no output of %s", run.EstimateID, last)
	}
	return &sdk.TaskArtifactUpdateEvent{
		TaskID: turn.TaskID, ContextID: turn.ContextID, LastChunk: true,
		Artifact: &sdk.Artifact{ID: wire.ResultName, Name: wire.ResultName, Parts: sdk.ContentParts{sdk.NewDataPart(json.RawMessage(out))}},
	}, nil
}

func failure(e *engine.Error) string {
	switch {
	case e == nil:
		return "the run failed"
	case e.Agent != "":
		return e.Agent + ": " + e.Message
	}
	return e.Message
}
