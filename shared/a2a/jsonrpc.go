package a2a

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"truecost.dev/shared/fault"
)

// head is the envelope of a JSON-RPC request.
type head struct {
	id     json.RawMessage // a string or a number, as it was sent
	method string
	params json.RawMessage // nil when absent
}

var null = json.RawMessage("null")

// headOf reads the envelope of JSON-RPC 2.0. A2A has no notifications, so an id
// is required.
func headOf(top members) (head, error) {
	h := head{id: echo(top)}
	if v, _ := top.text("jsonrpc"); v != "2.0" {
		return h, refuse(http.StatusOK, codeInvalidRequest, `jsonrpc: want "2.0"`)
	}
	if bytes.Equal(h.id, null) {
		return h, refuse(http.StatusOK, codeInvalidRequest, "id: want a string or a number")
	}
	var ok bool
	if h.method, ok = top.text("method"); !ok {
		return h, refuse(http.StatusOK, codeInvalidRequest, "method: want a string")
	}
	if top.has("params") {
		h.params = top["params"]
	}
	return h, nil
}

// echo returns the id to answer with: the one that was sent, or null if that is
// none.
func echo(top members) json.RawMessage {
	id := top["id"]
	switch c := first(id); {
	case c == '"', c == '-', '0' <= c && c <= '9':
		return id
	}
	return null
}

// rpcError is the answer to a request that was refused, with its HTTP status.
func rpcError(id json.RawMessage, err error) (status int, body []byte) {
	e := refusalOf(err)
	return e.status, rpc(id, "error", struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{e.code, e.message})
}

// rpc puts the envelope round a value by hand: an encoder would rewrite the id,
// which must go back byte for byte.
func rpc(id json.RawMessage, member string, value any) []byte {
	var buf bytes.Buffer
	buf.WriteString(`{"jsonrpc":"2.0","id":`)
	buf.Write(id)
	buf.WriteString(`,"` + member + `":`)
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		_, body := rpcError(id, err) // a result that is no JSON: a defect of ours
		return body
	}
	buf.Truncate(buf.Len() - 1) // the newline of the encoder
	buf.WriteByte('}')
	return buf.Bytes()
}

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
