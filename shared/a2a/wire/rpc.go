package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// Head is the envelope of a JSON-RPC request.
type Head struct {
	ID     json.RawMessage // a string or a number, as it was sent
	Method string
	Params json.RawMessage // nil when absent
}

// HeadOf reads the envelope of JSON-RPC 2.0. A2A has no notifications, so an id
// is required.
func HeadOf(top Members) (Head, error) {
	h := Head{ID: Echo(top)}
	if v, _ := top.Text("jsonrpc"); v != "2.0" {
		return h, Refuse(http.StatusOK, CodeInvalidRequest, `jsonrpc: want "2.0"`)
	}
	if bytes.Equal(h.ID, Null) {
		return h, Refuse(http.StatusOK, CodeInvalidRequest, "id: want a string or a number")
	}
	var ok bool
	if h.Method, ok = top.Text("method"); !ok {
		return h, Refuse(http.StatusOK, CodeInvalidRequest, "method: want a string")
	}
	if top.Has("params") {
		h.Params = top["params"]
	}
	return h, nil
}

// Echo returns the id to answer with: the one that was sent, or null if that is
// none.
func Echo(top Members) json.RawMessage {
	id := top["id"]
	switch c := First(id); {
	case c == '"', c == '-', '0' <= c && c <= '9':
		return id
	}
	return Null
}

// Result is the answer that carries value.
func Result(id json.RawMessage, value any) []byte { return envelope(id, "result", value) }

// Error is the answer that carries an error, a value with code and message.
func Error(id json.RawMessage, value any) []byte { return envelope(id, "error", value) }

// envelope puts JSON-RPC round a value by hand: an encoder would rewrite the id,
// which must go back byte for byte.
func envelope(id json.RawMessage, member string, value any) []byte {
	body, err := Compact(value)
	if err != nil { // a value that is no JSON: a defect of ours
		member, body = "error", []byte(`{"code":-32603,"message":"internal error"}`)
	}
	var buf bytes.Buffer
	buf.Grow(len(body) + len(id) + 40)
	buf.WriteString(`{"jsonrpc":"2.0","id":`)
	buf.Write(id)
	buf.WriteString(`,"` + member + `":`)
	buf.Write(body)
	buf.WriteByte('}')
	return buf.Bytes()
}
