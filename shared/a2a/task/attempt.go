package task

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

const saveTime = 10 * time.Second // for writing the end of a turn down

// An attempt is one run of a turn in this process.
type attempt struct {
	desk   *Desk
	store  Store
	turn   Turn
	begun  time.Time
	cancel context.CancelCauseFunc // ends the agent's context
	dirty  chan struct{}           // holds one: there is something to write
	first  chan struct{}           // closed at the first event

	mu    sync.Mutex // guards what follows; never held during a write
	r     Record     // as the agent has left it so far; Version is that of the last write
	log   []Entry    // events in r.Task that are not written yet
	shown bool       // somebody was told of the task: a message cannot take its place
}

// outcome is what an attempt leaves: the record that counts now, and the events the
// store did not take.
type outcome struct {
	record  Record
	unsaved []Entry
}

func (d *Desk) newAttempt(store Store, r Record, msg *sdk.Message) *attempt {
	a := &attempt{
		desk: d, store: store, r: r, dirty: make(chan struct{}, 1), first: make(chan struct{}), begun: d.now(),
		turn: Turn{
			TaskID: r.ID, ContextID: r.Task.ContextID, Message: msg, Caller: Caller{ID: r.Owner},
			Received: r.last().At, Try: max(r.Tries, 1),
		},
	}
	if a.turn.Received.IsZero() { // stored before turns had a time
		a.turn.Received = a.begun
	}
	if len(r.Turns) > 1 {
		a.turn.Task = snapshot(r.Task)
	}
	return a
}

// show notes that somebody is told of the task, and reports whether there is
// one: the agent may have answered with a message before.
func (a *attempt) show() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.shown = true
	return a.r.Reply == nil
}

// run does the work of a turn that is ours and writes its end down, also when
// the caller has gone: it may have paid for the result, and asks again. A result
// that cannot be written down is answered all the same: the caller has it, and
// whoever asks again has it computed again.
func (a *attempt) run(ctx context.Context) outcome {
	ctx = context.WithoutCancel(ctx)
	err := a.work(ctx)
	a.end(ctx, err)

	ctx, stop := context.WithTimeoutCause(ctx, saveTime, errors.New("time to save a task is up"))
	defer stop()
	stored, err := a.save(ctx, false)
	if err == nil || errors.Is(err, errLost) {
		return outcome{record: stored}
	}
	a.desk.opt.Log.ErrorContext(ctx, "task not saved", slog.String("agent", a.r.Agent), slog.String("task", string(a.r.ID)), slog.Any("error", err))
	return outcome{record: a.r, unsaved: a.log}
}

// work runs the agent with its deadline, and keeps what it says meanwhile.
func (a *attempt) work(ctx context.Context) error {
	ctx, stop := context.WithTimeoutCause(ctx, a.desk.opt.Deadline, errLate)
	defer stop()
	ctx, a.cancel = context.WithCancelCause(ctx)
	defer a.desk.local.add(a)()
	var keeper sync.WaitGroup
	keeper.Go(func() { a.keep(ctx) })
	err := a.perform(ctx)
	a.cancel(nil)
	keeper.Wait()
	return err
}

// perform calls the agent, and turns a panic and a turn without an end into
// errors.
func (a *attempt) perform(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			a.desk.opt.Log.ErrorContext(ctx, "agent panicked", slog.String("agent", a.desk.agent.Name), slog.String("task", string(a.turn.TaskID)),
				slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
			err = fault.New(fault.Internal, "panic in agent %s", a.desk.agent.Name)
		}
	}()
	for ev, err := range a.desk.agent.Run(ctx, a.turn) {
		if err != nil {
			return err
		}
		if over, err := a.take(ev); err != nil || over {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nonsense("nothing that ends its turn")
}

// take makes an event of the agent part of the task, and reports whether it
// ends the turn.
func (a *attempt) take(ev sdk.Event) (over bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if m, ok := ev.(*sdk.Message); ok && m != nil && a.r.Seq == 0 && !a.shown {
		return true, a.reply(m)
	}
	if err := a.say(ev); err != nil {
		return false, err
	}
	select {
	case a.dirty <- struct{}{}:
	default:
	}
	return a.r.over(), nil
}

// reply makes a message the whole answer. It is called with mu held.
func (a *attempt) reply(m *sdk.Message) error {
	if len(m.Parts) == 0 {
		return nonsense("a message without parts")
	}
	said, err := spoken(m, a.r.Task, 1)
	if err != nil {
		return err
	}
	said.TaskID = ""
	now := a.desk.now()
	a.r.Task.Status = sdk.TaskStatus{State: sdk.TaskStateCompleted, Timestamp: &now}
	a.r.Reply, a.r.Hooks, a.r.Seq = said, nil, 1
	a.log = []Entry{{Seq: 1, Event: said}}
	close(a.first)
	return nil
}

// say makes an event part of the task; the last one of a turn tells how long it
// took. It is called with mu held.
func (a *attempt) say(ev sdk.Event) error {
	now := a.desk.now()
	if s, ok := ev.(*sdk.TaskStatusUpdateEvent); ok && s != nil && (s.Status.State.Terminal() || interrupted(s.Status.State)) {
		own := *s
		if own.Metadata = maps.Clone(s.Metadata); own.Metadata == nil {
			own.Metadata = make(map[string]any, 1)
		}
		own.Metadata[wire.MetaDuration] = now.Sub(a.begun).Milliseconds()
		ev = &own
	}
	log, err := a.r.say(ev, now)
	if err != nil {
		return err
	}
	if a.log = append(a.log, log...); len(a.log) == 1 {
		select {
		case <-a.first:
		default:
			close(a.first)
		}
	}
	return nil
}

// end fails the task if its agent did. The agent and the keeper are done.
func (a *attempt) end(ctx context.Context, err error) {
	if err == nil {
		return
	}
	a.desk.opt.Log.WarnContext(ctx, "agent failed", slog.String("agent", a.r.Agent), slog.String("task", string(a.r.ID)),
		slog.String("kind", string(fault.KindOf(err))), slog.Any("error", err))
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.r.over() { // it had ended its turn before it failed
		return
	}
	e, retry := failed(err)
	if err := a.say(e); err != nil { // a defect of ours: the sweep finds the task at work, and nobody at it
		a.desk.warn(ctx, "end of task not told", a.r, err)
	}
	a.r.Retry = retry
}

// errLost says that the turn was not ours to write.
var errLost = errors.New("task: lost")

// save writes what the agent said since the last write, with beat even if that
// is nothing, and returns what is stored then. When the turn is not ours any
// more it returns the record that counts instead of it with errLost, wrapped.
// Only one save of an attempt is under way at a time.
func (a *attempt) save(ctx context.Context, beat bool) (Record, error) {
	for range raceTries {
		mine, log := a.copy(beat)
		stored, err := a.desk.update(ctx, a.store, mine, log...)
		if err == nil {
			a.written(stored)
			return stored, nil
		}
		if fault.KindOf(err) != fault.Conflict {
			return mine, err
		}
		if stored, err = a.store.Get(ctx, mine.Agent, mine.ID); err != nil {
			return mine, err //nolint:wrapcheck // the caller says of what
		}
		if done, err := a.reconcile(stored, mine); done || err != nil {
			return stored, err
		}
	}
	return Record{}, errBusy
}

// copy returns what there is to write now.
func (a *attempt) copy(beat bool) (Record, []Entry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.r
	r.Task = snapshot(r.Task)
	if beat {
		r.Beats++
	}
	return r, slices.Clip(a.log)
}

// written notes what is in the store: the log up to stored.Seq.
func (a *attempt) written(stored Record) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.r.Version, a.r.Beats, a.r.Hooks = stored.Version, stored.Beats, stored.Hooks
	a.log = a.log[max(0, int64(len(a.log))-(a.r.Seq-stored.Seq)):]
}

// reconcile looks at what is stored where mine was to go. Done says that it is
// mine, written by a request whose answer was lost. Otherwise mine is lost, or
// another try may follow.
func (a *attempt) reconcile(stored, mine Record) (done bool, err error) {
	if stored.Fence == mine.Fence && len(stored.Turns) == len(mine.Turns) && stored.Seq <= mine.Seq &&
		(stored.AtWork() || stored.Seq == mine.Seq && stored.Task.Status.State == mine.Task.Status.State) {
		a.written(stored) // hooks came or went, or it was a write of ours
		return stored.Seq == mine.Seq && !stored.AtWork(), nil
	}
	if stored.yields(mine) {
		return false, a.outdo(stored)
	}
	why := stored.lost(mine)
	if why == nil {
		why = errTakenOver
	}
	return false, errors.Join(errLost, why)
}

// outdo makes the end that was reached here follow what another worker has
// written meanwhile.
func (a *attempt) outdo(stored Record) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	mine, now := a.r.Task, a.desk.now()
	events := make([]sdk.Event, 0, len(mine.Artifacts)+1)
	for _, made := range mine.Artifacts {
		events = append(events, &sdk.TaskArtifactUpdateEvent{Artifact: made, LastChunk: true})
	}
	events = append(events, &sdk.TaskStatusUpdateEvent{Status: mine.Status, Metadata: mine.Metadata})
	a.r, a.log = stored, nil
	a.r.Queued, a.r.Lapsed = false, false
	for _, ev := range events {
		log, err := a.r.say(ev, now)
		if err != nil {
			return err
		}
		a.log = append(a.log, log...)
	}
	return nil
}
