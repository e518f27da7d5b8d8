package runnertest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// Agents play the agents of a flow from a script. Like ours they work once per
// call id and give every repetition the stored answer.
type Agents struct {
	Scores map[string][]int           // by node, by attempt; a missing one is 90
	Down   map[string]int             // by agent: calls that fail as unavailable before it answers
	Broken map[string]bool            // by agent: fails for good
	Before func(agent string)         // runs before each call is answered
	Hang   string                     // this agent never answers
	Big    map[string]json.RawMessage // by agent: what it adds to its answer as a member bulk
	Busy   map[string]int             // by agent: how often it says of a task that it is at work
	Asks   map[string]bool            // by agent: asks a person before it answers
	Fails  map[int]bool               // first items of chunks that fail for good

	// Stay runs after each call was answered, before the answer is given.
	Stay func(ctx context.Context, agent string)

	mu       sync.Mutex // guards what follows
	answers  map[string]json.RawMessage
	working  map[string]working // by task
	Requests []Asked
	Canceled []string // tasks that nobody waits for any more
}

// working is a task that was left at work.
type working struct {
	agent, id string
	request   a2a.Request
}

// Asked is a call that an agent worked on.
type Asked struct {
	Agent, ID string
	Request   a2a.Request
}

// Call implements runner.Caller.
func (a *Agents) Call(ctx context.Context, agent, id string, req a2a.Request) (a2a.Result, error) {
	if a.Before != nil {
		a.Before(agent)
	}
	if agent == a.Hang {
		<-ctx.Done()
		return a2a.Result{}, fault.Wrap(fault.Canceled, context.Cause(ctx), "the call was canceled")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.Down[agent] > 0 {
		a.Down[agent]--
		return a2a.Result{}, fault.New(fault.Unavailable, "agent %s is away", agent)
	}
	if a.Broken[agent] || a.Fails[firstItem(req)] {
		return a2a.Result{}, fault.New(fault.Invalid, "agent %s cannot do this", agent)
	}
	if a.Busy[agent] > 0 {
		a.Busy[agent]--
		if a.working == nil {
			a.working = map[string]working{}
		}
		a.working["task-"+id] = working{agent, id, req}
		return a2a.Result{State: a2a.Working, TaskID: "task-" + id}, nil
	}
	if a.Asks[agent] && len(req.Answer) == 0 {
		return a2a.Result{State: a2a.InputRequired, TaskID: "task-" + id, ContextID: "talk", Question: &a2a.Question{Prompt: "Which one?"}}, nil
	}
	result := a.result(agent, id, req)
	if a.Stay != nil {
		a.Stay(ctx, agent)
	}
	return result, nil
}

// result works once per call id.
func (a *Agents) result(agent, id string, req a2a.Request) a2a.Result {
	if a.answers == nil {
		a.answers = map[string]json.RawMessage{}
	}
	if _, done := a.answers[agent+id]; !done {
		a.Requests = append(a.Requests, Asked{agent, id, req})
		a.answers[agent+id] = a.answer(agent, req)
		if bulk := a.Big[agent]; bulk != nil {
			a.answers[agent+id] = fmt.Appendf(nil, `{"bulk":%s,%s`, bulk, a.answers[agent+id][1:])
		}
	}
	return a2a.Result{State: a2a.Completed, TaskID: id, Output: a.answers[agent+id]}
}

// Look implements runner.Caller.
func (a *Agents) Look(_ context.Context, agent, task string) (a2a.Result, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w, there := a.working[task]
	if !there {
		return a2a.Result{}, fault.New(fault.NotFound, "%s has no task %s", agent, task)
	}
	if a.Busy[agent] > 0 {
		a.Busy[agent]--
		return a2a.Result{State: a2a.Working, TaskID: task}, nil
	}
	return a.result(w.agent, w.id, w.request), nil
}

// Cancel implements runner.Caller.
func (a *Agents) Cancel(_ context.Context, _, task string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Canceled = append(a.Canceled, task)
	return nil
}

func (a *Agents) answer(agent string, req a2a.Request) json.RawMessage {
	if node, ok := strings.CutSuffix(agent, "_scorer"); ok {
		score := 90
		if scores := a.Scores[node]; req.Attempt < len(scores) {
			score = scores[req.Attempt]
		}
		return fmt.Appendf(nil, `{"score":%d,"feedback":"scored %d"}`, score, score)
	}
	if _, ok := strings.CutSuffix(agent, "_critic"); ok {
		return fmt.Appendf(nil, `{"issues":["attempt %d is weak"],"why_wrong":"because","how_to_fix":["try harder"],"score":%v}`, req.Attempt, *req.Score)
	}
	if first := firstItem(req); first >= 0 {
		return fmt.Appendf(nil, `{"first":%d}`, first)
	}
	return fmt.Appendf(nil, `{"agent":%q,"attempt":%d,"summary":"done","confidence":0.9}`, agent, req.Attempt)
}

// firstItem is where the chunk of a request begins; -1 when it is none.
func firstItem(req a2a.Request) int {
	var chunk struct {
		First *int `json:"first"`
	}
	if json.Unmarshal(req.Input, &chunk) != nil || chunk.First == nil {
		return -1
	}
	return *chunk.First
}

// Worked returns how often each agent worked.
func (a *Agents) Worked() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := map[string]int{}
	for _, asked := range a.Requests {
		n[asked.Agent]++
	}
	return n
}

// Bus keeps messages until they are delivered.
type Bus struct {
	mu       sync.Mutex // guards what follows
	pending  []runner.Message
	Lose     int // publishes that are lost, with an error
	Messages int // published so far
}

// Publish implements runner.Bus.
func (b *Bus) Publish(_ context.Context, messages ...runner.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Lose > 0 {
		b.Lose--
		return fault.New(fault.Unavailable, "the bus is away")
	}
	b.Messages += len(messages)
	b.pending = append(b.pending, messages...)
	return nil
}

// Waiting returns how many messages wait to be delivered.
func (b *Bus) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.pending)
}

// take removes one message, chosen by rng.
func (b *Bus) take(rng *rand.Rand) (runner.Message, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.pending) == 0 {
		return runner.Message{}, false
	}
	i := rng.IntN(len(b.pending))
	m := b.pending[i]
	b.pending = append(b.pending[:i], b.pending[i+1:]...)
	return m, true
}

// Deliver hands out messages until none is left: each copies times, in random
// order, to a random one of the runners. Errors are answered by redelivery.
func (b *Bus) Deliver(ctx context.Context, seed uint64, copies int, runners ...*runner.Runner) error {
	rng := rand.New(rand.NewPCG(seed, 1))
	seen := map[runner.Message]bool{}
	for range 10_000 {
		m, ok := b.take(rng)
		if !ok {
			return nil
		}
		if !seen[m] {
			seen[m] = true
			b.mu.Lock()
			for range copies - 1 {
				b.pending = append(b.pending, m)
			}
			b.mu.Unlock()
		}
		if err := runners[rng.IntN(len(runners))].Handle(ctx, m); err != nil && fault.KindOf(err).Transient() {
			b.mu.Lock()
			b.pending = append(b.pending, m)
			b.mu.Unlock()
		} else if err != nil {
			return err
		}
	}
	return fmt.Errorf("10,000 deliveries and no end")
}

// Clock is a clock that tests move.
type Clock struct {
	mu sync.Mutex // guards at
	at time.Time
}

// NewClock returns a clock that stands at a fixed time.
func NewClock() *Clock { return &Clock{at: epoch} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// NewRunner returns a runner on the given ports whose pauses move the clock
// instead of waiting.
func NewRunner(store runner.Store, bus runner.Bus, agents runner.Caller, clock *Clock) *runner.Runner {
	var owners atomic.Int64
	pace := runner.DefaultPace()
	find, _ := store.(runner.Finder)
	return &runner.Runner{
		Store: store, Find: find, Bus: bus, Caller: agents, Pace: pace, Log: slog.New(slog.DiscardHandler),
		Pipelines: []runner.Pipeline{{Flow: Flow()}},
		Now:       clock.Now,
		Sleep:     func(ctx context.Context, d time.Duration) error { clock.Advance(d); return ctx.Err() },
		Owner:     func() string { return "owner-" + strconv.FormatInt(owners.Add(1), 10) },
	}
}

// Start returns a request to start an estimate.
func Start(id string) runner.StartRequest {
	return runner.StartRequest{EstimateID: id, Owner: "anna", Input: "hash", Clarification: json.RawMessage(`{"scope":"a kitchen"}`)}
}

// Steps lists every step that the two nodes of Flow can have.
func Steps() []engine.StepID {
	var ids []engine.StepID
	for _, n := range Flow().Nodes {
		for attempt := range n.Gate.Retries + 1 {
			for _, role := range []engine.Role{engine.RolePrimary, engine.RoleScorer, engine.RoleCritic} {
				ids = append(ids, engine.Step(n.Name, attempt, role))
			}
		}
	}
	return ids
}
