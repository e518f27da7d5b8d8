package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/schema"
)

// ErrInputExpired says that an answer came after its question had expired. Its
// kind is fault.Conflict.
var ErrInputExpired = errors.New("the question has expired")

// errMoved says that somebody else changed the run between read and commit.
var errMoved = errors.New("the run moved meanwhile")

// insist does something to the latest state of a run until nobody gets in
// between.
func (r *Runner) insist(ctx context.Context, id string, act func(Run, *Pipeline) error) error {
	who := r.Owner()
	for try := range commitTries {
		run, p, err := r.load(ctx, id)
		if err != nil {
			return err
		}
		if err := act(run, p); !errors.Is(err, errMoved) {
			return err
		}
		if err := r.Sleep(ctx, jitter(commitPause, who, try)); err != nil {
			return err
		}
	}
	return fault.New(fault.Unavailable, "the run is busy; try again")
}

func ended(run *Run) error { return fault.New(fault.Conflict, "the run has ended: %s", run.Status) }

// Cancel ends a run by its owner's wish. Canceling twice is the same as once;
// fault.Conflict when the run has ended otherwise.
func (r *Runner) Cancel(ctx context.Context, runID, by string) error {
	return r.insist(ctx, runID, func(run Run, p *Pipeline) error {
		switch {
		case run.Status == engine.Canceled:
			return nil
		case run.Status.Ended():
			return ended(&run)
		}
		_, _, err := r.control(ctx, p, run, engine.CancelRequested{By: by})
		return err
	})
}

// Hold stops a run from beginning anything new until Resume; calls at work
// finish and are recorded. Twice is the same as once. fault.Conflict when the
// run has ended.
func (r *Runner) Hold(ctx context.Context, runID, by, reason string) error {
	return r.insist(ctx, runID, func(run Run, p *Pipeline) error {
		if run.Status.Ended() {
			return ended(&run)
		}
		_, verdict, err := r.control(ctx, p, run, engine.HoldRequested{By: by, Reason: reason})
		if verdict == engine.Invalid {
			return fault.New(fault.Conflict, "the run began under an older version, which cannot be held")
		}
		return err
	})
}

// Resume ends a hold and sends everything that is due. Without a hold it only
// does the latter. fault.Conflict when the run has ended.
func (r *Runner) Resume(ctx context.Context, runID, by string) error {
	return r.insist(ctx, runID, func(run Run, p *Pipeline) error {
		if run.Status.Ended() {
			return ended(&run)
		}
		after, verdict, err := r.control(ctx, p, run, engine.ResumeRequested{By: by})
		if err != nil {
			return err
		}
		if verdict == engine.Applied {
			return r.resend(ctx, p, after, r.Pace.Grace, 0) // the engine has sent the steps, not the chunks
		}
		return r.resend(ctx, p, run, 0, 0)
	})
}

// AnswerRequest answers a question.
type AnswerRequest struct {
	InputID  string
	By       string
	Decision engine.Decision // empty: engine.Answer
	Answer   json.RawMessage // of engine.Answer: as the question's schema wants it; otherwise a word on the decision, if any
}

// Answer gives a person's answer to the question that a run waits for, once: the
// same answer again changes nothing and makes sure that the run goes on.
// fault.NotFound for no such question; fault.Invalid when the answer is not what
// the question wants; fault.Conflict for another answer than the first, for a
// run that has ended, and, as ErrInputExpired, when it is too late.
func (r *Runner) Answer(ctx context.Context, runID string, req AnswerRequest) error {
	if req.Decision == "" {
		req.Decision = engine.Answer
	}
	if len(req.Answer) == 0 {
		req.Answer = json.RawMessage(`{}`)
	}
	canonical, err := Canonical(req.Answer)
	if err != nil {
		return err
	}
	req.Answer = canonical
	return r.insist(ctx, runID, func(run Run, p *Pipeline) error {
		inputs, err := r.Store.Inputs(ctx, runID, req.InputID)
		switch {
		case err != nil:
			return fmt.Errorf("load the question: %w", err)
		case len(inputs) == 0 || inputs[0].Kind == editKind:
			return fault.New(fault.NotFound, "there is no question %s", req.InputID)
		case inputs[0].Decision != "":
			return r.answeredBefore(ctx, p, run, inputs[0], req)
		}
		return r.answer(ctx, p, run, inputs[0], req)
	})
}

// answeredBefore tells a repeated answer from another one. The first caller may
// have died between its commit and its publish.
func (r *Runner) answeredBefore(ctx context.Context, p *Pipeline, run Run, in Input, req AnswerRequest) error {
	if in.Decision != req.Decision || !bytes.Equal(in.Answer, req.Answer) {
		return fault.New(fault.Conflict, "the question %s was answered otherwise before", in.ID)
	}
	if run.Status.Ended() {
		return nil
	}
	return r.publish(ctx, p.Flow, &run.State, r.due(&run.State, 0))
}

func (r *Runner) answer(ctx context.Context, p *Pipeline, run Run, in Input, req AnswerRequest) error {
	now := r.moment()
	switch {
	case run.Status.Ended():
		return ended(&run)
	case !now.Before(in.ExpiresAt):
		return fault.Wrap(fault.Conflict, ErrInputExpired, "the question expired at %s", in.ExpiresAt.Format(time.RFC3339))
	}
	if err := wanted(&in, req); err != nil {
		return err
	}
	state, effects, verdict := engine.Next(p.Flow, run.State, engine.InputGiven{ID: in.ID, By: req.By, Decision: req.Decision}, now)
	switch verdict {
	case engine.Stale:
		return fault.New(fault.Conflict, "the run does not wait for %s any more", in.ID)
	case engine.Invalid:
		return fault.New(fault.Invalid, "decision: %q does not answer this question, which %s asked", req.Decision, in.Kind)
	case engine.Applied:
	}
	in.Decision, in.Answer, in.AnsweredBy, in.AnsweredAt, in.RevAt = req.Decision, req.Answer, req.By, &now, state.Rev
	c := r.change(p, Run{State: state, Journal: run.Journal, Shown: run.Shown, Version: run.Version}, effects)
	c.Inputs = append(c.Inputs, in)
	for _, o := range effects.Outputs {
		if err := r.settled(ctx, p, answer{Step: Step{Run: run.RunID()}}, state, o, &c); err != nil {
			return err
		}
	}
	if err := r.touch(ctx, p, &run.State, effects.Cancel, &c); err != nil {
		return err
	}
	if err := r.Store.Commit(ctx, c); err != nil {
		return movedBy(err, "answer %s of %s", in.ID, run.RunID())
	}
	if state.Status.Ended() {
		r.tell(ctx, c.Touch)
	}
	return r.publish(ctx, p.Flow, &state, effects.Publish)
}

// wanted checks an answer against what its question wants.
func wanted(in *Input, req AnswerRequest) error {
	if req.Decision != engine.Answer {
		return nil
	}
	if len(in.Schema) == 0 {
		if req.Answer[0] != '{' {
			return fault.New(fault.Invalid, "answer: wanted an object")
		}
		return nil
	}
	s, err := schema.Compile(in.Schema)
	if err != nil {
		return fmt.Errorf("the schema of question %s: %w", in.ID, err)
	}
	return s.Check(req.Answer)
}

// movedBy makes errMoved of a conflict.
func movedBy(err error, format string, args ...any) error {
	if fault.KindOf(err) == fault.Conflict {
		return errMoved
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}
