package tasktest_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
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

func TestMemoryInstances(t *testing.T) {
	t.Parallel()
	for _, c := range tasktest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := tasktest.NewMemory(time.Now) //nolint:forbidigo // the clock of a bubble
				h := tasktest.NewHouse(m, m, m)
				defer h.Close()
				c.Run(t, h)
			})
		})
	}
}
