package callable

import (
	"errors"
	"net/http"

	"truecost.dev/shared/fault"
)

// statusClientClosed is what the protocol answers to a canceled call.
const statusClientClosed = 499

// statuses is the table of errors. The first row of a kind is how it is
// written; every row is read.
var statuses = []struct {
	kind   fault.Kind
	status string
	code   int // HTTP
}{
	{fault.Invalid, "INVALID_ARGUMENT", http.StatusBadRequest},
	{fault.Invalid, "OUT_OF_RANGE", http.StatusBadRequest},
	{fault.Unknown, "UNAUTHENTICATED", http.StatusUnauthorized},
	{fault.Denied, "PERMISSION_DENIED", http.StatusForbidden},
	{fault.NotFound, "NOT_FOUND", http.StatusNotFound},
	{fault.Conflict, "ALREADY_EXISTS", http.StatusConflict},
	{fault.Conflict, "ABORTED", http.StatusConflict},
	{fault.Conflict, "FAILED_PRECONDITION", http.StatusBadRequest},
	{fault.Exhausted, "RESOURCE_EXHAUSTED", http.StatusTooManyRequests},
	{fault.Canceled, "CANCELLED", statusClientClosed},
	{fault.Internal, "INTERNAL", http.StatusInternalServerError},
	{fault.Internal, "UNKNOWN", http.StatusInternalServerError},
	{fault.Internal, "DATA_LOSS", http.StatusInternalServerError},
	{fault.Internal, "UNIMPLEMENTED", http.StatusNotImplemented},
	{fault.Unavailable, "UNAVAILABLE", http.StatusServiceUnavailable},
	{fault.Timeout, "DEADLINE_EXCEEDED", http.StatusGatewayTimeout},
}

// errorWire is an error on the wire.
type errorWire struct {
	Status  string `json:"status"`
	Message string `json:"message"`
	Details any    `json:"details,omitempty"`
}

// encodeError returns what the outside may see of err and its HTTP status. An
// internal error says INTERNAL and nothing else.
func encodeError(err error) (errorWire, int) {
	kind := fault.KindOf(err)
	for _, row := range statuses {
		if row.kind == kind && kind != fault.Internal {
			return errorWire{Status: row.status, Message: fault.Public(err), Details: fault.Details(err)}, row.code
		}
	}
	return errorWire{Status: "INTERNAL", Message: "INTERNAL"}, http.StatusInternalServerError
}

// kindOf is the way back: of a status word, else of an HTTP status.
func kindOf(status string, code int) fault.Kind {
	for _, row := range statuses {
		if row.status == status {
			return row.kind
		}
	}
	for _, row := range statuses {
		if row.code == code {
			return row.kind
		}
	}
	if code == http.StatusBadGateway {
		return fault.Unavailable
	}
	return fault.Internal
}

// badRequest is how the protocol answers everything that is no call.
func badRequest(why string) error {
	return fault.Wrap(fault.Invalid, errors.New(why), "Bad Request")
}
