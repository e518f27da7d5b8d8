package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
)

// What follows loads payloads. All of them are immutable once they can be
// referred to, so an instance remembers those it has seen.

func inputKey(s *engine.State) string { return "input/" + s.EstimateID + "/" + s.Input }

// input returns what the run was started with.
func (r *Runner) input(ctx context.Context, s *engine.State) (json.RawMessage, error) {
	if v, ok := r.memory.get(inputKey(s)); ok {
		return v.(json.RawMessage), nil
	}
	input, err := r.Store.Input(ctx, s.EstimateID)
	if err != nil {
		return nil, fmt.Errorf("load the input of %s: %w", s.RunID(), err)
	}
	r.memory.put(inputKey(s), input, len(input))
	return input, nil
}

// steps returns the steps that exist among ids, of the run s or of one that it
// carries on, in their order. Those that have their result are remembered.
func (r *Runner) steps(ctx context.Context, s *engine.State, run string, ids ...engine.StepID) ([]Step, error) {
	found := make(map[engine.StepID]Step, len(ids))
	var missing []engine.StepID
	for _, id := range ids {
		if v, ok := r.memory.get(stepKey(s, run, id)); ok {
			found[id] = v.(Step)
		} else {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		loaded, err := r.Store.Steps(ctx, run, missing...)
		if err != nil {
			return nil, fmt.Errorf("load steps of %s: %w", run, err)
		}
		for _, step := range loaded {
			r.remember(s, step)
			found[step.ID] = step
		}
	}
	steps := make([]Step, 0, len(found))
	for _, id := range ids {
		if step, ok := found[id]; ok {
			steps = append(steps, step)
		}
	}
	return steps, nil
}

// stepKey finds the step of a run, or of one that s carries on. An estimate may be
// deleted and started again under its id, so ids alone do not tell runs apart.
func stepKey(s *engine.State, run string, id engine.StepID) string {
	return "step/" + life(s) + "/" + run + "/" + string(id)
}

// life names a run among all that ever have its id.
func life(s *engine.State) string {
	return s.RunID() + "@" + strconv.FormatInt(s.CreatedAt.UnixMicro(), 10)
}

// remember keeps a step whose result is recorded: it never changes again.
func (r *Runner) remember(s *engine.State, step Step) {
	const record = 1 << 10 // bytes of a step beside its result and of what finds it, about
	if step.Finished() && step.RevAt > 0 {
		step.Call, step.Owner, step.RequestHash = "", "", "" // of the call itself: nobody reads them here
		r.memory.put(stepKey(s, step.Run, step.ID), step, len(step.Result)+record)
	}
}

// output returns the output of a settled node; nil when it has none.
func (r *Runner) output(ctx context.Context, s *engine.State, node string) (json.RawMessage, error) {
	p := s.Nodes[node]
	if !p.Phase.Settled() || p.Out == "" {
		return nil, nil
	}
	run := s.RunID()
	if p.From != "" {
		run = p.From
	}
	steps, err := r.steps(ctx, s, run, p.Out)
	if err != nil {
		return nil, err
	}
	if len(steps) == 0 {
		return nil, fault.New(fault.Internal, "the output of %s is not stored: %s of %s", node, p.Out, run)
	}
	return steps[0].Result, nil
}

// resolve returns what a reference means: input, {node}, or a member of either.
// nil: there is no such member.
func (r *Runner) resolve(ctx context.Context, s *engine.State, ref string) (json.RawMessage, error) {
	head, path, _ := strings.Cut(ref, ".")
	var whole json.RawMessage
	var err error
	if head == "input" {
		whole, err = r.input(ctx, s)
	} else {
		whole, err = r.output(ctx, s, head)
	}
	if err != nil || whole == nil || path == "" {
		return whole, err
	}
	return member(whole, path), nil
}

// member returns a member of JSON by its path of names and array indexes; nil
// when there is none.
func member(raw json.RawMessage, path string) json.RawMessage {
	for name := range strings.SplitSeq(path, ".") {
		if i, err := strconv.Atoi(name); err == nil && len(raw) > 0 && raw[0] == '[' {
			var list []json.RawMessage
			if json.Unmarshal(raw, &list) != nil || i < 0 || i >= len(list) {
				return nil
			}
			raw = list[i]
			continue
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil {
			return nil
		}
		raw = object[name]
	}
	return raw
}

// facts takes what conditions of the flow read out of an output ("input": out of
// the run's input); nil when they read nothing of it.
func facts(f *engine.Flow, of string, payload json.RawMessage) map[string]any {
	var found map[string]any
	for _, ref := range f.Facts(of) {
		var v any
		_, path, _ := strings.Cut(ref, ".")
		if raw := member(payload, path); raw == nil || json.Unmarshal(raw, &v) != nil {
			continue
		}
		if v = engine.Fact(v); v == nil {
			continue
		}
		if found == nil {
			found = map[string]any{}
		}
		found[ref] = v
	}
	return found
}
