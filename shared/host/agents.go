package host

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/a2a/card"
	"truecost.dev/shared/agent"
	"truecost.dev/shared/callable"
	"truecost.dev/shared/identity"
)

// Env is what the entry points of one process share. Everything that costs time
// to open is a function, opened at its first use.
type Env struct {
	Log      *slog.Logger
	Now      func() time.Time
	AgentURL string                       // base address of the agents, for their cards: AgentURL/a2a_location
	Cards    func() (card.Options, error) // of every agent, but for its URL; nil: the zero Options
	Tasks    func() (a2a.Tasks, error)

	// Callers tells the callers of agents: At(address) is what their fronts
	// authenticate with, and Login goes round their handlers. Nil: anybody may call.
	Callers func() (*identity.Authority, error)

	AgentTime time.Duration // bounds one call of an agent
	TaskLease time.Duration // how long an agent's instance may be silent before another takes its task; 0 is 30 s

	Callable callable.Options
}

// Agents returns the functions a2a_<name> of a family's agents.
func (e Env) Agents(specs []agent.Spec) []Function {
	functions := make([]Function, len(specs))
	for i, spec := range specs {
		name := "a2a_" + spec.Name
		functions[i] = Function{Name: name, Kind: Agent, Cards: e.cards(spec, name), Handler: lazily(func() http.Handler {
			opt := a2a.Options{Tasks: e.Tasks, Now: e.Now, Log: e.Log, Deadline: e.AgentTime, Lease: e.TaskLease}
			if e.AgentURL != "" {
				opt.URL = strings.TrimSuffix(e.AgentURL, "/") + "/" + name
			}
			return a2a.NewHandler(spec, opt)
		})}
	}
	return functions
}

// cards makes the cards of an agent when they are first asked for.
func (e Env) cards(spec agent.Spec, name string) func() (*card.Cards, error) {
	return sync.OnceValues(func() (*card.Cards, error) {
		var opt card.Options
		if e.Cards != nil {
			var err error
			if opt, err = e.Cards(); err != nil {
				return nil, err
			}
		}
		opt.URL = strings.TrimSuffix(e.AgentURL, "/") + "/" + name
		return card.New(spec.Task(), opt)
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
