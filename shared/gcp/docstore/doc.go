// Package docstore keeps TrueCost's documents in Firestore, through the official
// client: runs and what belongs to them, the estimates that frontends watch, and
// the tasks of agents. It is the only package that knows paths and field names.
//
//	flows/{hash}                             a flow, once
//	runs/{runId}                             the machine state
//	runs/{runId}/steps/{stepId}              claim, result, timings of one agent call
//	runs/{runId}/shards/{node}.{attempt}.{k} a part of a fan-out
//	runs/{runId}/inputs/{inputId}            a question to a person, and the answer
//	runs/{runId}/blobs/{name}.{hash}.{i}     parts of results and answers that are too large
//	estimates/{id}                           what the frontend listens to
//	estimates/{id}/agentOutputs/{node}       output of a passed (or best) attempt
//	estimates/{id}/costItems/{item}          the lines of the estimate
//	estimates/{id}/blobs/{name}.{hash}.{i}   parts of the input and of outputs that are too large
//	projects/{id}/pipeline/status            the view once more, of a run with a project
//	idempotency/{hash}                       what a user's key has started
//	tasks/{agent}~{taskId}                   an agent's task and its result
//	tasks/{task}/events/{first}              what happened in it: the events of one commit
//	tasks/{task}/blobs/{name}.{hash}.{i}     parts of tasks and events that are too large
//
// What the state machine alone reads is one value: of a run its state, JSON in
// bytes beside the fields that queries ask for, of a step its record beside the
// result. Runs of the schemas before 3, and their steps, have a field for every
// member, to their end.
//
// Writes that must not lose a race carry the update time that was read
// (compare-and-set); there are no transactions and so no locks. Payloads that
// only the engine reads are JSON bytes, compressed above 8 KiB; those that
// frontends read are maps, or a JSON string where Firestore could not hold the
// map (see storable). A payload that does not fit into its document is cut into
// parts (see blob), which are written before the commit that refers to them.
//
// # Indexes
//
// The queries need these composite indexes; each field is ascending unless it
// says otherwise:
//
//	runs  status, wakeAt              Due
//	runs  ownerId, createdAt desc     Census, Runs
//	runs  status, createdAt desc      Runs
//	runs  flowId, createdAt desc      Runs
//	runs  estimateId, createdAt desc  Runs
//
//	tasks  agent, owner, statusTime desc, __name__  List
//	tasks  contextId, statusTime desc, __name__     List
//	tasks  state, statusTime desc, __name__         List
//
// Runs and List merge those where they ask for several at once. Due tasks, the
// events of a task, the shards of a fan-out and the documents of an estimate are
// found by single fields. Never queried, and so to be exempt from single-field
// indexes: runs.state, steps.record, steps.result, inputs.answer, inputs.schema,
// inputs.prompt, shards.done, shards.failed, shards.inflight, blobs.data,
// flows.flow, tasks.task, tasks.turns, tasks.hooks, tasks.reply, events.events,
// agentOutputs.output, agentOutputs.outputBytes, estimates.clarificationOutput,
// estimates.pipelineStatus, every *Output of an estimate and every expireAt; of
// older runs also runs.nodes, runs.open and runs.facts.
//
// TTL policies remove documents of runs, steps, shards, inputs, blobs,
// idempotency, tasks and events by expireAt.
package docstore
