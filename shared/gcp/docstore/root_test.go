package docstore_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/firestore"
	"github.com/google/go-cmp/cmp"

	fsemu "truecost.dev/emulator/firestore"
	"truecost.dev/emulator/firestore/firestoretest"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/gcp/docstore"
	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
)

var epoch = time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)

// world is a store on a server of its own.
type world struct {
	*testing.T
	server *fsemu.Server
	client *firestore.Client
	store  *docstore.Store
}

func newWorld(t *testing.T, o fsemu.Options) *world {
	t.Helper()
	server, client := firestoretest.With(t, o)
	return &world{t, server, client, docstore.New(client)}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// get returns a field of a document; nil when there is none.
func (w *world) get(path string, field ...string) any {
	w.Helper()
	doc, err := w.client.Doc(path).Get(w.Context())
	w.must(err)
	v, err := doc.DataAtPath(field)
	if err != nil {
		return nil
	}
	return v
}

func (w *world) equal(path string, field string, want any) {
	w.Helper()
	if diff := cmp.Diff(want, w.get(path, strings.Split(field, ".")...)); diff != "" {
		w.Errorf("%s %s (-want +got):\n%.1000s", path, field, diff)
	}
}

// begin is the commit that starts the n-th run of an estimate.
func (w *world) begin(estimate string, n int) runner.Commit {
	w.Helper()
	f := runnertest.Flow()
	s, _, verdict := engine.Next(f, engine.State{}, engine.Started{EstimateID: estimate, Owner: "anna", Project: "p1", N: n, Input: "h"}, epoch)
	if verdict != engine.Applied {
		w.Fatalf("start is %s", verdict)
	}
	view := engine.Project(f, s)
	return runner.Commit{
		Run: &runner.Run{State: s}, EstimateID: estimate, View: &view,
		Start: &runner.NewEstimate{Clarification: json.RawMessage(`{"a":1}`), Fields: map[string]any{"projectName": "Kitchen"}},
	}
}

// started begins a run and returns it as stored.
func (w *world) started(estimate string) runner.Run {
	w.Helper()
	w.must(w.store.Commit(w.Context(), w.begin(estimate, 1)))
	run, err := w.store.Run(w.Context(), engine.RunID(estimate, 1))
	w.must(err)
	return run
}

func output(node string, phase engine.Phase, data string) runner.Output {
	return runner.Output{Node: node, Agent: node, Phase: phase, Data: json.RawMessage(data), Score: 71, StartedAt: epoch, DoneAt: epoch.Add(time.Minute)}
}

// One write changes everything on the root, and what the user wrote there stays.
func TestRootIsOneWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fsemu.Options{})
	run := w.started("est-1")
	const root = "estimates/est-1"
	w.equal(root, "status", "processing")
	w.equal(root, "userId", "anna")
	w.equal(root, "projectName", "Kitchen")
	w.equal(root, "clarificationOutput", map[string]any{"a": int64(1)})
	w.equal(root, "pipelineStatus.questions", []any{})
	w.equal(root, "pipelineStatus.hold", nil)
	_, err := w.client.Doc(root).Update(t.Context(), []firestore.Update{{Path: "projectName", Value: "Bath"}})
	w.must(err)

	view := engine.Project(runnertest.Flow(), run.State)
	view.Status = "waiting_input"
	view.Questions = []engine.ViewQuestion{{InputID: "cost.0.ask", Agent: "cost", Kind: "exhausted", Prompt: "Accept?", ExpiresAt: epoch}}
	view.Hold = &engine.ViewHold{By: "anna", Reason: "vacation"}
	before := w.server.Counts()
	run.UpdatedAt = epoch.Add(time.Minute)
	w.must(w.store.Commit(t.Context(), runner.Commit{
		Run: &run, EstimateID: "est-1", View: &view, Project: "p/1",
		Feedback: map[string]json.RawMessage{"cost": json.RawMessage(`{"reason":"r"}`), "location": json.RawMessage(`{"reason":"l"}`)},
		Chunks:   map[string]runner.ChunkProgress{"cost": {Done: 3, Of: 10}},
		Outputs: []runner.Output{
			output("location", engine.Passed, `{"tax":8.25,"summary":"s","confidence":0.5}`), output("cost", engine.Waiting, `{"total":1,"summary":{"headline":"h"}}`),
			output("risk", engine.NodeFailed, `{"matrix":[[1]]}`),
		},
		Documents: runner.Documents{Root: map[string]any{"address": "1 Main St"}},
	}))
	after := w.server.Counts()
	if got, want := after.Writes-before.Writes, 1+1+3+1; got != want { // run, estimate, outputs, project
		t.Errorf("%d writes, want %d", got, want)
	}
	w.equal(root, "projectName", "Bath")
	w.equal(root, "status", "waiting_input")
	w.equal(root, "address", "1 Main St")
	w.equal(root, "updatedAt", epoch.Add(time.Minute))
	w.equal(root, "locationOutput.tax", 8.25)
	w.equal(root, "riskOutput", `{"matrix":[[1]]}`)
	w.equal(root, "riskOutputEncoding", "json")
	w.equal(root, "locationOutputEncoding", nil)
	w.equal(root, "pipelineStatus.criticFeedback.location.reason", "l")
	w.equal(root, "pipelineStatus.fanOut.cost", map[string]any{"done": int64(3), "of": int64(10)})
	w.equal(root, "pipelineStatus.hold", map[string]any{"by": "anna", "reason": "vacation"})
	w.equal(root, "pipelineStatus.questions", []any{map[string]any{
		"inputId": "cost.0.ask", "agent": "cost", "kind": "exhausted", "prompt": "Accept?", "expiresAt": epoch,
	}})
	for node, status := range map[string]string{"location": "complete", "cost": "needs_review", "risk": "error"} {
		w.equal(root+"/agentOutputs/"+node, "status", status)
	}
	w.equal(root+"/agentOutputs/cost", "summary", "h")
	w.equal("projects/p%2F1/pipeline/status", "status", "running")
	w.equal("projects/p%2F1/pipeline/status", "pipelineId", "est-1")
	w.equal("projects/p%2F1/pipeline/status", "estimateStatus", "waiting_input")

	// An output that Firestore can hold takes the place of one that it could not.
	run, err = w.store.Run(t.Context(), "est-1~1")
	w.must(err)
	w.must(w.store.Commit(t.Context(), runner.Commit{Run: &run, EstimateID: "est-1", Outputs: []runner.Output{output("risk", engine.Passed, `{"a":1}`)}}))
	w.equal(root, "riskOutput", map[string]any{"a": int64(1)})
	w.equal(root, "riskOutputEncoding", nil)
}

func TestProjectStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fsemu.Options{})
	run := w.started("est-1")
	for view, want := range map[string]string{"processing": "running", "waiting_input": "running", "complete": "complete", "failed": "error", "canceled": "error"} {
		v := engine.Project(runnertest.Flow(), run.State)
		v.Status, v.CompletedAt = view, &epoch
		w.must(w.store.Commit(t.Context(), runner.Commit{EstimateID: "est-1", View: &v, Project: "p1"}))
		w.equal("projects/p1/pipeline/status", "status", want)
		w.equal("projects/p1/pipeline/status", "completedAt", epoch.UnixMilli())
	}
}

// The view of another run takes the place of the one before, down to the last
// member; outputs and what the user wrote stay.
func TestKeepReplacesTheView(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fsemu.Options{})
	run := w.started("est-1")
	view := engine.Project(runnertest.Flow(), run.State)
	view.Error, view.Scores = &engine.Error{Code: "C", Message: "m", Agent: "cost"}, map[string]int{"old_attempt_2": 7}
	w.must(w.store.Commit(t.Context(), runner.Commit{
		Run: &run, EstimateID: "est-1", View: &view,
		Feedback: map[string]json.RawMessage{"cost": json.RawMessage(`{"reason":"r"}`)},
		Chunks:   map[string]runner.ChunkProgress{"cost": {Done: 3, Of: 10}},
		Outputs:  []runner.Output{output("location", engine.Passed, `{"tax":8.25}`)},
	}))
	_, err := w.client.Doc("estimates/est-1").Update(t.Context(), []firestore.Update{{Path: "pipelineStatus.stranger", Value: 1}})
	w.must(err)

	again := w.begin("est-1", 2)
	again.Start = &runner.NewEstimate{Keep: true}
	w.must(w.store.Commit(t.Context(), again))
	const root = "estimates/est-1"
	w.equal(root, "error", nil)
	w.equal(root, "pipelineStatus.run", int64(2))
	w.equal(root, "pipelineStatus.scores", map[string]any{})
	w.equal(root, "pipelineStatus.criticFeedback", map[string]any{})
	w.equal(root, "pipelineStatus.fanOut", map[string]any{})
	w.equal(root, "pipelineStatus.stranger", nil)
	w.equal(root, "projectName", "Kitchen")
	w.equal(root, "locationOutput.tax", 8.25)
	w.equal(root, "clarificationOutput", map[string]any{"a": int64(1)})
}

// lines is an output with so many lines that have long names.
func lines(n int) json.RawMessage {
	random := rand.New(rand.NewPCG(1, 2))
	type line struct {
		Name string  `json:"name"`
		Cost float64 `json:"cost"`
	}
	all := make([]line, n)
	for i := range all {
		name := make([]byte, 500)
		for k := range name {
			name[k] = byte('a' + random.IntN(26))
		}
		all[i] = line{string(name), float64(i) / 4}
	}
	b, err := json.Marshal(map[string]any{"lines": all})
	if err != nil {
		panic(err)
	}
	return b
}

// Everything large at once does not fit on the root; what is shortened there can
// be found elsewhere, whole.
func TestRootHasRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fsemu.Options{})
	large := lines(350) // some of them would fit
	c := w.begin("est-1", 1)
	nodes := []string{"location", "scope", "cost", "risk", "timeline", "final"}
	c.Run.Nodes = map[string]engine.Progress{}
	for _, node := range nodes {
		c.Run.Nodes[node] = engine.Progress{}
	}
	c.Start.Clarification = lines(500)
	w.must(w.store.Commit(t.Context(), c))
	small := lines(150)
	for i, node := range nodes {
		run, err := w.store.Run(t.Context(), "est-1~1")
		w.must(err)
		data := large
		if i == 0 {
			data = small
		}
		view := engine.Project(runnertest.Flow(), run.State)
		w.must(w.store.Commit(t.Context(), runner.Commit{
			Run: &run, EstimateID: "est-1", View: &view, Feedback: map[string]json.RawMessage{node: data},
			Outputs:   []runner.Output{output(node, engine.Passed, string(data))},
			Documents: runner.Documents{Root: map[string]any{"short": i, "long": data, "longer": large}},
		}))
		got, err := w.store.Output(t.Context(), "est-1", node)
		w.must(err)
		if !json.Valid(got) || len(got) != len(data) {
			t.Errorf("output of %s has %d bytes, want %d", node, len(got), len(data))
		}
	}
	for _, node := range []string{"location", "scope", "cost", "risk"} { // who comes first has the room
		w.equal("estimates/est-1", node+"Output.truncated", nil)
	}
	w.equal("estimates/est-1", "timelineOutput", map[string]any{"truncated": true, "document": "agentOutputs/timeline"})
	w.equal("estimates/est-1", "longer", map[string]any{"truncated": true})
	w.equal("estimates/est-1", "short", int64(5))
	w.equal("estimates/est-1", "clarificationOutput.truncated", true)
	w.equal("estimates/est-1", "pipelineStatus.criticFeedback.cost.truncated", true)
	input, err := w.store.Input(t.Context(), "est-1")
	w.must(err)
	if diff := cmp.Diff(string(c.Start.Clarification), string(input)); diff != "" {
		t.Errorf("input (-written +read):\n%.500s", diff)
	}
}

// Documents below an estimate that are too many for the commit, or too large,
// come before it.
func TestItems(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ items, bytes, commits int }{
		"few":   {450, 10, 1},
		"many":  {451, 10, 3},
		"large": {200, 100_000, 6}, // 20 MB
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fsemu.Options{})
			run := w.started("est-1")
			c := runner.Commit{Run: &run, EstimateID: "est-1"}
			for i := range tt.items {
				c.Documents.Items = append(c.Documents.Items, runner.Document{
					Collection: "costItems", ID: fmt.Sprintf("line-%04d", i), Fields: map[string]any{"i": i, "name": strings.Repeat("x", tt.bytes)},
				})
			}
			before := w.server.Counts().ByMethod["Commit"].Calls
			w.must(w.store.Commit(t.Context(), c))
			if got := w.server.Counts().ByMethod["Commit"].Calls - before; got != tt.commits {
				t.Errorf("%d commits, want %d", got, tt.commits)
			}
			items, err := w.store.Items(t.Context(), "est-1", "costItems")
			w.must(err)
			if len(items) != tt.items {
				t.Errorf("%d items, want %d", len(items), tt.items)
			}
		})
	}
}

func TestOutputOfNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fsemu.Options{})
	w.started("est-1")
	if _, err := w.store.Output(t.Context(), "est-1", "cost"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("output of nobody: %v, want not found", err)
	}
}

// The root has room for the view of as many nodes as there may be, each with its
// scores, beside everything else at its largest.
func TestRootHasRoomForManyNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fsemu.Options{})
	f := &engine.Flow{ID: "wide", Engine: 1, Budget: time.Hour}
	for i := range engine.MaxNodes {
		f.Nodes = append(f.Nodes, engine.Node{Name: fmt.Sprintf("%s_%03d", strings.Repeat("n", 36), i), Agent: "a"})
	}
	c := w.begin("est-1", 1)
	for _, n := range f.Nodes {
		c.Run.Nodes[n.Name] = engine.Progress{Phase: engine.Passed, Attempt: 2, Scores: []int{50, 60, 90}}
	}
	text := strings.Repeat("x", 98<<10)
	c.Start.Clarification = json.RawMessage(`{"text":"` + text + `"}`)
	c.Start.Fields = map[string]any{"projectName": strings.Repeat("x", 30<<10)}
	w.must(w.store.Commit(t.Context(), c))
	run, err := w.store.Run(t.Context(), "est-1~1")
	w.must(err)
	view := engine.Project(f, run.State)
	all := runner.Commit{
		Run: &run, EstimateID: "est-1", View: &view, Feedback: map[string]json.RawMessage{}, Chunks: map[string]runner.ChunkProgress{},
		Documents: runner.Documents{Root: map[string]any{"long": text}},
	}
	for _, n := range f.Nodes {
		all.Feedback[n.Name] = json.RawMessage(`{"reason":"` + strings.Repeat("x", 200) + `"}`)
		all.Chunks[n.Name] = runner.ChunkProgress{Done: 1, Of: 2}
		all.Outputs = append(all.Outputs, output(n.Name, engine.Passed, `{"text":"`+strings.Repeat("x", 4000)+`"}`))
	}
	w.must(w.store.Commit(t.Context(), all))
	w.equal("estimates/est-1", f.Nodes[0].Name+"Output.truncated", nil)
	w.equal("estimates/est-1", f.Nodes[engine.MaxNodes-1].Name+"Output.truncated", true)
}
