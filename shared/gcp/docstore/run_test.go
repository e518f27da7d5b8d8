package docstore_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

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

// A run of any schema is stored as it is, whatever it was before, and its
// document says its status and when it is to be looked at.
func TestRunsOfEverySchema(t *testing.T) {
	t.Parallel()
	for schema := 1; schema <= engine.Schema; schema++ {
		client := firestoretest.Client(t)
		store := docstore.New(client)
		flow, all := events()
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		run := runner.Run{State: engine.State{Schema: schema}}
		for i, e := range all {
			state, _, verdict := engine.Next(flow, run.State, e, now.Add(time.Duration(i)*time.Second))
			if _, held := e.(engine.HoldRequested); schema < 2 && held {
				break // unknown to the first
			}
			if verdict != engine.Applied {
				t.Fatalf("schema %d, event %d, %T: %s", schema, i, e, verdict)
			}
			state.Schema = schema
			if err := store.Commit(t.Context(), runner.Commit{Run: &runner.Run{State: state, Version: run.Version}}); err != nil {
				t.Fatal(err)
			}
			var err error
			if run, err = store.Run(t.Context(), state.RunID()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(state, run.State, cmpopts.EquateApproxTime(time.Microsecond)); diff != "" {
				t.Errorf("schema %d, after event %d, %T (-want +got):\n%s", schema, i, e, diff)
			}
			doc, err := client.Doc("runs/" + run.RunID()).Get(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var wake any
			if run.WakeAt != nil {
				wake = run.WakeAt.Truncate(time.Microsecond)
			}
			m := doc.Data()
			if _, packed := m["state"]; packed != (schema > 2) || m["status"] != string(run.Status) || m["schema"] != int64(schema) || m["wakeAt"] != wake {
				t.Errorf("schema %d, after event %d, %T: the document says %v, %v, %v, in one piece: %t; want %s, %v",
					schema, i, e, m["schema"], m["status"], m["wakeAt"], packed, run.Status, wake)
			}
		}
		if schema > 1 && run.Status != engine.Completed {
			t.Errorf("the run ended as %s, want %s: the events do not play it to its end", run.Status, engine.Completed)
		}
	}
}

// A view that is written over the one before is, in every member, what it would
// be in a document of its own.
func TestViewsFollowOneAnother(t *testing.T) {
	t.Parallel()
	client := firestoretest.Client(t)
	store := docstore.New(client)
	flow, all := events()
	for name, ends := range map[string][]engine.Event{
		"degraded": nil, "canceled": {engine.CancelRequested{By: "ann"}},
		"failed": {engine.Finished{Step: "b.0.s", Failure: &engine.Error{Code: "C", Message: "m"}}},
	} {
		run, at := runner.Run{}, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		story := all
		if ends != nil {
			story = slices.Concat(all[:len(all)-1], ends)
		}
		for i, e := range story {
			if begun, ok := e.(engine.Started); ok {
				begun.EstimateID = name
				e = begun
			}
			at = at.Add(time.Second)
			state, _, verdict := engine.Next(flow, run.State, e, at)
			if verdict != engine.Applied {
				t.Fatalf("%s, event %d, %T: %s", name, i, e, verdict)
			}
			view := engine.Project(flow, state)
			commit := runner.Commit{Run: &runner.Run{State: state, Version: run.Version}, EstimateID: name, View: &view}
			alone := runner.Commit{EstimateID: fmt.Sprintf("%s-%d", name, i), View: &view, Start: &runner.NewEstimate{Clarification: []byte(`{}`)}}
			if i == 0 {
				commit.Start = alone.Start
			}
			var shown [2]map[string]any
			for k, c := range []runner.Commit{commit, alone} {
				if err := store.Commit(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				root, err := store.Estimate(t.Context(), c.EstimateID)
				if err != nil {
					t.Fatal(err)
				}
				shown[k] = map[string]any{"status": root["status"], "error": root["error"], "pipelineStatus": root["pipelineStatus"]}
			}
			if diff := cmp.Diff(shown[1], shown[0]); diff != "" {
				t.Errorf("%s, after event %d, %T (-alone +over the one before):\n%s", name, i, e, diff)
			}
			var err error
			if run, err = store.Run(t.Context(), state.RunID()); err != nil {
				t.Fatal(err)
			}
		}
	}
}
