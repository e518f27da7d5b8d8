package supervise

import (
	"fmt"
	"slices"
	"sync"
)

// Findings are what broke, by invariant.
type Findings struct {
	mu   sync.Mutex // guards list
	list []string
}

// Broke notes a violation once.
func (f *Findings) Broke(rule, run, format string, args ...any) {
	text := fmt.Sprintf("%-7s %s: ", rule, run) + fmt.Sprintf(format, args...)
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.list, text) {
		f.list = append(f.list, text)
	}
}

// Violations returns what was noted.
func (f *Findings) Violations() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list)
}
