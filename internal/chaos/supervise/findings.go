package main

import (
	"fmt"
	"slices"
	"sync"
)

// findings are what broke, by invariant.
type findings struct {
	mu   sync.Mutex // guards list
	list []string
}

// broke notes a violation once.
func (f *findings) broke(rule, run, format string, args ...any) {
	text := fmt.Sprintf("%-7s %s: ", rule, run) + fmt.Sprintf(format, args...)
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.list, text) {
		f.list = append(f.list, text)
	}
}

// all returns what was noted.
func (f *findings) violations() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list)
}
