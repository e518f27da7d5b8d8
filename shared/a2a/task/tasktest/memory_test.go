package tasktest_test

import (
	"sync/atomic"
	"testing"
	"time"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/task/tasktest"
)

// memory returns a store with a clock that moves a little at every look.
func memory() *tasktest.Memory {
	var looks atomic.Int64
	return tasktest.NewMemory(func() time.Time { return time.UnixMicro(10 * looks.Add(1)) })
}

func TestMemoryStores(t *testing.T) {
	t.Parallel()
	tasktest.TestStore(t, func(*testing.T) task.Store { return memory() })
}

func TestMemoryFinds(t *testing.T) {
	t.Parallel()
	tasktest.TestFinder(t, func(*testing.T) tasktest.StoreFinder { return memory() })
}
