package runner

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

// Handle takes one message. It returns nil for everything that need not come
// again: done, stale, duplicate, meant for a run that is gone. An error asks
// for redelivery and is returned only while nothing was paid.
func (r *Runner) Handle(ctx context.Context, m Message) error {
	if r.Pace.Delivery > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.Pace.Delivery)
		defer cancel()
	}
	run, p, err := r.load(ctx, m.Run)
	if fault.KindOf(err) == fault.NotFound {
		return nil // deleted meanwhile
	}
	if err != nil {
		return err
	}
	if run.Status.Ended() || run.Hold != nil {
		return nil // what is put aside during a hold is sent again by its end
	}
	switch m.Kind() {
	case KindChunk:
		return r.chunk(ctx, p, run, m.Step)
	case KindShard:
		return r.shardDone(ctx, p, run, m.Step)
	case KindWake:
		return r.wake(ctx, p, run)
	}
	open, due := run.Open[m.Step]
	switch {
	case !due:
		return r.stale(ctx, p, run, m.Step)
	case m.Kind() == KindExpand:
		return r.expand(ctx, p, run, m.Step)
	case m.Kind() == KindJoin:
		return r.join(ctx, p, run, m.Step)
	}
	return r.step(ctx, p, run, m.Step, open)
}

// stale answers a message whose step is not open (any more): somebody may have
// died between the commit that closed it and the messages that follow.
func (r *Runner) stale(ctx context.Context, p *Pipeline, run Run, id engine.StepID) error {
	ref, _ := id.Ref()
	if ref.Role == engine.RoleExpand && run.Nodes[ref.Node].Phase == engine.Fanning {
		if err := r.resendChunks(ctx, p, run, ref.Node, r.Pace.Grace); err != nil {
			return err
		}
	}
	return r.catchUp(ctx, p.Flow, &run.State)
}

// wake sends again whatever is due and not at work.
func (r *Runner) wake(ctx context.Context, p *Pipeline, run Run) error {
	return r.resend(ctx, p, run, r.Pace.Grace, r.Pace.Grace)
}

// step calls the agent of an open step and records what came of it.
func (r *Runner) step(ctx context.Context, p *Pipeline, run Run, id engine.StepID, open engine.OpenStep) error {
	return r.work(ctx, p, run, id, open.NotBefore, func(ctx context.Context, a answer) error {
		r.freshen(ctx, &run)
		return r.record(ctx, p, run, a)
	})
}

// work claims a step that is due, calls its agent and hands on what came of it. A
// step that has its result already is handed on as it stands.
func (r *Runner) work(
	ctx context.Context, p *Pipeline, run Run, id engine.StepID, notBefore *time.Time, record func(context.Context, answer) error,
) error {
	if soon, err := r.await(ctx, id, notBefore); err != nil || !soon {
		return err
	}
	held, mine, err := r.claim(ctx, p, &run, id)
	if err != nil || !mine {
		return err
	}
	a := answer{Step: held.Step}
	if !held.Finished() {
		if a, mine = r.execute(ctx, p, &run, held); !mine {
			return nil
		}
	}
	ctx, cancel := recordWithin(ctx)
	defer cancel()
	return record(ctx, a)
}

// freshen reads a run again in which other branches are at work: while this call
// was out they moved it, as good as certainly, and a commit would be refused. A
// read that fails leaves it to that commit.
func (r *Runner) freshen(ctx context.Context, run *Run) {
	if len(run.Open) < 2 {
		return
	}
	if fresh, err := r.Store.Run(ctx, run.RunID()); err == nil && life(&fresh.State) == life(&run.State) {
		*run = fresh
	}
}

// await waits for a step that is due soon. soon is false when it is not: the
// sweeper comes back for it.
func (r *Runner) await(ctx context.Context, id engine.StepID, notBefore *time.Time) (soon bool, err error) {
	if notBefore == nil {
		return true, nil
	}
	wait := notBefore.Sub(r.Now())
	if wait > r.Pace.WaitAtMost {
		return false, nil
	}
	if wait <= 0 {
		return true, nil
	}
	if err := r.Sleep(ctx, wait); err != nil {
		return false, fmt.Errorf("wait for %s: %w", id, err)
	}
	return true, nil
}

// claimed is a step that this delivery holds.
type claimed struct {
	Step
	lost bool // some owner before fell silent, perhaps in the middle of a call
}

// claim takes the step. mine is false when somebody else holds it; a step that
// already has its result is returned as it stands.
func (r *Runner) claim(ctx context.Context, p *Pipeline, run *Run, id engine.StepID) (held claimed, mine bool, err error) {
	fresh := r.fresh(p, run, id)
	fresh.Status, fresh.Lease, fresh.Try, fresh.Fence = Claimed, r.Pace.Lease, 1, 1
	held.Step, err = r.Store.PutStep(ctx, fresh)
	if fault.KindOf(err) != fault.Conflict {
		return held, err == nil, err
	}
	stored, err := r.Store.Steps(ctx, fresh.Run, id)
	if err != nil || len(stored) == 0 {
		return claimed{}, false, err
	}
	step := stored[0]
	switch {
	case step.Late:
		return claimed{}, false, nil // its run went on without it, and this worker has not heard of that
	case step.Finished():
		return claimed{Step: step}, true, nil
	case !step.Expired():
		return claimed{}, false, nil // a live claim; the sweeper is the guarantee from here
	}
	if step.Lease > 0 { // otherwise its owner gave it back
		step.Takeovers++
	}
	held.lost = step.Takeovers > 0 && step.Task == "" // a task that is known is only looked at
	step.Fence++
	step.Try++
	step.Owner, step.StartedAt, step.Lease = fresh.Owner, fresh.StartedAt, fresh.Lease
	held.Step, err = r.Store.PutStep(ctx, step)
	if fault.KindOf(err) == fault.Conflict {
		return claimed{}, false, nil // lost the race for an expired claim
	}
	return held, err == nil, err
}

// fresh is the record of a step that nobody has touched.
func (r *Runner) fresh(p *Pipeline, run *Run, id engine.StepID) Step {
	s := Step{Run: run.RunID(), ID: id, Schema: run.Schema, Agent: p.Flow.AgentOf(id), Owner: r.Owner(), StartedAt: r.Now()}
	if s.Agent != "" {
		s.Call = CallID(s.Run, id)
	}
	return s
}

func (r *Runner) warn(ctx context.Context, what string, step *Step, err error) {
	r.Log.LogAttrs(ctx, slog.LevelWarn, "step goes on without", slog.String("what", what),
		slog.String("run", step.Run), slog.String("step", string(step.ID)), slog.Any("error", err))
}

func (r *Runner) logStep(ctx context.Context, rev int, a *answer) {
	attrs := []slog.Attr{
		slog.String("run", a.Run), slog.String("step", string(a.ID)), slog.String("agent", a.Agent),
		slog.Int("rev", rev), slog.Int64("ms", a.Duration.Milliseconds()), slog.String("status", string(a.Status)),
	}
	if a.Failure != nil {
		attrs = append(attrs, slog.String("code", a.Failure.Code))
	}
	r.Log.LogAttrs(ctx, slog.LevelInfo, "step", attrs...)
}

func keys(open map[engine.StepID]engine.OpenStep) []engine.StepID {
	return slices.Sorted(maps.Keys(open))
}

// jitter returns a pause of up to d, drawn by a hash: contenders must not meet
// again, and a test sees the same pauses every time.
func jitter(d time.Duration, who string, try int) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(who + "/" + strconv.Itoa(try))) // a hash never fails
	return time.Duration(float64(d) * float64(h.Sum32()) / (1 << 32))
}
