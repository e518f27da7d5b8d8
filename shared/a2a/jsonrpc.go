package a2a

import (
	"bytes"
	"encoding/json"
	"net/http"
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
