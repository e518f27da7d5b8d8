package simulation

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"truecost.dev/shared/fault"
)

// actor is one handling of something by one instance: a delivery, a sweep, a
// request of a person. Its goroutines share it.
type actor struct {
	name     string
	instance *instance
	cancel   context.CancelFunc
	dead     bool            // its instance died under it
	ended    bool            // it came to its end, dead or alive
	err      error           // what it came to
	done     func(err error) // called by the scheduler when it has ended alive
	died     func()          // and when it has not
	read     map[string]int  // by run: how many commits there had been when it last read it
}

type actorKey struct{}

// request is a goroutine parked at a port.
type request struct {
	actor  *actor
	what   string
	deed   deed
	at     time.Duration // when it goes on
	order  int           // of requests that go on at the same time
	after  time.Duration // for awaiting: how long
	fated  bool          // its fault has been decided
	resume chan Fault
	gone   bool // nobody waits any more
}

// dying is what a parked goroutine of a dead instance is told.
const dying Kind = "dying"

// since is the virtual time since the world began.
func (w *World) since() time.Duration { return time.Since(w.epoch) }

// park hands control to the scheduler. It returns the fault that happens to the
// deed, or the context's error; a goroutine of a dead instance ends here.
func (w *World) park(ctx context.Context, d deed, after time.Duration, format string, args ...any) (*actor, Fault, error) {
	a := ctx.Value(actorKey{}).(*actor)
	r := &request{actor: a, deed: d, what: fmt.Sprintf(format, args...), after: after, resume: make(chan Fault, 1)}
	w.mu.Lock()
	dead := a.dead
	w.arrived = append(w.arrived, r)
	w.mu.Unlock()
	if dead {
		runtime.Goexit()
	}
	w.stir()
	select {
	case f := <-r.resume:
		if f.Kind == dying {
			runtime.Goexit()
		}
		return a, f, nil
	case <-ctx.Done():
		w.mu.Lock()
		r.gone = true
		dead := a.dead
		w.mu.Unlock()
		if dead {
			runtime.Goexit()
		}
		err := context.Cause(ctx)
		return a, Fault{}, fault.Wrap(fault.KindOf(ctx.Err()), err, "the call was given up")
	}
}

// stir makes the scheduler look around.
func (w *World) stir() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// event is something that happens by itself at a time.
type event struct {
	at    time.Duration
	order int
	do    func()
}

// later makes something happen in a while. Only the scheduler calls it.
func (w *World) later(in time.Duration, do func()) {
	w.order++
	w.events = append(w.events, event{w.since() + in, w.order, do})
}

// start lets an actor work on an instance.
func (w *World) start(a *actor, limit time.Duration, work func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), actorKey{}, a), limit)
	a.cancel, a.read = cancel, map[string]int{}
	w.live = append(w.live, a)
	go func() {
		defer w.stir()
		defer func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			a.ended = true
		}()
		defer cancel()
		err := w.guarded(a, func() error { return work(ctx) })
		w.mu.Lock()
		defer w.mu.Unlock()
		a.err = err
	}()
}

// guarded does what a host does about a panic: it is an error, and an alarm.
func (w *World) guarded(a *actor, work func() error) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		err = fault.New(fault.Internal, "panic: %v", p)
		if !a.dead { // what a dead one does no longer matters
			w.alarm("panic in %s: %v\n%s", a.name, p, debug.Stack())
		}
	}()
	return work()
}

// run lets things happen, one at a time, until the world is at rest or time is
// up. It reports whether it is at rest.
func (w *World) run() bool {
	for {
		synctest.Wait()
		w.admit()
		w.reap()
		if w.rests() {
			return true
		}
		at, do := w.next()
		switch {
		case do == nil || at > w.horizon():
			return false
		case at > w.since():
			timer := time.NewTimer(at - w.since())
			select {
			case <-timer.C:
			case <-w.wake:
			}
			timer.Stop()
		default:
			do()
		}
	}
}

// admit takes in the goroutines that have parked. They may have woken at the
// same instant: their names make an order.
func (w *World) admit() {
	w.mu.Lock()
	arrived := w.arrived
	w.arrived = nil
	w.mu.Unlock()
	slices.SortStableFunc(arrived, func(a, b *request) int {
		return cmp.Or(strings.Compare(a.actor.name, b.actor.name), strings.Compare(a.what, b.what))
	})
	for _, r := range arrived {
		if r.actor.dead {
			r.resume <- Fault{Kind: dying}
			continue
		}
		w.order++
		r.order = w.order
		r.at = max(w.since()+w.latency(r), r.actor.instance.frozen)
		w.parked = append(w.parked, r)
	}
}

// latency is how long a call is on its way.
func (w *World) latency(r *request) time.Duration {
	if r.deed == awaiting {
		return r.after
	}
	travel := time.Millisecond + time.Duration(w.rng.Int64N(int64(20*time.Millisecond)))
	if w.rng.IntN(40) == 0 {
		travel *= 50 // some calls take their time, so that others overtake them
	}
	return travel.Truncate(time.Microsecond)
}

// reap hears what actors that have ended came to.
func (w *World) reap() {
	w.mu.Lock()
	var ended []*actor
	w.live = slices.DeleteFunc(w.live, func(a *actor) bool {
		if a.ended {
			ended = append(ended, a)
		}
		return a.ended
	})
	w.mu.Unlock()
	for _, a := range ended {
		if a.dead {
			a.died()
		} else {
			a.done(a.err)
		}
	}
}

// next returns what happens next, and when; nil when nothing does.
func (w *World) next() (at time.Duration, do func()) {
	w.mu.Lock()
	w.parked = slices.DeleteFunc(w.parked, func(r *request) bool { return r.gone })
	w.mu.Unlock()
	order := 0
	sooner := func(t time.Duration, o int) bool { return do == nil || t < at || t == at && o < order }
	for _, r := range w.parked {
		if sooner(r.at, r.order) {
			at, order, do = r.at, r.order, func() { w.proceed(r) }
		}
	}
	for i, e := range w.events {
		if sooner(e.at, e.order) {
			at, order, do = e.at, e.order, func() {
				w.events = slices.Delete(w.events, i, i+1)
				e.do()
			}
		}
	}
	return at, do
}

// proceed decides what happens to a parked goroutine and lets it go on.
func (w *World) proceed(r *request) {
	var f Fault
	if !r.fated {
		r.fated = true
		w.yields++
		f = w.chaos.At(Point{w.yields, w.since(), r.what, r.deed})
	}
	if f.Kind != "" {
		w.faults++
		w.seen["fault: "+string(f.Kind)]++
		w.lastFault = w.since()
		w.tracef("%-9s %s: %s", r.actor.name, r.what, f)
	}
	switch f.Kind {
	case Late:
		r.at += f.For
		return
	case Freezes:
		w.freeze(r.actor.instance, f.For)
		return
	case Dies:
		w.kill(r.actor.instance)
		return
	default: // the port sees to it
	}
	w.parked = slices.DeleteFunc(w.parked, func(p *request) bool { return p == r })
	r.resume <- f
}

// freeze stops an instance for a while. Its timers run on, as those of a stopped
// process do: what they bring is seen when it goes on.
func (w *World) freeze(i *instance, d time.Duration) {
	i.frozen = max(i.frozen, w.since()+d)
	for _, r := range w.parked {
		if r.actor.instance == i {
			r.at = max(r.at, i.frozen)
		}
	}
}

// kill ends an instance where it stands and starts another one in its place:
// what it had in memory is gone, and none of its goroutines goes on.
func (w *World) kill(i *instance) {
	w.crashes++
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.live {
		if a.instance == i {
			a.dead = true
			a.cancel()
		}
	}
	w.parked = slices.DeleteFunc(w.parked, func(r *request) bool {
		if r.actor.instance == i && !r.gone {
			r.resume <- Fault{Kind: dying}
		}
		return r.actor.instance == i
	})
	w.boot(i)
}
