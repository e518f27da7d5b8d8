// Package estimates holds the callables round an estimate and its runs.
//
//	start_deep_pipeline   start an estimate          retry_pipeline    try a run again, as a new one
//	get_pipeline_status   what frontends watch       provide_input     answer what a run asks a person
//	list_runs, get_run    how it went, and why       hold_pipeline     open no new step
//	cancel_pipeline       end a run                  resume_pipeline   go on
//	delete_estimate       leave nothing of it
//	generate_pdf          the report for the client or the contractor
//	export_estimate       totals, lines and divisions as JSON or CSV
//
// Each answers {success: true, data: {…}}, generate_pdf without the data around
// its members, or an error of the callable protocol whose details carry the
// published code and, for bad input, the field. A run is named by its runId, or
// by the estimateId whose current run is meant.
//
// The orchestrator is the same for agents: its task is the mirror of a run.
//
// An estimate and its runs belong to the user who started it. To anybody else
// they do not exist: the answer is the one that an id gets which was never used.
//
// A question whose time is over would be 410 in HTTP, which the protocol does
// not know: it is answered as a conflict, with the code INPUT_EXPIRED.
package estimates
