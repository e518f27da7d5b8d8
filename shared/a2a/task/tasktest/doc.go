// Package tasktest has what the ports of package task are held to: a store of
// tasks and a queue in memory, which tests and a process of its own may use, and
// the suites that they and every other implementation pass.
//
// A new store of tasks is held to the contract by two tests:
//
//	func TestStore(t *testing.T) {
//		tasktest.TestStore(t, func(t *testing.T) task.Store { return open(t) })
//	}
//
//	func TestFinder(t *testing.T) {
//		tasktest.TestFinder(t, func(t *testing.T) tasktest.StoreFinder { return open(t) })
//	}
//
// TestInstances runs desks on several instances over one store.
package tasktest
