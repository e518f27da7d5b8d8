package simulation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// agents play every agent of a flow. Like ours they work once per call id and
// give every repetition the stored answer; what they do follows from the seed
// and the call id alone, whoever calls and whenever.
type agents struct {
	w      *World
	tasks  map[string]*task // by agent and call id
	ledger []Entry          // append-only
}

// Entry of the ledger: an execution that was paid.
type Entry struct {
	Agent, Call string
	At          time.Duration
	Fell        bool // the agent died before it had stored the result
}

// task is what an agent knows of a call id.
type task struct {
	id string
	character
	asked    int // how often it was asked
	begun    bool
	falls    bool // it dies when it is done
	canceled bool
	done     time.Duration // when the result is stored
	request  a2a.Request
}

func newAgents(w *World) *agents { return &agents{w: w, tasks: map[string]*task{}} }

// paid is how many executions were paid for.
func (a *agents) paid() int { return len(a.ledger) }

// character is how an agent takes a call.
type character struct {
	takes   time.Duration
	away    int           // times it cannot be reached at first
	pause   time.Duration // that it asks for when it is away; 0: none
	working bool          // it answers at once that it is at work
	breaks  bool          // it fails for good
	score   int
	high    bool
	sloppy  bool // its output breaks the schema
}

// characterOf draws the character of a call.
func (w *World) characterOf(agent, call string, attempt int) character {
	if w.plot.Steady > 0 {
		return character{takes: w.plot.Steady, score: 100}
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(agent + "/" + call))      // a hash never fails
	rng := rand.New(rand.NewPCG(w.seed, h.Sum64())) //nolint:gosec // a test is to be repeatable
	u := rng.Float64()
	c := character{takes: time.Second + time.Duration(u*u*float64(40*time.Second))}
	if rng.IntN(12) == 0 {
		c.takes += time.Duration(rng.Int64N(int64(3 * time.Minute)))
	}
	if rng.IntN(7) == 0 {
		c.away = 1 + rng.IntN(3)
		if rng.IntN(3) == 0 {
			c.pause = time.Duration(rng.Int64N(int64(45 * time.Second)))
		}
	}
	c.working = rng.IntN(10) == 0
	c.breaks = rng.Float64() < w.plot.Breaks
	c.score = 50 + 10*attempt + rng.IntN(60)
	c.score = min(c.score, 100)
	c.high = rng.IntN(2) == 0
	c.sloppy = agent == w.plot.Sloppy && rng.IntN(3) == 0
	return c
}

// task returns what the agent knows of a call.
func (a *agents) task(agent, call string, req a2a.Request) *task {
	t := a.tasks[agent+"/"+call]
	if t == nil {
		id, _ := a2a.TaskID(agent, call)
		t = &task{id: string(id), character: a.w.characterOf(agent, call, req.Attempt), request: req}
		if req.TaskID != "" {
			t.id = req.TaskID
		}
		a.tasks[agent+"/"+call] = t
	}
	return t
}

// Call implements runner.Caller.
func (p *ports) Call(ctx context.Context, agent, call string, req a2a.Request) (a2a.Result, error) {
	w := p.w
	by, f, err := w.park(ctx, calling, 0, "call %s %s", agent, call)
	switch {
	case err != nil:
		return a2a.Result{}, fault.Wrap(fault.KindOf(err), unanswered, "the call was given up")
	case f.Kind == Fails:
		return a2a.Result{}, fault.New(fault.Unavailable, "%s cannot be reached", agent)
	}
	t := w.agents.task(agent, call, req)
	t.asked++
	say := func(what string) { w.tracef("%-9s %s is asked: %s", by.name, agent, what) }
	switch {
	case t.asked <= t.away:
		say("away")
		return a2a.Result{}, away(agent, t.pause)
	case t.canceled:
		say("canceled")
		return a2a.Result{}, fault.New(fault.Conflict, "the task was canceled")
	case t.breaks:
		say("cannot")
		return a2a.Result{}, fault.New(fault.Invalid, "%s cannot do this", agent)
	}
	if !t.begun || w.plot.Forgetful {
		t.begun, t.falls, t.done = true, f.Kind == AgentFalls, w.since()+t.takes
		w.agents.ledger = append(w.agents.ledger, Entry{Agent: agent, Call: call, At: w.since(), Fell: t.falls})
		say("begins")
	} else {
		say("knows")
	}
	result, err := p.await(ctx, t)
	if err == nil && f.Kind == Unheard {
		return a2a.Result{}, fault.Wrap(fault.Timeout, unanswered, "the answer was lost")
	}
	return result, err
}

// await waits for a task that has begun.
func (p *ports) await(ctx context.Context, t *task) (a2a.Result, error) {
	left := t.done - p.w.since()
	if t.working && left > 0 {
		return a2a.Result{State: a2a.Working, TaskID: t.id, After: t.takes / 3}, nil
	}
	if left > 0 {
		if _, _, err := p.w.park(ctx, awaiting, left, "wait for the agent"); err != nil {
			return a2a.Result{}, fault.Wrap(fault.KindOf(err), unanswered, "the call was given up")
		}
	}
	if t.falls {
		t.begun = false
		return a2a.Result{}, fault.Wrap(fault.Unavailable, unanswered, "the agent fell over")
	}
	return p.w.answer(t), nil
}

// Look implements runner.Caller.
func (p *ports) Look(ctx context.Context, agent, id string) (result a2a.Result, err error) {
	err = p.do(ctx, telling, func() error {
		t := p.w.agents.find(agent, id)
		switch {
		case t != nil && t.falls && p.w.since() >= t.done:
			t.begun = false
			return fault.New(fault.NotFound, "there is no task %s", id)
		case t == nil || !t.begun:
			return fault.New(fault.NotFound, "there is no task %s", id)
		case t.canceled:
			return fault.New(fault.Conflict, "the task was canceled")
		case t.done > p.w.since():
			result = a2a.Result{State: a2a.Working, TaskID: t.id, After: t.takes / 3}
		default:
			result = p.w.answer(t)
		}
		return nil
	}, "look at the task of %s", agent)
	return result, err
}

// Cancel implements runner.Caller.
func (p *ports) Cancel(ctx context.Context, agent, id string) error {
	return p.do(ctx, telling, func() error {
		if t := p.w.agents.find(agent, id); t != nil && t.done > p.w.since() {
			t.canceled = true
		}
		return nil
	}, "cancel the task of %s", agent)
}

func (a *agents) find(agent, id string) *task {
	for key, t := range a.tasks {
		if t.id == id && len(key) > len(agent) && key[:len(agent)+1] == agent+"/" {
			return t
		}
	}
	return nil
}

// answer is the result of a task. It depends on everything that was asked, so
// that a request that is not the same every time shows.
func (w *World) answer(t *task) a2a.Result {
	req := t.request
	r := a2a.Result{State: a2a.Completed, TaskID: t.id, ContextID: req.EstimateID}
	r.Metadata.TokensUsed = int64(t.score)
	raw, err := json.Marshal(req)
	if err != nil {
		panic(err) // a request is plain data
	}
	sum := sha256.Sum256(raw)
	of := hex.EncodeToString(sum[:6])
	switch {
	case req.Output != nil && req.Score == nil: // a scorer
		r.Output = fmt.Appendf(nil, `{"score":%d,"feedback":"%s"}`, t.score, of)
	case req.Output != nil: // a critic
		r.Output = fmt.Appendf(nil, `{"issues":["weak"],"why_wrong":"%s","how_to_fix":["try"],"score":%d}`, of, int(*req.Score))
	default:
		w.primary(t, of, &r)
	}
	return r
}

func (w *World) primary(t *task, of string, r *a2a.Result) {
	var in struct {
		Items json.RawMessage `json:"items"`
		First *int            `json:"first"`
		Asks  bool            `json:"asks"`
	}
	_ = json.Unmarshal(t.request.Input, &in) // what is not there is not asked for
	switch {
	case in.First != nil: // a chunk
		r.Output = fmt.Appendf(nil, `{"first":%d,"items":%s,"of":"%s"}`, *in.First, in.Items, of)
	case w.plot.Asks && t.high && t.request.Answer == nil && t.request.Feedback == nil:
		r.State, r.Question = a2a.InputRequired, &a2a.Question{Prompt: "Which one?"}
	case t.sloppy:
		r.Output = fmt.Appendf(nil, `{"of":"%s"}`, of)
	default:
		level, items := "low", make([]int, w.plot.Items)
		if t.high {
			level = "high"
		}
		for i := range items {
			items[i] = i
		}
		list, _ := json.Marshal(items) // integers always encode
		r.Output = fmt.Appendf(nil, `{"attempt":%d,"level":"%s","items":%s,"of":"%s"}`, t.request.Attempt, level, list, of)
	}
}

var _ runner.Caller = (*ports)(nil)
