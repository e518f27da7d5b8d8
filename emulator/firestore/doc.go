// Package firestore is an embedded Firestore server: the official clients talk
// to it over gRPC as they talk to the service. It is the storage of the local
// system and, in process, of the tests.
//
//	                     ┌ HTTP/2 ─▶ grpc.Server ─▶ guard (count, inject, recover) ─▶ service ┐
//	listener ─▶ splitter ┤                                                                    ├▶ store
//	                     └ HTTP/1 ─▶ control: readiness, wipe ──────────────────────────────┘
//
// One port serves everything. Any project and database is accepted; documents
// are kept by full name, in versions (see internal/store): in memory alone by
// New, or also in a directory by Open. There, a commit that was answered survives
// the death of the process, by SIGKILL too, whole and with its times, and nobody
// sees a commit that would not; server times never go back. Old versions, resume
// tokens and open transactions end with the process: listeners start anew,
// transactions are refused, and reads before the start are too old. A power cut
// may take the last moments (see the package journal).
//
//	faithful     Commit: atomic, masks, transforms, preconditions, verify, writes
//	             that change nothing, the limits on documents and names
//	             GetDocument, BatchGetDocuments, ListDocuments, ListCollectionIds,
//	             Create-, Update-, DeleteDocument, BatchWrite, Write
//	             RunQuery: filters, order, cursors, offset, limit, projection,
//	             collection groups; RunAggregationQuery: count, sum, avg
//	             Listen: documents and queries, resume, one point in time for
//	             all targets of a stream
//	             reads at a time, up to an hour back
//	approximate  transactions: pessimistic as for server clients (shared locks on
//	             documents read, ABORTED on deadlock or timeout); a query that
//	             finds other documents at commit ABORTs instead of locking ranges
//	             Listen sends no existence filters: its differences are exact
//	             index entries are counted for single-field indexes only, and no
//	             query asks for a composite index
//	             quotas and rates are not enforced
//	absent       find_nearest, explain_options, order_by of ListDocuments,
//	             PartitionQuery, ExecutePipeline: UNIMPLEMENTED, with the name
//	             authentication and security rules: every caller is an owner
package firestore
