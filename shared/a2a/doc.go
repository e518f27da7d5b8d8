// Package a2a is the front and the client of agents: what travels between them,
// how it is read and written, and which error is which.
//
//	          ┌── guard ──┐  ┌─ sniff ─┐  ┌── codec ──┐  ┌──── core ────┐
//	HTTP ───▶ │ type,size │─▶│ whose   │─▶│ decode    │─▶│ begin task   │─▶ Agent.Serve
//	          │ JSON text │  │ dialect │  │           │  │ run, recover │
//	HTTP ◀─── └───────────┘  └─────────┘◀─│ encode    │◀─│ finish task  │◀─ output | error
//	                                      └───────────┘  └──────┬───────┘
//	                                                          Tasks (port)
//
// One task model stands in the middle: the types of the A2A SDK. A dialect is
// one codec (pure functions between bytes and that model) and one line in the
// list of codecs; today there is TrueCost's own (truecost.go). An agent is one
// function and sees no dialect.
//
// Invariants:
//   - A request that cannot be understood is an error; work that went wrong is
//     a task with the state failed.
//   - Nothing a later request needs lives in memory: tasks are kept behind the
//     port Tasks. A message whose id is a UUID runs once; its repetition is
//     answered with the same task as it is now: at work, waiting, or ended.
//   - The first end of a task wins: a result, a failure for good, a cancellation.
//   - A worker holds its task by a short lease that it renews. When that is
//     refused, because the task was canceled or taken over, its context ends;
//     when the worker is silent, another may take the task over.
//   - The caller who leaves does not stop the work.
//   - No text of an inner error, no stack and no body leaves the process or
//     reaches a log; the public message of a fault and its kind do.
//
// A task that asks a person (Ask) waits without worker and lease. Each message
// of it is a turn with an id of its own; the task is one document and one id.
//
//	        message            result, or failure for good
//	(none) ─────────▶ working ─────────────────────────────▶ completed, failed
//	                   ▲ │ ▲ │
//	        an answer  │ │ │ │  failure that may pass, or silence beyond the lease
//	                   │ ▼ │ ▼
//	       input-required   the same message again
//
// Cancellation leads from every state but the two at the right to canceled.
package a2a
