package a2a

import (
	"encoding/json"
	"strings"
	"time"

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
	m, _ := object(raw)
	w.figures.Agent, _ = m.text(metaAgent)
	w.figures.State, _ = m.text("state")
	w.figures.DurationMS = m.count(metaDuration)
	w.figures.TokensUsed = m.count(metaTokens)
	w.figures.CostUSD = m.amount(metaCost)
	w.contextID, _ = m.text(metaContext)
	w.errorKind, _ = m.text(metaErrorKind)
	_ = json.Unmarshal(m[metaRetryable], &w.retryable) // else false
	if q, ok := object(m[metaQuestion]); ok {
		w.question.Prompt, _ = q.text("prompt")
		if first(q["schema"]) == '{' {
			w.question.Schema = q["schema"]
		}
	}
	return w
}

// amount returns a member that is a number of 0 or more, else 0.
func (m members) amount(name string) float64 {
	var n float64
	if json.Unmarshal(m[name], &n) != nil || n < 0 {
		return 0
	}
	return n
}

// count returns a member that is a number, without its fraction; what no
// counter reaches, 2^53 or more, is 0 like everything that is no number.
func (m members) count(name string) int64 {
	n := m.amount(name)
	if n >= 1<<53 {
		return 0
	}
	return int64(n)
}

// parseAnswer reads a JSON-RPC response to the request named id.
func parseAnswer(body []byte, id string) (taskAnswer, error) {
	var t taskAnswer
	top, ok := object(body)
	if !ok {
		return t, fault.New(fault.Internal, "the answer is not a JSON object")
	}
	if v, _ := top.text("jsonrpc"); v != "2.0" {
		return t, fault.New(fault.Internal, "the answer is not JSON-RPC 2.0")
	}
	if top.has("error") {
		var e struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		}
		if err := json.Unmarshal(top["error"], &e); err != nil {
			return t, fault.Wrap(fault.Internal, err, "the error in the answer cannot be read")
		}
		return t, fault.New(kindOfCode(e.Code), "%s (%d)", e.Message, e.Code)
	}
	if got, ok := top.text("id"); !ok || got != id {
		return t, fault.New(fault.Internal, "the answer belongs to another call")
	}
	if first(top["result"]) != '{' {
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
		if first(t.Result) != '{' {
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
