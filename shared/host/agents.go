package host

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"truecost.dev/shared/a2a/card"
	"truecost.dev/shared/a2a/front"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/webhook"
	"truecost.dev/shared/agent"
	"truecost.dev/shared/callable"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/identity"
)

// Env is what the entry points of one process share. Everything that costs time
// to open is a function, opened at its first use.
type Env struct {
	Log      *slog.Logger
	Now      func() time.Time
	AgentURL string                       // base address of the agents, for their cards: AgentURL/a2a_location
	Cards    func() (card.Options, error) // of every agent, but for URL, Push, Extended and Limits; nil: the zero Options

	Tasks  func() (task.Store, error)
	Finder func() (task.Finder, error) // nil: nothing is listed
	Queue  func() (task.Queue, error)  // nil: nothing is queued

	Callers func() (*identity.Authority, error) // who tells the callers of agents; nil: everybody is nobody in particular

	AgentTime time.Duration // bounds one turn of an agent
	TaskLease time.Duration // how long an agent's instance may be silent before another takes its task; 0 is 30 s

	Webhooks *Webhooks // nil: agents take no push configurations

	Callable callable.Options
}

// Webhooks are the way to receivers of push notifications.
type Webhooks struct {
	Allow func(ctx context.Context, url string) error // fault.Invalid for an address that is not to be called
	*webhook.Sender
}

// maxBody bounds a request to an agent, in bytes: inputs travel.
const maxBody = 10 << 20

// Agents returns the functions a2a_<name> of a family's agents. What they offer
// is made when they are served.
func (e Env) Agents(specs []agent.Spec) []Function {
	functions := make([]Function, len(specs))
	for i, spec := range specs {
		functions[i] = e.agent(spec.Name, sync.OnceValue(spec.Task))
	}
	return functions
}

// TaskAgents returns the functions a2a_<name> of agents that do more than answer
// a request with a result.
func (e Env) TaskAgents(agents []task.Agent) []Function {
	functions := make([]Function, len(agents))
	for i, a := range agents {
		functions[i] = e.agent(a.Name, func() task.Agent { return a })
	}
	return functions
}

func (e Env) agent(name string, made func() task.Agent) Function {
	desk := sync.OnceValue(func() *task.Desk { return e.desk(made()) })
	cards := e.cards(made)
	return Function{
		Name: "a2a_" + name, Kind: Agent, Desk: desk, Cards: cards,
		Handler: lazily(func() http.Handler { return e.front(desk(), cards) }),
	}
}

func (e Env) desk(a task.Agent) *task.Desk {
	opt := task.Options{
		Store: e.Tasks, Finder: e.Finder, Queue: e.Queue, Now: e.Now, Log: e.Log, Deadline: e.AgentTime, Lease: e.TaskLease,
	}
	if e.Webhooks != nil {
		opt.Push, opt.Allow = true, e.Webhooks.Allow
	}
	return task.NewDesk(a, opt)
}

// url returns the address of an agent, "" if there is none in the configuration.
func (e Env) url(agent string) string {
	if e.AgentURL == "" {
		return ""
	}
	return strings.TrimSuffix(e.AgentURL, "/") + "/a2a_" + agent
}

func (e Env) front(desk *task.Desk, cards func() (*card.Cards, error)) http.Handler {
	opt := front.Options{URL: e.url(desk.Agent().Name), Log: e.Log, MaxBody: maxBody}
	if opt.URL != "" {
		if c, err := cards(); err != nil {
			e.lacks("an agent has no cards", desk, err)
		} else {
			opt.Cards, opt.Extended = c, c.Extended
		}
	}
	if e.Callers == nil {
		return front.NewHandler(desk, opt)
	}
	callers, err := e.Callers()
	if err != nil { // nobody is let in
		e.lacks("an agent knows no callers", desk, err)
		opt.Authenticate = func(*http.Request) (task.Caller, error) { return task.Caller{}, err }
		return front.NewHandler(desk, opt)
	}
	opt.Authenticate = callers.At(opt.URL)
	return callers.Login(front.NewHandler(desk, opt))
}

// lacks logs what an agent is served without. No request is the reason.
func (e Env) lacks(what string, desk *task.Desk, err error) {
	e.Log.Error(what, slog.String("agent", desk.Agent().Name), slog.Any("error", err)) //nolint:sloglint // there is no context, and the callers' texts are constants
}

// Worker returns what opens the worker that does the queue's work for all agents
// of a table. It returns fault.Internal when two of them have one name.
func (e Env) Worker(table []Function) func() (*task.Worker, error) {
	return sync.OnceValues(func() (*task.Worker, error) {
		w := &task.Worker{Desks: map[string]*task.Desk{}}
		if e.Webhooks != nil {
			w.Post = e.Webhooks.Post
		}
		for _, f := range table {
			if f.Desk != nil {
				desk := f.Desk()
				name := desk.Agent().Name
				if w.Desks[name] != nil {
					return nil, fault.New(fault.Internal, "there are two agents called %s", name)
				}
				w.Desks[name] = desk
			}
		}
		return w, nil
	})
}

// Callables returns the functions of a group of callables.
func (e Env) Callables(funcs []callable.Func) []Function {
	functions := make([]Function, len(funcs))
	for i, fn := range funcs {
		functions[i] = Function{Name: fn.Name, Kind: Callable, Handler: lazily(func() http.Handler {
			return callable.NewHandler(fn, e.Callable)
		})}
	}
	return functions
}

// lazily builds a handler at its first request, so that an instance that serves
// one function does not pay for the others.
func lazily(build func() http.Handler) http.Handler {
	once := sync.OnceValue(build)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { once().ServeHTTP(w, r) })
}
