// Package journal keeps the state of an embedded server in a directory: an
// append-only log of records, and now and then a snapshot that replaces what
// came before. What a record means is its owner's business.
//
//	0000000003.snapshot   the state when log 3 began
//	0000000003.log        the records since, ended
//	0000000004.log        the records since, appended to
//	lock                  held by the process that has the journal open
//
// The next snapshot is written beside the logs that go on: log 5 is begun, the
// state of that moment is written to a temporary file, synced and renamed to
// 0000000005.snapshot, and then what is older is deleted. A crash at any point
// leaves either the old snapshot with all logs since, or the new one.
//
// A file is a line of text and then frames:
//
//	truecost journal 1 <kind>\n
//	length of the record   4 bytes, little endian, like the rest
//	CRC-32C of the record  4 bytes
//	CRC-32C of the above   4 bytes
//	record
//
// An empty record ends a file that is not appended to any more, so that a file
// cut short is noticed even where it is cut between two records.
//
// What a process that is killed leaves behind is a prefix of its last frame:
// Open cuts it off. Anything else that is not as it was written is a DamageError, which
// names file and offset; nothing is skipped.
//
// Append returns when the kernel has the record. It survives the death of the
// process at any moment; it does not survive a power cut that comes before the
// kernel has written it, within half a minute as a rule. Files are synced when
// they end, and a snapshot before it counts.
package journal
