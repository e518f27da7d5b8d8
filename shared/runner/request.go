package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
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

// RepeatID returns the key of the one repetition of a call whose output broke its
// schema: under the first key the agent would give the first answer.
func RepeatID(run string, id engine.StepID) string {
	return uuid.NewSHA1(calls, []byte(run+"/"+string(id)+"/again")).String()
}

// work is a step with everything its call needs.
type work struct {
	node     *engine.Node
	ref      engine.StepRef
	request  a2a.Request
	judged   json.RawMessage // the output that a scorer or a critic looks at
	feedback json.RawMessage // what the critic of the attempt before said, for a primary
}

// gather loads what the call of a step needs. The same step gets the same
// request on every instance, whatever has happened beside it.
func (r *Runner) gather(ctx context.Context, p *Pipeline, run *Run, id engine.StepID) (*work, error) {
	ref, _ := id.Ref()
	w := &work{node: p.Flow.Node(ref.Node), ref: ref}
	members, err := r.members(ctx, p, run, w)
	if err != nil {
		return nil, fmt.Errorf("load inputs of %s: %w", id, err)
	}
	input, err := json.Marshal(members)
	if err != nil {
		return nil, fmt.Errorf("encode inputs of %s: %w", id, err)
	}
	w.request = a2a.Request{EstimateID: run.EstimateID, Input: input, Attempt: ref.Attempt, PreviousAgents: previous(p.Flow, run, w.node)}
	switch ref.Role {
	case engine.RolePrimary, engine.RoleChunk:
		if err = r.withFeedback(ctx, run, w); err == nil && ref.Turn > 0 {
			err = r.withAnswer(ctx, run, id, w)
		}
	default:
		err = r.withOutput(ctx, run, w)
	}
	return w, err
}

// members returns the input of a node by member name.
func (r *Runner) members(ctx context.Context, p *Pipeline, run *Run, w *work) (members map[string]json.RawMessage, err error) {
	n, s := w.node, &run.State
	switch {
	case len(n.Input) > 0:
		members = make(map[string]json.RawMessage, len(n.Input))
		for _, name := range slices.Sorted(maps.Keys(n.Input)) {
			value, err := r.resolve(ctx, s, n.Input[name])
			if err != nil {
				return nil, err
			}
			if value != nil {
				members[name] = value
			}
		}
	case n.FanOut != nil:
		members = map[string]json.RawMessage{} // the chunk is all there is
	default:
		if members, err = r.outputs(ctx, p, s, n.Name); err != nil {
			return nil, err
		}
	}
	if w.ref.Role == engine.RoleChunk {
		if err := r.withChunk(ctx, s, w, members); err != nil {
			return nil, err
		}
	}
	return members, r.withPeople(ctx, s, n, members)
}

// withPeople adds what people said beforehand: the answer to the node's pause,
// and the members that a manual retry replaces.
func (r *Runner) withPeople(ctx context.Context, s *engine.State, n *engine.Node, members map[string]json.RawMessage) error {
	var ids []string
	if n.Pause != nil {
		ids = append(ids, n.Name+".0.pause")
	}
	if edit := s.Edits[n.Name]; edit != "" {
		ids = append(ids, edit)
	}
	if len(ids) == 0 {
		return nil
	}
	inputs, err := r.Store.Inputs(ctx, s.RunID(), ids...)
	if err != nil {
		return err
	}
	for _, in := range inputs {
		if in.Kind != editKind {
			members["human_input"] = in.Answer
			continue
		}
		var edited map[string]json.RawMessage
		if err := json.Unmarshal(in.Answer, &edited); err != nil {
			return fmt.Errorf("read the edit of %s: %w", n.Name, err)
		}
		maps.Copy(members, edited)
	}
	return nil
}

// withAnswer makes the call go on in the conversation in which the agent asked.
func (r *Runner) withAnswer(ctx context.Context, run *Run, id engine.StepID, w *work) error {
	inputs, err := r.Store.Inputs(ctx, run.RunID(), string(id))
	if err != nil {
		return fmt.Errorf("load the answer for %s: %w", id, err)
	}
	if len(inputs) == 0 || inputs[0].Decision == "" {
		return fault.New(fault.Internal, "%s has no answer to go on with", id)
	}
	w.request.TaskID, w.request.ContextID, w.request.Answer = inputs[0].Task, inputs[0].Context, inputs[0].Answer
	return nil
}

// withFeedback adds what the critic of the attempt before said, or, when it
// could not be asked, the scorer's own words.
func (r *Runner) withFeedback(ctx context.Context, run *Run, w *work) error {
	if w.ref.Attempt == 0 {
		return nil
	}
	before := w.ref.Attempt - 1
	made := w.node.MadeBefore(run.Nodes[w.node.Name])
	scorer, critic := engine.Step(w.node.Name, before, engine.RoleScorer), engine.Step(w.node.Name, before, engine.RoleCritic)
	steps, err := r.steps(ctx, &run.State, run.RunID(), made, scorer, critic)
	if err != nil {
		return fmt.Errorf("load feedback for %s: %w", w.ref.ID(), err)
	}
	feedback := map[string]json.RawMessage{}
	if s := find(steps, critic); s != nil && s.Status == Done {
		if err := json.Unmarshal(s.Result, &feedback); err != nil {
			return fmt.Errorf("read critique for %s: %w", w.ref.ID(), err)
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
	if s := find(steps, made); s != nil && w.ref.Role == engine.RolePrimary {
		feedback["previous_output"] = s.Result
	}
	w.request.Feedback, err = json.Marshal(feedback)
	return err
}

// withOutput adds what a scorer or a critic is to judge.
func (r *Runner) withOutput(ctx context.Context, run *Run, w *work) error {
	made, scorer := w.node.Made(run.Nodes[w.node.Name]), engine.Step(w.node.Name, w.ref.Attempt, engine.RoleScorer)
	ids := []engine.StepID{made}
	if w.ref.Role == engine.RoleCritic {
		ids = append(ids, scorer)
	}
	steps, err := r.steps(ctx, &run.State, run.RunID(), ids...)
	if err != nil {
		return fmt.Errorf("load output for %s: %w", w.ref.ID(), err)
	}
	output := find(steps, made)
	if output == nil {
		return fault.New(fault.Internal, "%s judges an output that is not stored", w.ref.ID())
	}
	w.judged = output.Result
	w.request.Agent, w.request.Output = w.node.Name, output.Result
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
	names := []string{}
	for _, name := range f.Above(node.Name) {
		if phase := run.Nodes[name].Phase; phase == engine.Passed || phase == engine.Degraded {
			names = append(names, name)
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
