package main

import (
	"strings"
	"testing"
	"time"
)

// The short form: kills and suspensions for as long as a gate can wait.
func TestTasks(t *testing.T) {
	if testing.Short() {
		t.Skip("many seconds of kills")
	}
	r, err := chaos(t.Context(), config{seed: 1, clients: 12, stop: true, time: 10 * time.Second, patience: 2 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	r.print(&out)
	t.Log("\n" + out.String())
	if len(r.findings) > 0 {
		t.Error("the world broke, see above")
	}
	if r.tally.tasks < 20 || r.kills < 3 || r.tally.takeovers == 0 || r.tally.again == 0 {
		t.Errorf("%d tasks, %d kills, %d take-overs: too quiet a world to prove anything", r.tally.tasks, r.kills, r.tally.takeovers)
	}
}
