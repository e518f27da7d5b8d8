package docstore_test

import (
	"testing"
	"time"

	"cloud.google.com/go/firestore"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"truecost.dev/emulator/firestore/firestoretest"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/gcp/docstore"
	"truecost.dev/shared/runner"
)

// events play a run of two nodes side by side, with a hold, a retry, a weak
// attempt and an end: members come, change and go.
func events() (*engine.Flow, []engine.Event) {
	node := func(name string) engine.Node {
		return engine.Node{
			Name: name, Agent: name, Timeout: time.Minute, Retry: engine.Retry{Tries: 3, Base: time.Second, Cap: time.Minute},
			Gate: &engine.Gate{Scorer: "s", Critic: "c", Threshold: 80, Retries: 1, Exhausted: engine.Degrade},
		}
	}
	return &engine.Flow{ID: "two", Engine: 1, Budget: time.Hour, Nodes: []engine.Node{node("a"), node("b")}}, []engine.Event{
		engine.Started{EstimateID: "est", Owner: "ann", N: 1},
		engine.Retryable{Step: "a.0.p"},
		engine.Finished{Step: "b.0.p"},
		engine.Finished{Step: "a.0.p"},
		engine.HoldRequested{By: "ann", Reason: "lunch"},
		engine.Finished{Step: "a.0.s", Score: 50},
		engine.ResumeRequested{By: "ann"},
		engine.Finished{Step: "a.0.c"},
		engine.Finished{Step: "a.1.p"},
		engine.Finished{Step: "a.1.s", Score: 40},
		engine.Finished{Step: "b.0.s", Score: 90},
	}
}

// A commit that knows what the run was writes only what changed, and leaves the
// document that one which knows nothing leaves.
func TestUpdatesLeaveTheSameRun(t *testing.T) {
	t.Parallel()
	clients := [2]*firestore.Client{firestoretest.Client(t), firestoretest.Client(t)}
	flow, all := events()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var was [2]runner.Run // as stored by commits that know, and by others
	for i, e := range all {
		for k, name := range []string{"knows", "blind"} {
			store := docstore.New(clients[k])
			state, _, verdict := engine.Next(flow, was[k].State, e, now.Add(time.Duration(i)*time.Second))
			if verdict != engine.Applied {
				t.Fatalf("event %d, %T: %s", i, e, verdict)
			}
			run := runner.Run{State: state, Version: was[k].Version}
			if k == 0 && i > 0 {
				run.Was = &was[k]
			}
			if err := store.Commit(t.Context(), runner.Commit{Run: &run}); err != nil {
				t.Fatal(err)
			}
			stored, err := store.Run(t.Context(), state.RunID())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(state, stored.State, cmpopts.EquateApproxTime(time.Microsecond)); diff != "" {
				t.Errorf("after event %d, %T, %s has another state (-want +got):\n%s", i, e, name, diff)
			}
			was[k] = stored
		}
		var docs [2]map[string]any
		for k := range docs {
			doc, err := clients[k].Doc("runs/" + was[k].RunID()).Get(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			docs[k] = doc.Data()
		}
		if diff := cmp.Diff(docs[1], docs[0]); diff != "" {
			t.Errorf("after event %d, %T, the documents differ (-whole +changed):\n%s", i, e, diff)
		}
	}
	if was[0].Status != engine.Completed {
		t.Errorf("the run ended as %s, want %s: the events do not play it to its end", was[0].Status, engine.Completed)
	}
}
