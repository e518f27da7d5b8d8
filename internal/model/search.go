package model

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// model is one search.
type model struct {
	scenario   *Scenario
	table      *table
	mutant     Mutant
	shardMoves map[shardKey]shardMove
	ends       map[key]struct{} // worlds, bare, from which a fair schedule ends
	chunks     []uint8          // steps of the chunks
	most       int              // chunks in flight
	end        string           // how a run ends that is not canceled
	faultless  bool             // no fault is allowed
	violated   string
	unfair     bool // no fair schedules
}

// Result counts what a search saw.
type Result struct {
	Scenario    string
	States      int // distinct
	Transitions int
	Elapsed     time.Duration
	Cut         bool // the limit was reached before the end
	Violation   *Violation
}

// Violation is an invariant that does not hold, and how it comes to that.
type Violation struct {
	Broken string   // begins with the invariant: "I6: …"
	Path   []string // the shortest known list of actions
}

// Options of a search.
type Options struct {
	Faults Faults
	Mutant Mutant
	Limit  int // states after which the search stops; 0: none
}

func newModel(s *Scenario, o Options) (*model, world) {
	m := &model{
		scenario: s, table: newTable(s), mutant: o.Mutant,
		shardMoves: map[shardKey]shardMove{}, ends: map[key]struct{}{}, faultless: o.Faults == Faults{},
	}
	for i := range s.Fan.Chunks {
		m.chunks = append(m.chunks, m.chunkStep(i))
		m.most = s.Flow.Node(m.fanned()).FanOut.MaxParallel
	}
	start := m.table.moves[moveKey{}]
	return m, world{run: start.next, view: start.next, bag: start.publish, left: o.Faults}
}

// frame is a world on the way of the search, and what is still to be tried there.
type frame struct {
	world world
	first int // of its actions in the arena
	next  int
}

// Search looks at every state of a scenario, depth first, until an invariant
// breaks. A violation's path is then looked for breadth first.
func Search(s Scenario, o Options) Result {
	began := time.Now()
	m, w := newModel(&s, o)
	r := Result{Scenario: s.Name}
	seen := map[key]struct{}{w.key(false): {}}
	arena := m.visit(&w, nil)
	stack := []frame{{world: w}}
	for len(stack) > 0 && m.violated == "" {
		f := &stack[len(stack)-1]
		if f.next == len(arena)-f.first {
			arena = arena[:f.first]
			stack = stack[:len(stack)-1]
			continue
		}
		next, a := f.world, arena[f.first+f.next]
		f.next++
		r.Transitions++
		m.apply(&next, a)
		k := next.key(false)
		if _, known := seen[k]; known && m.violated == "" {
			continue
		}
		seen[k] = struct{}{}
		first := len(arena)
		stack = append(stack, frame{world: next, first: first})
		arena = m.visit(&next, arena)
		if o.Limit > 0 && len(seen) >= o.Limit {
			r.Cut = true
			break
		}
	}
	r.States, r.Elapsed = len(seen), time.Since(began)
	if m.violated != "" {
		r.Violation = m.explain(&s, o, stack, arena)
	}
	return r
}

// visit checks a world that is new and appends what can happen in it.
func (m *model) visit(w *world, arena []action) []action {
	m.check(w)
	if m.violated == "" && !m.faultless && !m.unfair {
		m.fair(*w)
	}
	first := len(arena)
	arena = m.actions(w, arena)
	m.stuck(w, arena[first:])
	return arena
}

// explain finds the shortest way to a violation among the first million states,
// or gives the way that the search took.
func (m *model) explain(s *Scenario, o Options, stack []frame, arena []action) *Violation {
	if v := shortest(s, o, 1_000_000, strings.HasPrefix(m.violated, "I10")); v != nil {
		return v
	}
	v := &Violation{Broken: m.violated}
	for i := range stack {
		f := &stack[i]
		if f.next > 0 {
			v.Path = append(v.Path, m.label(&f.world, arena[f.first+f.next-1]))
		}
	}
	return v
}

// shortest searches breadth first. fair: a schedule that does not end counts.
func shortest(s *Scenario, o Options, limit int, fair bool) *Violation {
	type visited struct {
		world  world
		parent int
		by     action
	}
	m, w := newModel(s, o)
	m.unfair = !fair
	seen := map[key]struct{}{w.key(false): {}}
	queue := []visited{{world: w, parent: -1}}
	var actions []action
	for at := 0; at < len(queue) && len(queue) < limit; at++ {
		actions = m.visit(&queue[at].world, actions[:0])
		for _, a := range actions {
			next := queue[at].world
			if m.violated == "" {
				m.apply(&next, a)
			}
			if m.violated != "" {
				break
			}
			if _, known := seen[next.key(false)]; !known {
				seen[next.key(false)] = struct{}{}
				queue = append(queue, visited{next, at, a})
			}
		}
		if m.violated == "" {
			continue
		}
		v := &Violation{Broken: m.violated}
		if last := m.culprit(queue[at].world, actions); last != "" {
			v.Path = append(v.Path, last)
		}
		for i := at; queue[i].parent >= 0; i = queue[i].parent {
			v.Path = append(v.Path, m.label(&queue[queue[i].parent].world, queue[i].by))
		}
		slices.Reverse(v.Path)
		return v
	}
	return nil
}

// culprit is the action that breaks an invariant in w; "" when w itself does.
func (m *model) culprit(w world, actions []action) string {
	for _, a := range actions {
		m.violated = ""
		next := w
		if m.apply(&next, a); m.violated != "" {
			return m.label(&w, a)
		}
	}
	return ""
}

// Replay follows a path and describes every world on it. It returns what broke on
// the way, if anything did.
func Replay(s Scenario, o Options, path []string) (trace []string, broken string, err error) {
	m, w := newModel(&s, o)
	for i := 0; ; i++ {
		actions := m.visit(&w, nil)
		trace = append(trace, m.describe(&w))
		if i == len(path) || m.violated != "" {
			return trace, m.violated, nil
		}
		at := slices.IndexFunc(actions, func(a action) bool { return m.label(&w, a) == path[i] })
		if at < 0 {
			return trace, "", fmt.Errorf("action %d, %q, cannot happen there", i+1, path[i])
		}
		m.apply(&w, actions[at])
		if m.violated != "" {
			return append(trace, m.describe(&w)), m.violated, nil
		}
	}
}

func (m *model) describe(w *world) string {
	run := m.table.runs[w.run]
	var text strings.Builder
	fmt.Fprintf(&text, "run %s rev %d, open %v, under way %v", run.Status, run.Rev, m.names(run.open), m.names(w.bag))
	for i, id := range m.table.ids {
		if d := w.steps[i]; d.status != absent {
			fmt.Fprintf(&text, "\n    %s: %s, owner %d, expired %t, claims %d, called %d, paid %d",
				id, [...]string{"absent", "claimed", "done", "late"}[d.status], d.owner, d.expired, d.claims, d.asked, d.paid)
		}
	}
	return text.String()
}
