package simulation

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
)

// World is one simulation: everything in it follows from its plot, its seed and
// its chaos. It is run once.
type World struct {
	plot  *Plot
	seed  uint64
	chaos Chaos
	rng   *rand.Rand // drawn from by the scheduler alone
	epoch time.Time

	store     *runnertest.Memory
	agents    *agents
	instances []*instance

	events []event
	parked []*request
	live   []*actor
	order  int
	queued int // messages on their way, or in work

	mu      sync.Mutex // guards what goroutines of the runner write
	arrived []*request
	wake    chan struct{}
	trace   strings.Builder
	commits []Commit
	writer  *actor // who commits now
	owners  int
	alarms  []string

	seen map[string]int // what happened, and how often

	yields, faults, crashes, deliveries, published int
	lastFault                                      time.Duration
	sweeps                                         int
	acts                                           int // what people still mean to do
	deleted                                        bool
}

// Commit is one change of the store, as the checks see it.
type Commit struct {
	At      time.Duration
	By      string
	Seen    map[string]int // by run: how many commits there had been when the writer last read it
	Changes []runnertest.Revision
	Removed bool // not a commit: everything was taken away
}

// instance is one process of the runner.
type instance struct {
	n      int
	life   int
	skew   time.Duration // of its clock
	frozen time.Duration // it stands still until then
	runner *runner.Runner
}

const (
	sweepEvery   = time.Minute
	deliveryTime = 540 * time.Second
	mercy        = 4 * time.Hour // after the last fault, within which a run must end or wait
	maxSkew      = 500 * time.Millisecond
)

// New returns the world of a seed.
func New(plot *Plot, seed uint64, chaos Chaos) *World {
	w := &World{
		plot: plot, seed: seed, chaos: chaos, epoch: time.Now(), wake: make(chan struct{}, 1), seen: map[string]int{},
		rng: rand.New(rand.NewPCG(seed, 0x5eed)), //nolint:gosec // a test is to be repeatable
	}
	w.store = runnertest.NewMemory(time.Now)
	w.store.Watch = w.committed
	w.agents = newAgents(w)
	for n := range plot.Instances {
		i := &instance{n: n + 1}
		if n > 0 && plot.Steady == 0 {
			i.skew = time.Duration(w.rng.Int64N(int64(2*maxSkew))) - maxSkew
			if w.rng.IntN(4) == 0 {
				i.skew *= 10 // a clock that nobody sets
			}
		}
		w.boot(i)
		w.instances = append(w.instances, i)
	}
	return w
}

// boot gives an instance a runner that knows nothing.
func (w *World) boot(i *instance) {
	i.life++
	i.frozen = 0
	ports := &ports{w}
	pace := runner.DefaultPace()
	pace.QuickTries = 2
	i.runner = &runner.Runner{
		Store: ports, Find: ports, Bus: ports, Caller: ports, Pipelines: []runner.Pipeline{{Flow: w.plot.Flow}}, Pace: pace,
		Log:   slog.New(&listener{w: w}),
		Now:   func() time.Time { return time.Now().Add(i.skew).UTC() },
		Sleep: ports.sleep,
		Owner: w.owner,
	}
}

// owner returns a token that no delivery had before.
func (w *World) owner() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.owners++
	return "owner-" + strconv.Itoa(w.owners)
}

// committed is told of every change of the store.
func (w *World) committed(changes []runnertest.Revision) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.commits = append(w.commits, Commit{At: w.since(), By: w.writer.name, Seen: maps.Clone(w.writer.read), Changes: changes})
}

func (w *World) tracef(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(&w.trace, "%12.6f  ", w.since().Seconds())
	fmt.Fprintf(&w.trace, format, args...)
	w.trace.WriteByte('\n')
}

func (w *World) alarm(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.alarms = append(w.alarms, fmt.Sprintf(format, args...))
}

// pick returns an instance to work on something: any, or in a steady world one
// that does not stand still.
func (w *World) pick() *instance {
	n := w.rng.IntN(len(w.instances))
	for i := range w.instances {
		if at := w.instances[(n+i)%len(w.instances)]; w.plot.Steady == 0 || at.frozen <= w.since() {
			return at
		}
	}
	return w.instances[n]
}

// Report is what became of a world.
type Report struct {
	Seed       uint64
	Plot       string
	Violations []string
	Trace      string
	Commits    []Commit
	Outcome    string
	Virtual    time.Duration
	Ended      time.Duration // when a run last changed

	Yields, Faults, Crashes, Deliveries, Published int
	Calls                                          int            // executions that an agent was paid for
	Seen                                           map[string]int // what happened, and how often
	Bill                                           runnertest.Bill
	Hot                                            map[string]int
}

// Run lets the world live to its end and checks what was left.
func (w *World) Run() *Report {
	w.cast()
	if !w.plot.Unswept {
		w.tick()
	}
	rested := w.run()
	w.bury()
	r := &Report{
		Seed: w.seed, Plot: w.plot.Name, Trace: w.trace.String(), Commits: w.commits, Virtual: w.since(), Seen: w.seen,
		Yields: w.yields, Faults: w.faults, Crashes: w.crashes, Deliveries: w.deliveries, Published: w.published,
		Calls: w.agents.paid(), Bill: w.store.Bill(), Hot: w.store.Hot(),
	}
	r.tally()
	if w.plot.Ends {
		r.Outcome = w.Outcome()
	}
	if !rested {
		r.Violations = append(r.Violations, "I10: "+w.unrest())
	}
	r.Violations = append(r.Violations, w.alarms...)
	r.Violations = append(r.Violations, check(w)...)
	return r
}

// tally counts what the documents say has happened.
func (r *Report) tally() {
	for _, c := range r.Commits {
		for _, d := range c.Changes {
			if s, ok := d.State(); ok {
				r.Ended = c.At
				r.Seen["run "+string(s.Status)]++
				if s.N > 1 && s.Rev == 1 {
					r.Seen["manual retry"]++
				}
			}
			if s, ok := d.Step(); ok && s.Late {
				r.Seen["late result"]++
			}
			if in, ok := d.Input(); ok && in.Decision != "" {
				r.Seen["answer"]++
			}
		}
	}
}

// horizon is when everything must have come to rest.
func (w *World) horizon() time.Duration { return w.lastFault + mercy + w.plot.Patience }

// rests reports whether nothing is left to happen: nobody works, nothing is on
// its way, nobody has anything in mind, and every run has ended or waits for a
// person who will not come.
func (w *World) rests() bool {
	if len(w.live) > 0 || w.queued > 0 || w.acts > 0 {
		return false
	}
	runs := 0
	if w.deleted {
		runs++
	}
	for _, d := range w.store.Documents("runs/") {
		if s, ok := d.State(); ok {
			runs++
			if !s.Status.Ended() && (len(s.Open) > 0 || s.Status != "waiting_input") {
				return false
			}
		}
	}
	return runs > 0
}

// unrest says what did not come to rest.
func (w *World) unrest() string {
	for _, d := range w.store.Documents("runs/") {
		if s, ok := d.State(); ok && !s.Status.Ended() {
			return fmt.Sprintf("%s is %s at rev %d, %v after the last fault; open: %v", d.Path, s.Status, s.Rev, w.since()-w.lastFault, s.Open)
		}
	}
	return fmt.Sprintf("%d at work, %d messages, %d acts of people, %v after the last fault", len(w.live), w.queued, w.acts, w.since()-w.lastFault)
}

// bury ends every goroutine that is left.
func (w *World) bury() {
	w.events = nil
	for _, a := range w.live {
		a.done, a.died = func(error) {}, func() {}
	}
	for _, i := range w.instances {
		w.kill(i)
		w.crashes--
	}
	for len(w.live) > 0 {
		synctest.Wait()
		w.admit()
		w.reap()
	}
}

// tick sweeps, and sweeps again in a minute.
func (w *World) tick() {
	w.later(sweepEvery, func() {
		w.sweep(w.pick())
		if w.plot.Steady == 0 && w.rng.IntN(8) == 0 {
			w.sweep(w.pick()) // two at once are harmless
		}
		w.tick()
	})
}

func (w *World) sweep(i *instance) {
	w.sweeps++
	a := &actor{name: "sweep" + strconv.Itoa(w.sweeps), instance: i, done: func(error) {}, died: func() {}}
	w.start(a, sweepEvery, func(ctx context.Context) error { return i.runner.Sweep(ctx) })
}
