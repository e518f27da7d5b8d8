package wire

import (
	"errors"
	"fmt"
	"net/http"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/fault"
)

// Codes of JSON-RPC 2.0 and of A2A.
const (
	CodeParse            = -32700
	CodeInvalidRequest   = -32600
	CodeMethodNotFound   = -32601
	CodeInvalidParams    = -32602
	CodeInternal         = -32603
	CodeServer           = -32000 // too busy, quota, a part of us is away
	CodeTaskNotFound     = -32001
	CodeNotCancelable    = -32002
	CodePushNotSupported = -32003
	CodeUnsupported      = -32004
	CodeContentType      = -32005
	CodeAgentResponse    = -32006
	CodeNoExtendedCard   = -32007
	CodeExtension        = -32008
	CodeVersion          = -32009
	CodeUnauthenticated  = -31401
	CodeUnauthorized     = -31403
)

// Meaning is one row of the table of errors: what it is in each protocol.
type Meaning struct {
	Code   int    // of JSON-RPC
	HTTP   int    // status that JSON-RPC answers with: 200 unless a proxy or a plain caller must notice
	REST   int    // status of HTTP+JSON
	Status string // google.rpc code of HTTP+JSON
	Reason string // of google.rpc.ErrorInfo
}

// meanings is the table, one row per code.
var meanings = []Meaning{
	{CodeParse, 200, 400, "INVALID_ARGUMENT", "PARSE_ERROR"},
	{CodeInvalidRequest, 200, 400, "INVALID_ARGUMENT", "INVALID_REQUEST"},
	{CodeMethodNotFound, 200, 404, "NOT_FOUND", "METHOD_NOT_FOUND"},
	{CodeInvalidParams, 200, 400, "INVALID_ARGUMENT", "INVALID_PARAMS"},
	{CodeInternal, 200, 500, "INTERNAL", "INTERNAL_ERROR"},
	{CodeServer, 503, 503, "UNAVAILABLE", "SERVER_ERROR"},
	{CodeTaskNotFound, 200, 404, "NOT_FOUND", "TASK_NOT_FOUND"},
	{CodeNotCancelable, 200, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE"},
	{CodePushNotSupported, 200, 400, "FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED"},
	{CodeUnsupported, 200, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"},
	{CodeContentType, 200, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED"},
	{CodeAgentResponse, 200, 500, "INTERNAL", "INVALID_AGENT_RESPONSE"},
	{CodeNoExtendedCard, 200, 400, "FAILED_PRECONDITION", "EXTENDED_AGENT_CARD_NOT_CONFIGURED"},
	{CodeExtension, 200, 400, "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED"},
	{CodeVersion, 200, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED"},
	{CodeUnauthenticated, 401, 401, "UNAUTHENTICATED", "UNAUTHENTICATED"},
	{CodeUnauthorized, 403, 403, "PERMISSION_DENIED", "UNAUTHORIZED"},
}

// Refusal is the wire form of every error: a request turned away, or what the
// outside may see of a failure inside.
type Refusal struct { //nolint:errname // what it is: the refusal of a request
	Meaning
	Message string
}

func (r *Refusal) Error() string { return fmt.Sprintf("%s (%d)", r.Message, r.Code) }

// Refuse returns a refusal. A status other than 200 is the HTTP status in every
// protocol.
func Refuse(status, code int, format string, args ...any) *Refusal {
	r := &Refusal{Meaning: meaningOf(code), Message: fmt.Sprintf(format, args...)}
	if status != http.StatusOK {
		r.HTTP, r.REST = status, status
	}
	if status == http.StatusTooManyRequests {
		r.Status = "RESOURCE_EXHAUSTED"
	}
	return r
}

func meaningOf(code int) Meaning {
	for _, m := range meanings {
		if m.Code == code {
			return m
		}
	}
	return Meaning{code, http.StatusOK, http.StatusInternalServerError, "INTERNAL", "INTERNAL_ERROR"}
}

// sentinels are the errors of A2A that a kind alone does not tell apart: the
// cause of a fault that is one of them decides its code.
var sentinels = []struct {
	err  error
	code int
}{
	{sdk.ErrTaskNotFound, CodeTaskNotFound},
	{sdk.ErrTaskNotCancelable, CodeNotCancelable},
	{sdk.ErrPushNotificationNotSupported, CodePushNotSupported},
	{sdk.ErrUnsupportedOperation, CodeUnsupported},
	{sdk.ErrUnsupportedContentType, CodeContentType},
	{sdk.ErrInvalidAgentResponse, CodeAgentResponse},
	{sdk.ErrExtendedCardNotConfigured, CodeNoExtendedCard},
	{sdk.ErrExtensionSupportRequired, CodeExtension},
	{sdk.ErrVersionNotSupported, CodeVersion},
}

// kinds maps every kind to its code and to the HTTP status that goes with it.
var kinds = []struct {
	kind   fault.Kind
	code   int
	status int
}{
	{fault.Invalid, CodeInvalidParams, http.StatusOK},
	{fault.NotFound, CodeTaskNotFound, http.StatusOK},
	{fault.Conflict, CodeUnsupported, http.StatusOK},
	{fault.Unknown, CodeUnauthenticated, http.StatusUnauthorized},
	{fault.Denied, CodeUnauthorized, http.StatusForbidden},
	{fault.Exhausted, CodeServer, http.StatusTooManyRequests},
	{fault.Unavailable, CodeServer, http.StatusServiceUnavailable},
	{fault.Timeout, CodeServer, http.StatusServiceUnavailable},
	{fault.Canceled, CodeServer, http.StatusServiceUnavailable},
	{fault.Internal, CodeInternal, http.StatusOK},
}

// RefusalOf returns what the outside may see of err: a refusal as it is, else
// the public message of a fault under the code of its cause or of its kind.
func RefusalOf(err error) *Refusal {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			return Refuse(http.StatusOK, s.code, "%s", fault.Public(err))
		}
	}
	kind := fault.KindOf(err)
	for _, row := range kinds {
		if row.kind == kind {
			return Refuse(row.status, row.code, "%s", fault.Public(err))
		}
	}
	return Refuse(http.StatusOK, CodeInternal, "%s", fault.Public(err))
}

// KindOfCode is the way back, for clients. An internal error of the other side
// may pass, so it is Unavailable here; a code nobody knows is not.
func KindOfCode(code int) fault.Kind {
	switch code {
	case CodeParse, CodeInvalidRequest, CodeMethodNotFound, CodeContentType, CodeVersion, CodeExtension, CodePushNotSupported, CodeNoExtendedCard:
		return fault.Invalid
	case CodeInternal, CodeServer:
		return fault.Unavailable
	case CodeNotCancelable:
		return fault.Conflict
	}
	for _, row := range kinds {
		if row.code == code {
			return row.kind
		}
	}
	return fault.Internal
}

// KindOfStatus classifies an HTTP status other than 200.
func KindOfStatus(status int) fault.Kind {
	switch status {
	case http.StatusUnauthorized:
		return fault.Unknown
	case http.StatusForbidden:
		return fault.Denied
	case http.StatusNotFound:
		return fault.NotFound
	case http.StatusTooManyRequests:
		return fault.Exhausted
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return fault.Timeout
	}
	switch {
	case status >= 500:
		return fault.Unavailable
	case status >= 400:
		return fault.Invalid
	}
	return fault.Internal
}
