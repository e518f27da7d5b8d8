package a2a_test

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"truecost.dev/shared/a2a"
	"truecost.dev/shared/a2a/a2atest"
)

// start is the instant of every test clock.
var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// frozen are options with a clock that stands still and a fresh store.
func frozen() a2a.Options {
	now := func() time.Time { return start }
	tasks := a2atest.NewMemory(now)
	var ids atomic.Int64
	return a2a.Options{
		Now: now, Log: slog.New(slog.DiscardHandler),
		Tasks: func() (a2a.Tasks, error) { return tasks, nil },
		NewID: func() string { return fmt.Sprintf("fresh-%d", ids.Add(1)) },
		URL:   "https://agents.example/a2a_location",
	}
}
