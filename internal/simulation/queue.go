package simulation

import (
	"context"
	"strconv"
	"time"

	"truecost.dev/shared/runner"
)

// How the queue delivers.
const (
	redeliverFirst = 10 * time.Second
	redeliverMost  = 10 * time.Minute
	maxDeliveries  = 3 // then the message is dead, and its run is woken
)

// enqueue lets a message be delivered in a while. It is called from the
// goroutine that publishes, so the scheduler does the rest when it looks around.
func (w *World) enqueue(m runner.Message, tries int, in time.Duration) {
	w.queued++
	w.later(in, func() { w.deliver(m, tries+1) })
}

// deliver hands a message to an instance. What is not acknowledged comes again.
func (w *World) deliver(m runner.Message, try int) {
	w.deliveries++
	i := w.pick()
	name := "d" + strconv.Itoa(w.deliveries)
	w.tracef("%-9s delivery to instance %d.%d: %s %s, rev %d, try %d", name, i.n, i.life, m.Kind(), m.Step, m.Rev, try)
	again := func(why string) {
		w.queued--
		w.tracef("%-9s %s", name, why)
		if try < maxDeliveries {
			w.enqueue(m, try, min(redeliverFirst<<(try-1), redeliverMost))
			return
		}
		w.seen["dead letter"]++
		if m.Step != "" {
			w.enqueue(runner.Message{V: m.V, Run: m.Run, Flow: m.Flow}, 0, time.Second)
		}
	}
	a := &actor{
		name: name, instance: i,
		done: func(err error) {
			if err != nil {
				again("not acknowledged: " + err.Error())
				return
			}
			w.queued--
		},
		died: func() { again("died") },
	}
	w.start(a, deliveryTime, func(ctx context.Context) error { return i.runner.Handle(ctx, m) })
}
