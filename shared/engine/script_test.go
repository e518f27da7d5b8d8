package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// The scripts under testdata tell stories: a command, then what became of it.
//
//	flow chain|diamond|plain [retries=N] [threshold=N] [exhausted=fail|degrade]
//	at 90s                       moves the clock to that time after the start
//	start | cancel | deadline
//	ok STEP | ok STEP score=N | fail STEP code=C | retry STEP [after=D]
//	view
//
// Rewrite them with: go test ./shared/engine -rewrite
func TestScripts(t *testing.T) {
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
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "flow":
		s.flow, s.state = newFlow(t, d), State{}
		return fmt.Sprintf("%d nodes\n", len(s.flow.Nodes))
	case "at":
		after, err := time.ParseDuration(d.CmdArgs[0].Key)
		if err != nil {
			t.Fatal(err)
		}
		s.at = epoch.Add(after)
		return ""
	case "view":
		return describeView(Project(&s.flow, s.state))
	}
	before := s.state
	next, effects, verdict := Next(&s.flow, s.state, s.event(t, d), s.at)
	if err := check(&s.flow, before, next, verdict); err != nil {
		t.Errorf("%s: %v", d.Pos, err)
	}
	s.state = next
	return fmt.Sprintf("%s\n", verdict) + describe(&s.flow, before, next, effects)
}

func (s *script) event(t *testing.T, d *datadriven.TestData) Event {
	t.Helper()
	arg := func(key, otherwise string) string {
		if v, ok := d.Arg(key); ok {
			return v.Vals[0]
		}
		return otherwise
	}
	var step StepID
	if len(d.CmdArgs) > 0 {
		step = StepID(d.CmdArgs[0].Key)
	}
	switch d.Cmd {
	case "start":
		return Started{EstimateID: "est-1", Owner: "anna", N: 1, Input: "h"}
	case "cancel":
		return CancelRequested{By: "anna"}
	case "deadline":
		return DeadlinePassed{}
	case "ok":
		score := 0
		fmt.Sscan(arg("score", "0"), &score)
		return Finished{Step: step, Score: score}
	case "fail":
		return Finished{Step: step, Failure: &Error{Code: arg("code", CodeAgentFailed), Message: "It broke."}}
	case "retry":
		after, _ := time.ParseDuration(arg("after", "0s"))
		return Retryable{Step: step, After: after, Failure: Error{Code: CodeAgentFailed, Message: "It is away."}}
	default:
		t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
		return nil
	}
}

func newFlow(t *testing.T, d *datadriven.TestData) Flow {
	t.Helper()
	gate := Gate{Threshold: 80, Retries: 2, Exhausted: Fail}
	for _, a := range d.CmdArgs[1:] {
		switch a.Key {
		case "retries":
			fmt.Sscan(a.Vals[0], &gate.Retries)
		case "threshold":
			fmt.Sscan(a.Vals[0], &gate.Threshold)
		case "exhausted":
			gate.Exhausted = Exhausted(a.Vals[0])
		}
	}
	f := shapes(gate)[d.CmdArgs[0].Key]
	if err := f.Check(); err != nil {
		t.Fatalf("%s: %v", d.Pos, err)
	}
	return f
}

// shapes are the flows that tests run: a chain of two, a diamond whose middle
// runs in parallel, and a single node without a gate.
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
	for _, n := range f.Nodes {
		p, was := s.Nodes[n.Name], before.Nodes[n.Name]
		if fmt.Sprint(p) == fmt.Sprint(was) {
			continue
		}
		fmt.Fprintf(&b, "  %s: %s attempt %d", n.Name, p.Phase, p.Attempt)
		if len(p.Scores) > 0 {
			fmt.Fprintf(&b, " scores %v best %d", p.Scores, p.Best)
		}
		b.WriteString("\n")
	}
	for _, id := range slices.Sorted(mapKeys(s.Open)) {
		step := s.Open[id]
		if step.Tries > 0 {
			fmt.Fprintf(&b, "  waits %s after try %d, %.0fs\n", id, step.Tries, step.NotBefore.Sub(s.UpdatedAt).Seconds())
		}
	}
	for _, o := range effects.Outputs {
		fmt.Fprintf(&b, "  output of %s: %s (%s)\n", o.Node, o.Step, o.Phase)
	}
	if len(effects.Cancel) > 0 {
		fmt.Fprintf(&b, "  cancel %v\n", effects.Cancel)
	}
	if len(effects.Publish) > 0 {
		fmt.Fprintf(&b, "  publish %v\n", effects.Publish)
	}
	return b.String()
}

func describeView(v View) string {
	current := "null"
	if v.CurrentAgent != nil {
		current = *v.CurrentAgent
	}
	var b strings.Builder
	fmt.Fprintf(&b, "status %s, current %s, progress %d, completed %v\n", v.Status, current, v.Progress, v.CompletedAgents)
	for _, k := range slices.Sorted(mapKeys(v.Scores)) {
		fmt.Fprintf(&b, "  scores.%s %d\n", k, v.Scores[k])
	}
	for _, k := range slices.Sorted(mapKeys(v.AgentStatuses)) {
		fmt.Fprintf(&b, "  %s %s, retries %d\n", k, v.AgentStatuses[k], v.Retries[k])
	}
	return b.String()
}
