package a2a

import (
	"context"
	"log/slog"
	"math"
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

	// Lease is how long an instance at work may be silent before another may take
	// its task over; it is renewed three times as often, which is also how soon a
	// canceled task stops. 0 is 30 s.
	Lease time.Duration

	// NewID names the task of a message that is not named by a UUID. Nil: a
	// random UUID.
	NewID func() string
}

const (
	defaultDeadline = 300 * time.Second
	defaultLease    = 30 * time.Second
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
// safe for concurrent use, and no goroutine outlives its request. A caller who
// leaves does not stop the work. It panics if the agent has
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
	if opt.Lease == 0 {
		opt.Lease = defaultLease
	}
	if opt.MaxBody == 0 {
		opt.MaxBody = defaultMaxBody
	}
	return &front{
		core: core{
			agent: agent, tasks: opt.Tasks, now: opt.Now, newID: opt.NewID,
			deadline: opt.Deadline, lease: opt.Lease, log: opt.Log,
		},
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
		status, body := rpcError(null, refuse(http.StatusMethodNotAllowed, codeInvalidRequest, "messages are sent with POST"))
		write(w, status, body)
	}
}

// post takes a request through guard, sniff, codec and core.
func (f *front) post(w http.ResponseWriter, r *http.Request) {
	var c codec = trueCost{} // words what is refused before its dialect is known
	var a answer
	in, err := guard(w, r, f.maxBody)
	if err == nil {
		c, err = sniff(in)
	}
	if err == nil {
		a, err = f.do(r.Context(), c, in)
	}
	if err != nil {
		a = answer{err: err}
		f.excuse(w, r, err)
	}
	status, body := c.encode(in, a)
	write(w, status, body)
}

func (f *front) do(ctx context.Context, c codec, r request) (answer, error) {
	in, err := c.decode(r)
	if err != nil {
		return answer{}, err
	}
	var task *sdk.Task
	switch in.op {
	case getCard:
		return answer{card: &f.core.agent}, nil
	case getTask:
		task, err = f.core.get(ctx, in.task)
	case cancelTask:
		task, err = f.core.cancel(ctx, in.task)
	default:
		task, err = f.core.send(ctx, in.message)
	}
	return answer{task: task}, err
}

// excuse logs an error that is ours and sets the headers that go with an error
// of any dialect.
func (f *front) excuse(w http.ResponseWriter, r *http.Request, err error) {
	e := refusalOf(err)
	if e.code == codeInternal || e.code == codeServer {
		f.core.log.ErrorContext(r.Context(), "message not served", slog.String("agent", f.core.agent.Name), slog.Any("error", err))
	}
	switch e.status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		after, ok := RetryAfter(err)
		if !ok {
			after = defaultPause
		}
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(after.Seconds()))))
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
}

func write(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // JSON, never sniffed; the caller has gone if this fails
}
