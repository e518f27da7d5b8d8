package docstore_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/firestore"

	fsemu "truecost.dev/emulator/firestore"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// noise is JSON that no compression makes much smaller.
func noise(bytes int) json.RawMessage {
	random := rand.New(rand.NewPCG(7, 0))
	text := make([]byte, bytes)
	for i := range text {
		text[i] = byte('0' + random.IntN(75))
		if text[i] == '\\' {
			text[i] = '!'
		}
	}
	return json.RawMessage(`{"noise":"` + string(text) + `"}`)
}

func claim(id engine.StepID, result json.RawMessage) runner.Step {
	return runner.Step{
		Run: "est-1~1", ID: id, Schema: engine.Schema, Status: runner.Done, Agent: "cost", Call: runner.CallID("est-1~1", id), Owner: "one",
		StartedAt: epoch, Result: result,
	}
}

func TestResultOf20MB(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fsemu.Options{})
	w.started("est-1")
	result := noise(20 << 20)
	_, err := w.store.PutStep(t.Context(), claim("cost.0.p", result))
	w.must(err)
	steps, err := w.store.Steps(t.Context(), "est-1~1", "cost.0.p")
	w.must(err)
	if !bytes.Equal(steps[0].Result, result) {
		t.Errorf("the result has %d bytes and is not the one of %d bytes that was written", len(steps[0].Result), len(result))
	}
}

// parts lists the parts of blobs below a document, by id.
func (w *world) parts(path string) []*firestore.DocumentSnapshot {
	w.Helper()
	docs, err := w.client.Doc(path).Collection("blobs").OrderBy(firestore.DocumentID, firestore.Asc).Documents(w.Context()).GetAll()
	w.must(err)
	return docs
}

func TestDamagedBlob(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(w *world, part *firestore.DocumentRef) error{
		"gone": func(w *world, part *firestore.DocumentRef) error {
			_, err := part.Delete(w.Context())
			return err
		},
		"changed": func(w *world, part *firestore.DocumentRef) error {
			_, err := part.Update(w.Context(), []firestore.Update{{Path: "data", Value: make([]byte, 900<<10)}})
			return err
		},
		"shorter": func(w *world, part *firestore.DocumentRef) error {
			_, err := part.Update(w.Context(), []firestore.Update{{Path: "data", Value: []byte("x")}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fsemu.Options{})
			w.started("est-1")
			_, err := w.store.PutStep(t.Context(), claim("cost.0.p", noise(3<<20)))
			w.must(err)
			parts := w.parts("runs/est-1~1")
			if len(parts) != 3 {
				t.Fatalf("%d parts, want 3", len(parts))
			}
			w.must(damage(w, parts[0].Ref))
			_, err = w.store.Steps(t.Context(), "est-1~1", "cost.0.p")
			if fault.KindOf(err) != fault.Internal || !strings.Contains(err.Error(), parts[0].Ref.Path) {
				t.Errorf("Steps: %v, want an internal error that names %s", err, parts[0].Ref.Path)
			}
		})
	}
}

// Half of a blob was written when its writer died: the next one completes it.
func TestInterruptedBlob(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fsemu.Options{})
	w.started("est-1")
	result := noise(3 << 20)
	step, err := w.store.PutStep(t.Context(), claim("cost.0.p", result))
	w.must(err)
	_, err = w.parts("runs/est-1~1")[1].Ref.Delete(t.Context())
	w.must(err)
	_, err = w.store.PutStep(t.Context(), step)
	w.must(err)
	steps, err := w.store.Steps(t.Context(), "est-1~1", "cost.0.p")
	w.must(err)
	if !bytes.Equal(steps[0].Result, result) {
		t.Error("the result is not the one that was written")
	}
	if parts := w.parts("runs/est-1~1"); len(parts) != 3 {
		t.Errorf("%d parts, want the same 3", len(parts))
	}
}

// What a commit refers to below an estimate stays; what none refers to expires.
func TestBlobsBelowAnEstimate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fsemu.Options{})
	run := w.started("est-1")
	data := noise(2 << 20)
	c := runner.Commit{Run: &run, EstimateID: "est-1", Outputs: []runner.Output{output("cost", engine.Passed, string(data))}}
	expire := func(want any) {
		t.Helper()
		parts := w.parts("estimates/est-1")
		if len(parts) != 2 {
			t.Fatalf("%d parts, want 2", len(parts))
		}
		for _, part := range parts {
			if got := part.Data()["expireAt"]; got != want {
				t.Errorf("%s expires %v, want %v", part.Ref.ID, got, want)
			}
		}
	}
	old := run
	old.Version = run.Version.Add(-time.Second)
	refused := c
	refused.Run = &old
	if err := w.store.Commit(t.Context(), refused); fault.KindOf(err) != fault.Conflict {
		t.Fatalf("commit on an old run: %v", err)
	}
	expire(epoch.Add(time.Minute).Add(100 * 24 * time.Hour))
	w.must(w.store.Commit(t.Context(), c))
	expire(nil)
	if err := w.store.Commit(t.Context(), refused); fault.KindOf(err) != fault.Conflict {
		t.Fatalf("commit on an old run: %v", err)
	}
	expire(nil)
	got, err := w.store.Output(t.Context(), "est-1", "cost")
	w.must(err)
	if !bytes.Equal(got, data) {
		t.Error("the output is not the one that was written")
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fsemu.Options{})
	w.started("est-1")
	if _, err := w.store.PutStep(t.Context(), claim("cost.0.p", make(json.RawMessage, 256<<20+1))); fault.KindOf(err) != fault.Invalid {
		t.Errorf("PutStep of 256 MB and a byte: %v, want invalid", err)
	}
}
