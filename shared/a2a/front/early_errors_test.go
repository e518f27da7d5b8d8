package front

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// Every row of the table of errors, as the dialects without details write it.
func TestEarlyErrors(t *testing.T) {
	t.Parallel()
	inside := errors.New("dial 10.0.0.7: refused")
	tests := []struct {
		err    error
		code   int
		rpc    int // HTTP status of JSON-RPC
		rest   int // HTTP status of HTTP+JSON
		status string
		reason string
	}{
		{wire.Refuse(http.StatusOK, wire.CodeParse, "x"), -32700, 200, 400, "INVALID_ARGUMENT", "PARSE_ERROR"},
		{wire.Refuse(http.StatusOK, wire.CodeInvalidRequest, "x"), -32600, 200, 400, "INVALID_ARGUMENT", "INVALID_REQUEST"},
		{wire.Refuse(http.StatusRequestEntityTooLarge, wire.CodeInvalidRequest, "x"), -32600, 413, 413, "INVALID_ARGUMENT", "INVALID_REQUEST"},
		{wire.Refuse(http.StatusMethodNotAllowed, wire.CodeInvalidRequest, "x"), -32600, 405, 405, "INVALID_ARGUMENT", "INVALID_REQUEST"},
		{wire.Refuse(http.StatusOK, wire.CodeMethodNotFound, "x"), -32601, 200, 404, "NOT_FOUND", "METHOD_NOT_FOUND"},
		{fault.New(fault.Invalid, "params.id: want a string"), -32602, 200, 400, "INVALID_ARGUMENT", "INVALID_PARAMS"},
		{fault.Wrap(fault.Internal, inside, "get task"), -32603, 200, 500, "INTERNAL", "INTERNAL_ERROR"},
		{inside, -32603, 200, 500, "INTERNAL", "INTERNAL_ERROR"},
		{fault.New(fault.NotFound, "no such task"), -32001, 200, 404, "NOT_FOUND", "TASK_NOT_FOUND"},
		{fault.Wrap(fault.Conflict, sdk.ErrTaskNotCancelable, "it has ended"), -32002, 200, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE"},
		{fault.Wrap(fault.Conflict, sdk.ErrPushNotificationNotSupported, "no push"), -32003, 200, 400, "FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED"},
		{fault.New(fault.Conflict, "the task takes no message"), -32004, 200, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"},
		{fault.Wrap(fault.Invalid, sdk.ErrUnsupportedContentType, "want text"), -32005, 200, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED"},
		{wire.Refuse(http.StatusUnsupportedMediaType, wire.CodeContentType, "x"), -32005, 415, 415, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED"},
		{fault.Wrap(fault.Internal, sdk.ErrInvalidAgentResponse, "nonsense"), -32006, 200, 500, "INTERNAL", "INVALID_AGENT_RESPONSE"},
		{fault.Wrap(fault.Conflict, sdk.ErrExtendedCardNotConfigured, "none"), -32007, 200, 400, "FAILED_PRECONDITION", "EXTENDED_AGENT_CARD_NOT_CONFIGURED"},
		{fault.Wrap(fault.Invalid, sdk.ErrExtensionSupportRequired, "x"), -32008, 200, 400, "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED"},
		{wrongVersion(), -32009, 200, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED"},
		{fault.New(fault.Unknown, "who are you"), -31401, 401, 401, "UNAUTHENTICATED", "UNAUTHENTICATED"},
		{fault.New(fault.Denied, "not you"), -31403, 403, 403, "PERMISSION_DENIED", "UNAUTHORIZED"},
		{fault.New(fault.Exhausted, "too many"), -32000, 429, 429, "RESOURCE_EXHAUSTED", "SERVER_ERROR"},
		{fault.Wrap(fault.Unavailable, inside, "the store is away"), -32000, 503, 503, "UNAVAILABLE", "SERVER_ERROR"},
	}
	for _, tt := range tests {
		for name, c := range map[string]codec{"0.3": earlyRPC{}, "TrueCost": trueCost{}} {
			r := request{top: wire.Members{"id": json.RawMessage("7")}}
			got := c.encode(r, call{}, answer{err: tt.err})
			want := wire.Error(json.RawMessage("7"), map[string]any{"code": tt.code, "message": wire.RefusalOf(tt.err).Message})
			if got.status != tt.rpc || string(got.body) != string(want) {
				t.Errorf("%s: encode(%v) = HTTP %d, %s, want %d, %s", name, tt.err, got.status, got.body, tt.rpc, want)
			}
		}
		got := earlyREST{}.encode(request{}, call{}, answer{err: tt.err})
		var body struct {
			Code  int
			Error struct {
				Code    int
				Status  string
				Details []struct{ Reason string }
			}
		}
		if err := json.Unmarshal(got.body, &body); err != nil || len(body.Error.Details) == 0 {
			t.Fatalf("encode(%v) = %s (%v), want an error with details", tt.err, got.body, err)
		}
		if got.status != tt.rest || body.Code != tt.code || body.Error.Code != tt.rest || body.Error.Status != tt.status || body.Error.Details[0].Reason != tt.reason {
			t.Errorf("encode(%v) = HTTP %d, %s, want %d, %d, %s, %s", tt.err, got.status, got.body, tt.rest, tt.code, tt.status, tt.reason)
		}
		if text := wire.RefusalOf(tt.err).Message; errors.Is(tt.err, inside) && text == tt.err.Error() {
			t.Errorf("encode(%v) shows %q", tt.err, text)
		}
	}
}
