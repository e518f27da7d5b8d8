// Package a2atest holds the conformance suites of the port a2a.Tasks and of
// agents that stand on it, and an implementation in memory for tests.
//
// To test an implementation, and then what two instances of an agent make of
// it: repetition, cancellation, take-over, questions.
//
//	func TestTasks(t *testing.T) {
//		a2atest.TestTasks(t, func(t *testing.T) a2a.Tasks { return open(t) })
//	}
//
//	func TestInstances(t *testing.T) {
//		a2atest.TestInstances(t, func(t *testing.T) (a, b a2a.Tasks) { return open(t), open(t) })
//	}
package a2atest
