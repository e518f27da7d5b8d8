// Package fault gives every error of TrueCost a kind, and keeps what may be
// said to strangers apart from what belongs in the log.
//
// It is for errors that cross a boundary (an HTTP answer, a stored document, a
// retry decision). It is not a logging or a wrapping library: wrap with
// fmt.Errorf and %w on the way up, and ask KindOf at the boundary.
package fault

import (
	"context"
	"errors"
	"fmt"
)

// Kind says what sort of thing went wrong. The set is closed; a boundary maps
// every kind and a test ranges over Kinds to prove it.
type Kind string

// The kinds.
const (
	Invalid     Kind = "invalid"     // the caller sent something wrong; sending it again will not help
	NotFound    Kind = "not_found"   // no such thing, or none that this caller may know of
	Conflict    Kind = "conflict"    // it exists already, or it changed meanwhile
	Unknown     Kind = "unknown"     // the caller is not authenticated
	Denied      Kind = "denied"      // the caller is known and may not
	Exhausted   Kind = "exhausted"   // a quota or a rate is used up; try later
	Unavailable Kind = "unavailable" // a service is away; try again
	Timeout     Kind = "timeout"     // a deadline passed; try again
	Canceled    Kind = "canceled"    // the caller gave up
	Internal    Kind = "internal"    // a defect of ours; says nothing outside
)

// Kinds lists every kind, most specific first.
func Kinds() []Kind {
	return []Kind{Invalid, NotFound, Conflict, Unknown, Denied, Exhausted, Unavailable, Timeout, Canceled, Internal}
}

// Transient reports whether the same request may succeed later unchanged.
func (k Kind) Transient() bool {
	return k == Exhausted || k == Unavailable || k == Timeout
}

// Error is an error with a kind. Msg is safe to show to anyone; Err is for the
// log alone and never leaves the process.
type Error struct {
	Kind    Kind
	Msg     string
	Details any // optional data for the caller, safe to show, encodable as JSON
	Err     error
}

// New returns an error of kind k whose message anyone may read.
func New(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Msg: fmt.Sprintf(format, args...)}
}

// Wrap returns an error of kind k with a public message and a private cause.
func Wrap(k Kind, err error, format string, args ...any) *Error {
	return &Error{Kind: k, Msg: fmt.Sprintf(format, args...), Err: err}
}

// Error returns message and cause, for logs.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Msg + ": " + e.Err.Error()
	}
	return e.Msg
}

// Unwrap returns the private cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first *Error in err's chain. A context error
// is Canceled or Timeout, any other error Internal, and nil has the empty kind.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	case errors.Is(err, context.Canceled):
		return Canceled
	}
	return Internal
}

// Public returns what a stranger may read of err: the message of the first
// *Error in its chain, or a sentence that gives nothing away.
func Public(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Kind != Internal {
		return e.Msg
	}
	switch KindOf(err) {
	case Timeout:
		return "the deadline passed"
	case Canceled:
		return "the request was canceled"
	default:
		return "internal error"
	}
}

// Details returns the public details of the first *Error in err's chain.
func Details(err error) any {
	if e, ok := errors.AsType[*Error](err); ok && e.Kind != Internal {
		return e.Details
	}
	return nil
}
