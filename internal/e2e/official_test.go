package e2e

import (
	"testing"

	"truecost.dev/emulator/hub"
	"truecost.dev/internal/official"
)

// The emulators of the Google Cloud CLI in the place of our servers: the same
// kitchen goes through, and its documents are the same.
func TestKitchenOnOfficialEmulators(t *testing.T) {
	t.Parallel()
	theirs := start(t, hub.Config{}, map[string]string{
		"FIRESTORE_EMULATOR_HOST": official.Firestore.Start(t),
		"PUBSUB_EMULATOR_HOST":    official.PubSub.Start(t),
	})
	if theirs.Firestore() != nil || theirs.PubSub() != nil {
		t.Fatal("the local system serves Firestore or Pub/Sub itself")
	}
	ours := start(t, hub.Config{}, nil)
	for _, s := range []*system{theirs, ours} {
		s.begin(t, "kitchen-1", input(t, "kitchen"))
		s.end(t, "kitchen-1", "complete")
	}
	same(t, "the kitchen on official emulators", ours.shown(t, "kitchen-1"), theirs.shown(t, "kitchen-1"))
}
