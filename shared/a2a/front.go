package a2a

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
)

// Options of a front. Now and Log are required.
type Options struct {
	// Tasks opens the store of tasks; it is asked at each request and is expected
	// to open the store once. Nil: no task is kept, a repeated message runs again
	// and every tasks/get is answered "no such task".
	Tasks func() (Tasks, error)

	Now func() time.Time
	Log *slog.Logger

	// URL is the absolute address of the agent, from configuration, for its card.
	// The Host header of a caller is never believed. Empty: the card has none.
	URL string

	Deadline time.Duration // of one call of the agent; 0 is 300 s
	MaxBody  int64         // bytes of a request; 0 is 10 MiB, since inputs travel

	// NewID names the task of a message that is not named by a UUID. Nil: a
	// random UUID.
	NewID func() string
}

const (
	defaultDeadline = 300 * time.Second
	defaultMaxBody  = 10 << 20
	defaultPause    = time.Second // for callers that are asked to come back
)

// front is the HTTP side of one agent.
type front struct {
	core    core
	maxBody int64
	card    cardFile
}

// NewHandler returns the handler of an agent: POST at any path takes messages,
// GET of a path that ends in /.well-known/agent.json returns the card. It is
// safe for concurrent use and starts no goroutine. It panics if the agent has
// no name or no Serve, or if Now or Log is missing.
func NewHandler(agent Agent, opt Options) http.Handler {
	if agent.Name == "" || agent.Serve == nil || opt.Now == nil || opt.Log == nil {
		panic("a2a.NewHandler: an agent needs Name and Serve, its options Now and Log")
	}
	if opt.Tasks == nil {
		opt.Tasks = func() (Tasks, error) { return forgetful{}, nil }
	}
	if opt.NewID == nil {
		opt.NewID = func() string { return string(sdk.NewTaskID()) }
	}
	if opt.Deadline == 0 {
		opt.Deadline = defaultDeadline
	}
	if opt.MaxBody == 0 {
		opt.MaxBody = defaultMaxBody
	}
	return &front{
		core:    core{agent: agent, tasks: opt.Tasks, now: opt.Now, newID: opt.NewID, deadline: opt.Deadline, log: opt.Log},
		maxBody: opt.MaxBody,
		card:    newCardFile(agent, opt.URL),
	}
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("X-Content-Type-Options", "nosniff")
	switch {
	case r.Method == http.MethodPost:
		f.post(w, r)
	case r.Method == http.MethodOptions:
		header.Set("Allow", "POST, OPTIONS")
		header.Set("Access-Control-Allow-Methods", "GET, POST, OPTIONS")
		header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, "+sdk.SvcParamVersion)
		header.Set("Access-Control-Max-Age", "3600")
		w.WriteHeader(http.StatusNoContent)
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.HasSuffix(r.URL.Path, "/.well-known/agent.json"):
		f.card.serve(w, r)
	default:
		header.Set("Allow", "POST, OPTIONS")
		writeError(w, null, refuse(http.StatusMethodNotAllowed, codeInvalidRequest, "messages are sent with POST"))
	}
}

func (f *front) post(w http.ResponseWriter, r *http.Request) {
	h, result, err := f.answer(w, r)
	if err == nil {
		write(w, http.StatusOK, h.id, "result", result)
		return
	}
	e := refusalOf(err)
	if e.code == codeInternal || e.code == codeServer {
		f.core.log.ErrorContext(r.Context(), "message not served", slog.String("agent", f.core.agent.Name), slog.Any("error", err))
	}
	if e.code == codeServer {
		after, ok := RetryAfter(err)
		if !ok {
			after = defaultPause
		}
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(after.Seconds()))))
	}
	writeError(w, h.id, e)
}

// answer takes a request through guard, sniff, codec and core. The head it
// returns has the id to answer with, also beside an error.
func (f *front) answer(w http.ResponseWriter, r *http.Request) (h head, result any, err error) {
	body, err := f.read(w, r)
	if err != nil {
		return head{id: null}, nil, err
	}
	if h, err = parseHead(body); err != nil {
		return h, nil, err
	}
	c, err := sniff(r, h)
	if err != nil {
		return h, nil, err
	}
	in, err := c.decode(h)
	if err != nil {
		return h, nil, err
	}
	result, err = f.do(r.Context(), c, in)
	return h, result, err
}

func (f *front) do(ctx context.Context, c codec, in call) (any, error) {
	var task *sdk.Task
	var err error
	switch in.op {
	case getCard:
		return c.card(f.core.agent), nil
	case getTask:
		task, err = f.core.get(ctx, in.task)
	default:
		task, err = f.core.send(ctx, in.message)
	}
	if err != nil {
		return nil, err
	}
	return c.task(task), nil
}

// read checks the media type, then reads the body once, never more than the
// limit of it.
func (f *front) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if t := r.Header.Get("Content-Type"); t != "" {
		media, _, err := mime.ParseMediaType(t)
		if err != nil || media != "application/json" && media != "application/a2a+json" {
			return nil, refuse(http.StatusUnsupportedMediaType, codeContentType, "Content-Type: want application/json")
		}
	}
	tooLarge := refuse(http.StatusRequestEntityTooLarge, codeInvalidRequest, "the body is larger than %d bytes", f.maxBody)
	if r.ContentLength > f.maxBody {
		return nil, tooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, f.maxBody))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, tooLarge
	}
	if err != nil {
		return nil, refuse(http.StatusOK, codeParse, "the body ends too early")
	}
	return body, nil
}

func writeError(w http.ResponseWriter, id json.RawMessage, e *refusal) {
	if e.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	write(w, e.status, id, "error", struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{e.code, e.message})
}

// write puts the envelope round a value by hand: an encoder would rewrite the
// id, which must go back byte for byte.
func write(w http.ResponseWriter, status int, id json.RawMessage, member string, value any) {
	var buf bytes.Buffer
	buf.WriteString(`{"jsonrpc":"2.0","id":`)
	buf.Write(id)
	buf.WriteString(`,"` + member + `":`)
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		status = http.StatusInternalServerError
		buf.Reset()
		buf.WriteString(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}}`)
	} else {
		buf.Truncate(buf.Len() - 1) // the newline of the encoder
		buf.WriteByte('}')
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(buf.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(buf.Bytes()) // the caller has gone if this fails
}
