package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// ports are the runner's ways out. Each of them yields to the scheduler first.
type ports struct{ w *World }

var (
	_ runner.Store  = (*ports)(nil)
	_ runner.Finder = (*ports)(nil)
	_ runner.Bus    = (*ports)(nil)
	_ runner.Caller = (*ports)(nil)
)

// do yields, and then does what was to be done, or what the fault makes of it.
func (p *ports) do(ctx context.Context, d deed, apply func() error, format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	a, f, err := p.w.park(ctx, d, 0, "%s", what)
	if err != nil {
		return err
	}
	switch f.Kind {
	case Fails:
		return fault.New(fault.Unavailable, "the other side is away")
	case "", Lost, Doubled, AgentFalls:
		err = p.apply(a, apply)
	default:
		if d == reading {
			return fault.New(fault.Timeout, "the answer was lost")
		}
		err = p.apply(a, apply)
	}
	outcome := "ok"
	if err != nil {
		outcome = string(fault.KindOf(err))
	}
	p.w.tracef("%-9s %s: %s", a.name, what, outcome)
	switch f.Kind {
	case Unheard:
		return fault.New(fault.Timeout, "the answer was lost")
	case DiesAfter:
		p.w.kill(a.instance)
		runtime.Goexit()
	default:
	}
	return err
}

func (p *ports) apply(a *actor, apply func() error) error {
	p.w.writer = a
	return apply()
}

// sleep waits in virtual time. Pauses of less than a second are the jitter that
// keeps contenders apart: the seed spreads them instead.
func (p *ports) sleep(ctx context.Context, d time.Duration) error {
	if d < time.Second {
		d = 25 * time.Millisecond
	}
	_, _, err := p.w.park(ctx, awaiting, d, "sleep")
	return err
}

func (p *ports) Run(ctx context.Context, id string) (r runner.Run, err error) {
	err = p.do(ctx, reading, func() (err error) {
		ctx.Value(actorKey{}).(*actor).read[id] = len(p.w.commits)
		r, err = p.w.store.Run(ctx, id)
		return err
	}, "read run %s", id)
	return r, err
}

func (p *ports) Steps(ctx context.Context, run string, ids ...engine.StepID) (s []runner.Step, err error) {
	if len(ids) == 0 {
		return nil, nil // nothing is read
	}
	err = p.do(ctx, reading, func() (err error) {
		s, err = p.w.store.Steps(ctx, run, ids...)
		return err
	}, "read steps %v", ids)
	return s, err
}

func (p *ports) PutStep(ctx context.Context, s runner.Step) (put runner.Step, err error) {
	what := "claim"
	switch {
	case s.Finished():
		what = "keep"
	case s.Beats > 0 && !s.Version.IsZero():
		what = "renew"
	case s.Fence > 1:
		what = "take over"
	}
	err = p.do(ctx, writing, func() (err error) {
		put, err = p.w.store.PutStep(ctx, s)
		if err == nil {
			p.w.seen[what]++
		}
		return err
	}, "%s %s", what, s.ID)
	return put, err
}

func (p *ports) Input(ctx context.Context, estimate string) (raw json.RawMessage, err error) {
	err = p.do(ctx, reading, func() (err error) {
		raw, err = p.w.store.Input(ctx, estimate)
		return err
	}, "read input")
	return raw, err
}

func (p *ports) Inputs(ctx context.Context, run string, ids ...string) (in []runner.Input, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	err = p.do(ctx, reading, func() (err error) {
		in, err = p.w.store.Inputs(ctx, run, ids...)
		return err
	}, "read inputs %v", ids)
	return in, err
}

func (p *ports) Shards(ctx context.Context, fan runner.FanID, indexes ...int) (s []runner.Shard, err error) {
	err = p.do(ctx, reading, func() (err error) {
		s, err = p.w.store.Shards(ctx, fan, indexes...)
		return err
	}, "read shards %s.%d %v", fan.Node, fan.Attempt, indexes)
	return s, err
}

func (p *ports) OpenShards(ctx context.Context, fan runner.FanID) (s []runner.Shard, err error) {
	err = p.do(ctx, reading, func() (err error) {
		s, err = p.w.store.OpenShards(ctx, fan)
		return err
	}, "read open shards %s.%d", fan.Node, fan.Attempt)
	return s, err
}

func (p *ports) CompleteShards(ctx context.Context, fan runner.FanID) (n int, err error) {
	err = p.do(ctx, reading, func() (err error) {
		n, err = p.w.store.CompleteShards(ctx, fan)
		return err
	}, "count shards %s.%d", fan.Node, fan.Attempt)
	return n, err
}

// CreateShards creates them one by one: it may be interrupted between any two.
func (p *ports) CreateShards(ctx context.Context, fan runner.FanID, shards []engine.Shard) error {
	for _, s := range shards {
		err := p.do(ctx, writing, func() error {
			return p.w.store.CreateShards(ctx, fan, []engine.Shard{s})
		}, "create shard %s.%d.%d", fan.Node, fan.Attempt, s.Index)
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *ports) Commit(ctx context.Context, c runner.Commit) error {
	return p.do(ctx, writing, func() error { return p.w.store.Commit(ctx, c) }, "commit%s", describe(&c))
}

// describe says what is in a commit.
func describe(c *runner.Commit) string {
	var b strings.Builder
	if c.Run != nil {
		fmt.Fprintf(&b, " run rev %d %s", c.Run.Rev, c.Run.Status)
	}
	for _, s := range c.Steps {
		fmt.Fprintf(&b, " %s %s", s.ID, s.Status)
	}
	for _, s := range c.Touch {
		fmt.Fprintf(&b, " touch %s", s.ID)
	}
	for _, s := range c.Shards {
		fmt.Fprintf(&b, " shard %d", s.Index)
	}
	for _, in := range c.Inputs {
		fmt.Fprintf(&b, " input %s", in.ID)
	}
	if c.View != nil {
		b.WriteString(" view")
	}
	for _, o := range c.Outputs {
		fmt.Fprintf(&b, " output %s", o.Node)
	}
	return b.String()
}

func (p *ports) Flow(ctx context.Context, hash string) (f *engine.Flow, err error) {
	err = p.do(ctx, reading, func() (err error) {
		f, err = p.w.store.Flow(ctx, hash)
		return err
	}, "read flow")
	return f, err
}

func (p *ports) PutFlow(ctx context.Context, f *engine.Flow) error {
	return p.do(ctx, writing, func() error { return p.w.store.PutFlow(ctx, f) }, "put flow")
}

func (p *ports) Started(ctx context.Context, owner, key string) (i runner.Idempotency, err error) {
	err = p.do(ctx, reading, func() (err error) {
		i, err = p.w.store.Started(ctx, owner, key)
		return err
	}, "read key")
	return i, err
}

func (p *ports) Due(ctx context.Context, now time.Time, after runner.Due, limit int) (due []runner.Due, err error) {
	err = p.do(ctx, reading, func() (err error) {
		due, err = p.w.store.Due(ctx, now, after, limit)
		return err
	}, "find due runs")
	return due, err
}

func (p *ports) Census(ctx context.Context, owner string, since time.Time) (atWork, created int, err error) {
	err = p.do(ctx, reading, func() (err error) {
		atWork, created, err = p.w.store.Census(ctx, owner, since)
		return err
	}, "count runs")
	return atWork, created, err
}

// Publish implements runner.Bus.
func (p *ports) Publish(ctx context.Context, messages ...runner.Message) error {
	if len(messages) == 0 {
		return nil
	}
	var steps []engine.StepID
	for _, m := range messages {
		steps = append(steps, m.Step)
	}
	a, f, err := p.w.park(ctx, publishing, 0, "publish %v", steps)
	if err != nil {
		return err
	}
	if f.Kind == Fails { // some of them may have got through
		messages = messages[:len(messages)/2]
	}
	copies := map[Kind]int{Lost: -1, Doubled: 1}[f.Kind] + 1
	for _, m := range messages {
		p.w.published++
		for c := range copies {
			p.w.enqueue(m, 0, p.w.travel(c))
		}
	}
	p.w.tracef("%-9s publish %v: %d on their way", a.name, steps, copies*len(messages))
	switch f.Kind {
	case Fails, Unheard:
		return fault.New(fault.Unavailable, "the queue is away")
	case DiesAfter:
		p.w.kill(a.instance)
		runtime.Goexit()
	default:
	}
	return nil
}

// travel is how long a message takes: the second copy may come much later.
func (w *World) travel(copies int) time.Duration {
	d := 5*time.Millisecond + time.Duration(w.rng.Int64N(int64(200*time.Millisecond)))
	if copies > 0 {
		d += time.Duration(w.rng.Int64N(int64(5 * time.Minute)))
	}
	return d.Truncate(time.Microsecond)
}

// listener hears what the runner thinks cannot happen.
type listener struct {
	w *World
}

func (*listener) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }

func (l *listener) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		b.WriteString(" " + a.String())
		return true
	})
	l.w.alarm("alarm: %s", b.String())
	return nil
}

func (l *listener) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *listener) WithGroup(string) slog.Handler      { return l }
