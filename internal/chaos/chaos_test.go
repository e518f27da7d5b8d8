package main

import (
	"strings"
	"testing"
	"time"
)

// The short form: a world in which messages come twice, engines are suspended
// and everything is killed, for as long as a gate can wait.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute of kills")
	}
	r, err := chaos(t.Context(), config{
		runs: 20, seed: 1, double: true, stop: true, killAgents: true, killStore: true,
		window: 22, time: 30 * time.Second, patience: 2 * time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	r.print(&out)
	t.Log("\n" + out.String())
	if len(r.findings) > 0 {
		t.Error("the world broke, see above")
	}
	kills := 0
	for _, k := range r.kills {
		kills += k.n
	}
	if r.tally.runs < 24 || kills < 10 || r.tally.takeovers == 0 {
		t.Errorf("%d runs, %d kills, %d take-overs: too quiet a world to prove anything", r.tally.runs, kills, r.tally.takeovers)
	}
}

func TestPlans(t *testing.T) {
	t.Parallel()
	persons, ids := map[string]int{}, map[string]bool{}
	for _, p := range plans(3, 200) {
		persons[p.does]++
		ids[p.id] = true
		for _, end := range p.runs()[:1] {
			if len(end.Steps) < leastSteps {
				t.Errorf("%s has %d steps, want %d at least", p.id, len(end.Steps), leastSteps)
			}
		}
		if (p.does == retries) != (p.again != nil) || p.again != nil && (!p.end.Failure() || p.again.Failure()) {
			t.Errorf("%s %s: ends %s, then %+v", p.id, p.does, p.end.Status, p.again)
		}
	}
	if persons[watches] != 160 || persons[holds] != 20 || persons[retries] != 20 || persons[cancels] != 20 || len(ids) != 220 {
		t.Errorf("plans = %v with %d ids", persons, len(ids))
	}
	a, b := plans(3, 20), plans(3, 20)
	if encoded(a[7].end) != encoded(b[7].end) || a[7].id != b[7].id {
		t.Error("the same seed draws other plans")
	}
}

func TestWrongFlags(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-nonsense"}, {"-runs", "0"}, {"-window", "0"}, {"now"}} {
		var out, errs strings.Builder
		if code := command(t.Context(), args, &out, &errs); code != 2 || !strings.Contains(errs.String(), "Usage") {
			t.Errorf("command(%q) = %d %s, want 2 and the usage", args, code, &errs)
		}
	}
}
