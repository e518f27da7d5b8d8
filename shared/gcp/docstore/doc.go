// Package docstore keeps TrueCost's documents in Firestore, through the official
// client: runs and their steps, the estimates that frontends watch, and the
// tasks of agents. It is the only package that knows paths and field names.
//
//	runs/{runId}                        the machine state
//	runs/{runId}/steps/{stepId}         claim, result, timings of one agent call
//	estimates/{id}                      what the frontend listens to
//	estimates/{id}/agentOutputs/{node}  output of a passed (or best) attempt
//	estimates/{id}/costItems/{item}     the lines of the estimate
//	tasks/{agent}~{taskId}              an agent's task and its result
//
// Writes that must not lose a race carry the update time that was read
// (compare-and-set); there are no transactions and so no locks. Payloads that
// only the engine reads are JSON bytes, compressed above 8 KiB; those that
// frontends read are maps, or a JSON string where Firestore could not hold the
// map (see storable).
package docstore
