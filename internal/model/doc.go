// Package model searches a tiny world exhaustively for a way to break the engine.
//
// The world is one run, its step and shard documents, a bag of messages, two
// workers, a ledger of what the agents did, a sweeper, a canceler and a person.
// What follows from an event is decided by the real engine.Next, Open and Shard;
// the handler around them is a program counter per worker, so that a worker can
// stand still, die or be overtaken between any two of its operations:
//
//	deliver ─▶ claim ─▶ (look ─▶ take over) ─▶ call ─▶ record ─▶ publish… ─▶ acknowledge
//	                                                     │ ▲
//	                                             refused ▼ │ decide again
//	                                                   reload
//
// From every state the search goes on with every action that is possible there:
// a message is delivered, delivered again or lost, a worker does its next
// operation, its call fails, the answer to its commit is lost, it dies, a lease
// runs out, the sweeper comes, the owner cancels, holds or resumes, a person
// answers. Budgets bound the faults and so the number of states.
//
// At every state the invariants are checked that can be seen from there, and from
// every state a fair schedule (no more faults, the sweeper runs) must bring the
// run to its end or to a person. A violation is reported with the shortest known
// list of actions that leads to it. Handlers that are wrong on purpose (Mutant)
// prove that the search can find one.
//
// What the model leaves out: time (a pause between tries is over at once, a lease
// may run out at any moment), payloads, heartbeats, deadlines, agents that die.
package model
