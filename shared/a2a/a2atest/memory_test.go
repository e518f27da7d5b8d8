package a2atest_test

import (
	"sync/atomic"
	"testing"
	"time"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/a2a/a2atest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	a2atest.TestTasks(t, func(*testing.T) a2a.Tasks {
		var looks atomic.Int64 // a clock that moves a little at every look
		return a2atest.NewMemory(func() time.Time { return time.UnixMicro(looks.Add(1)) })
	})
}

func TestMemoryInstances(t *testing.T) {
	t.Parallel()
	a2atest.TestInstances(t, func(*testing.T) (a, b a2a.Tasks) {
		m := a2atest.NewMemory(time.Now) //nolint:forbidigo // leases run out by themselves
		return m, m
	})
}
