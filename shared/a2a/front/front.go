package front

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/uuid"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// Options of a front. Log is required.
type Options struct {
	// Authenticate says who asks, by the headers of a request alone: it is called
	// before the body is read, and neither Authorization nor Cookie goes further.
	// It returns fault.Unknown or fault.Denied. Nil: everybody is the zero Caller.
	Authenticate func(r *http.Request) (task.Caller, error)

	// Cards serves the paths with /.well-known/ in them to everybody; nil: nothing
	// is there.
	Cards http.Handler

	// Extended returns the card for callers who said who they are, as JSON. Nil:
	// there is none.
	Extended func(ctx context.Context, c task.Caller) ([]byte, error)

	// URL is the absolute address of the agent, from configuration. The Host header
	// of a caller is never believed. Empty: answers name no absolute address.
	URL string

	Log   *slog.Logger
	NewID func() string // names requests that failed, in the log and for their callers; nil: random UUIDs

	MaxBody  int64         // bytes of a request; 0 is 10 MiB, since inputs travel
	BodyTime time.Duration // for a body to arrive; 0 is 30 s
	Pulse    time.Duration // between two signs of life in a stream; 0 is 15 s
	MaxSent  int           // bytes of a stream, after which it closes and the caller listens again; 0 is 9 MB
}

// margin is what an answer gets of the time of a request, if it has twice as much.
const margin = 10 * time.Second

// front is the HTTP side of one agent.
type front struct {
	desk   *task.Desk
	opt    Options
	codecs []codec
	prefix []string // of paths, that lead to the agent
}

// NewHandler returns the handler of an agent, in every dialect. It is safe for
// concurrent use, and no goroutine outlives its request. A caller who leaves does
// not stop the work. It panics if Log is missing.
func NewHandler(desk *task.Desk, opt Options) http.Handler {
	if opt.Log == nil {
		panic("front.NewHandler: the options need Log")
	}
	if opt.NewID == nil {
		opt.NewID = uuid.NewString
	}
	if opt.MaxBody == 0 {
		opt.MaxBody = 10 << 20
	}
	if opt.BodyTime == 0 {
		opt.BodyTime = 30 * time.Second
	}
	if opt.Pulse == 0 {
		opt.Pulse = 15 * time.Second
	}
	if opt.MaxSent == 0 {
		opt.MaxSent = 9e6 // the platform cuts a streamed answer at 10 MB
	}
	opt.URL = strings.TrimSuffix(opt.URL, "/")
	name := desk.Agent().Name
	f := &front{desk: desk, opt: opt, codecs: codecsOf(desk.Agent()), prefix: []string{"/a2a_" + name, "/a2a/" + name}}
	if u, err := url.Parse(opt.URL); err == nil && u.Path != "" {
		f.prefix = append(f.prefix, u.Path)
	}
	return f
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("X-Content-Type-Options", "nosniff")
	in := request{http: r, path: f.below(r.URL.Path), agent: f.desk.Agent(), base: f.opt.URL}
	switch {
	case r.Method == http.MethodOptions:
		header.Set("Allow", "GET, POST, DELETE, OPTIONS")
		header.Set("Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS")
		header.Set("Access-Control-Allow-Headers", strings.Join([]string{
			"Authorization", "Content-Type", sdk.SvcParamVersion, sdk.SvcParamExtensions, "X-A2A-Extensions", "Last-Event-ID", "Idempotency-Key", "If-None-Match",
		}, ", "))
		header.Set("Access-Control-Max-Age", "3600")
		w.WriteHeader(http.StatusNoContent)
	case strings.Contains(in.path, "/.well-known/") && f.opt.Cards != nil:
		f.opt.Cards.ServeHTTP(w, r)
	default:
		f.serve(r.Context(), w, in)
	}
}

// below returns the path of a request from the agent on. A slash at its end does
// not count.
func (f *front) below(path string) string {
	for _, p := range f.prefix {
		if rest, ok := strings.CutPrefix(path, p); ok && (rest == "" || rest[0] == '/') {
			path = rest
			break
		}
	}
	if path = strings.TrimRight(path, "/"); path == "" {
		return "/"
	}
	return path
}

// serve takes a request through guard, sniff, codec and desk.
func (f *front) serve(ctx context.Context, w http.ResponseWriter, in request) {
	c, who, err := f.admit(w, &in)
	var asked call
	if err == nil {
		asked, err = c.decode(in)
	}
	asked.send.Caller = who
	ctx, cancel := inTime(ctx)
	defer cancel()
	var a answer
	switch {
	case err != nil:
		a.err = err
	case asked.op == streamMessage || asked.op == followTask:
		if a.err = f.stream(ctx, w, in, c, asked); a.err == nil {
			return
		}
	default:
		a, a.err = f.do(ctx, who, asked)
	}
	f.write(ctx, w, in, c.encode(in, asked, a), a.err)
}

// inTime returns a context that ends early enough to answer before the platform
// cuts the request off.
func inTime(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, deadline.Add(-min(margin, time.Until(deadline)/2)))
	}
	return context.WithCancel(ctx)
}

// admit finds out who asks, reads the body and chooses the dialect.
func (f *front) admit(w http.ResponseWriter, in *request) (codec, task.Caller, error) {
	c := voice(f.codecs, *in)
	var who task.Caller
	if f.opt.Authenticate != nil {
		var err error
		if who, err = f.opt.Authenticate(in.http); err != nil {
			return c, who, err
		}
	}
	in.http = anonymous(in.http)
	if err := guard(w, in, f.opt.MaxBody, f.opt.BodyTime); err != nil {
		return c, who, err
	}
	c, err := sniff(f.codecs, *in)
	return c, who, err
}

// anonymous returns a request without the headers that prove who sent it.
func anonymous(r *http.Request) *http.Request {
	r = r.WithContext(r.Context())
	r.Header = r.Header.Clone()
	for _, name := range []string{"Authorization", "X-Serverless-Authorization", "Cookie"} {
		r.Header.Del(name)
	}
	return r
}

// do asks the desk for what has one answer.
func (f *front) do(ctx context.Context, who task.Caller, c call) (a answer, err error) {
	switch c.op {
	case sendMessage, callMessage:
		a, err = f.send(ctx, c)
	case submitMessage:
		a.task, err = f.desk.Submit(ctx, c.send)
	case getTask:
		a.task, a.seq, err = f.desk.Get(ctx, who, c.task)
	case cancelTask:
		a.task, err = f.cancel(ctx, who, c)
	case listTasks:
		a.page, err = f.list(ctx, who, c)
	case putHook:
		a.hook, err = f.desk.PutHook(ctx, who, c.hook)
	case getHook:
		a.hook, err = f.desk.Hook(ctx, who, c.task, c.hook.Config.ID)
	case listHooks:
		a.hooks, err = f.desk.Hooks(ctx, who, c.task)
	case dropHook:
		err = f.desk.DropHook(ctx, who, c.task, c.hook.Config.ID)
	case getExtendedCard:
		a.card, err = f.extended(ctx, who)
	case getCard, streamMessage, followTask: // the codec has it; the others have no one answer
	}
	if a.task != nil {
		a.task = shortened(a.task, c.history)
	}
	return a, err
}

func (f *front) send(ctx context.Context, c call) (a answer, err error) {
	work := f.desk.Send
	if c.op == callMessage {
		work = f.desk.Call
	}
	result, err := work(ctx, c.send)
	switch r := result.(type) {
	case *sdk.Task:
		a.task = r
	case *sdk.Message:
		a.message = r
	}
	return a, err
}

func (f *front) cancel(ctx context.Context, who task.Caller, c call) (*sdk.Task, error) {
	t, err := f.desk.Cancel(ctx, who, c.task)
	if err == nil && t.Status.State != sdk.TaskStateCanceled && !c.ended {
		return nil, fault.Wrap(fault.Conflict, sdk.ErrTaskNotCancelable, "the task is %s", wire.Word(t.Status.State))
	}
	return t, err //nolint:wrapcheck // the desk said what it was doing
}

func (f *front) list(ctx context.Context, who task.Caller, c call) (*task.Listing, error) {
	page, err := f.desk.List(ctx, who, c.list)
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	tasks := make([]*sdk.Task, len(page.Tasks))
	for i, t := range page.Tasks {
		tasks[i] = shortened(t, c.history)
		if !c.artifacts {
			short := *tasks[i]
			short.Artifacts = nil
			tasks[i] = &short
		}
	}
	page.Tasks = tasks
	return &page, nil
}

func (f *front) extended(ctx context.Context, who task.Caller) ([]byte, error) {
	if f.opt.Extended == nil {
		return nil, fault.Wrap(fault.Conflict, sdk.ErrExtendedCardNotConfigured, "this agent has no extended card")
	}
	return f.opt.Extended(ctx, who)
}

// follow returns the events of a task that goes on, or of any task for callers
// who want to hear the end of it once more.
func (f *front) follow(ctx context.Context, c call) (iter.Seq2[task.Frame, error], error) {
	who := c.send.Caller
	t, seq, err := f.desk.Get(ctx, who, c.task)
	if err != nil {
		return nil, fmt.Errorf("get task: %w", err)
	}
	if c.told != nil && c.told.seen > seq { // it never had that event: as if none was named
		c.after, c.told.seen = nil, -1
	}
	if t.Status.State.Terminal() && !c.ended {
		return nil, fault.Wrap(fault.Conflict, sdk.ErrUnsupportedOperation, "the task is %s and has no more events", wire.Word(t.Status.State))
	}
	return f.desk.Follow(ctx, who, c.task, c.after), nil
}

// shortened returns a task with the latest n messages of its history; nil is all.
func shortened(t *sdk.Task, n *int) *sdk.Task {
	if n == nil || len(t.History) <= *n {
		return t
	}
	short := *t
	short.History = t.History[len(t.History)-*n:]
	return &short
}
