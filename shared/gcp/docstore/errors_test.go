package docstore_test

import (
	"context"
	"strings"
	"testing"

	fsemu "truecost.dev/emulator/firestore"
	"truecost.dev/shared/fault"
)

// What strangers may read of a store that did not answer does not say whose it is.
func TestErrorsNameNoProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fsemu.Options{})
	w.started("est-1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.store.PutStep(ctx, claim("cost.0.p", noise(3<<20)))
	if fault.KindOf(err) != fault.Canceled || strings.Contains(fault.Public(err), "projects/") {
		t.Errorf("PutStep() = %s: %s, want kind canceled and no project", fault.KindOf(err), fault.Public(err))
	}
}
