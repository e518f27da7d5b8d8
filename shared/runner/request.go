package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

// calls is the namespace of call ids.
var calls = uuid.MustParse("7f1d7c1e-6d0c-5b7e-9a51-0f3b9f4f5a10")

// CallID returns the idempotency key of a step: the same step of the same run
// has the same id on every instance and after every crash.
func CallID(run string, id engine.StepID) string {
	return uuid.NewSHA1(calls, []byte(run+"/"+string(id))).String()
}

// work is a step with everything its call needs.
type work struct {
	pipeline *Pipeline
	node     *engine.Node
	id       engine.StepID
	attempt  int
	role     engine.Role

	inputs   map[string]json.RawMessage // clarification_output, {node}_output
	request  a2a.Request
	primary  *Step           // whose output is judged, for a scorer and a critic
	feedback json.RawMessage // what the critic of the attempt before said, for a primary
}

// gather loads what the call of a step needs.
func (r *Runner) gather(ctx context.Context, p *Pipeline, run *Run, id engine.StepID) (*work, error) {
	name, attempt, role, _ := id.Parts()
	w := &work{pipeline: p, node: p.Flow.Node(name), id: id, attempt: attempt, role: role}
	inputs, err := r.Store.Inputs(ctx, run.EstimateID, w.node.Needs)
	if err != nil {
		return nil, fmt.Errorf("load inputs of %s: %w", id, err)
	}
	w.inputs = inputs
	input, err := json.Marshal(inputs)
	if err != nil {
		return nil, fmt.Errorf("encode inputs of %s: %w", id, err)
	}
	w.request = a2a.Request{EstimateID: run.EstimateID, Input: input, Attempt: attempt, PreviousAgents: previous(p.Flow, run, w.node)}
	switch role {
	case engine.RolePrimary:
		err = r.withFeedback(ctx, run, w)
	default:
		err = r.withOutput(ctx, run, w)
	}
	return w, err
}

// withFeedback adds what the critic of the attempt before said, or, when it
// could not be asked, the scorer's own words.
func (r *Runner) withFeedback(ctx context.Context, run *Run, w *work) error {
	if w.attempt == 0 {
		return nil
	}
	before := w.attempt - 1
	primary, scorer, critic := engine.Step(w.node.Name, before, engine.RolePrimary),
		engine.Step(w.node.Name, before, engine.RoleScorer), engine.Step(w.node.Name, before, engine.RoleCritic)
	steps, err := r.Store.Steps(ctx, run.RunID(), primary, scorer, critic)
	if err != nil {
		return fmt.Errorf("load feedback for %s: %w", w.id, err)
	}
	feedback := map[string]json.RawMessage{}
	if s := find(steps, critic); s != nil && s.Status == Done {
		if err := json.Unmarshal(s.Result, &feedback); err != nil {
			return fmt.Errorf("read critique for %s: %w", w.id, err)
		}
	} else if s := find(steps, scorer); s != nil {
		var words struct {
			Feedback string `json:"feedback"`
		}
		_ = json.Unmarshal(s.Result, &words) // a scorer may have said nothing: then the score alone speaks
		said, _ := json.Marshal(words.Feedback)
		feedback["issues"] = json.RawMessage("[" + string(said) + "]")
		feedback["why_wrong"], feedback["how_to_fix"] = said, json.RawMessage("[]")
		feedback["score"] = json.RawMessage(fmt.Sprint(s.Score))
	}
	if w.feedback, err = json.Marshal(feedback); err != nil {
		return err
	}
	if s := find(steps, primary); s != nil {
		feedback["previous_output"] = s.Result
	}
	w.request.Feedback, err = json.Marshal(feedback)
	return err
}

// withOutput adds what a scorer or a critic is to judge.
func (r *Runner) withOutput(ctx context.Context, run *Run, w *work) error {
	primary, scorer := engine.Step(w.node.Name, w.attempt, engine.RolePrimary), engine.Step(w.node.Name, w.attempt, engine.RoleScorer)
	ids := []engine.StepID{primary}
	if w.role == engine.RoleCritic {
		ids = append(ids, scorer)
	}
	steps, err := r.Store.Steps(ctx, run.RunID(), ids...)
	if err != nil {
		return fmt.Errorf("load output for %s: %w", w.id, err)
	}
	w.primary = find(steps, primary)
	if w.primary == nil {
		return fault.New(fault.Internal, "%s judges an output that is not stored", w.id)
	}
	w.request.Agent, w.request.Output = w.node.Name, w.primary.Result
	if s := find(steps, scorer); s != nil {
		score := float64(s.Score)
		var words struct {
			Feedback string `json:"feedback"`
		}
		_ = json.Unmarshal(s.Result, &words) // the score counts; words are welcome
		w.request.Score, w.request.ScorerFeedback = &score, words.Feedback
	}
	return nil
}

func find(steps []Step, id engine.StepID) *Step {
	i := slices.IndexFunc(steps, func(s Step) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	return &steps[i]
}

// previous lists the settled nodes that node needs, directly or not, in flow
// order. What runs beside it is left out: a call that is taken over must be the
// same request, whatever has settled meanwhile.
func previous(f *engine.Flow, run *Run, node *engine.Node) []string {
	before := map[string]bool{}
	for next := slices.Clone(node.Needs); len(next) > 0; next = next[1:] {
		if name := next[0]; !before[name] {
			before[name] = true
			next = append(next, f.Node(name).Needs...)
		}
	}
	names := []string{}
	for _, n := range f.Nodes {
		if phase := run.Nodes[n.Name].Phase; before[n.Name] && (phase == engine.Passed || phase == engine.Degraded) {
			names = append(names, n.Name)
		}
	}
	return names
}

// hash identifies the request without keeping it.
func (w *work) hash() string {
	b, err := json.Marshal(w.request)
	if err != nil {
		return "" // gather has encoded its parts already
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
