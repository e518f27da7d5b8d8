package a2a

import (
	"errors"
	"time"
)

// pause is the cause of an error whose sender said when to come back.
type pause struct{ after time.Duration }

func (p *pause) Error() string { return "retry after " + p.after.String() }

// RetryAfter returns how long the other side asked to wait before the call is
// repeated, and whether it did.
func RetryAfter(err error) (time.Duration, bool) {
	if p, ok := errors.AsType[*pause](err); ok {
		return p.after, true
	}
	return 0, false
}

// unanswered is the cause of an error after which nobody knows whether the
// agent worked.
type unanswered struct{ err error }

func (u *unanswered) Error() string {
	if u.err == nil {
		return "no answer"
	}
	return "no answer: " + u.err.Error()
}

func (u *unanswered) Unwrap() error { return u.err }

// Ambiguous reports whether err is that of a request which may have reached the
// agent and got no answer: whether it worked is not known. An agent that knows
// repeated calls by their id is simply asked again; of another, only its user
// can say whether to pay twice. Refused connections, unknown names and
// everything an agent answered are not ambiguous.
func Ambiguous(err error) bool {
	_, ok := errors.AsType[*unanswered](err)
	return ok
}
