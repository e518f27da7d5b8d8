package runner

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"sync"
	"time"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

var errClaimLost = errors.New("the claim was lost")

// answer is what came of a step: its record with result or failure, or a wish
// to be tried again. work is nil when the result was found stored.
type answer struct {
	Step
	work  *work
	retry *engine.Retryable
	bare  bool // to be recorded without the documents that follow from it
}

// refused answers a store that will never take what a commit holds, an output
// beyond the size of a document above all: the step fails, so that the run ends
// with a reason and not at its deadline. If even that is refused, the documents
// that would come with it are left out. It is false when nothing is left to give
// up.
func (a *answer) refused(err error) bool {
	switch {
	case fault.KindOf(err) != fault.Invalid || a.bare:
		return false
	case a.Status == StepFailed:
		a.bare = true
		return true
	}
	a.Status, a.Result, a.Score, a.retry = StepFailed, nil, 0, nil
	a.Failure = &engine.Error{Code: engine.CodeAgentFailed, Message: "The result cannot be stored: it is larger than a document may be, or not of its form.", Agent: a.Agent}
	return true
}

// event is what the answer means to the engine.
func (a *answer) event() engine.Event {
	if a.retry != nil {
		return *a.retry
	}
	return engine.Finished{Step: a.ID, Failure: a.Failure, Score: a.Score}
}

// execute calls the agent of a claimed step. mine is false when the claim was
// lost meanwhile: somebody else works on it, or the run was canceled.
func (r *Runner) execute(ctx context.Context, p *Pipeline, run *Run, step Step) (a answer, mine bool) {
	w, err := r.gather(ctx, p, run, step.ID)
	if fault.KindOf(err) == fault.NotFound {
		return answer{}, false // the estimate was deleted
	}
	if err != nil {
		r.warn(ctx, "load inputs", &step, err)
		return r.outcome(step, nil, a2a.Result{}, fault.Wrap(fault.Unavailable, err, "the inputs could not be loaded")), true
	}
	step.RequestHash = w.hash()
	ctx, cancel := context.WithTimeoutCause(ctx, w.node.Timeout, fault.New(fault.Timeout, "%s took longer than %v", step.Agent, w.node.Timeout))
	defer cancel()
	ctx, stop := r.heartbeat(ctx, &step)
	began := r.Now()
	result, err := r.call(ctx, step.Agent, step.Call, w.request)
	lost := stop()
	step.Duration = r.Now().Sub(began)
	// A result in hand is good even when the claim was lost meanwhile: the first
	// one wins, and one that comes too late is kept as late.
	return r.outcome(step, w, result, err), !lost || err == nil
}

// call tries the agent a few times while the failure is one that a moment may
// mend. Longer pauses are the engine's business.
func (r *Runner) call(ctx context.Context, agent, id string, req a2a.Request) (a2a.Result, error) {
	pause := r.Pace.QuickBase
	for try := 1; ; try++ {
		result, err := r.Caller.Call(ctx, agent, id, req)
		if err == nil || !fault.KindOf(err).Transient() || try >= r.Pace.QuickTries {
			return result, err
		}
		wait := max(jitter(pause), retryAfter(err))
		if wait > r.Pace.WaitAtMost || ctx.Err() != nil {
			return result, err
		}
		if r.Sleep(ctx, wait) != nil {
			return result, err
		}
		pause *= 2
	}
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
		step.Result, step.Tokens = result.Output, int(result.Metadata.TokensUsed)
		err = step.readScore()
	}
	if err == nil {
		step.Status = Done
		return answer{Step: step, work: w}
	}
	kind := fault.KindOf(err)
	code := engine.CodeAgentFailed
	if kind == fault.Timeout {
		code = engine.CodeAgentTimeout
	}
	step.Failure = &engine.Error{Code: code, Message: fault.Public(err), Agent: step.Agent}
	if kind.Transient() || kind == fault.Canceled {
		retry := &engine.Retryable{Step: step.ID, After: retryAfter(err), Failure: *step.Failure}
		return answer{Step: step, work: w, retry: retry} // stays claimed
	}
	step.Status = StepFailed
	return answer{Step: step, work: w}
}

// readScore takes the score out of a scorer's result. What is no number from 0
// to 100 is a judgment that was not made.
func (s *Step) readScore() error {
	_, _, role, _ := s.ID.Parts()
	if role != engine.RoleScorer {
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
