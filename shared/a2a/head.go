package a2a

import (
	"bytes"
	"encoding/json"
	"net/http"
	"unicode/utf8"
)

// maxNesting is how deep a body may nest, the envelope included.
const maxNesting = 64

// members are the members of an object by their exact names, values unparsed.
// A member that is null counts as absent.
type members map[string]json.RawMessage

// object reads raw as an object; ok is false for anything else.
func object(raw json.RawMessage) (m members, ok bool) {
	if first(raw) != '{' || json.Unmarshal(raw, &m) != nil {
		return nil, false
	}
	return m, true
}

// has reports whether the member is there and not null.
func (m members) has(name string) bool {
	raw, ok := m[name]
	return ok && first(raw) != 'n'
}

// text returns a member that is a string; ok is false for anything else.
func (m members) text(name string) (s string, ok bool) {
	raw := m[name]
	return s, first(raw) == '"' && json.Unmarshal(raw, &s) == nil
}

// head is the top of a JSON-RPC request: parsed once, parameters left alone.
type head struct {
	id     json.RawMessage // as it was sent, to be echoed byte for byte; null when it cannot be
	method string
	params json.RawMessage // nil when absent
}

var null = json.RawMessage("null")

// parseHead reads the envelope. The head it returns with an error has the id
// that the answer must carry.
func parseHead(body []byte) (head, error) {
	h := head{id: null}
	if !utf8.Valid(body) {
		return h, refuse(http.StatusOK, codeParse, "the body is not UTF-8")
	}
	deep := nesting(body) > maxNesting
	if !deep && !json.Valid(body) {
		return h, refuse(http.StatusOK, codeParse, "the body is not one JSON value")
	}
	m, ok := object(body)
	if ok {
		h.id = echo(m["id"])
	}
	if deep {
		return h, refuse(http.StatusOK, codeInvalidParams, "the body nests deeper than %d", maxNesting)
	}
	if !ok {
		return h, refuse(http.StatusOK, codeInvalidRequest, "the body is not an object; batches are not served")
	}
	if v, ok := m.text("jsonrpc"); !ok || v != "2.0" {
		return h, refuse(http.StatusOK, codeInvalidRequest, `jsonrpc: want "2.0"`)
	}
	if bytes.Equal(h.id, null) {
		return h, refuse(http.StatusOK, codeInvalidRequest, "id: want a string or a number")
	}
	if h.method, ok = m.text("method"); !ok {
		return h, refuse(http.StatusOK, codeInvalidRequest, "method: want a string")
	}
	if m.has("params") {
		h.params = m["params"]
	}
	return h, nil
}

// echo returns the id if it is one that can be echoed, else null.
func echo(id json.RawMessage) json.RawMessage {
	switch c := first(id); {
	case c == '"', c == '-', '0' <= c && c <= '9':
		return id
	}
	return null
}

// first returns the first byte of a JSON text that is not white space, or 0.
func first(raw []byte) byte {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return 0
	}
	return raw[0]
}

// nesting returns how deep arrays and objects nest in a JSON text, and some
// number for anything else.
func nesting(text []byte) int {
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
