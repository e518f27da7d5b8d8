package runnertest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

// Paths of documents.

func runPath(id string) string { return "runs/" + id }

func stepPath(run string, id engine.StepID) string { return "runs/" + run + "/steps/" + string(id) }

func inputPath(run, id string) string { return "runs/" + run + "/inputs/" + id }

func shardPath(fan runner.FanID, index int) string {
	return fmt.Sprintf("runs/%s/shards/%s.%d.%d", fan.Run, fan.Node, fan.Attempt, index)
}

func keyPath(owner, key string) string { return fmt.Sprintf("idempotency/%q~%q", owner, key) }

func estimatePath(id string) string { return "estimates/" + id }

// stepFields is the document of a step. Payloads are bytes: encoding them as
// JSON within JSON would change them.
type stepFields struct {
	runner.Step
	Result []byte
}

func stepDocument(s runner.Step) (stepFields, limits) {
	s.Version, s.ReadAt = time.Time{}, time.Time{}
	result := s.Result
	s.Result = nil
	return stepFields{s, result}, limits{payload: inline(result, maxInline) - len(result)*4/3}
}

func (f stepFields) step() runner.Step {
	s := f.Step
	s.Result = f.Result
	return s
}

type inputFields struct {
	runner.Input
	Schema []byte
	Answer []byte
}

func inputDocument(in runner.Input) (inputFields, limits) {
	in.Version = time.Time{}
	f := inputFields{in, in.Schema, in.Answer}
	f.Input.Schema, f.Input.Answer = nil, nil
	return f, limits{payload: inline(in.Answer, maxInline) - len(in.Answer)*4/3}
}

func (f inputFields) input() runner.Input {
	in := f.Input
	in.Schema, in.Answer = f.Schema, f.Answer
	return in
}

// Estimate is the document that frontends watch.
type Estimate struct {
	Owner, Project string
	Fields         map[string]json.RawMessage // as started, and of runner.Documents
	View           engine.View
	Feedback       map[string]json.RawMessage
	Chunks         map[string]runner.ChunkProgress
	Outputs        map[string]int // by node: bytes of the output
	Clarification  []byte
}

// limits of the root: the clarification and the outputs have no index.
func (e *Estimate) limits() limits {
	bytes := inline(e.Clarification, maxOnRoot) - len(e.Clarification)*4/3
	for _, n := range e.Outputs {
		bytes += min(n, maxOnRoot)
	}
	return limits{payload: bytes}
}

// OutputDocument is the visible output of a node.
type OutputDocument struct {
	runner.Output
	Data []byte
}

func outputDocument(o runner.Output) (OutputDocument, limits) {
	d := OutputDocument{o, o.Data}
	d.Output.Data = nil
	return d, limits{payload: inline(o.Data, maxInline) - len(o.Data)*4/3}
}

// within reports whether a document lies in a collection below a run or an
// estimate: {top}/{parent}/{collection}/{id}.
func (r Revision) within(top, collection string) bool {
	parts := strings.Split(r.Path, "/")
	return len(parts) == 4 && parts[0] == top && parts[2] == collection
}

// State decodes a run; ok is false for any other document.
func (r Revision) State() (s engine.State, ok bool) {
	if !strings.HasPrefix(r.Path, "runs/") || strings.Count(r.Path, "/") != 1 {
		return s, false
	}
	decode(r.Fields, &s)
	return s, true
}

// Step decodes a step; ok is false for any other document.
func (r Revision) Step() (s runner.Step, ok bool) {
	if !r.within("runs", "steps") {
		return s, false
	}
	var f stepFields
	decode(r.Fields, &f)
	s = f.step()
	s.Version = r.Version
	return s, true
}

// Shard decodes a shard; ok is false for any other document.
func (r Revision) Shard() (s runner.Shard, ok bool) {
	if !r.within("runs", "shards") {
		return s, false
	}
	decode(r.Fields, &s.Shard)
	s.Version = r.Version
	return s, true
}

// Input decodes a question; ok is false for any other document.
func (r Revision) Input() (in runner.Input, ok bool) {
	if !r.within("runs", "inputs") {
		return in, false
	}
	var f inputFields
	decode(r.Fields, &f)
	in = f.input()
	in.Version = r.Version
	return in, true
}

// Estimate decodes an estimate; ok is false for any other document.
func (r Revision) Estimate() (e Estimate, ok bool) {
	if !strings.HasPrefix(r.Path, "estimates/") || strings.Count(r.Path, "/") != 1 {
		return e, false
	}
	decode(r.Fields, &e)
	return e, true
}

// Output decodes the output of a node; ok is false for any other document.
func (r Revision) Output() (o runner.Output, ok bool) {
	if !r.within("estimates", "agentOutputs") {
		return o, false
	}
	var d OutputDocument
	decode(r.Fields, &d)
	d.Output.Data = d.Data
	return d.Output, true
}
