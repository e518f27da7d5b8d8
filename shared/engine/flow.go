package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"
)

// Flow is the immutable definition of a kind of run: a graph of nodes. It is
// addressed by its Hash, and a run keeps the flow it began with.
type Flow struct {
	ID     string        `json:"id"`
	Engine int           `json:"engine"` // generation of Next's behaviour this flow was written for
	Nodes  []Node        `json:"nodes"`  // in the order frontends show them
	Budget time.Duration `json:"budget"` // working time of a run, after which it fails
}

// Node is a vertex: an agent's work and, with a Gate, the judgment on it.
type Node struct {
	Name    string        `json:"name"`
	Agent   string        `json:"agent"`
	Needs   []string      `json:"needs,omitempty"` // nodes that must have passed or degraded, and whose outputs this one reads
	Gate    *Gate         `json:"gate,omitempty"`  // nil: the first valid output passes
	Weight  int           `json:"weight"`          // share of the progress bar
	Timeout time.Duration `json:"timeout"`         // of one call
	Retry   Retry         `json:"retry"`
}

// Gate is the validation loop of a node.
type Gate struct {
	Scorer    string    `json:"scorer"`
	Critic    string    `json:"critic"`
	Threshold int       `json:"threshold"` // 0–100; a score at or above it passes
	Retries   int       `json:"retries"`   // quality retries after the first attempt
	Exhausted Exhausted `json:"onExhausted"`
}

// Exhausted says what becomes of a node that no attempt brought through.
type Exhausted string

// What a node may become. A question to a person will be a third.
const (
	Fail    Exhausted = "fail"    // the run fails
	Degrade Exhausted = "degrade" // the run goes on with the best attempt and is marked partial
)

// Retry is the durable budget for transport failures. It never costs a quality
// attempt.
type Retry struct {
	Tries int           `json:"tries"` // calls of one step in all
	Base  time.Duration `json:"base"`  // first pause; doubles per try
	Cap   time.Duration `json:"cap"`   // longest pause
}

// Hash returns the content address of f.
func (f *Flow) Hash() string {
	b, err := json.Marshal(f)
	if err != nil {
		panic(err) // a Flow is plain data
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Node returns the node called name, or nil.
func (f *Flow) Node(name string) *Node {
	for i := range f.Nodes {
		if f.Nodes[i].Name == name {
			return &f.Nodes[i]
		}
	}
	return nil
}

var nodeName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// Check returns every fault of the flow, joined: bad and repeated names, needs
// that do not exist, cycles, gates and budgets out of range.
func (f *Flow) Check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !nodeName.MatchString(f.ID) {
		bad("id: %q is not a name of small letters, digits and underscores", f.ID)
	}
	if len(f.Nodes) == 0 {
		bad("nodes: a flow has at least one node")
	}
	if f.Budget <= 0 {
		bad("budget: %v is not a positive duration", f.Budget)
	}
	seen := map[string]bool{}
	for i, n := range f.Nodes {
		path := fmt.Sprintf("nodes[%d]", i)
		switch {
		case !nodeName.MatchString(n.Name):
			bad("%s.name: %q is not a name of small letters, digits and underscores", path, n.Name)
		case seen[n.Name]:
			bad("%s.name: %q is there twice", path, n.Name)
		}
		seen[n.Name] = true
		errs = append(errs, n.check(path)...)
	}
	for i, n := range f.Nodes {
		for j, need := range n.Needs {
			if !seen[need] {
				bad("nodes[%d].needs[%d]: there is no node %q", i, j, need)
			}
		}
	}
	if loop := f.cycle(); loop != "" {
		bad("nodes: %q needs itself, through its needs", loop)
	}
	return errors.Join(errs...)
}

func (n *Node) check(path string) (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(path+format, args...)) }
	if n.Agent == "" {
		bad(".agent: a node names its agent")
	}
	if n.Weight < 0 {
		bad(".weight: %d is negative", n.Weight)
	}
	if n.Timeout <= 0 {
		bad(".timeout: %v is not a positive duration", n.Timeout)
	}
	if n.Retry.Tries < 1 || n.Retry.Base <= 0 || n.Retry.Cap < n.Retry.Base {
		bad(".retry: wanted tries of at least 1 and 0 < base ≤ cap, not %d, %v, %v", n.Retry.Tries, n.Retry.Base, n.Retry.Cap)
	}
	if n.Gate != nil {
		errs = append(errs, n.Gate.check(path)...)
	}
	return errs
}

func (g *Gate) check(path string) (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(path+format, args...)) }
	if g.Scorer == "" || g.Critic == "" {
		bad(".gate: a gate names its scorer and its critic")
	}
	if g.Threshold < 0 || g.Threshold > 100 {
		bad(".gate.threshold: %d is not within 0 and 100", g.Threshold)
	}
	if g.Retries < 0 || g.Retries > 10 {
		bad(".gate.retries: %d is not within 0 and 10", g.Retries)
	}
	if g.Exhausted != Fail && g.Exhausted != Degrade {
		bad(".gate.onExhausted: %q is neither %q nor %q", g.Exhausted, Fail, Degrade)
	}
	return errs
}

// cycle returns a node on a cycle of needs, or "".
func (f *Flow) cycle() string {
	const visiting, done = 1, 2
	mark := map[string]int{}
	var visit func(name string) string
	visit = func(name string) string {
		switch mark[name] {
		case visiting:
			return name
		case done:
			return ""
		}
		mark[name] = visiting
		if n := f.Node(name); n != nil {
			for _, need := range n.Needs {
				if loop := visit(need); loop != "" {
					return loop
				}
			}
		}
		mark[name] = done
		return ""
	}
	for _, n := range f.Nodes {
		if loop := visit(n.Name); loop != "" {
			return loop
		}
	}
	return ""
}
