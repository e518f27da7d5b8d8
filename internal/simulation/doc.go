// Package simulation runs the real runner in a world made of one seed: several
// instances of it, a store, a queue, agents, a sweeper and people, in virtual
// time. Every call of a port is a point at which the seed decides what happens:
//
//	worker ──▶ port ──▶ parked ─── the scheduler wakes one at a time ───▶ goes on
//	                                │ fails before it is applied
//	                                │ is applied, and its answer is lost
//	                                │ comes late
//	                                │ its instance dies here, or right after
//	                                └ its instance stands still, beyond its leases
//
// One goroutine runs at a time, so a seed gives the same trace to the letter.
// After a bounded number of faults the world is sound again, and every run must
// end or wait for a person. The store tells every committed change, and at the
// end the whole history is held against the invariants I1 to I22 of durable
// execution: see check.
//
// A world lives in a bubble of testing/synctest. The tests drive it:
//
//	go test ./internal/simulation -run TestSeeds -seeds 2000 -v   many seeds
//	go test ./internal/simulation -run TestSeed$ -seed 17 -v      one, with its trace
//
// testdata holds the traces of the table of crashes, row by row; -update rewrites
// them.
package simulation
