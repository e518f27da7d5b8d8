package script

import (
	"truecost.dev/shared/engine"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/runner"
)

// attempts of a node at most.
const attempts = 3

// End is how a run ends when nobody interferes.
type End struct {
	Status engine.Status // Completed or Failed
	Code   string        // of the run's error
	Agent  string        // the node it failed at
	Steps  []Call        // in order
	Nodes  []Node        // those that were begun in this run, in order
}

// Call is one call of an agent.
type Call struct {
	Step    engine.StepID
	ID      string
	Refused bool
}

// Node is what a node came to.
type Node struct {
	Name    string
	Passed  bool
	Attempt int // the last one
	Scores  []int
	Out     engine.StepID // the best attempt's; empty: none was judged
}

// Failure reports whether the run fails.
func (e *End) Failure() bool { return e.Status == engine.Failed }

// Passed returns the names of the nodes that passed in this run, in order.
func (e *End) Passed() []string {
	names := []string{}
	for _, n := range e.Nodes {
		if n.Passed {
			names = append(names, n.Name)
		}
	}
	return names
}

// Foretell returns the end of a run in which carried nodes have passed already.
func Foretell(run string, carried ...string) End {
	e := End{Status: engine.Completed}
	done := map[string]bool{}
	for _, name := range carried {
		done[name] = true
	}
	for _, name := range estimate.Agents {
		if done[name] {
			continue
		}
		n, code := e.node(run, name)
		e.Nodes = append(e.Nodes, n)
		if !n.Passed {
			e.Status, e.Code, e.Agent = engine.Failed, code, name
			break
		}
	}
	return e
}

// node works on one node; code is why it does not pass.
func (e *End) node(run, name string) (n Node, code string) {
	n.Name = name
	best := -1
	for n.Attempt = 0; ; n.Attempt++ {
		if e.call(run, name, n.Attempt, engine.RolePrimary).Refuses {
			return n, engine.CodeAgentFailed
		}
		judged := e.call(run, name, n.Attempt, engine.RoleScorer)
		if judged.Refuses {
			return n, engine.CodeValidationFailed
		}
		n.Scores = append(n.Scores, judged.Score)
		if judged.Score > best {
			best, n.Out = judged.Score, engine.Step(name, n.Attempt, engine.RolePrimary)
		}
		switch {
		case judged.Score >= PassMark:
			n.Passed = true
			return n, ""
		case n.Attempt == attempts-1:
			return n, engine.CodeRetriesExhausted
		}
		e.call(run, name, n.Attempt, engine.RoleCritic) // one that refuses changes nothing
	}
}

func (e *End) call(run, node string, attempt int, role engine.Role) Fate {
	step := engine.Step(node, attempt, role)
	id := runner.CallID(run, step)
	fate := Of(id)
	e.Steps = append(e.Steps, Call{Step: step, ID: id, Refused: fate.Refuses})
	return fate
}
