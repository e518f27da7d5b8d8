package estimates

import (
	"context"
	"encoding/json"
	"regexp"

	"truecost.dev/shared/callable"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

var inputID = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,200}$`)

// input is a request to answer a question.
type input struct {
	subject
	InputID      string          `json:"inputId"`
	InputIDSnake string          `json:"input_id"`
	Decision     engine.Decision `json:"decision"` // answer, accept, give_up; empty: answer
	Answer       json.RawMessage `json:"answer"`   // with another decision: a word on it, if any
}

// answer gives a run what it asks a person for. The same answer again is the
// same as once; another one is a conflict.
func (p Ports) answer(ctx context.Context, call callable.Call) (any, error) {
	var req input
	user, err := decode(call, &req)
	if err == nil {
		err = req.read()
	}
	if err != nil {
		return nil, err
	}
	run, err := p.act(ctx, req.subject, user, func(r *runner.Runner, run runner.Run) error {
		return r.Answer(ctx, run.RunID(), runner.AnswerRequest{
			InputID: req.InputID, By: user, Decision: req.Decision, Answer: req.Answer,
		})
	})
	if err != nil {
		return nil, err
	}
	return success(map[string]any{
		"estimateId": run.EstimateID, "runId": run.RunID(), "inputId": req.InputID, "decision": req.Decision,
	})
}

// read refuses what no question could be answered with. Whether the answer fits
// the question's schema is for the runner to say.
func (i *input) read() error {
	if err := i.needRun(); err != nil {
		return err
	}
	i.InputID = orElse(i.InputID, i.InputIDSnake)
	if i.Decision == "" {
		i.Decision = engine.Answer
	}
	none := absent(i.Answer)
	if none {
		i.Answer = nil
	}
	switch {
	case i.InputID == "":
		return missing("inputId", "the id of a question, as get_run lists them")
	case !inputID.MatchString(i.InputID):
		return wanted("inputId", "the id of a question, as get_run lists them")
	case i.Decision != engine.Answer && i.Decision != engine.Accept && i.Decision != engine.GiveUp:
		return wanted("decision", "answer, accept or give_up")
	case i.Decision == engine.Answer && none:
		return missing("answer", "what the question's schema describes, or a decision")
	}
	return given("answer", i.Answer)
}
