package task_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
	"truecost.dev/shared/fault"
)

// step is something that happens in a house.
type step struct {
	After    time.Duration
	Instance int
	Do       string
}

// plan is what happens to one message.
type plan struct {
	Script string
	Keep   bool
	Steps  []step
}

func plans() *rapid.Generator[plan] {
	steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{
			After:    time.Duration(rapid.IntRange(0, 900).Draw(t, "after")) * time.Millisecond,
			Instance: rapid.IntRange(0, 2).Draw(t, "instance"),
			Do:       rapid.SampledFrom([]string{"send", "submit", "stream", "call", "follow", "deliver", "again", "sweep", "cancel", "kill", "lose", "hook"}).Draw(t, "do"),
		}
	}), 1, 14)
	return rapid.Custom(func(t *rapid.T) plan {
		return plan{
			Script: rapid.SampledFrom([]string{
				"COMPLETED", "make=x COMPLETED=done", "progress=10 make=x sleep=300ms more=y progress=50 sleep=900ms more=z COMPLETED",
				"WORKING hang=1 make=x COMPLETED", "make=x hang=2 COMPLETED", "sleep=700ms REJECTED", "make=x sleep=700ms panic",
				"WORKING sleep=200ms fail=unavailable",
			}).Draw(t, "script"),
			Keep:  rapid.Bool().Draw(t, "keep"),
			Steps: steps.Draw(t, "steps"),
		}
	})
}

// Whatever messages, deliveries, cancellations, deaths and sweeps come in
// whichever order, a task ends once, and every reader of its log has read the
// same: as much of it as there was when the reader left.
func TestAnyInterleaving(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		p := plans().Draw(rt, "plan")
		var wrong []string
		synctest.Test(t, func(t *testing.T) { wrong = (&theatre{plan: p}).play(t.Context()) })
		for _, w := range wrong {
			rt.Error(w)
		}
	})
}

// theatre plays a plan, and notes what is wrong.
type theatre struct {
	plan

	house *tasktest.House
	doing sync.WaitGroup

	mu      sync.Mutex // guards what follows
	wrong   []string
	readers []string // what each saw from the first event on
}

func (s *theatre) fault(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
}

func (s *theatre) play(ctx context.Context) []string {
	m := tasktest.NewMemory(time.Now) //nolint:forbidigo // the clock of a bubble
	s.house = tasktest.NewHouse(m, m, m, m)
	for _, step := range s.Steps {
		<-time.After(step.After)
		s.doing.Go(func() { s.do(ctx, step) })
	}
	<-time.After(tasktest.Lease)
	id := tasktest.FirstTask()
	r, err := s.house.Settle(ctx, 3, id)
	s.doing.Wait()
	s.house.Close()
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return s.wrong // no message came
	case err != nil:
		s.fault("the task does not settle: %v", err)
		return s.wrong
	}
	if err := s.house.Check(ctx, 3, id, s.ends(ctx, r)); err != nil {
		s.fault("%v", err)
	}
	whole := tasktest.Lines(s.house.Instances[3].Follow(ctx, task.Caller{}, id, new(int64(0))))
	for _, seen := range s.readers {
		if !strings.HasPrefix(whole+"; ", seen) {
			s.fault("a reader saw %s, want the beginning of %s", seen, whole)
		}
	}
	return s.wrong
}

// ends is how many ends the log may have: one, and one more for each time that a
// caller who polls sent a message again that had failed in a way that may pass.
func (s *theatre) ends(ctx context.Context, r task.Record) int {
	log, err := s.house.Instances[3].Store.Log(ctx, r.Agent, r.ID, 0)
	if err != nil {
		s.fault("Log() = %v", err)
	}
	ends, failed := 1, false
	for _, e := range log {
		ev, ok := e.Event.(*sdk.TaskStatusUpdateEvent)
		switch {
		case ok && failed && ev.Status.State == sdk.TaskStateWorking:
			ends++
			failed = false
		case failed:
			s.fault("event %d comes after the end: %s", e.Seq, tasktest.Line(e))
		case ok && ev.Status.State.Terminal():
			failed = true
		}
	}
	if calls := strings.Count(fmt.Sprint(s.Steps), "call"); ends-1 > calls {
		s.fault("the task was begun again %d times, and sent again %d times", ends-1, calls)
	}
	return ends
}

func (s *theatre) do(ctx context.Context, step step) {
	in := s.house.Instances[step.Instance]
	msg := message(tasktest.First, s.Script)
	msg.Keep = s.Keep
	var err error
	switch step.Do {
	case "send":
		_, err = in.Send(ctx, msg)
	case "submit":
		_, err = in.Submit(ctx, msg)
	case "call":
		_, err = in.Call(ctx, msg)
	case "stream":
		for _, err = range in.Stream(ctx, msg) {
		}
	case "follow":
		err = s.follow(ctx, in)
	case "deliver":
		s.house.Deliver(ctx, step.Instance)
	case "again":
		err = in.Work(ctx, task.Ref{Agent: tasktest.Name, ID: tasktest.FirstTask()})
	case "sweep":
		err = in.Sweep(ctx)
	case "cancel":
		_, err = in.Cancel(ctx, task.Caller{}, tasktest.FirstTask())
	case "kill":
		in.Store.Cut()
	case "lose":
		in.Store.Lose()
	case "hook":
		_, err = in.PutHook(ctx, task.Caller{}, task.Hook{Config: sdk.PushConfig{TaskID: tasktest.FirstTask(), URL: "https://example.com/"}})
	}
	if kind := fault.KindOf(err); kind != "" && kind != fault.Unavailable && kind != fault.NotFound {
		s.fault("%+v = %v of kind %s", step, err, kind)
	}
}

// follow reads the log from its beginning.
func (s *theatre) follow(ctx context.Context, in *tasktest.Instance) error {
	var seen strings.Builder
	for f, err := range in.Follow(ctx, task.Caller{}, tasktest.FirstTask(), new(int64(0))) {
		if err != nil {
			return err
		}
		seen.WriteString(tasktest.Line(f) + "; ")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers = append(s.readers, seen.String())
	return nil
}
