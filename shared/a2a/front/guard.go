package front

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"time"
	"unicode/utf8"

	"truecost.dev/shared/a2a/wire"
)

const (
	maxNesting = 64       // how deep a body may nest, the envelope included
	firstRead  = 64 << 10 // bytes to begin with: what a caller says of the length is not believed
)

// guard lets a request in: by its media type, then by its size, then as one
// JSON object, which it leaves in r.top. An empty body leaves nil: whether that
// will do is for the codec to say. Of other methods than POST no body is read.
func guard(w http.ResponseWriter, r *request, limit int64, patience time.Duration) error {
	if r.http.Method != http.MethodPost {
		return nil
	}
	if t := r.http.Header.Get("Content-Type"); t != "" {
		media, _, err := mime.ParseMediaType(t)
		if err != nil || media != "application/json" && media != "application/a2a+json" {
			return wire.Refuse(http.StatusUnsupportedMediaType, wire.CodeContentType, "Content-Type: want application/json")
		}
	}
	body, err := read(w, r.http, limit, patience)
	if err != nil || len(body) == 0 {
		return err
	}
	r.top, err = parse(body)
	return err
}

// read reads the body, never more than limit bytes of it and never longer than
// patience, where the server can tell time.
func read(w http.ResponseWriter, r *http.Request, limit int64, patience time.Duration) ([]byte, error) {
	tooLarge := wire.Refuse(http.StatusRequestEntityTooLarge, wire.CodeInvalidRequest, "the body is larger than %d bytes", limit)
	if r.ContentLength > limit {
		w.Header().Set("Connection", "close") // what still comes is not waited for
		return nil, tooLarge
	}
	control := http.NewResponseController(w)
	//nolint:forbidigo // of a socket, which knows no other clock
	_ = control.SetReadDeadline(time.Now().Add(patience)) // a writer that cannot has no socket
	body, err := readAll(http.MaxBytesReader(w, r.Body, limit), r.ContentLength, limit)
	if err == nil {
		_ = control.SetReadDeadline(time.Time{}) // else the caller would count as gone
		return body, nil
	}
	w.Header().Set("Connection", "close")
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, tooLarge
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, wire.Refuse(http.StatusOK, wire.CodeParse, "the body did not arrive in time")
	}
	return nil, wire.Refuse(http.StatusOK, wire.CodeParse, "the body ends too early")
}

// readAll reads to the end. It doubles its buffer up to the limit, so that at no
// time more than thrice the limit is held, and a caller who says a length and
// sends nothing costs nothing.
func readAll(body io.Reader, length, limit int64) ([]byte, error) {
	size := int64(firstRead)
	if length >= 0 {
		size = min(length+1, size) // one more to see the end
	}
	buf := make([]byte, 0, size)
	for {
		n, err := body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return nil, err //nolint:wrapcheck // read says what it means
		case len(buf) == cap(buf):
			grown := make([]byte, len(buf), min(2*int64(cap(buf)), limit+1))
			copy(grown, buf)
			buf = grown
		}
	}
}

// parse reads one object of bounded depth and nothing after it. The members it
// returns with an error let the answer name what it answers.
func parse(body []byte) (wire.Members, error) {
	if !utf8.Valid(body) {
		return nil, wire.Refuse(http.StatusOK, wire.CodeParse, "the body is not UTF-8")
	}
	top, ok := wire.Object(body)
	switch {
	case wire.Nesting(body) > maxNesting:
		return top, wire.Refuse(http.StatusOK, wire.CodeInvalidParams, "the body nests deeper than %d", maxNesting)
	case ok:
		return top, nil
	case json.Valid(body):
		return nil, wire.Refuse(http.StatusOK, wire.CodeInvalidRequest, "the body is not an object; batches are not served")
	}
	return nil, notJSON()
}

func notJSON() error {
	return wire.Refuse(http.StatusOK, wire.CodeParse, "the body is not one JSON value")
}

// object returns the members of the body, which a call needs that is told in one.
func (r request) object() (wire.Members, error) {
	if r.top == nil {
		return nil, notJSON()
	}
	return r.top, nil
}
