package runner_test

import (
	"testing"

	"truecost.dev/emulator/firestore/firestoretest"
	"truecost.dev/shared/gcp/docstore"
	"truecost.dev/shared/runner/runnertest"
)

// A fault-free run costs exactly what it must: the start writes run and
// estimate; a call writes claim, result and run; what the reader sees is written
// with primaries and scorers; an output with its node. Each call loads its run
// and the estimate; beyond that it reads the steps it judges or answers and the
// outputs its node needs.
func TestCountsOfAFaultFreeRun(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                                   string
		scores                                 map[string][]int
		calls, critics, nodes, steps, upstream int
	}{
		{"all pass at once", nil, 4, 0, 2, 2, 2},
		{"one retry", map[string][]int{"location": {60, 90}}, 7, 1, 2, 8, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server, client := firestoretest.Server(t)
			bus, clock := &runnertest.Bus{}, runnertest.NewClock()
			r := runnertest.NewRunner(docstore.New(client), bus, &runnertest.Agents{Scores: tt.scores}, clock)
			if _, err := r.Start(t.Context(), runnertest.Start("est-1")); err != nil {
				t.Fatal(err)
			}
			if err := bus.Deliver(t.Context(), 1, 1, r); err != nil {
				t.Fatal(err)
			}
			n := server.Counts()
			equal(t, "writes", n.Writes, 2+3*tt.calls+(tt.calls-tt.critics)+tt.nodes)
			equal(t, "commits", n.ByMethod["Commit"].Calls, 1+2*tt.calls)
			equal(t, "reads", n.Reads, 2*tt.calls+tt.steps+tt.upstream)
			equal(t, "publishes", bus.Messages, tt.calls)
		})
	}
}
