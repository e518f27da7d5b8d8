// Package a2a is what the agents of TrueCost ask of each other: the request that
// travels as the data of a message, the question an agent may have for a person,
// and the client of the pipeline.
//
//	runner ── Client.Call ──▶ front ──▶ desk ──▶ Agent.Task ──▶ Agent.Serve
//	       ◀──── Result ─────       ◀──      ◀──  events    ◀──  output | Ask | error
//
// The packages below it know nothing of this: wire is what every dialect writes
// alike, task the life of tasks, front their HTTP side in every dialect, card
// what agents say of themselves, webhook how their receivers are told. An Agent is one
// function; Task makes of it what desks and fronts run, so that it can be asked
// in any dialect: by the first data part of a message.
//
// Invariants:
//   - A request that cannot be understood is an error before there is a task; work
//     that went wrong is a task with the state failed.
//   - A call named by a UUID runs once; its repetition is answered with the same
//     task as it is now: at work, waiting, or ended.
//   - A call of the client ends in a result or in a fault, never in both and never
//     in neither; Ambiguous tells whether the agent may have worked all the same.
//   - A result is the same bytes in the first answer and in every later one.
//
// A task that asks a person (Ask) waits without worker and lease. Each message of
// it is a turn with an id of its own; the task is one document and one id, and
// nothing an agent knew is kept between turns.
package a2a
