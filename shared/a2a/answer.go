package a2a

import (
	"encoding/json"
	"strings"
	"time"

	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// taskAnswer is a result of the dialect as a client reads it.
type taskAnswer struct {
	TaskID   string          `json:"task_id"`
	Status   string          `json:"status"`
	Result   json.RawMessage `json:"result"`
	Error    string          `json:"error"`
	Metadata json.RawMessage `json:"metadata"`

	meta  metadataWire
	after time.Duration // from the header Retry-After
}

// metadataWire is what a client reads of the metadata. It is free for agents to
// fill, so each member is taken if it is of its type and left otherwise: a
// result is not lost over a figure beside it.
type metadataWire struct {
	figures   Metadata
	contextID string
	question  Question
	errorKind string
	retryable bool
}

func metadataOf(raw json.RawMessage) metadataWire {
	var w metadataWire
	m, _ := wire.Object(raw)
	names := wire.TrueCostMeta
	w.figures.Agent, _ = m.Text(names[wire.MetaAgent])
	w.figures.State, _ = m.Text(wire.MetaState)
	w.figures.DurationMS = count(m[names[wire.MetaDuration]])
	w.figures.TokensUsed = count(m[names[wire.MetaTokens]])
	w.figures.CostUSD = amount(m[names[wire.MetaCost]])
	w.contextID, _ = m.Text(wire.MetaContext)
	w.errorKind, _ = m.Text(names[wire.MetaErrorKind])
	_ = json.Unmarshal(m[names[wire.MetaRetryable]], &w.retryable) // else false
	if q, ok := wire.Object(m[wire.MetaQuestion]); ok {
		w.question.Prompt, _ = q.Text("prompt")
		if wire.First(q["schema"]) == '{' {
			w.question.Schema = q["schema"]
		}
	}
	return w
}

// amount returns a number of 0 or more, and 0 for anything else.
func amount(raw json.RawMessage) float64 {
	var n float64
	if json.Unmarshal(raw, &n) != nil || n < 0 {
		return 0
	}
	return n
}

// count returns a number without its fraction; what no counter reaches, 2^53 or
// more, is 0 like everything that is no number.
func count(raw json.RawMessage) int64 {
	n := amount(raw)
	if n >= 1<<53 {
		return 0
	}
	return int64(n)
}

// parseAnswer reads a JSON-RPC response to the request named id.
func parseAnswer(body []byte, id string) (taskAnswer, error) {
	var t taskAnswer
	top, ok := wire.Object(body)
	if !ok {
		return t, fault.New(fault.Internal, "the answer is not a JSON object")
	}
	if v, _ := top.Text("jsonrpc"); v != "2.0" {
		return t, fault.New(fault.Internal, "the answer is not JSON-RPC 2.0")
	}
	if top.Has("error") {
		var e struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		}
		if err := json.Unmarshal(top["error"], &e); err != nil {
			return t, fault.Wrap(fault.Internal, err, "the error in the answer cannot be read")
		}
		return t, fault.New(wire.KindOfCode(e.Code), "%s (%d)", e.Message, e.Code)
	}
	if got, ok := top.Text("id"); !ok || got != id {
		return t, fault.New(fault.Internal, "the answer belongs to another call")
	}
	if wire.First(top["result"]) != '{' {
		return t, fault.New(fault.Internal, "the answer has neither a result nor an error")
	}
	if err := json.Unmarshal(top["result"], &t); err != nil {
		return t, fault.Wrap(fault.Internal, err, "the result in the answer cannot be read")
	}
	t.meta = metadataOf(t.Metadata)
	if s := t.state(); t.TaskID == "" && (s == Working || s == InputRequired) {
		return t, fault.New(fault.Internal, "the answer names no task")
	}
	return t, nil
}

// state returns the state of a task: Completed, Working, InputRequired, or any
// other in the words of A2A 0.2. The dialect calls what it has no word for
// failed and puts the true state into the metadata.
func (t *taskAnswer) state() string {
	s := t.Status
	if s == "failed" && t.meta.figures.State != "" {
		s = t.meta.figures.State
	}
	switch s = strings.ReplaceAll(s, "_", "-"); s {
	case "submitted", "working":
		return Working
	case "input-required", "auth-required":
		return InputRequired
	}
	return s
}

// resultOr returns what a task holds for its caller, or why there is nothing:
// err, if that came before.
func (t *taskAnswer) resultOr(err error) (Result, error) {
	if err != nil {
		return Result{}, err
	}
	r := Result{State: t.state(), TaskID: t.TaskID, ContextID: t.meta.contextID, Metadata: t.meta.figures}
	switch r.State {
	case Completed:
		if wire.First(t.Result) != '{' {
			return Result{}, fault.New(fault.Internal, "the task is completed and has no result")
		}
		r.Output = t.Result
	case Working:
		r.After = t.after
	case InputRequired:
		q := t.meta.question
		if q.Prompt == "" {
			q.Prompt = t.Error
		}
		if q.Prompt == "" {
			q.Prompt = "The agent needs an answer and did not say to what."
		}
		r.Question = &q
	case "failed", "canceled", "rejected":
		return Result{}, fault.New(t.kind(r.State), "%s", t.Error)
	default:
		return Result{}, fault.New(fault.Internal, "the task has the unknown status %q", t.Status)
	}
	return r, nil
}

// kind classifies failed work: by the kind the agent names, else by its state,
// else by whether it says that trying again may help. An agent that says
// nothing is broken for good.
func (t *taskAnswer) kind(state string) fault.Kind {
	for _, k := range fault.Kinds() {
		if string(k) == t.meta.errorKind {
			return k
		}
	}
	switch {
	case state == "canceled":
		return fault.Conflict
	case state == "rejected":
		return fault.Invalid
	case t.meta.retryable:
		return fault.Unavailable
	}
	return fault.Internal
}
