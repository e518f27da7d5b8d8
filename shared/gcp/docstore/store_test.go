package docstore_test

import (
	"testing"

	"truecost.dev/emulator/firestore/firestoretest"
	"truecost.dev/shared/a2a"
	"truecost.dev/shared/a2a/a2atest"
	"truecost.dev/shared/gcp/docstore"
	"truecost.dev/shared/runner"
	"truecost.dev/shared/runner/runnertest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	runnertest.TestStore(t, func(t *testing.T) runner.Store { return docstore.New(firestoretest.Client(t)) })
}

func TestTasks(t *testing.T) {
	t.Parallel()
	a2atest.TestTasks(t, func(t *testing.T) a2a.Tasks { return docstore.NewTasks(firestoretest.Client(t)) })
}
