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
	orchestratorTime = 9 * time.Minute        // less than a queue waits for its work; the run may go on
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
	Input    json.RawMessage `json:"input"` // where agents of the pipeline have the scope
}

// scope finds the scope where other agents have it: in the input, or as the input.
func (o *order) scope() {
	var in struct {
		Camel json.RawMessage `json:"clarificationOutput"`
		Snake json.RawMessage `json:"clarification_output"`
		Brief json.RawMessage `json:"projectBrief"`
	}
	if o.Clarification != nil || o.ClarificationSnake != nil || json.Unmarshal(o.Input, &in) != nil {
		return
	}
	switch {
	case !absent(in.Camel):
		o.Clarification = in.Camel
	case !absent(in.Snake):
		o.Clarification = in.Snake
	case !absent(in.Brief):
		o.Clarification = o.Input
	}
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
		o.scope()
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
		m := mirror{ports: p, turn: turn, tell: func(e sdk.Event) bool { return yield(e, nil) }}
		err := m.take(ctx)
		switch {
		case err == nil:
			err = m.follow(ctx)
		case m.run != "" && fault.KindOf(err) == fault.Invalid: // the question stands
			words := sdk.NewMessage(sdk.MessageRoleAgent, sdk.NewTextPart(fault.Public(err)))
			m.tell(sdk.NewStatusUpdateEvent(turn, sdk.TaskStateInputRequired, words))
			return
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// mirror is one turn of a task beside its run.
type mirror struct {
	ports  Ports
	runner *runner.Runner
	turn   task.Turn
	run    string // id; empty: none yet
	tell   func(sdk.Event) bool
	told   string // what is said to be at work
}

// user is who the run belongs to. Nobody is let in without a name but on the
// local system.
func (m *mirror) user() string { return orElse(m.turn.Caller.ID, anonymous) }

// take does what the message asks for, and finds the run that it is about.
func (m *mirror) take(ctx context.Context) (err error) {
	if m.runner, err = m.ports.Runner(); err != nil {
		return err
	}
	o, err := orderOf(m.turn.Message)
	if err != nil {
		return err
	}
	var known map[string]any
	if m.turn.Task != nil {
		known = m.turn.Task.Metadata
	}
	if known[metaRun] == nil {
		got, err := m.ports.begin(ctx, m.user(), &o.starting)
		m.run = got.RunID
		return err
	}
	id, _ := known[metaRun].(string)
	run, err := m.ports.run(ctx, subject{RunID: id}, m.user())
	if err != nil {
		return err
	}
	m.run = run.RunID()
	input, _ := known[metaInput].(string)
	if input == "" {
		return nil
	}
	return m.runner.Answer(ctx, m.run, runner.AnswerRequest{InputID: input, By: m.user(), Decision: o.Decision, Answer: o.Answer})
}

// follow hands on what changes in the run, and its end.
func (m *mirror) follow(ctx context.Context) error {
	runs, err := m.ports.Runs()
	if err != nil {
		return err
	}
	known := &flows{from: runs}
	for rev := -1; ; {
		run, err := runs.Run(ctx, m.run)
		if err != nil {
			return m.left(ctx, err)
		}
		if run.Rev != rev {
			rev = run.Rev
			flow, err := known.of(ctx, &run.State)
			if err != nil {
				return err
			}
			if over, err := m.show(ctx, flow, &run); over || err != nil {
				return err
			}
		}
		if err := m.runner.Sleep(ctx, lookEvery); err != nil {
			return m.left(ctx, err)
		}
	}
}

// left ends the run of a task that was canceled; any other reason to stop looking
// at it leaves it alone.
func (m *mirror) left(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if !errors.Is(cause, task.ErrCanceled) {
		if cause != nil {
			return cause //nolint:wrapcheck // the desk's own words
		}
		return fmt.Errorf("look at run %s: %w", m.run, err)
	}
	ctx, stop := context.WithTimeoutCause(context.WithoutCancel(ctx), letGo, errors.New("time to cancel a run is up"))
	defer stop()
	if err := m.runner.Cancel(ctx, m.run, m.user()); err != nil {
		return fmt.Errorf("cancel run %s: %w", m.run, err)
	}
	return cause //nolint:wrapcheck // the desk's own words
}

// show tells what the run is at, and reports whether the turn ends with it.
func (m *mirror) show(ctx context.Context, flow *engine.Flow, run *runner.Run) (over bool, err error) {
	view := engine.Project(flow, run.State)
	switch {
	case run.Status == engine.Completed:
		result, err := m.result(ctx, flow, run)
		if err == nil && m.tell(result) {
			m.say(run, view, sdk.TaskStateCompleted, "", "")
		}
		return true, err
	case run.Status == engine.Canceled:
		m.say(run, view, sdk.TaskStateCanceled, "the run was canceled", "")
		return true, nil
	case run.Status == engine.Failed:
		m.say(run, view, sdk.TaskStateFailed, failure(view.Error), "")
		return true, nil
	case len(view.Questions) > 0:
		m.say(run, view, sdk.TaskStateInputRequired, view.Questions[0].Prompt, view.Questions[0].InputID)
		return true, nil
	}
	at := "waiting"
	if view.CurrentAgent != nil {
		at = *view.CurrentAgent
		if view.CurrentRetry > 0 {
			at = fmt.Sprintf("%s, attempt %d", at, view.CurrentRetry+1)
		}
	}
	if at == m.told {
		return false, nil
	}
	m.told = at
	return !m.say(run, view, sdk.TaskStateWorking, at, ""), nil
}

// say tells a state of the task; input is the question it waits with.
func (m *mirror) say(run *runner.Run, view engine.View, state sdk.TaskState, words, input string) bool {
	e := sdk.NewStatusUpdateEvent(m.turn, state, nil)
	e.Metadata = map[string]any{metaEstimate: run.EstimateID, metaRun: run.RunID(), wire.MetaProgress: view.Progress}
	if input != "" || m.turn.Task != nil { // a question that was answered is not there any more
		e.Metadata[metaInput] = input
	}
	if words != "" {
		e.Status.Message = sdk.NewMessage(sdk.MessageRoleAgent, sdk.NewTextPart(words))
	}
	return m.tell(e)
}

// result is what the last agent of the flow returned.
func (m *mirror) result(ctx context.Context, flow *engine.Flow, run *runner.Run) (sdk.Event, error) {
	store, err := m.ports.Store()
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
		TaskID: m.turn.TaskID, ContextID: m.turn.ContextID, LastChunk: true,
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
