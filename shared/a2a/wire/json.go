// Package wire is what every JSON dialect of the agents reads and writes in the
// same way: members of an object as they were sent, the envelope of JSON-RPC,
// and the one table of errors.
package wire

import (
	"bytes"
	"encoding/json"
)

// Null is the JSON text null.
var Null = json.RawMessage("null")

// Members are the members of an object by their exact names, values unparsed.
// A member that is null counts as absent.
type Members map[string]json.RawMessage

// Object reads raw as an object; ok is false for anything else.
func Object(raw json.RawMessage) (m Members, ok bool) {
	if First(raw) != '{' || json.Unmarshal(raw, &m) != nil {
		return nil, false
	}
	return m, true
}

// Has reports whether the member is there and not null.
func (m Members) Has(name string) bool {
	raw, ok := m[name]
	return ok && First(raw) != 'n'
}

// Text returns a member that is a string; ok is false for anything else.
func (m Members) Text(name string) (s string, ok bool) {
	raw := m[name]
	return s, First(raw) == '"' && json.Unmarshal(raw, &s) == nil
}

// First returns the first byte of a JSON text that is not white space, or 0.
func First(raw []byte) byte {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return 0
	}
	return raw[0]
}

// Nesting returns how deep arrays and objects nest in a JSON text, and some
// number for anything else.
func Nesting(text []byte) int {
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

// Compact returns v as JSON on one line, without the escapes that HTML wants.
func Compact(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err //nolint:wrapcheck // the caller knows what it encodes
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
