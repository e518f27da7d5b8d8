package a2a

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"unicode/utf8"
)

// maxNesting is how deep a body may nest, the envelope included.
const maxNesting = 64

// request is a POST that passed the guard: its body read once and parsed once,
// one level deep.
type request struct {
	http *http.Request // for path and headers
	top  members       // of the object in the body
}

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

// guard lets a request in: by its media type, then by its size, then as JSON.
// The request it returns with an error has what could be read, so that the
// answer can name what it answers.
func guard(w http.ResponseWriter, r *http.Request, limit int64) (request, error) {
	in := request{http: r}
	if t := r.Header.Get("Content-Type"); t != "" {
		media, _, err := mime.ParseMediaType(t)
		if err != nil || media != "application/json" && media != "application/a2a+json" {
			return in, refuse(http.StatusUnsupportedMediaType, codeContentType, "Content-Type: want application/json")
		}
	}
	body, err := read(w, r, limit)
	if err != nil {
		return in, err
	}
	in.top, err = parse(body)
	return in, err
}

// read reads the body, never more than limit bytes of it.
func read(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	tooLarge := refuse(http.StatusRequestEntityTooLarge, codeInvalidRequest, "the body is larger than %d bytes", limit)
	if r.ContentLength > limit {
		return nil, tooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, tooLarge
	}
	if err != nil {
		return nil, refuse(http.StatusOK, codeParse, "the body ends too early")
	}
	return body, nil
}

// parse reads one object of bounded depth and nothing after it.
func parse(body []byte) (members, error) {
	if !utf8.Valid(body) {
		return nil, refuse(http.StatusOK, codeParse, "the body is not UTF-8")
	}
	top, ok := object(body)
	switch {
	case nesting(body) > maxNesting:
		return top, refuse(http.StatusOK, codeInvalidParams, "the body nests deeper than %d", maxNesting)
	case ok:
		return top, nil
	case json.Valid(body):
		return nil, refuse(http.StatusOK, codeInvalidRequest, "the body is not an object; batches are not served")
	}
	return nil, refuse(http.StatusOK, codeParse, "the body is not one JSON value")
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
