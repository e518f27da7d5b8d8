package estimates

import (
	"errors"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// problem is the details of an error.
type problem struct {
	Code     string `json:"code"`
	Field    string `json:"field,omitempty"`
	Errors   any    `json:"errors,omitempty"`
	Warnings any    `json:"warnings,omitempty"`
}

func invalid(code, field, message string) error {
	e := fault.New(fault.Invalid, "%s", message)
	e.Details = problem{Code: code, Field: field}
	return e
}

// wanted refuses a member, saying what it takes.
func wanted(field, what string) error {
	return invalid("INVALID_FIELD", field, field+": wanted "+what)
}

// missing refuses a call without a member, saying what it takes.
func missing(field, what string) error {
	return invalid("MISSING_FIELD", field, field+": wanted "+what)
}

func noEstimate(id string) error {
	e := fault.New(fault.NotFound, "there is no estimate %s", id)
	e.Details = problem{Code: "ESTIMATE_NOT_FOUND"}
	return e
}

func noRun(id string) error {
	e := fault.New(fault.NotFound, "there is no run %s", id)
	e.Details = problem{Code: "NOT_FOUND"}
	return e
}

// codes are the published codes of what a runner refuses. Every other kind
// speaks for itself.
var codes = map[fault.Kind]string{
	fault.Invalid:   "INVALID_FIELD",
	fault.NotFound:  "NOT_FOUND",
	fault.Conflict:  "PIPELINE_INVALID_STATE",
	fault.Exhausted: "LIMIT_REACHED",
}

// coded gives an error of the runner its published code, where it has none.
func coded(err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Details != nil || codes[e.Kind] == "" {
		return err
	}
	code := codes[e.Kind]
	if errors.Is(err, runner.ErrInputExpired) {
		code = engine.CodeInputExpired
	}
	return &fault.Error{Kind: e.Kind, Msg: e.Msg, Details: problem{Code: code}, Err: err}
}
