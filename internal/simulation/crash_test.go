package simulation

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the traces under testdata")

// crashes are the rows of the table of crashes: what happens at which point, how
// much later the run may end for it, and how often the agents may be paid.
var crashes = []struct {
	name  string
	plot  func() *Plot
	cues  []Cue
	later time.Duration
	paid  int
}{
	{"01 start, before the commit", single, cues("commit run rev 1", Dies), 10 * time.Second, 2},
	{"02 start, after the commit", single, cues("commit run rev 1", DiesAfter), 10 * time.Second, 2},
	{"03 start, after the publish", single, cues("publish [only.0.p]", DiesAfter), time.Second, 2},
	{"04 before the load", single, cues("read run", Dies), 15 * time.Second, 2},
	{"04 before the claim", single, cues("claim only.0.p", Dies), 15 * time.Second, 2},
	{"05 after the claim, before the call", single, cues("call only ", Dies), 155 * time.Second, 2},
	{"06 during the call", single, cues("wait for the agent", Dies), 155 * time.Second, 2},
	{"07 the agent dies", single, cues("call only ", AgentFalls), 60 * time.Second, 3},
	{"07 the agent dies, and the worker", single, cues("call only ", AgentFalls, "wait for the agent", Dies), 165 * time.Second, 3},
	{"08 after the answer, before the commit", single, cues("commit run rev 2", Dies), 155 * time.Second, 2},
	{"09 the answer of the commit is lost", single, cues("commit run rev 2", Unheard), time.Second, 2},
	{"10 the commit fails", single, cues("commit run rev 2", Fails), time.Second, 2},
	{"11 after the commit, before the publish", single, cues("commit run rev 2", DiesAfter), 25 * time.Second, 2},
	{"12 the publish fails", single, cues("publish [only.0.s]", Fails), 125 * time.Second, 2},
	{"12 the answer of the publish is lost", single, cues("publish [only.0.s]", Unheard), time.Second, 2},
	{"13 after the publish", single, cues("publish [only.0.s]", DiesAfter), time.Second, 2},
	{"15 a message is doubled", single, cues("publish [only.0.p]", Doubled), time.Second, 2},
	{"16 a message is lost", single, cues("publish [only.0.s]", Lost), 185 * time.Second, 2},
	{"18 the worker stands still", single, cues("wait for the agent", Freezes, "5m"), 155 * time.Second, 2},
	{"21 expand, between two shards", small, cues("create shard each.0.1", Dies), 15 * time.Second, 6},
	{"22 after the commit of a chunk", small, cues("commit each.0.k1 done", DiesAfter), 155 * time.Second, 6},
	{"22a after the last chunk of a shard", small, cues("commit each.0.k4 done", DiesAfter), 155 * time.Second, 6},
	{"23 before the shards are counted", small, cues("count shards", Dies), 155 * time.Second, 6},
	{"24 the end of the fan-out, unheard", small, cues("commit run rev 4", Unheard), 65 * time.Second, 6},
}

// cues reads pairs of a point and a fault; a duration behind a fault is its length.
func cues(pairs ...any) []Cue {
	var all []Cue
	for _, p := range pairs {
		switch p := p.(type) {
		case Kind:
			all[len(all)-1].Fault.Kind = p
		case string:
			if d, err := time.ParseDuration(p); err == nil {
				all[len(all)-1].Fault.For = d
			} else {
				all = append(all, Cue{On: p})
			}
		}
	}
	return all
}

// Every row of the table of crashes, with its trace as a fixture: what happens,
// who continues, after how long, and that nobody pays twice.
func TestCrashTable(t *testing.T) {
	t.Parallel()
	for _, tt := range crashes {
		t.Run(tt.name, func(t *testing.T) {
			calm := live(t, tt.plot(), 1, None{})
			scene := &Scene{Cues: tt.cues}
			r := live(t, tt.plot(), 1, scene)
			if len(scene.Cues) > 0 {
				t.Errorf("nothing was %q", scene.Cues[0].On)
			}
			for _, v := range r.Violations {
				t.Error(v)
			}
			if diff := cmp.Diff(calm.Outcome, r.Outcome); diff != "" {
				t.Errorf("it comes to another end (-calm +crash):\n%s", diff)
			}
			if took := r.Ended - calm.Ended; took > tt.later {
				t.Errorf("it takes %v longer, at most %v is allowed", took, tt.later)
			}
			if r.Calls != tt.paid {
				t.Errorf("agents are paid %d times, want %d", r.Calls, tt.paid)
			}
			golden(t, tt.name, r)
		})
	}
}

func golden(t *testing.T, name string, r *Report) {
	t.Helper()
	path := filepath.Join("testdata", strings.NewReplacer(" ", "-", ",", "").Replace(name)+".txt")
	got := fmt.Sprintf("%s\n\n%s", name, r.Trace)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the trace is another (-want +got); -update rewrites it:\n%s", diff)
	}
}
