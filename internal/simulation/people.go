package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

const (
	estimate   = "est-1"
	owner      = "anna"
	actTime    = time.Minute
	askAgain   = 5 * time.Second // a client whose request failed tries again
	maxRetries = 2               // manual ones
)

// act lets a person do something on any instance, again and again until it is
// answered. wanted says which refusals are answers.
func (w *World) act(in time.Duration, what string, do func(context.Context, *runner.Runner) error, then func(error)) {
	w.acts++
	w.later(in, func() {
		i := w.pick()
		w.order++
		name := "p" + strconv.Itoa(w.order)
		w.tracef("%-9s %s, on instance %d.%d", name, what, i.n, i.life)
		again := func() {
			w.acts--
			w.act(askAgain, what, do, then)
		}
		a := &actor{name: name, instance: i, died: again, done: func(err error) {
			if k := fault.KindOf(err); k.Transient() || k == fault.Canceled {
				again()
				return
			}
			if err != nil {
				w.tracef("%-9s is told: %v", name, err)
			}
			w.acts--
			then(err)
		}}
		w.start(a, actTime, func(ctx context.Context) error { return do(ctx, i.runner) })
	})
}

// cast begins the run and decides what people will do.
func (w *World) cast() {
	start := runner.StartRequest{EstimateID: estimate, Owner: owner, Project: "p1", Key: "key", Input: "hash", Clarification: json.RawMessage(`{"scope":"a kitchen"}`)}
	w.act(0, "start", func(ctx context.Context, r *runner.Runner) error {
		_, err := r.Start(ctx, start)
		return err
	}, w.must("start"))
	if w.plot.Steady > 0 {
		return
	}
	w.act(time.Duration(w.rng.IntN(60))*time.Second, "start again", func(ctx context.Context, r *runner.Runner) error {
		_, err := r.Start(ctx, start)
		return err
	}, w.must("start again"))
	w.watchQuestions(map[string]bool{})
	at := func() time.Duration { return time.Duration(w.rng.Int64N(int64(4 * time.Minute))) }
	if w.plot.Deletes {
		w.later(time.Second+at(), w.remove)
	}
	if !w.plot.People {
		return
	}
	run := engine.RunID(estimate, 1)
	if w.rng.IntN(3) > 0 {
		w.act(at(), "hold", func(ctx context.Context, r *runner.Runner) error { return gone(r.Hold(ctx, run, owner, "wait")) }, w.resume(run))
	}
	if w.rng.IntN(2) == 0 {
		w.act(at(), "cancel", func(ctx context.Context, r *runner.Runner) error { return gone(r.Cancel(ctx, run, owner)) }, func(error) {})
	}
	w.watchEnd(0)
}

// remove takes the estimate away with all that was made for it, as its owner may.
func (w *World) remove() {
	if _, begun := w.latest(); !begun {
		w.later(askAgain, w.remove)
		return
	}
	w.deleted = true
	w.tracef("%-9s takes the estimate away", owner)
	w.store.Remove("runs/")
	w.store.Remove("estimates/")
	w.commits = append(w.commits, Commit{At: w.since(), By: owner, Removed: true})
}

// must makes an alarm of a refusal.
func (w *World) must(what string) func(error) {
	return func(err error) {
		if err != nil && !w.deleted {
			w.alarm("%s: %v", what, err)
		}
	}
}

// gone makes a transient error of one that only says that there is nothing yet.
func gone(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return fault.Wrap(fault.Unavailable, err, "there is no run yet")
	}
	return err
}

// resume ends a hold, some time.
func (w *World) resume(run string) func(error) {
	return func(error) {
		in := time.Duration(w.rng.Int64N(int64(10 * time.Minute)))
		w.act(in, "resume", func(ctx context.Context, r *runner.Runner) error { return r.Resume(ctx, run, owner) }, func(error) {})
	}
}

// latest returns the latest run.
func (w *World) latest() (s engine.State, there bool) {
	for n := 1; ; n++ {
		docs := w.store.Documents("runs/" + engine.RunID(estimate, n))
		if len(docs) == 0 {
			return s, there
		}
		s, there = docs[0].State()
	}
}

// watchEnd tries again what has ended badly, now and then from a certain node
// and with other input.
func (w *World) watchEnd(tried int) {
	w.later(time.Minute, func() {
		s, there := w.latest()
		switch {
		case !there || !s.Status.Ended():
			w.watchEnd(tried)
		case tried < maxRetries && s.Status != engine.Completed:
			w.tryAgain(&s, tried)
		}
	})
}

func (w *World) tryAgain(s *engine.State, tried int) {
	req := runner.RetryRequest{Run: s.RunID(), By: owner}
	if w.rng.IntN(2) == 0 {
		req.From = w.plot.Flow.Nodes[w.rng.IntN(len(w.plot.Flow.Nodes))].Name
	}
	if w.rng.IntN(3) == 0 {
		req.Edit = json.RawMessage(`{"edited":true}`)
	}
	w.act(0, fmt.Sprintf("retry from %q", req.From), func(ctx context.Context, r *runner.Runner) error {
		_, err := r.Retry(ctx, req)
		return err
	}, func(err error) {
		w.watchEnd(tried + 1)
	})
}

// watchQuestions answers what people are asked, sometimes twice and once in a
// while in two ways.
func (w *World) watchQuestions(seen map[string]bool) {
	w.later(30*time.Second, func() {
		w.watchQuestions(seen)
		s, there := w.latest()
		if !there || s.Status.Ended() {
			return
		}
		for _, n := range w.plot.Flow.Nodes {
			p := s.Nodes[n.Name]
			if p.Ask == nil || seen[s.RunID()+p.Ask.ID] {
				continue
			}
			seen[s.RunID()+p.Ask.ID] = true
			w.reply(s.RunID(), *p.Ask)
		}
	})
}

func (w *World) reply(run string, q engine.Asked) {
	req := runner.AnswerRequest{InputID: q.ID, By: owner, Answer: json.RawMessage(`{"answer":1}`)}
	if q.Kind == engine.AskExhausted {
		req.Decision = engine.Accept
	}
	if w.rng.IntN(6) == 0 {
		req.Decision = engine.GiveUp
	}
	send := func(in time.Duration, req runner.AnswerRequest) {
		w.act(in, "answer "+q.ID, func(ctx context.Context, r *runner.Runner) error { return r.Answer(ctx, run, req) }, func(error) {})
	}
	in := time.Duration(w.rng.Int64N(int64(20 * time.Minute)))
	send(in, req)
	if w.rng.IntN(2) == 0 {
		send(in+time.Duration(w.rng.Int64N(int64(time.Second))), req)
	}
	if w.rng.IntN(4) == 0 {
		other := req
		other.Answer = json.RawMessage(`{"answer":2}`)
		send(in+time.Duration(w.rng.Int64N(int64(time.Second))), other)
	}
}
