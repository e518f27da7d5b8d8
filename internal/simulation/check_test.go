package simulation

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
)

// edit changes a document of a history.
func edit(t *testing.T, d *runnertest.Revision, change func(m map[string]any)) {
	t.Helper()
	m := map[string]any{}
	if err := json.Unmarshal(d.Fields, &m); err != nil {
		t.Fatal(err)
	}
	change(m)
	fields, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	d.Fields = fields
}

// editRun changes a run as the engine's own type, so that it stays in its form.
func editRun(t *testing.T, d *runnertest.Revision, change func(*engine.State)) {
	t.Helper()
	s, ok := d.State()
	if !ok {
		t.Fatalf("%s is no run", d.Path)
	}
	change(&s)
	fields, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	d.Fields = fields
}

// find returns the first document, of the commit where it is, that fits.
func (w *World) find(t *testing.T, fits func(d runnertest.Revision) bool) (*Commit, *runnertest.Revision) {
	t.Helper()
	for i := range w.commits {
		for j := range w.commits[i].Changes {
			if fits(w.commits[i].Changes[j]) {
				return &w.commits[i], &w.commits[i].Changes[j]
			}
		}
	}
	t.Fatal("the history has nothing of the kind")
	return nil, nil
}

func runAt(rev int) func(runnertest.Revision) bool {
	return func(d runnertest.Revision) bool { s, ok := d.State(); return ok && s.Rev == rev }
}

func path(end string) func(runnertest.Revision) bool {
	return func(d runnertest.Revision) bool { return strings.HasSuffix(d.Path, end) }
}

func result(end string) func(runnertest.Revision) bool {
	return func(d runnertest.Revision) bool {
		s, ok := d.Step()
		return ok && s.Finished() && strings.HasSuffix(d.Path, end)
	}
}

func (c *Commit) drop(d *runnertest.Revision) {
	kept := []runnertest.Revision{}
	for _, other := range c.Changes {
		if other.Path != d.Path {
			kept = append(kept, other)
		}
	}
	c.Changes = kept
}

// again appends a copy of a commit of one document to the history.
func (w *World) again(c *Commit, d runnertest.Revision) {
	d.Version = d.Version.Add(time.Hour)
	copied := *c
	copied.Seen = map[string]int{"est-1~1": len(w.commits) + 1}
	copied.Changes = []runnertest.Revision{d}
	w.commits = append(w.commits, copied)
}

// Each invariant is broken in a history that held it.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		want   string
		name   string
		plot   func() *Plot
		tamper func(t *testing.T, w *World)
	}{
		{"I1", "another result", single, func(t *testing.T, w *World) {
			c, d := w.find(t, result("only.0.p"))
			other := *d
			edit(t, &other, func(m map[string]any) { m["Score"] = 7 })
			w.again(c, other)
		}},
		{"I2", "a change after the end", single, func(t *testing.T, w *World) {
			c, d := w.find(t, runAt(3))
			other := *d
			editRun(t, &other, func(s *engine.State) { s.Rev++ })
			w.again(c, other)
		}},
		{"I2", "another view after the end", single, func(t *testing.T, w *World) {
			var last runnertest.Revision
			c, _ := w.find(t, func(d runnertest.Revision) bool {
				if _, ok := d.Estimate(); ok {
					last = d
				}
				s, ok := d.State()
				return ok && s.Status.Ended()
			})
			edit(t, &last, func(m map[string]any) { m["Owner"] = "bob" })
			w.again(c, last)
		}},
		{"I3", "a rev is left out", single, func(t *testing.T, w *World) {
			c, d := w.find(t, runAt(2))
			c.drop(d)
		}},
		{"I4", "an open step is forgotten", single, func(t *testing.T, w *World) {
			_, d := w.find(t, runAt(2))
			editRun(t, d, func(s *engine.State) { s.Open = nil })
		}},
		{"I5", "a claim of what was never open", single, func(t *testing.T, w *World) {
			c, d := w.find(t, path("steps/only.0.p"))
			other := *d
			other.Path = strings.Replace(d.Path, "only.0.p", "only.2.c", 1)
			edit(t, &other, func(m map[string]any) { m["ID"] = "only.2.c" })
			w.again(c, other)
		}},
		{"I5", "a call without a claim", single, func(_ *testing.T, w *World) {
			w.agents.ledger = append(w.agents.ledger, Entry{Agent: "only", Call: "x"})
		}},
		{"I6", "a take-over before its time", single, func(t *testing.T, w *World) {
			for i := range w.commits {
				d := w.commits[i].Changes[0]
				if !strings.HasSuffix(d.Path, "steps/only.0.p") {
					continue
				}
				d.Version = d.Version.Add(time.Second)
				edit(t, &d, func(m map[string]any) { m["Fence"], m["Try"] = 2, 2 })
				w.commits[i].Changes = append(w.commits[i].Changes, d)
				return
			}
		}},
		{"I6", "a call paid twice", single, func(_ *testing.T, w *World) {
			w.agents.ledger = append(w.agents.ledger, w.agents.ledger[0])
		}},
		{"I7", "too many scores", single, func(t *testing.T, w *World) {
			_, d := w.find(t, runAt(3))
			editRun(t, d, func(s *engine.State) {
				p := s.Nodes["only"]
				p.Scores = []int{1, 2, 3, 100}
				s.Nodes["only"] = p
			})
		}},
		{"I8", "a failure that costs an attempt", single, func(t *testing.T, w *World) {
			_, d := w.find(t, runAt(2))
			editRun(t, d, func(s *engine.State) {
				p := s.Nodes["only"]
				p.Attempt = 1
				s.Nodes["only"] = p
			})
		}},
		{"I9", "a pass below the mark", single, func(t *testing.T, w *World) {
			_, d := w.find(t, runAt(3))
			editRun(t, d, func(s *engine.State) { s.Nodes["only"].Scores[0] = 79 })
		}},
		{"I11", "a view of nothing", single, func(t *testing.T, w *World) {
			_, d := w.find(t, func(d runnertest.Revision) bool { e, ok := d.Estimate(); return ok && e.View.Status == "complete" })
			edit(t, d, func(m map[string]any) { m["View"].(map[string]any)["status"] = "processing" })
		}},
		{"I12", "a result without its run", single, func(t *testing.T, w *World) {
			c, d := w.find(t, runAt(3))
			c.drop(d)
		}},
		{"I12", "a pass without its output", single, func(t *testing.T, w *World) {
			c, d := w.find(t, path("agentOutputs/only"))
			c.drop(d)
		}},
		{"I15", "a chunk is forgotten", small, func(t *testing.T, w *World) {
			c, d := w.find(t, func(d runnertest.Revision) bool { s, ok := d.Shard(); return ok && s.Complete })
			other := *d
			edit(t, &other, func(m map[string]any) { m["done"] = "AA==" })
			w.again(c, other)
		}},
		{"I15", "more in flight than may be", small, func(_ *testing.T, w *World) { w.plot.Flow.Nodes[1].FanOut.MaxParallel = 2 }},
		{"I15", "a result in the wrong place", small, func(t *testing.T, w *World) {
			_, d := w.find(t, result("each.0.j"))
			edit(t, d, func(m map[string]any) { m["Result"] = []byte(`{"results":[{"first":1},{"first":0}],"failed":[]}`) })
		}},
		{"I16", "a run written too often", single, func(t *testing.T, w *World) {
			run, err := w.store.Run(t.Context(), "est-1~1")
			if err != nil {
				t.Fatal(err)
			}
			w.store.Watch = nil
			if err := w.store.Commit(t.Context(), runner.Commit{Run: &run}); err != nil {
				t.Fatal(err)
			}
		}},
		{"I18", "a state that no event made", single, func(t *testing.T, w *World) {
			_, d := w.find(t, runAt(2))
			editRun(t, d, func(s *engine.State) { s.Owner = "bob" })
		}},
		{"I18", "a record that was changed", single, func(t *testing.T, w *World) {
			steps, err := w.store.Steps(t.Context(), "est-1~1", "only.0.s")
			if err != nil {
				t.Fatal(err)
			}
			w.store.Watch = nil
			steps[0].Score = 81
			if _, err := w.store.PutStep(t.Context(), steps[0]); err != nil {
				t.Fatal(err)
			}
		}},
		{"I19", "a second answer", questions, func(t *testing.T, w *World) {
			c, d := w.find(t, func(d runnertest.Revision) bool { in, ok := d.Input(); return ok && in.Decision != "" })
			w.again(c, *d)
		}},
		{"I20", "a claim by one who knew of the end", single, func(t *testing.T, w *World) {
			c, d := w.find(t, path("steps/only.0.p"))
			other := *d
			other.Path = strings.Replace(d.Path, "only.0.p", "only.0.c", 1)
			edit(t, &other, func(m map[string]any) { m["ID"] = "only.0.c" })
			w.again(c, other)
		}},
		{"I21", "an output that is gone", single, func(t *testing.T, w *World) {
			for {
				c, d := w.find(t, path("steps/only.0.p"))
				if s, _ := d.Step(); s.Finished() {
					c.drop(d)
					return
				}
				c.drop(d)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.want+" "+tt.name, func(t *testing.T) {
			var w *World
			synctest.Test(t, func(*testing.T) {
				w = New(tt.plot(), 1, None{})
				w.Run()
			})
			if found := check(w); len(found) > 0 {
				t.Fatalf("before: %v", found)
			}
			tt.tamper(t, w)
			found := check(w)
			for _, v := range found {
				if strings.HasPrefix(v, tt.want+":") {
					return
				}
			}
			t.Errorf("check = %q, want one of %s", found, tt.want)
		})
	}
}

// Without a sweeper a lost message is the end of everything.
func TestUnrestIsFound(t *testing.T) {
	t.Parallel()
	p := single()
	p.Unswept = true
	r := live(t, p, 1, &Scene{Cues: cues("publish [only.0.s]", Lost)})
	if len(r.Violations) != 1 || !strings.HasPrefix(r.Violations[0], "I10: runs/est-1~1 is running at rev 2") {
		t.Errorf("violations = %q, want that the run has not come to rest", r.Violations)
	}
}
