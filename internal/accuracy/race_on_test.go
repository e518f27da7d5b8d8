//go:build race

package accuracy_test

// raced: the race detector makes a sweep ten times slower and, since it has one
// goroutine, finds nothing.
const raced = true
