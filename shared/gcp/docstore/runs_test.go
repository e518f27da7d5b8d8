package docstore_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	fsemu "truecost.dev/emulator/firestore"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/gcp/docstore"
	"truecost.dev/shared/runner"
)

func ids(runs []runner.Run) []string {
	list := []string{}
	for i := range runs {
		list = append(list, runs[i].RunID())
	}
	return list
}

func TestRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fsemu.Options{})
	for i := range 6 {
		run := w.begin(fmt.Sprintf("est-%d", i), 1).Run
		run.CreatedAt = epoch.Add(time.Duration(i/2) * time.Minute) // two at a time
		if i%2 == 1 {
			run.Owner, run.Status = "bert", engine.Failed
		}
		if i == 5 {
			run.FlowID = "other"
		}
		w.must(w.store.Commit(t.Context(), runner.Commit{Run: run}))
	}
	for _, tt := range []struct {
		name string
		q    runner.RunQuery
		want []string
	}{
		{"all", runner.RunQuery{}, []string{"est-5~1", "est-4~1", "est-3~1", "est-2~1", "est-1~1", "est-0~1"}},
		{"owner", runner.RunQuery{Owner: "anna"}, []string{"est-4~1", "est-2~1", "est-0~1"}},
		{"status", runner.RunQuery{Owner: "bert", Status: "failed"}, []string{"est-5~1", "est-3~1", "est-1~1"}},
		{"no such status", runner.RunQuery{Owner: "anna", Status: "failed"}, []string{}},
		{"flow", runner.RunQuery{FlowID: "other"}, []string{"est-5~1"}},
		{"estimate", runner.RunQuery{EstimateID: "est-2"}, []string{"est-2~1"}},
		{"since", runner.RunQuery{Since: epoch.Add(time.Minute)}, []string{"est-5~1", "est-4~1", "est-3~1", "est-2~1"}},
		{"page", runner.RunQuery{Limit: 3}, []string{"est-5~1", "est-4~1", "est-3~1"}},
		{"next page", runner.RunQuery{Limit: 3, After: "est-3~1"}, []string{"est-2~1", "est-1~1", "est-0~1"}},
		{"last page", runner.RunQuery{After: "est-0~1"}, []string{}},
		{"next page of an owner", runner.RunQuery{Owner: "anna", Since: epoch, After: "est-4~1"}, []string{"est-2~1", "est-0~1"}},
	} {
		runs, err := w.store.Runs(t.Context(), tt.q)
		w.must(err)
		if got := ids(runs); !slices.Equal(got, tt.want) {
			t.Errorf("%s: Runs(%+v) = %v, want %v", tt.name, tt.q, got, tt.want)
		}
	}
	if _, err := w.store.Runs(t.Context(), runner.RunQuery{After: "gone~1"}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Runs after a run that is gone: %v, want not found", err)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fsemu.Options{})
	w.started("est-1")
	for id, rev := range map[engine.StepID]int{"cost.0.k2": 3, "location.0.s": 2, "location.0.p": 1, "cost.0.k1": 3, "cost.0.s": 0} {
		step := claim(id, json.RawMessage(`{"a":1}`))
		step.RevAt, step.Score, step.Tokens, step.CostUSD, step.Duration = rev, 80, 5, 0.25, time.Second
		_, err := w.store.PutStep(t.Context(), step)
		w.must(err)
	}
	steps, err := w.store.History(t.Context(), "est-1~1")
	w.must(err)
	var order []engine.StepID
	for _, s := range steps {
		order = append(order, s.ID)
		whole, err := w.store.Steps(t.Context(), "est-1~1", s.ID)
		w.must(err)
		whole[0].Result, whole[0].ReadAt = nil, s.ReadAt
		if diff := cmp.Diff(whole[0], s); diff != "" {
			t.Errorf("step %s (-whole +history):\n%s", s.ID, diff)
		}
	}
	want := []engine.StepID{"location.0.p", "location.0.s", "cost.0.k1", "cost.0.k2", "cost.0.s"}
	if !slices.Equal(order, want) {
		t.Errorf("History = %v, want %v", order, want)
	}
}

func TestRunInputs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fsemu.Options{})
	w.started("est-1")
	in := func(id string, minutes int) runner.Input {
		return runner.Input{Run: "est-1~1", ID: id, Node: "cost", AskedAt: epoch.Add(time.Duration(minutes) * time.Minute), Answer: json.RawMessage(`{"a":1}`)}
	}
	w.must(w.store.Commit(t.Context(), runner.Commit{Inputs: []runner.Input{in("a", 2), in("b", 1), in("c", 2)}}))
	inputs, err := w.store.RunInputs(t.Context(), "est-1~1")
	w.must(err)
	var order []string
	for _, i := range inputs {
		order = append(order, i.ID)
	}
	if want := []string{"b", "a", "c"}; !slices.Equal(order, want) {
		t.Errorf("RunInputs = %v, want %v", order, want)
	}
}

// Nothing of an estimate stays but the status of its project.
func TestDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fsemu.Options{})
	for _, estimate := range []string{"est-1", "est-2"} {
		c := w.begin(estimate, 1)
		large := string(noise(2 << 20))
		c.Start.Clarification, c.Project = json.RawMessage(large), "p1"
		c.Idempotency = &runner.Idempotency{Owner: "anna", Key: estimate, EstimateID: estimate, CreatedAt: epoch}
		step := claim("cost.0.p", json.RawMessage(large))
		step.Run = c.Run.RunID()
		c.Steps = []runner.Step{step}
		c.Inputs = []runner.Input{{Run: c.Run.RunID(), ID: "ask", AskedAt: epoch, Answer: json.RawMessage(large)}}
		c.Documents.Items = []runner.Document{{Collection: "costItems", ID: "a", Fields: map[string]any{}}}
		w.must(w.store.Commit(t.Context(), c))
		w.must(w.store.CreateShards(t.Context(), runner.FanID{Run: c.Run.RunID(), Node: "cost"}, []engine.Shard{{Size: 1, Done: []byte{0}, Failed: []byte{0}}}))
		run, err := w.store.Run(t.Context(), c.Run.RunID())
		w.must(err)
		w.must(w.store.Commit(t.Context(), runner.Commit{Run: &run, EstimateID: estimate, Outputs: []runner.Output{output("cost", engine.Passed, large)}}))
	}
	for range 2 {
		w.must(w.store.Delete(t.Context(), "est-1"))
	}
	for path, want := range map[string]int{"runs": 1, "estimates": 1, "idempotency": 1, "projects/p1/pipeline": 1} {
		w.documents(path, want)
	}
	for _, name := range []string{"steps", "shards", "inputs", "blobs"} {
		w.documents("runs/est-1~1/"+name, 0)
	}
	for _, name := range []string{"agentOutputs", "costItems", "blobs"} {
		w.documents("estimates/est-1/"+name, 0)
	}
	if err := w.store.CreateShards(t.Context(), runner.FanID{Run: "est-1~1", Node: "cost"}, []engine.Shard{{Size: 1}}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("CreateShards of a run that is gone: %v, want not found", err)
	}
	for _, path := range []string{"runs/est-2~1/blobs", "estimates/est-2/blobs"} {
		if docs, err := w.client.Collection(path).Documents(t.Context()).GetAll(); err != nil || len(docs) == 0 {
			t.Errorf("%s has %d documents (%v), want those of the other estimate", path, len(docs), err)
		}
	}
}

func (w *world) documents(path string, want int) {
	w.Helper()
	docs, err := w.client.Collection(path).Documents(w.Context()).GetAll()
	w.must(err)
	if len(docs) != want {
		w.Errorf("%s has %d documents, want %d", path, len(docs), want)
	}
}

// A key counts for a day by the server's clock, whoever removes it when.
func TestKeyOfYesterday(t *testing.T) {
	t.Parallel()
	var elapsed atomic.Int64
	w := newWorld(t, fsemu.Options{Now: func() time.Time { return epoch.Add(time.Duration(elapsed.Load())) }})
	start := func(estimate string) error {
		c := w.begin(estimate, 1)
		c.Idempotency = &runner.Idempotency{Owner: "anna", Key: "k", EstimateID: estimate, CreatedAt: epoch}
		return w.store.Commit(t.Context(), c)
	}
	w.must(start("est-1"))
	elapsed.Store(int64(24 * time.Hour))
	if err := start("est-2"); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a start with the key of a day ago: %v, want a conflict", err)
	}
	elapsed.Store(int64(24*time.Hour + time.Minute))
	if _, err := w.store.Started(t.Context(), "anna", "k"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("Started with a key of yesterday: %v, want not found", err)
	}
	w.must(start("est-2"))
	got, err := w.store.Started(t.Context(), "anna", "k")
	w.must(err)
	if got.EstimateID != "est-2" {
		t.Errorf("the key has started %s, want est-2", got.EstimateID)
	}
	elapsed.Store(int64(50 * time.Hour))
	if err := start("est-2"); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a start of an estimate that is there, with a key of yesterday: %v, want a conflict", err)
	}
}

// What expires says when: a run only once it has ended.
func TestExpiry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fsemu.Options{Now: func() time.Time { return epoch }})
	run := w.started("est-1")
	w.equal("runs/est-1~1", "expireAt", nil)
	w.equal("runs/est-1~1", "wakeAt", *run.WakeAt)
	run.Status, run.EndedAt, run.WakeAt = engine.Canceled, new(epoch.Add(time.Hour)), nil
	w.must(w.store.Commit(t.Context(), runner.Commit{Run: &run}))
	day := 24 * time.Hour
	w.equal("runs/est-1~1", "expireAt", epoch.Add(time.Hour+90*day))
	_, err := w.store.PutStep(t.Context(), claim("cost.0.p", noise(2<<20)))
	w.must(err)
	w.equal("runs/est-1~1/steps/cost.0.p", "expireAt", epoch.Add(100*day))
	for _, part := range w.parts("runs/est-1~1") {
		w.equal("runs/est-1~1/blobs/"+part.Ref.ID, "expireAt", epoch.Add(100*day))
	}
	w.must(w.store.Commit(t.Context(), runner.Commit{Inputs: []runner.Input{{Run: "est-1~1", ID: "ask", AskedAt: epoch.Add(day)}}}))
	w.equal("runs/est-1~1/inputs/ask", "expireAt", epoch.Add(101*day))
	w.must(w.store.CreateShards(t.Context(), runner.FanID{Run: "est-1~1", Node: "cost"}, []engine.Shard{{Size: 1, Done: []byte{0}}}))
	expire, _ := w.get("runs/est-1~1/shards/cost.0.0", "expireAt").(time.Time)
	if left := expire.Sub(epoch); left < 99*day || left > 101*day {
		t.Errorf("a shard expires in %s, want 100 days", left)
	}
}

// Reads and writes of one call of each operation.
func TestCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fsemu.Options{})
	w.started("est-1")
	w.started("est-2")
	step, err := w.store.PutStep(t.Context(), claim("cost.0.p", nil))
	w.must(err)
	fan := runner.FanID{Run: "est-1~1", Node: "cost"}
	shards := make([]engine.Shard, 300)
	for i := range shards {
		shards[i] = engine.Shard{Index: i, Size: 1, Active: true, Done: []byte{0}, Failed: []byte{0}}
	}
	ctx := t.Context()
	for _, tt := range []struct {
		name                   string
		do                     func(s *docstore.Store) error
		reads, writes, commits int
	}{
		{"Run", func(s *docstore.Store) error { _, err := s.Run(ctx, "est-1~1"); return err }, 1, 0, 0},
		{"Input", func(s *docstore.Store) error { _, err := s.Input(ctx, "est-1"); return err }, 1, 0, 0},
		{"Steps", func(s *docstore.Store) error { _, err := s.Steps(ctx, "est-1~1", "cost.0.p", "cost.0.s"); return err }, 2, 0, 0},
		{"PutStep", func(s *docstore.Store) error { _, err := s.PutStep(ctx, step); return err }, 0, 1, 1},
		{"PutStep with 2 parts", func(s *docstore.Store) error {
			_, err := s.PutStep(ctx, claim("cost.0.s", noise(2<<20)))
			return err
		}, 0, 3, 2},
		{"Steps with 2 parts", func(s *docstore.Store) error { _, err := s.Steps(ctx, "est-1~1", "cost.0.s"); return err }, 3, 0, 0},
		{"CreateShards", func(s *docstore.Store) error { return s.CreateShards(ctx, fan, shards) }, 1, 300, 2},
		{"CreateShards again", func(s *docstore.Store) error { return s.CreateShards(ctx, fan, shards) }, 301, 0, 2},
		{"OpenShards", func(s *docstore.Store) error { _, err := s.OpenShards(ctx, fan); return err }, 300, 0, 0},
		{"CompleteShards", func(s *docstore.Store) error { _, err := s.CompleteShards(ctx, fan); return err }, 1, 0, 0},
		{"Due", func(s *docstore.Store) error {
			_, err := s.Due(ctx, epoch.Add(time.Hour), runner.Due{}, 10)
			return err
		}, 2, 0, 0},
		{"Census", func(s *docstore.Store) error { _, _, err := s.Census(ctx, "anna", epoch); return err }, 2, 0, 0},
	} {
		before := w.server.Counts()
		w.must(tt.do(w.store))
		after := w.server.Counts()
		got := [3]int{after.Reads - before.Reads, after.Writes - before.Writes, after.ByMethod["Commit"].Calls - before.ByMethod["Commit"].Calls}
		if want := [3]int{tt.reads, tt.writes, tt.commits}; got != want {
			t.Errorf("%s: reads, writes, commits = %v, want %v", tt.name, got, want)
		}
	}
}
