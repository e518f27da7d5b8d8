package runner

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"sync"
	"time"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

var errClaimLost = errors.New("the claim was lost")

const (
	callMargin  = 20 * time.Second // of a delivery's time, kept for recording
	workingLook = 5 * time.Second  // pause before an agent that is at work is asked again
)

// answer is what came of a step: its record with result or failure, or a wish
// to be tried again, or a question. work is nil when the result was found
// stored and for the engine's own steps.
type answer struct {
	Step
	work  *work
	retry *engine.Retryable
	asks  *a2a.Question
	fan   *engine.Fan // of an expand step
	bare  bool        // to be recorded without the documents that follow from it
	away  int         // how often in a row the store gave no answer
}

// event is what the answer means to the engine.
func (a *answer) event(f *engine.Flow) engine.Event {
	switch {
	case a.retry != nil:
		return *a.retry
	case a.asks != nil:
		return engine.InputNeeded{Step: a.ID, Prompt: a.asks.Prompt, Schema: a.asks.Schema}
	}
	e := engine.Finished{Step: a.ID, Failure: a.Failure, Score: a.Score, Fan: a.fan}
	ref, _ := a.ID.Ref()
	switch {
	case a.Status != Done:
	case ref.Role == engine.RolePrimary, ref.Role == engine.RoleJoin:
		e.Facts = facts(f, ref.Node, a.Result)
	case ref.Role == engine.RoleScorer && a.work != nil:
		e.Facts = facts(f, ref.Node, a.work.judged)
	}
	return e
}

// refused answers a store that will never take what a commit holds: the step
// fails, so that the run ends with a reason and not at its deadline. If even
// that is refused, the documents that would come with it are left out.
func (a *answer) refused(err error) {
	switch {
	case fault.KindOf(err) != fault.Invalid:
	case a.Status == StepFailed:
		a.bare = true
	default:
		a.Status, a.Result, a.Score, a.retry, a.asks, a.fan = StepFailed, nil, 0, nil, nil, nil
		a.Failure = &engine.Error{Code: engine.CodeAgentFailed, Message: "The output cannot be stored: " + words(err), Agent: a.Agent}
	}
}

// execute calls the agent under the claim. mine is false when nothing is to be
// recorded.
func (r *Runner) execute(ctx context.Context, p *Pipeline, run *Run, held claimed) (a answer, mine bool) {
	step := held.Step
	w, err := r.gather(ctx, p, run, step.ID)
	if fault.KindOf(err) == fault.NotFound {
		return answer{}, false // the estimate was deleted
	}
	if err != nil {
		r.warn(ctx, "load inputs", &step, err)
		return r.outcome(step, nil, a2a.Result{}, fault.Wrap(fault.Unavailable, err, "the inputs could not be loaded")), true
	}
	if held.lost && w.once() {
		return r.outcome(step, w, a2a.Result{}, errAmbiguous), true
	}
	step.RequestHash = w.hash()
	ctx, cancel := r.within(ctx, w.node.Timeout, step.Agent)
	defer cancel()
	ctx, stop := r.heartbeat(ctx, &step)
	began := r.Now()
	result, err := r.ask(ctx, &step, w)
	lost := stop()
	step.Duration += r.Now().Sub(began)
	if lost && err != nil {
		r.abandoned(context.WithoutCancel(ctx), &step)
		return answer{}, false
	}
	// A result in hand is good even when the claim was lost meanwhile: the first
	// one wins, and one that comes too late is kept as late.
	return r.outcome(step, w, result, err), true
}

// within bounds a call by the node's timeout and by what is left of the
// delivery's time.
func (r *Runner) within(ctx context.Context, timeout time.Duration, agent string) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(deadline)-callMargin)
	}
	return context.WithTimeoutCause(ctx, timeout, fault.New(fault.Timeout, "%s took longer than %v", agent, timeout))
}

// abandoned tells the agent of a run that ended that nobody waits any more. A
// call that another worker took over goes on: it is the same task.
func (r *Runner) abandoned(ctx context.Context, step *Step) {
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	if run, err := r.Store.Run(ctx, step.Run); err == nil && run.Status.Ended() {
		r.tell(ctx, []Step{*step})
	}
}

// errAmbiguous is the outcome of a call that may have been paid and must not be
// repeated.
var errAmbiguous = fault.New(fault.Internal, "the agent may have worked, its answer is lost, and it must not be asked twice")

// once reports whether the call must not be repeated when it may have arrived.
func (w *work) once() bool {
	return w.node.Ambiguous && (w.ref.Role == engine.RolePrimary || w.ref.Role == engine.RoleChunk)
}

// ask gets the result of a step: of the task that was left at work, or of a
// call. An output that breaks its schema is asked for once more.
func (r *Runner) ask(ctx context.Context, step *Step, w *work) (a2a.Result, error) {
	if step.Task != "" {
		result, err := r.Caller.Look(ctx, step.Agent, step.Task)
		switch {
		case fault.KindOf(err) != fault.NotFound:
			return r.checked(w, result, err)
		case w.once():
			return result, errAmbiguous // it began the task, and has forgotten it
		}
	}
	result, err := r.call(ctx, step.Agent, step.Call, w)
	if err != nil || !final(result) || r.conforms(w, result.Output) == nil || w.once() {
		return r.checked(w, result, err)
	}
	result, err = r.call(ctx, step.Agent, RepeatID(step.Run, step.ID), w)
	return r.checked(w, result, err)
}

func final(result a2a.Result) bool {
	return result.State != a2a.Working && result.State != a2a.InputRequired
}

func (r *Runner) checked(w *work, result a2a.Result, err error) (a2a.Result, error) {
	if err == nil && final(result) {
		err = r.conforms(w, result.Output)
	}
	return result, err
}

// conforms checks the output of an agent against the node's schema. The output
// of a fan-out is checked when it is joined.
func (r *Runner) conforms(w *work, output json.RawMessage) error {
	if w.ref.Role != engine.RolePrimary {
		return nil
	}
	return r.flows.conforms(w.node, output)
}

// call tries the agent a few times while the failure is one that a moment may
// mend. Longer pauses are the engine's business. An agent that fails again and
// again is left alone for a while: see breakers.
func (r *Runner) call(ctx context.Context, agent, id string, w *work) (a2a.Result, error) {
	pause := r.Pace.QuickBase
	for try := 1; ; try++ {
		result, err := r.Caller.Call(ctx, agent, id, w.request)
		broken := r.breakers.saw(agent, r.Now(), err == nil || !fault.KindOf(err).Transient())
		switch {
		case err == nil || !fault.KindOf(err).Transient() || try >= r.Pace.QuickTries || broken:
			return ambiguous(w, result, err)
		case w.once() && a2a.Ambiguous(err):
			return result, errAmbiguous
		}
		wait := max(jitter(pause, id, try), retryAfter(err))
		if wait > r.Pace.WaitAtMost || ctx.Err() != nil || r.Sleep(ctx, wait) != nil {
			return ambiguous(w, result, err)
		}
		pause = min(2*pause, r.Pace.WaitAtMost)
	}
}

func ambiguous(w *work, result a2a.Result, err error) (a2a.Result, error) {
	if err != nil && w.once() && a2a.Ambiguous(err) {
		return result, errAmbiguous
	}
	return result, err
}

// retryAfter is how long the agent asked to be left alone; 0 when it did not.
func retryAfter(err error) time.Duration {
	after, _ := a2a.RetryAfter(err)
	return after
}

// heartbeat renews the claim until stop is called, and cancels the returned
// context when the claim is refused. stop reports whether it was, and leaves
// the last version in step.
func (r *Runner) heartbeat(ctx context.Context, step *Step) (context.Context, func() (lost bool)) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	held := *step
	var beats sync.WaitGroup
	beats.Go(func() {
		for r.pauseOr(ctx, done) {
			held.Beats++
			renewed, err := r.Store.PutStep(ctx, held)
			switch {
			case err == nil:
				held = renewed
			case fault.KindOf(err) == fault.Conflict, fault.KindOf(err) == fault.NotFound:
				cancel(errClaimLost)
				return
			default: // the store is away; the lease lasts a little longer
				r.warn(ctx, "heartbeat", &held, err)
			}
		}
	})
	return ctx, func() bool {
		close(done)
		beats.Wait()
		lost := errors.Is(context.Cause(ctx), errClaimLost)
		cancel(nil)
		*step = held
		return lost
	}
}

// pauseOr waits for one beat; it is false when done is closed or ctx ends first.
func (r *Runner) pauseOr(ctx context.Context, done <-chan struct{}) bool {
	t := time.NewTimer(r.Pace.Beat)
	defer t.Stop()
	select {
	case <-done:
		return false
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// outcome writes what came of the call into the step.
func (r *Runner) outcome(step Step, w *work, result a2a.Result, err error) answer {
	step.DoneAt = new(r.Now())
	if err == nil {
		step.Tokens, step.CostUSD = int(result.Metadata.TokensUsed), result.Metadata.CostUSD
		switch result.State {
		case a2a.Working:
			step.Task, step.Context = result.TaskID, result.ContextID
			after := max(result.After, workingLook)
			return answer{Step: step, work: w, retry: &engine.Retryable{Step: step.ID, After: after, Working: true}}
		case a2a.InputRequired:
			if w.ref.Role == engine.RolePrimary && result.Question != nil {
				step.Task, step.Context, step.Status = result.TaskID, result.ContextID, Done
				step.Result, _ = json.Marshal(map[string]any{"question": result.Question.Prompt})
				return answer{Step: step, work: w, asks: result.Question}
			}
			err = fault.New(fault.Invalid, "%s asks a person, which only the agent of a node may", step.Agent)
		default:
			step.Result = result.Output
			err = step.readScore()
		}
	}
	if err == nil {
		step.Status = Done
		return answer{Step: step, work: w}
	}
	return r.failed(step, w, err)
}

// failed classifies a failure: worth another try, or final.
func (r *Runner) failed(step Step, w *work, err error) answer {
	kind := fault.KindOf(err)
	code := engine.CodeAgentFailed
	switch {
	case errors.Is(err, errAmbiguous):
		code = engine.CodeAmbiguous
	case kind == fault.Timeout:
		code = engine.CodeAgentTimeout
	}
	step.Failure = &engine.Error{Code: code, Message: words(err), Agent: step.Agent}
	if kind.Transient() || kind == fault.Canceled {
		retry := &engine.Retryable{Step: step.ID, After: retryAfter(err), Failure: *step.Failure}
		return answer{Step: step, work: w, retry: retry} // stays claimed
	}
	step.Status = StepFailed
	return answer{Step: step, work: w}
}

// maxWords bounds what a run keeps of the words about a failure, in bytes. They
// may be an agent's own and of any length, the document of a run is not.
const maxWords = 400

// words says why something failed, in brief.
func words(err error) string {
	text := fault.Public(err)
	return strings.ToValidUTF8(text[:min(len(text), maxWords)], "")
}

// readScore takes the score out of a scorer's result. What is no number from 0
// to 100 is a judgment that was not made.
func (s *Step) readScore() error {
	ref, _ := s.ID.Ref()
	if ref.Role != engine.RoleScorer {
		return nil
	}
	var judged struct {
		Score *float64 `json:"score"`
	}
	if err := json.Unmarshal(s.Result, &judged); err != nil || judged.Score == nil || *judged.Score < 0 || *judged.Score > 100 {
		return fault.New(fault.Invalid, "%s answered without a score from 0 to 100", s.Agent)
	}
	s.Score = int(math.Floor(*judged.Score))
	return nil
}
