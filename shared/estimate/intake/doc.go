// Package intake reads what comes from outside: the bytes of a
// ClarificationOutput 3.0.0 become an estimate.Clarification in canonical
// spelling, or every fault in them at once, each with its JSON path and a code.
//
// Three levels, as the input contract has them:
//
//	error      the document cannot be estimated; nothing of it may be used
//	warning    it can, but a person should look: each becomes a needsReview reason
//	tolerated  normalised without a word: null for an optional member, unknown
//	           members, numbers in strings, enum spellings (Mid-Range), jpeg,
//	           ZIP+4, unit spellings, lengths in inches or meters
//
// Problems come in the order of the contract (arrays by index), so the order of
// the keys in a document changes nothing. A fault is reported once, where it
// is: a missing section has no faults inside, and division lists are compared
// only with divisions whose status is legal.
//
// Parse is idempotent: parsing the JSON of a Clarification gives the same one.
// Work is bounded by MaxBytes and MaxDepth before anything is decoded.
//
// Context reads what the agents of the pipeline pass to one another. Seed is
// the identity of a job: equal for two documents that differ only in ids,
// stamps and order.
package intake
