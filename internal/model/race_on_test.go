//go:build race

package model_test

// raced: the race detector makes a search ten times slower and, since each has
// one goroutine, finds nothing.
const raced = true
