// Package store keeps the documents of the embedded Firestore in memory, in
// versions, and applies commits to them.
//
// Every commit has its own time in microseconds, strictly later than every
// earlier commit and than every read time handed out. A Snapshot is the state
// at one time and stays what it is while commits go on, which makes reads at a
// time, read-only transactions and the differences that listeners send exact.
//
//	Commit ── prepare (parse, validate; no lock) ── locks of open transactions
//	       ── stage (preconditions, masks, transforms) ── journal ── apply at one time ── wake
//
// A store that was opened on a directory writes each commit to a journal before
// it applies it, under the lock that orders commits: the write goes to memory of
// the kernel and takes microseconds. What is written is the outcome (documents
// with their times, names of deleted ones), so that opening computes nothing.
//
// Documents handed out are shared and must not be changed.
package store
