package simulation

import (
	"encoding/json"
	"slices"
	"strings"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
)

// What is checked of the documents that are left, and of the ledger.

// calls holds the ledger against the steps: I5, I6.
func (a *audit) calls() {
	a.commit = nil
	known := map[string]bool{}
	for _, h := range a.steps {
		if h.step.Call != "" {
			known[h.step.Agent+"/"+h.step.Call] = true
			// An output that breaks its schema is asked for once more.
			known[h.step.Agent+"/"+runner.CallID(h.step.Run, h.step.ID+"/again")] = a.w.plot.Sloppy == h.step.Agent
		}
	}
	paid, fell := map[string]int{}, map[string]int{}
	for _, e := range a.w.agents.ledger {
		key := e.Agent + "/" + e.Call
		if !known[key] && !a.removed {
			a.bad("I5", "%s worked without a claim", key)
		}
		paid[key]++
		if e.Fell {
			fell[key]++
		}
	}
	for _, key := range sorted(paid) {
		allowed := 1 + fell[key]
		if a.w.plot.Forgetful {
			allowed = 1
		}
		if paid[key] > allowed {
			a.bad("I6", "%s was paid %d times, and its agent fell %d times", key, paid[key], fell[key])
		}
	}
}

// writes counts the writes of every document: I16.
func (a *audit) writes() {
	bill := a.w.store.Bill()
	for id, s := range a.states {
		if n := bill.Writes["runs/"+id]; n != s.Rev {
			a.bad("I16", "%s was written %d times in %d revs", id, n, s.Rev)
		}
	}
	for path, h := range a.steps {
		if a.removed {
			continue
		}
		if most := 2*h.step.Fence + h.beats + h.touches + h.ended; h.writes > most {
			a.bad("I16", "%s was written %d times, at most %d would do", path, h.writes, most)
		}
	}
}

// outputs checks what is left for readers: I15, I21.
func (a *audit) outputs() {
	for _, id := range sorted(a.states) {
		s := a.states[id]
		for _, n := range a.flow.Nodes {
			p := s.Nodes[n.Name]
			if slices.Contains(s.Carried, n.Name) {
				a.carried(id, n.Name)
			}
			if p.Phase != engine.Passed && p.Phase != engine.Degraded || p.Out == "" {
				continue
			}
			run := id
			if p.From != "" {
				run = p.From
			}
			h, there := a.steps["runs/"+run+"/steps/"+string(p.Out)]
			if !there || h.step.Status != runner.Done {
				a.bad("I21", "the output of %s, %s of %s, is not there", n.Name, p.Out, run)
				continue
			}
			if n.FanOut != nil && p.Fan != nil && p.Best == p.Attempt { // it tells of the last attempt
				a.collected(&n, p, h.step)
			}
		}
	}
}

func (a *audit) carried(run, node string) {
	for _, path := range sorted(a.steps) {
		if strings.HasPrefix(path, "runs/"+run+"/steps/"+node+".") {
			a.bad("I21", "%s is called for a node that was carried", path)
		}
	}
}

// collected checks the output of a fan-out: every chunk once, in order.
func (a *audit) collected(n *engine.Node, p engine.Progress, join runner.Step) {
	var all struct {
		Results []*struct{ First int }
		Failed  []int
	}
	if err := json.Unmarshal(join.Result, &all); err != nil {
		a.bad("I15", "the output of %s: %v", n.Name, err)
		return
	}
	var failed []int
	for i, r := range all.Results {
		if r == nil {
			failed = append(failed, i)
		} else if r.First != i*n.FanOut.Chunk {
			a.bad("I15", "chunk %d of %s begins at item %d", i, n.Name, r.First)
		}
	}
	if len(all.Results) != p.Fan.Chunks || !slices.Equal(failed, all.Failed) && len(failed)+len(all.Failed) > 0 || len(failed) != p.Fan.Failed {
		a.bad("I15", "%s has %d results, %v of them failed, said to be %v; wanted %d and %d", n.Name, len(all.Results), failed, all.Failed, p.Fan.Chunks, p.Fan.Failed)
	}
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
