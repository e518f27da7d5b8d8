package flows

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/schema"
)

// Problem is one thing that is wrong with a flow.
type Problem struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// String returns path and message.
func (p Problem) String() string { return p.Path + ": " + p.Message }

// InvalidError is a flow that may not run.
type InvalidError struct {
	Problems []Problem // at least one, in flow order
}

// Error lists the problems, one per line.
func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Unwrap makes the kind fault.Invalid and the public message the whole list.
func (e *InvalidError) Unwrap() error {
	return &fault.Error{Kind: fault.Invalid, Msg: e.Error(), Details: e.Problems}
}

// Check proves that a flow may run: what the engine asks of it, that every agent
// it names is among agents, and that its schemas compile. It returns an
// *InvalidError with every problem, those of a node together, in flow order.
func Check(f *engine.Flow, agents map[string]bool) error {
	found := flatten(f.Check())
	for i := range f.Nodes {
		n := &f.Nodes[i]
		for _, named := range []struct{ member, agent string }{{"agent", n.Agent}, {"gate.scorer", scorer(n)}, {"gate.critic", critic(n)}} {
			if named.agent != "" && !agents[named.agent] { // an empty one is the engine's to refuse
				found = append(found, Problem{fmt.Sprintf("nodes[%d].%s", i, named.member), fmt.Sprintf("there is no agent %q", named.agent)})
			}
		}
		found = append(found, compiles(fmt.Sprintf("nodes[%d].schema", i), n.Schema)...)
		if n.Pause != nil {
			found = append(found, compiles(fmt.Sprintf("nodes[%d].pause.schema", i), n.Pause.Schema)...)
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b Problem) int { return cmp.Compare(a.node(), b.node()) })
	return &InvalidError{slices.Compact(found)}
}

func scorer(n *engine.Node) string {
	if n.Gate == nil {
		return ""
	}
	return n.Gate.Scorer
}

func critic(n *engine.Node) string {
	if n.Gate == nil {
		return ""
	}
	return n.Gate.Critic
}

// compiles reports why a schema does not; one that is no object at all is the
// engine's to refuse.
func compiles(path string, raw json.RawMessage) []Problem {
	if trimmed := strings.TrimSpace(string(raw)); !strings.HasPrefix(trimmed, "{") {
		return nil
	}
	if _, err := schema.Compile(raw); err != nil {
		return []Problem{{path, fault.Public(err)}}
	}
	return nil
}

// flatten takes the engine's joined errors apart.
func flatten(err error) []Problem {
	if err == nil {
		return nil
	}
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		path, message, ok := strings.Cut(err.Error(), ": ")
		if !ok {
			return []Problem{{"flow", err.Error()}}
		}
		return []Problem{{path, message}}
	}
	var all []Problem
	for _, e := range joined.Unwrap() {
		all = append(all, flatten(e)...)
	}
	return all
}

// node is the index of the node a problem is in; what is said of the whole flow
// stands before the nodes, what is said of its outputs behind them.
func (p Problem) node() int {
	var i int
	if _, err := fmt.Sscanf(p.Path, "nodes[%d]", &i); err == nil {
		return i
	}
	if strings.HasPrefix(p.Path, "outputs") {
		return math.MaxInt
	}
	return -1
}
