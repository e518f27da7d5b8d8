// Package task is the life of tasks: what happens to a message between the
// front that decoded it and the agent that works on it, on whichever instance.
//
// A Desk takes messages for one agent. Each task is one Record in a Store,
// beside a log of its events with numbers that have no gaps. Every change is one
// write, of the record with its new events, that is refused when the record
// changed meanwhile; so of all who would begin, go on with, cancel or end a task
// at one time, one wins, and the others look again.
//
//	begin.go   a message becomes a record, or finds the one it has
//	record.go  what a message, a result or a cancellation may do with a record
//	apply.go   an event becomes part of a task
//	attempt.go a run of a turn in this process: the agent, its deadline, its end
//	keep.go    beside the agent: writes what it said, and holds the lease
//	follow.go  the one way in which anybody listens, in this process or not
//	hooks.go   push configurations; tell.go has them told
//	worker.go  the queue's work; sweep.go looks after what was left behind
//
// Who holds a task says so by a lease, measured by the store's clock. A worker
// that lost it finds out at its next look, and its context ends. What an agent
// says is written at most once in Options.Pace, and at once at its end.
package task
