package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// The scripts under testdata tell stories: a command, then what became of it.
//
//	flow chain|diamond|plain [retries=N] [threshold=N] [exhausted=fail|degrade|ask]
//	flow                         and the flow as JSON: see define
//	at 90s                       moves the clock to that time after the start
//	start [carried=NODE,…] [NODE.MEMBER=fact]… | cancel | deadline
//	ok STEP [score=N] [chunks=N] [NODE.MEMBER=fact]…
//	fail STEP [code=C] | retry STEP [after=D] | working STEP after=D
//	asks STEP | answer ID | accept ID | give-up ID | expire ID
//	late STEP since=D            the deadline of a try that began then
//	done NODE ATTEMPT [failed=N] [code=C]
//	hold | resume | schema N     (schema makes the run one of an older generation)
//	view | watch                 (watch: from now on say when the view is written)
//
// Rewrite them with: go test ./shared/engine -rewrite
func TestScripts(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		s := &script{at: epoch}
		datadriven.RunTest(t, path, s.run)
	})
}

var epoch = time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)

type script struct {
	flow  Flow
	state State
	at    time.Time
	watch bool
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "flow":
		s.flow, s.state, s.at = newFlow(t, d), State{}, epoch
		return fmt.Sprintf("%d nodes\n", len(s.flow.Nodes))
	case "at":
		s.at = epoch.Add(duration(t, d, d.CmdArgs[0].Key))
		return ""
	case "schema":
		s.state.Schema, _ = strconv.Atoi(d.CmdArgs[0].Key)
		return ""
	case "watch":
		s.watch = true
		return ""
	case "view":
		return describeView(Project(&s.flow, s.state))
	}
	before, e := s.state, s.event(t, d)
	if d.Cmd == "start" && d.HasArg("carried") {
		before = State{} // it is another run
	}
	next, effects, verdict := Next(&s.flow, before, e, s.at)
	if err := check(&s.flow, before, next, e, effects, verdict); err != nil {
		t.Errorf("%s: %v", d.Pos, err)
	}
	if verdict == Applied {
		s.state = next
	}
	out := fmt.Sprintf("%s\n", verdict) + describe(&s.flow, before, next, effects)
	if s.watch && verdict == Applied {
		out += fmt.Sprintf("  view written: %t\n", effects.View)
	}
	return out
}

// event builds the event that a command stands for.
func (s *script) event(t *testing.T, d *datadriven.TestData) Event {
	t.Helper()
	first := ""
	if len(d.CmdArgs) > 0 {
		first = d.CmdArgs[0].Key
	}
	step := StepID(first)
	switch d.Cmd {
	case "start":
		return s.start(d)
	case "cancel":
		return CancelRequested{By: "anna"}
	case "deadline":
		return DeadlinePassed{}
	case "late":
		return DeadlinePassed{Step: step, Since: epoch.Add(duration(t, d, arg(d, "since", "0s")))}
	case "expire":
		return DeadlinePassed{Input: first}
	case "ok":
		return Finished{Step: step, Score: integer(d, "score"), Facts: facts(d), Fan: s.fan(step, d)}
	case "fail":
		return Finished{Step: step, Failure: &Error{Code: arg(d, "code", CodeAgentFailed), Message: "It broke."}}
	case "retry", "working":
		return Retryable{
			Step: step, After: duration(t, d, arg(d, "after", "0s")), Working: d.Cmd == "working",
			Failure: Error{Code: CodeAgentFailed, Message: "It is away."},
		}
	case "asks":
		return InputNeeded{Step: step, Prompt: "Which one?"}
	case "answer":
		return InputGiven{ID: first, By: "anna", Decision: Answer}
	case "accept":
		return InputGiven{ID: first, By: "anna", Decision: Accept}
	case "give-up":
		return InputGiven{ID: first, By: "anna", Decision: GiveUp}
	case "done":
		return s.shardsDone(d)
	case "hold":
		return HoldRequested{By: "anna", Reason: "the client calls"}
	case "resume":
		return ResumeRequested{By: "anna"}
	default:
		t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
		return nil
	}
}

// start begins the run, or, with carried nodes, the run that tries it again.
func (s *script) start(d *datadriven.TestData) Event {
	e := Started{EstimateID: "est-1", Owner: "anna", N: 1, Input: "h", Facts: facts(d)}
	if names := arg(d, "carried", ""); names != "" {
		e.Parent, e.N, e.Carried = s.state.RunID(), s.state.N+1, map[string]Progress{}
		for name := range strings.SplitSeq(names, ",") {
			p := s.state.Nodes[name]
			p.From = s.state.RunID()
			e.Carried[name] = p
		}
	}
	return e
}

func (s *script) fan(step StepID, d *datadriven.TestData) *Fan {
	chunks, ok := d.Arg("chunks")
	r, _ := step.Ref()
	if !ok {
		return nil
	}
	n, _ := strconv.Atoi(chunks.Vals[0])
	fan := s.flow.Node(r.Node).FanOut.Fan(n)
	return &fan
}

func (s *script) shardsDone(d *datadriven.TestData) Event {
	e := ShardsDone{Node: d.CmdArgs[0].Key, Failed: integer(d, "failed")}
	e.Attempt, _ = strconv.Atoi(d.CmdArgs[1].Key)
	if code := arg(d, "code", ""); code != "" {
		e.Failure = &Error{Code: code, Message: "A chunk broke."}
	}
	return e
}

func arg(d *datadriven.TestData, key, otherwise string) string {
	if v, ok := d.Arg(key); ok && len(v.Vals) > 0 {
		return strings.Join(v.Vals, ",")
	}
	return otherwise
}

func integer(d *datadriven.TestData, key string) int {
	n, _ := strconv.Atoi(arg(d, key, "0"))
	return n
}

func duration(t *testing.T, d *datadriven.TestData, s string) time.Duration {
	t.Helper()
	v, err := time.ParseDuration(s)
	if err != nil {
		t.Fatalf("%s: %v", d.Pos, err)
	}
	return v
}

// facts are the arguments whose names have a dot.
func facts(d *datadriven.TestData) map[string]any {
	var all map[string]any
	for _, a := range d.CmdArgs {
		if !strings.Contains(a.Key, ".") || len(a.Vals) == 0 {
			continue
		}
		if all == nil {
			all = map[string]any{}
		}
		var v any
		if json.Unmarshal([]byte(a.Vals[0]), &v) != nil {
			v = a.Vals[0]
		}
		all[a.Key] = Fact(v)
	}
	return all
}

func newFlow(t *testing.T, d *datadriven.TestData) Flow {
	t.Helper()
	f := Flow{}
	if len(d.CmdArgs) == 0 {
		f = define(t, d.Input)
	} else {
		gate := Gate{Threshold: 80, Retries: 2, Exhausted: Fail}
		d.MaybeScanArgs(t, "retries", &gate.Retries)
		d.MaybeScanArgs(t, "threshold", &gate.Threshold)
		gate.Exhausted = Exhausted(arg(d, "exhausted", string(Fail)))
		f = shapes(gate)[d.CmdArgs[0].Key]
	}
	if err := f.Check(); err != nil {
		t.Fatalf("%s: %v", d.Pos, err)
	}
	return f
}

// define reads a flow of which a script says only what matters to its story; the
// rest is filled in: one hour for the run, one minute and three tries for a call,
// scorer and critic named after the node.
func define(t *testing.T, text string) Flow {
	t.Helper()
	f, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("Parse(%s): %v", text, err)
	}
	f.ID, f.Engine, f.Budget = "story", 1, time.Hour
	for i := range f.Nodes {
		n := &f.Nodes[i]
		n.Agent, n.Weight, n.Timeout = n.Name, 10, time.Minute
		n.Retry = Retry{Tries: 3, Base: 30 * time.Second, Cap: 15 * time.Minute}
		if n.Gate != nil {
			n.Gate.Scorer, n.Gate.Critic = n.Name+"_scorer", n.Name+"_critic"
		}
	}
	return *f
}

// shapes are the flows that many scripts run: a chain of two, a diamond whose
// middle runs in parallel, and a single node without a gate.
func shapes(gate Gate) map[string]Flow {
	node := func(name string, needs ...string) Node {
		g := gate
		g.Scorer, g.Critic = name+"_scorer", name+"_critic"
		return Node{
			Name: name, Agent: name, Needs: needs, Gate: &g, Weight: 10, Timeout: time.Minute,
			Retry: Retry{Tries: 3, Base: 30 * time.Second, Cap: 15 * time.Minute},
		}
	}
	plain := node("work")
	plain.Gate = nil
	return map[string]Flow{
		"chain":   {ID: "chain", Engine: 1, Budget: time.Hour, Nodes: []Node{node("location"), node("cost", "location")}},
		"diamond": {ID: "diamond", Engine: 1, Budget: time.Hour, Nodes: []Node{node("a"), node("b", "a"), node("c", "a"), node("d", "b", "c")}},
		"plain":   {ID: "plain", Engine: 1, Budget: time.Hour, Nodes: []Node{plain}},
	}
}

func describe(f *Flow, before, s State, effects Effects) string {
	var b strings.Builder
	if s.Rev == before.Rev {
		return "  nothing changed\n"
	}
	fmt.Fprintf(&b, "  run %s rev %d", s.Status, s.Rev)
	if s.Error != nil {
		fmt.Fprintf(&b, " error %s of %s", s.Error.Code, s.Error.Agent)
	}
	if len(s.Flags) > 0 {
		fmt.Fprintf(&b, " flags %v", s.Flags)
	}
	b.WriteString("\n")
	if before.Rev > 0 && !s.DeadlineAt.Equal(before.DeadlineAt) {
		fmt.Fprintf(&b, "  deadline moved by %v\n", s.DeadlineAt.Sub(before.DeadlineAt))
	}
	for _, n := range f.Nodes {
		describeNode(&b, n, before.Nodes[n.Name], s.Nodes[n.Name])
	}
	for _, id := range slices.Sorted(maps.Keys(s.Open)) {
		if step := s.Open[id]; step.NotBefore != nil && step.NotBefore.After(s.UpdatedAt) {
			fmt.Fprintf(&b, "  waits %s after try %d, %.0fs\n", id, step.Tries, step.NotBefore.Sub(s.UpdatedAt).Seconds())
		}
	}
	describeEffects(&b, s, effects)
	return b.String()
}

func describeNode(b *strings.Builder, n Node, was, p Progress) {
	if fmt.Sprint(p) == fmt.Sprint(was) {
		return
	}
	fmt.Fprintf(b, "  %s: %s attempt %d", n.Name, p.Phase, p.Attempt)
	if len(p.Scores) > 0 {
		fmt.Fprintf(b, " scores %v best %d", p.Scores, p.Best)
	}
	if p.Turn > 0 {
		fmt.Fprintf(b, " turn %d", p.Turn)
	}
	if p.Fan != nil {
		fmt.Fprintf(b, " chunks %d shards %d active %d failed %d", p.Fan.Chunks, p.Fan.Shards, p.Fan.Active, p.Fan.Failed)
	}
	if p.Made != "" && p.Phase.working() {
		fmt.Fprintf(b, " made %s", p.Made)
	}
	if p.Attempt > was.Attempt {
		fmt.Fprintf(b, " after %s", n.MadeBefore(p))
	}
	if p.From != "" {
		fmt.Fprintf(b, " carried %s from %s", p.Out, p.From)
	}
	if p.Err != nil && p.Phase != NodeFailed {
		fmt.Fprintf(b, " because %s", p.Err.Code)
	}
	b.WriteString("\n")
}

func describeEffects(b *strings.Builder, s State, effects Effects) {
	for _, q := range effects.Ask {
		fmt.Fprintf(b, "  question %s of %s (%s) for %v: %s\n", q.ID, q.Node, q.Kind, q.ExpiresAt.Sub(s.UpdatedAt), q.Prompt)
	}
	for _, o := range effects.Outputs {
		fmt.Fprintf(b, "  output of %s: %s (%s)\n", o.Node, o.Step, o.Phase)
	}
	if len(effects.Cancel) > 0 {
		fmt.Fprintf(b, "  cancel %v\n", effects.Cancel)
	}
	if len(effects.Publish) > 0 {
		fmt.Fprintf(b, "  publish %v\n", effects.Publish)
	}
}

func describeView(v View) string {
	current := "null"
	if v.CurrentAgent != nil {
		current = *v.CurrentAgent
	}
	var b strings.Builder
	fmt.Fprintf(&b, "status %s, current %s, progress %d, completed %v\n", v.Status, current, v.Progress, v.CompletedAgents)
	if v.Hold != nil {
		fmt.Fprintf(&b, "  held by %s: %s\n", v.Hold.By, v.Hold.Reason)
	}
	for _, q := range v.Questions {
		fmt.Fprintf(&b, "  question %s of %s (%s): %s\n", q.InputID, q.Agent, q.Kind, q.Prompt)
	}
	for _, k := range slices.Sorted(maps.Keys(v.Scores)) {
		fmt.Fprintf(&b, "  scores.%s %d\n", k, v.Scores[k])
	}
	for _, k := range slices.Sorted(maps.Keys(v.AgentStatuses)) {
		fmt.Fprintf(&b, "  %s %s, retries %d\n", k, v.AgentStatuses[k], v.Retries[k])
	}
	return b.String()
}
