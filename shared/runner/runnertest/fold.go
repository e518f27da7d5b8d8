package runnertest

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// Fold checks that what is recorded of a run gives the stored run, to the letter,
// when the engine is run over it again. The flow of the run must be stored.
func Fold(t *testing.T, store runner.Store, run string) {
	t.Helper()
	h, err := (&runner.Runner{Store: store}).History(context.WithoutCancel(t.Context()), run)
	if err != nil {
		t.Errorf("History(%s): %v", run, err)
		return
	}
	folded, err := h.Fold(h.Run.Rev)
	if err != nil {
		t.Errorf("Fold(%s, %d): %v", run, h.Run.Rev, err)
		return
	}
	if diff := cmp.Diff(indented(t, h.Run.State), indented(t, folded)); diff != "" {
		t.Errorf("what is recorded of %s gives another state (-stored +folded):\n%s", run, diff)
	}
}

// FoldAll does the same with every run of an estimate.
func FoldAll(t *testing.T, store runner.Store, estimate string) {
	t.Helper()
	for n := 1; ; n++ {
		id := engine.RunID(estimate, n)
		if _, err := store.Run(context.WithoutCancel(t.Context()), id); fault.KindOf(err) == fault.NotFound {
			return
		}
		Fold(t, store, id)
	}
}

func indented(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
