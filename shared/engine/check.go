package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var nodeName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// generation of Next's behaviour that this code has.
const generation = 1

// checker gathers the faults of a flow, each with its path.
type checker struct {
	flow  *Flow
	seen  map[string]bool
	above map[string]map[string]bool // by node: everything it needs, directly or not
	errs  []error
}

func (c *checker) bad(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

// Check returns every fault of the flow, joined, each with its path: bad and
// repeated names, needs that do not exist, cycles, references to what a node
// does not need, outputs that nothing can reach, work whose result nobody reads,
// budgets out of range. Whether agents exist and schemas compile, others know.
func (f *Flow) Check() error {
	c := &checker{flow: f, seen: map[string]bool{}, above: map[string]map[string]bool{}}
	c.head()
	for i := range f.Nodes {
		c.name(i)
	}
	for i, n := range f.Nodes {
		for j, need := range n.Needs {
			if !c.seen[need] {
				c.bad("nodes[%d].needs[%d]: there is no node %q", i, j, need)
			}
		}
	}
	if loop := f.cycle(); loop != "" {
		c.bad("nodes: %q needs itself, through its needs", loop)
	}
	for i := range f.Nodes {
		c.above[f.Nodes[i].Name] = f.above(f.Nodes[i].Name)
	}
	for i := range f.Nodes {
		c.node(fmt.Sprintf("nodes[%d]", i), &f.Nodes[i])
	}
	c.facts()
	c.outputs()
	return errors.Join(c.errs...)
}

func (c *checker) head() {
	f := c.flow
	if !nodeName.MatchString(f.ID) {
		c.bad("id: %q is not a name of small letters, digits and underscores", f.ID)
	}
	if f.Engine != generation {
		c.bad("engine: %d is not a generation this code has, wanted %d", f.Engine, generation)
	}
	if len(f.Nodes) == 0 || len(f.Nodes) > MaxNodes {
		c.bad("nodes: wanted 1 to %d, not %d", MaxNodes, len(f.Nodes))
	}
	if f.Budget <= 0 {
		c.bad("budget: %v is not a positive duration", f.Budget)
	}
	if f.Input != "" && !nodeName.MatchString(f.Input) {
		c.bad("input: %q is not a name of small letters, digits and underscores", f.Input)
	}
	if f.MaxParallel < 0 || f.MaxParallel > maxParallel {
		c.bad("maxParallel: %d is not within 1 and %d; wider work is a fan-out", f.MaxParallel, maxParallel)
	}
	if f.Overdue < 0 {
		c.bad("overdue: %v is negative", f.Overdue)
	}
}

func (c *checker) name(i int) {
	name := c.flow.Nodes[i].Name
	switch {
	case !nodeName.MatchString(name):
		c.bad("nodes[%d].name: %q is not a name of small letters, digits and underscores", i, name)
	case name == inputRef:
		c.bad("nodes[%d].name: %q is what the run's input is called", i, name)
	case strings.Contains(name, "_attempt_"):
		c.bad("nodes[%d].name: %q is how the scores of attempts are called", i, name)
	case c.seen[name]:
		c.bad("nodes[%d].name: %q is there twice", i, name)
	}
	c.seen[name] = true
}

func (c *checker) node(path string, n *Node) {
	if n.Agent == "" {
		c.bad("%s.agent: a node names its agent", path)
	}
	if n.Weight < 0 {
		c.bad("%s.weight: %d is negative", path, n.Weight)
	}
	if n.Timeout <= 0 {
		c.bad("%s.timeout: %v is not a positive duration", path, n.Timeout)
	}
	if n.Retry.Tries < 1 || n.Retry.Base <= 0 || n.Retry.Cap < n.Retry.Base {
		c.bad("%s.retry: wanted tries of at least 1 and 0 < base ≤ cap, not %d, %v, %v", path, n.Retry.Tries, n.Retry.Base, n.Retry.Cap)
	}
	if n.Gate != nil {
		c.gate(path+".gate", n.Gate)
	}
	for i, w := range n.When {
		c.condition(fmt.Sprintf("%s.when[%d]", path, i), n, w)
	}
	for _, member := range slices.Sorted(maps.Keys(n.Input)) {
		c.reference(path+".inputs."+member, n, n.Input[member])
	}
	c.object(path+".schema", n.Schema)
	if n.FanOut != nil {
		c.fanOut(path+".fanOut", n)
	}
	if p := n.Pause; p != nil {
		if p.Prompt == "" {
			c.bad("%s.pause.prompt: a person is asked something", path)
		}
		if p.Expires < 0 {
			c.bad("%s.pause.expires: %v is negative", path, p.Expires)
		}
		c.object(path+".pause.schema", p.Schema)
	}
}

func (c *checker) gate(path string, g *Gate) {
	if g.Scorer == "" || g.Critic == "" {
		c.bad("%s: a gate names its scorer and its critic", path)
	}
	if g.Threshold < 0 || g.Threshold > 100 {
		c.bad("%s.threshold: %d is not within 0 and 100", path, g.Threshold)
	}
	if g.Retries < 0 || g.Retries > 10 {
		c.bad("%s.retries: %d is not within 0 and 10", path, g.Retries)
	}
	if g.Exhausted != Fail && g.Exhausted != Degrade && g.Exhausted != Ask {
		c.bad("%s.onExhausted: %q is not one of %q, %q and %q", path, g.Exhausted, Fail, Degrade, Ask)
	}
}

func (c *checker) fanOut(path string, n *Node) {
	f := n.FanOut
	c.reference(path+".over", n, f.Over)
	if f.Chunk < 1 {
		c.bad("%s.chunk: %d is not a number of items", path, f.Chunk)
	}
	if f.MaxParallel < 1 || f.MaxParallel > maxFanParallel {
		c.bad("%s.maxParallel: %d is not within 1 and %d", path, f.MaxParallel, maxFanParallel)
	}
	if f.OnItemError != FailAll && f.OnItemError != Collect {
		c.bad("%s.onItemError: %q is neither %q nor %q", path, f.OnItemError, FailAll, Collect)
	}
}

// reference checks that a node can have what it refers to.
func (c *checker) reference(path string, n *Node, ref string) {
	head, _, _ := strings.Cut(ref, ".")
	switch {
	case head == inputRef || c.above[n.Name][head]:
	case c.seen[head]:
		c.bad("%s: %q is not among the needs of %q", path, head, n.Name)
	default:
		c.bad("%s: %q begins neither with %q nor with a node", path, ref, inputRef)
	}
	if slices.Contains(strings.Split(ref, "."), "") {
		c.bad("%s: %q has an empty member name", path, ref)
	}
}

// facts checks that the state of a run has room for what conditions read.
func (c *checker) facts() {
	read, room := map[string]bool{}, maxFacts
	for _, n := range c.flow.Nodes {
		for _, w := range n.When {
			if !read[w.Fact] {
				read[w.Fact] = true
				room -= len(w.Fact) + maxFact
			}
		}
	}
	if room < 0 {
		c.bad("nodes: their conditions read %d facts, which may take %d bytes; there is room for %d", len(read), maxFacts-room, maxFacts)
	}
}

func (c *checker) object(path string, schema json.RawMessage) {
	var v map[string]json.RawMessage
	if len(schema) > 0 && json.Unmarshal(schema, &v) != nil {
		c.bad("%s: wanted a JSON object", path)
	}
}

// outputs checks that what the run is for can be reached, and that no node works
// for nobody. A node is out of reach when something above it does not exist or
// needs itself.
func (c *checker) outputs() {
	used := map[string]bool{}
	for i, name := range c.flow.Outputs {
		used[name] = true
		switch {
		case !c.seen[name]:
			c.bad("outputs[%d]: there is no node %q", i, name)
		case !c.reachable(name):
			c.bad("outputs[%d]: %q is never reached", i, name)
		}
		for above := range c.above[name] {
			used[above] = true
		}
	}
	if len(c.flow.Outputs) == 0 {
		return
	}
	for i, n := range c.flow.Nodes {
		if !used[n.Name] {
			c.bad("nodes[%d]: no output of the flow needs %q", i, n.Name)
		}
	}
}

func (c *checker) reachable(name string) bool {
	if c.above[name][name] {
		return false
	}
	for above := range c.above[name] {
		if !c.seen[above] || c.above[above][above] {
			return false
		}
	}
	return true
}

// above returns everything a node needs, directly or not; itself only when it is
// on a cycle.
func (f *Flow) above(name string) map[string]bool {
	all := map[string]bool{}
	n := f.Node(name)
	if n == nil {
		return all
	}
	for next := slices.Clone(n.Needs); len(next) > 0; next = next[1:] {
		if need := next[0]; !all[need] {
			all[need] = true
			if n := f.Node(need); n != nil {
				next = append(next, n.Needs...)
			}
		}
	}
	return all
}

// Above lists the nodes that a node needs, directly or not, in flow order.
func (f *Flow) Above(name string) []string {
	all := f.above(name)
	var names []string
	for _, n := range f.Nodes {
		if all[n.Name] {
			names = append(names, n.Name)
		}
	}
	return names
}

// Below lists the nodes that need a node, directly or not, in flow order.
func (f *Flow) Below(name string) []string {
	var names []string
	for _, n := range f.Nodes {
		if f.above(n.Name)[name] {
			names = append(names, n.Name)
		}
	}
	return names
}

// cycle returns a node that needs itself, or "".
func (f *Flow) cycle() string {
	for _, n := range f.Nodes {
		if f.above(n.Name)[n.Name] {
			return n.Name
		}
	}
	return ""
}

// Agents lists every agent that the flow calls, sorted.
func (f *Flow) Agents() []string {
	all := map[string]bool{}
	for _, n := range f.Nodes {
		all[n.Agent] = true
		if n.Gate != nil {
			all[n.Gate.Scorer], all[n.Gate.Critic] = true, true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
