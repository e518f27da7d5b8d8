package a2a

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"truecost.dev/shared/fault"
)

// Codes of JSON-RPC 2.0 and of A2A.
const (
	codeParse           = -32700
	codeInvalidRequest  = -32600
	codeMethodNotFound  = -32601
	codeInvalidParams   = -32602
	codeInternal        = -32603
	codeServer          = -32000 // too busy, quota, a part of us is away
	codeTaskNotFound    = -32001
	codeUnsupported     = -32004
	codeContentType     = -32005
	codeVersion         = -32009
	codeUnauthenticated = -31401
	codeUnauthorized    = -31403
)

// refusal is a request turned away before it was understood, and at the same
// time the wire form of every error.
type refusal struct {
	status  int // HTTP
	code    int
	message string
}

func (r *refusal) Error() string { return fmt.Sprintf("%s (%d)", r.message, r.code) }

func refuse(status, code int, format string, args ...any) *refusal {
	return &refusal{status: status, code: code, message: fmt.Sprintf(format, args...)}
}

// codes maps every kind to its code and to the HTTP status that goes with it.
// JSON-RPC answers are 200 unless a proxy or a plain HTTP caller must notice.
var codes = []struct {
	kind   fault.Kind
	code   int
	status int
}{
	{fault.Invalid, codeInvalidParams, http.StatusOK},
	{fault.NotFound, codeTaskNotFound, http.StatusOK},
	{fault.Conflict, codeUnsupported, http.StatusOK},
	{fault.Unknown, codeUnauthenticated, http.StatusUnauthorized},
	{fault.Denied, codeUnauthorized, http.StatusForbidden},
	{fault.Exhausted, codeServer, http.StatusTooManyRequests},
	{fault.Unavailable, codeServer, http.StatusServiceUnavailable},
	{fault.Timeout, codeServer, http.StatusServiceUnavailable},
	{fault.Canceled, codeServer, http.StatusServiceUnavailable},
	{fault.Internal, codeInternal, http.StatusOK},
}

// refusalOf returns what the outside may see of err.
func refusalOf(err error) *refusal {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	kind := fault.KindOf(err)
	for _, row := range codes {
		if row.kind == kind {
			return &refusal{status: row.status, code: row.code, message: fault.Public(err)}
		}
	}
	return &refusal{status: http.StatusOK, code: codeInternal, message: fault.Public(err)}
}

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
