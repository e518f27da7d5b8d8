// Package a2atest holds the conformance suite of the port a2a.Tasks, and an
// implementation in memory for tests of what stands on that port.
//
// To test an implementation:
//
//	func TestTasks(t *testing.T) {
//		a2atest.TestTasks(t, func(t *testing.T) a2a.Tasks { return open(t) })
//	}
package a2atest
