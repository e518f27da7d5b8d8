package front

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"time"
	"unicode/utf8"

	"truecost.dev/shared/a2a/wire"
)

const (
	maxNesting = 64      // how deep a body may nest, the envelope included
	firstRead  = 4 << 10 // bytes of the first piece of a body; most have no more
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
	body, err := readAll(http.MaxBytesReader(w, r.Body, limit))
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

// readAll reads to the end, into pieces: a caller who says a length and sends
// nothing costs nothing, and of a body that is too large no more than the limit
// is ever held.
func readAll(body io.Reader) ([]byte, error) {
	var full [][]byte
	for piece := make([]byte, 0, firstRead); ; {
		n, err := body.Read(piece[len(piece):cap(piece)])
		piece = piece[:len(piece)+n]
		switch {
		case errors.Is(err, io.EOF):
			return slices.Concat(append(full, piece)...), nil
		case err != nil:
			return nil, err //nolint:wrapcheck // read says what it means
		case len(piece) == cap(piece):
			full = append(full, piece)
			piece = make([]byte, 0, min(2*cap(piece), 1<<20))
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
