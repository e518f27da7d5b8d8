package firestore

import (
	"maps"
	"sync"
)

// Count is how often something was done.
type Count struct {
	// Calls is how often the RPC was called, also in vain.
	Calls int
	// Reads is how many documents were looked up by name, found or not, or
	// returned by queries, or sent to listeners. An aggregation is one read.
	Reads int
	// Writes is how many writes of successful commits set fields, also when
	// they changed nothing.
	Writes int
	// Deletes is how many writes of successful commits deleted, also when there
	// was nothing to delete.
	Deletes int
}

func (c *Count) add(d Count) {
	c.Calls += d.Calls
	c.Reads += d.Reads
	c.Writes += d.Writes
	c.Deletes += d.Deletes
}

// Counts is what a server has done since it was made.
type Counts struct {
	Count                     // of all RPCs together
	ByMethod map[string]Count // by the short name of the RPC ("Commit")
}

// counter collects Counts.
type counter struct {
	mu     sync.Mutex // guards counts
	counts Counts
}

func (c *counter) add(method string, d Count) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts.ByMethod == nil {
		c.counts.ByMethod = map[string]Count{}
	}
	m := c.counts.ByMethod[method]
	m.add(d)
	c.counts.ByMethod[method] = m
	c.counts.add(d)
}

func (c *counter) snapshot() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Counts{Count: c.counts.Count, ByMethod: maps.Clone(c.counts.ByMethod)}
}
