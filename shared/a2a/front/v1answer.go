package front

import (
	"encoding/json"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/wire"
)

// v1Result is what came of a call, as both bindings of 1.0 write it.
func v1Result(c call, a answer) any {
	switch {
	case a.message != nil:
		return wire.Named(a.message)
	case a.task != nil && (c.op == sendMessage || c.op == submitMessage):
		return wire.Named(a.task)
	case a.task != nil:
		return wire.Plain(a.task)
	case a.page != nil:
		return v1Page{wire.PlainTasks(a.page.Tasks), a.page.Total, a.page.Size, a.page.Next}
	case a.hook != nil:
		return a.hook
	case c.op == listHooks:
		return sdk.ListTaskPushConfigResponse{Configs: append([]*sdk.PushConfig{}, a.hooks...)}
	case a.card != nil:
		return json.RawMessage(a.card)
	}
	return struct{}{} // of what is gone nothing is left to tell
}

// v1Page is one page of a list.
type v1Page struct {
	Tasks any    `json:"tasks"`
	Total int    `json:"totalSize"`
	Size  int    `json:"pageSize"`
	Next  string `json:"nextPageToken"`
}

// Details of errors, as google.rpc writes them.
type (
	errorInfo struct {
		Type   string `json:"@type"`
		Reason string `json:"reason"`
		Domain string `json:"domain"`
	}
	badRequest struct {
		Type       string           `json:"@type"`
		Violations []fieldViolation `json:"fieldViolations"`
	}
	fieldViolation struct {
		Field       string `json:"field"`
		Description string `json:"description"`
	}
)

// v1Details are the details of an error: its reason and, of a bad parameter, its
// path within the parameters.
func v1Details(e *wire.Refusal) []any {
	details := []any{errorInfo{"type.googleapis.com/google.rpc.ErrorInfo", e.Reason, sdk.ProtocolDomain}}
	path, what := faulty(e.Message)
	if e.Code != wire.CodeInvalidParams || path == "" {
		return details
	}
	return append(details, badRequest{"type.googleapis.com/google.rpc.BadRequest", []fieldViolation{
		{strings.TrimPrefix(path, "params."), what},
	}})
}
