package runnertest

import (
	"encoding/json"
	"time"

	"truecost.dev/shared/fault"
)

// What production refuses (cloud.google.com/firestore/quotas).
const (
	maxDocument = 1 << 20
	maxEntries  = 40_000
	maxLevels   = 20
	maxRun      = 100_000 // bytes of a run: the engine's own promise
	maxInline   = 900 << 10
	maxOnRoot   = 200 << 10
)

// limits say how a document counts against what production takes.
type limits struct {
	payload int // bytes that are stored as they are, without an index
	most    int // bytes of the whole; 0: 1 MiB
}

// check refuses a document that production would refuse. fields is the document
// without its payloads. Index entries are two per value and one per element of an
// array; a map has those of its members.
func (l limits) check(path string, fields json.RawMessage) error {
	most := l.most
	if most == 0 {
		most = maxDocument
	}
	if size := len(path) + len(fields) + l.payload; size > most {
		return fault.New(fault.Invalid, "%s has %d bytes, at most %d are stored", path, size, most)
	}
	if len(fields) < maxEntries && levels(fields) <= maxLevels { // too short for so many entries
		return nil
	}
	var v any
	decode(fields, &v)
	n, depth := entries(v)
	if n > maxEntries {
		return fault.New(fault.Invalid, "%s has %d index entries, at most %d are stored", path, n, maxEntries)
	}
	if depth > maxLevels {
		return fault.New(fault.Invalid, "%s has %d levels, at most %d are stored", path, depth, maxLevels)
	}
	return nil
}

// levels is how deep JSON is nested at most: brackets in texts count as well.
func levels(fields json.RawMessage) int {
	depth, most := 0, 0
	for _, b := range fields {
		switch b {
		case '{', '[':
			depth++
			most = max(most, depth)
		case '}', ']':
			depth--
		}
	}
	return most
}

func entries(v any) (n, depth int) {
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			within, below := entries(member)
			n += within
			depth = max(depth, below)
		}
		return n, depth + 1
	case []any:
		for _, element := range v {
			_, below := entries(element)
			depth = max(depth, below)
		}
		return len(v), depth + 1
	default:
		return 2, 0
	}
}

// inline is how many bytes a payload takes in its document: one that is too
// large stands elsewhere, under a reference.
func inline(payload json.RawMessage, most int) int {
	const reference = 200
	if len(payload) > most {
		return reference
	}
	return len(payload)
}

// heat finds a document that takes more than one write a second for long.
type heat struct {
	recent [10]time.Time // the last writes, as a ring
	n      int
	excess int
}

func (h *heat) write(at time.Time) {
	slot := &h.recent[h.n%len(h.recent)]
	if h.n >= len(h.recent) && at.Sub(*slot) < time.Duration(len(h.recent))*time.Second {
		h.excess++
	}
	*slot = at
	h.n++
}
