package callable

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"truecost.dev/shared/fault"
)

// Func is one callable function.
type Func struct {
	Name string // start_deep_pipeline

	// Handle does the work. Its result is encoded as JSON and may be nil, but no
	// object in it may have a member @type: the SDKs refuse such. An error is
	// answered by its kind with its public message and details.
	Handle func(ctx context.Context, call Call) (any, error)
}

// Call is what a caller sent.
type Call struct {
	Data json.RawMessage // any JSON value, null too; never empty
	User string          // the verified user id; empty is an anonymous caller
}

// Options of a handler. Log is required.
type Options struct {
	// Verify returns the user id of an ID token. An error of a transient kind is
	// answered as such, any other as UNAUTHENTICATED. Nil: no token is valid.
	Verify func(ctx context.Context, token string) (uid string, err error)

	AllowAnonymous bool // serve calls without a token; a bad token is refused all the same

	Log      *slog.Logger
	Deadline time.Duration // of Handle; 0 is 60 s, below the 70 s of the SDKs
	MaxBody  int64         // bytes of a request; 0 is 10 MiB
}

const (
	defaultDeadline = 60 * time.Second
	defaultMaxBody  = 10 << 20
)

type handler struct {
	fn  Func
	opt Options
}

// NewHandler returns the handler of a callable, at whatever path it is mounted.
// It is safe for concurrent use. It panics without a name, Handle or Log.
func NewHandler(fn Func, opt Options) http.Handler {
	if fn.Name == "" || fn.Handle == nil || opt.Log == nil {
		panic("callable.NewHandler: a function needs Name and Handle, its options Log")
	}
	if opt.Deadline == 0 {
		opt.Deadline = defaultDeadline
	}
	if opt.MaxBody == 0 {
		opt.MaxBody = defaultMaxBody
	}
	return &handler{fn: fn, opt: opt}
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Vary", "Origin")
	if origin := r.Header.Get("Origin"); origin != "" {
		header.Set("Access-Control-Allow-Origin", origin)
	}
	if r.Method == http.MethodOptions {
		header.Set("Access-Control-Allow-Methods", "POST")
		if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
			header.Set("Access-Control-Allow-Headers", asked)
		}
		header.Set("Access-Control-Max-Age", "3600")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	body, code, err := h.answer(w, r)
	if code >= http.StatusInternalServerError {
		h.opt.Log.ErrorContext(r.Context(), "call not served", slog.String("function", h.fn.Name), slog.Any("error", err))
	}
	write(w, r, code, body)
}

// answer returns the body of the answer and its HTTP status, and beside an
// error the error.
func (h *handler) answer(w http.ResponseWriter, r *http.Request) (body []byte, code int, err error) {
	result, err := h.call(w, r)
	if err == nil {
		body, err = encode("result", result)
	}
	if err == nil {
		return body, http.StatusOK, nil
	}
	wire, code := encodeError(err)
	if body, encErr := encode("error", wire); encErr == nil {
		return body, code, err
	}
	wire.Details = nil // details that cannot be sent must not hide the error
	body, _ = encode("error", wire)
	return body, code, err
}

// call takes a request through guard and token to the function.
func (h *handler) call(w http.ResponseWriter, r *http.Request) (any, error) {
	if r.Method != http.MethodPost {
		return nil, badRequest("method " + r.Method)
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, badRequest("no JSON by its Content-Type")
	}
	user, err := h.user(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.opt.MaxBody))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, fault.Wrap(fault.Invalid, err, "the request is larger than %d bytes", h.opt.MaxBody)
	}
	if err != nil {
		return nil, badRequest(err.Error())
	}
	data, err := decodeRequest(body)
	if err != nil {
		return nil, err
	}
	return h.serve(r.Context(), Call{Data: data, User: user})
}

// user verifies the token before the body is read.
func (h *handler) user(r *http.Request) (string, error) {
	auth := r.Header.Get("Authorization")
	if auth == "" {
		if h.opt.AllowAnonymous {
			return "", nil
		}
		return "", fault.New(fault.Unknown, "Unauthenticated")
	}
	scheme, token, _ := strings.Cut(auth, " ")
	if !strings.EqualFold(scheme, "Bearer") || h.opt.Verify == nil {
		return "", fault.New(fault.Unknown, "Unauthenticated")
	}
	user, err := h.opt.Verify(r.Context(), strings.TrimSpace(token))
	switch {
	case fault.KindOf(err).Transient():
		return "", fmt.Errorf("verify the token: %w", err)
	case err != nil || user == "":
		return "", fault.Wrap(fault.Unknown, err, "Unauthenticated")
	}
	return user, nil
}

// decodeRequest returns the data of a request: an object with that one member.
func decodeRequest(body []byte) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if !utf8.Valid(body) {
		return nil, badRequest("no UTF-8")
	}
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, badRequest(err.Error())
	}
	data, ok := members["data"]
	if !ok || len(members) != 1 {
		return nil, badRequest("want the member data and no other")
	}
	return data, nil
}

// serve calls the function with its deadline and turns a panic into an error.
func (h *handler) serve(ctx context.Context, call Call) (result any, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, h.opt.Deadline, fault.New(fault.Timeout, "%s ran out of time", h.fn.Name))
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			h.opt.Log.ErrorContext(ctx, "function panicked", slog.String("function", h.fn.Name), slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
			err = fault.New(fault.Internal, "panic in %s", h.fn.Name)
		}
	}()
	return h.fn.Handle(ctx, call)
}

// encode returns {"<member>": value} in one line.
func encode(member string, value any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]any{member: value}); err != nil {
		return nil, fmt.Errorf("encode the %s: %w", member, err)
	}
	// A quote inside a string is escaped, so this is a member and nothing else.
	if bytes.Contains(buf.Bytes(), []byte(`"@type":`)) {
		return nil, fmt.Errorf("encode the %s: a member @type, which the SDKs refuse", member)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// write sends an answer: as it is, or as the one event of a stream to a caller
// that asked for a stream, where the HTTP status is always 200.
func write(w http.ResponseWriter, r *http.Request, code int, body []byte) {
	media := "application/json; charset=utf-8"
	if r.Header.Get("Accept") == "text/event-stream" && r.Method == http.MethodPost {
		media, code = "text/event-stream", http.StatusOK
		body = fmt.Appendf(nil, "data: %s\n\n", body)
	}
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = w.Write(body) //nolint:gosec // JSON or an event stream, never sniffed; the caller has gone if this fails
}
