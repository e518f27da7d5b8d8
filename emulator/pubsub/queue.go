package pubsub

import (
	"container/heap"
	"iter"
	"slices"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
)

// A record is a published message and what became of it. The broker's mutex
// guards the counts; the message never changes.
type record struct {
	topic      string
	message    *pubsubpb.PubsubMessage
	deliveries int
	acks       int
}

// An entry is one copy of a message in the queue of one subscription. It is in
// one of three places: waiting behind the head of its ordering key, waiting for
// its time, or leased to a subscriber.
type entry struct {
	number       uint64 // of all entries of the server, in the order of publishing
	subscription string
	record       *record
	order        uint64    // breaks ties of at
	at           time.Time // waiting: the earliest delivery; leased: the ack deadline
	attempt      int       // deliveries so far
	ackID        string    // of the current lease, or ""
	holder       *holder   // of the current lease, or nil
	index        int       // in its heap
}

// A queue is the backlog of a subscription: a data structure without clock or
// lock. The broker's mutex guards it.
type queue struct {
	ordered bool
	waiting agenda
	leased  agenda
	leases  map[string]*entry   // by ack id
	keys    map[string][]*entry // by ordering key, the oldest first; its head alone is waiting or leased
}

func newQueue(ordered bool) *queue {
	return &queue{ordered: ordered, leases: map[string]*entry{}, keys: map[string][]*entry{}}
}

func (q *queue) key(e *entry) string {
	if !q.ordered {
		return ""
	}
	return e.record.message.OrderingKey
}

// add puts a new entry in its place.
func (q *queue) add(e *entry) {
	if key := q.key(e); key != "" {
		q.keys[key] = append(q.keys[key], e)
		if len(q.keys[key]) > 1 {
			return
		}
	}
	heap.Push(&q.waiting, e)
}

// lease hands out the next entry that is due, under ackID until deadline. It
// returns nil when nothing is due.
func (q *queue) lease(now time.Time, ackID string, deadline time.Time) *entry {
	if len(q.waiting) == 0 || q.waiting[0].at.After(now) {
		return nil
	}
	e := heap.Pop(&q.waiting).(*entry)
	e.ackID, e.at = ackID, deadline
	e.attempt++
	q.leases[ackID] = e
	heap.Push(&q.leased, e)
	return e
}

// expired returns a leased entry whose deadline is over, or nil.
func (q *queue) expired(now time.Time) *entry {
	if len(q.leased) == 0 || q.leased[0].at.After(now) {
		return nil
	}
	return q.leased[0]
}

// extend sets the deadline of a leased entry.
func (q *queue) extend(e *entry, deadline time.Time) {
	e.at = deadline
	heap.Fix(&q.leased, e.index)
}

// retry ends the lease of e and makes it wait until at.
func (q *queue) retry(e *entry, at time.Time) {
	q.unlease(e)
	e.at = at
	heap.Push(&q.waiting, e)
}

// remove ends the lease of e for good and lets the next of its key go.
func (q *queue) remove(e *entry) {
	q.unlease(e)
	key := q.key(e)
	if key == "" {
		return
	}
	rest := q.keys[key][1:]
	if len(rest) == 0 {
		delete(q.keys, key)
		return
	}
	q.keys[key] = rest
	heap.Push(&q.waiting, rest[0])
}

func (q *queue) unlease(e *entry) {
	heap.Remove(&q.leased, e.index)
	delete(q.leases, e.ackID)
	e.ackID, e.holder = "", nil
}

// next returns when something falls due on its own: a delivery or a deadline.
func (q *queue) next() (at time.Time, ok bool) {
	for _, a := range []agenda{q.waiting, q.leased} {
		if len(a) > 0 && (!ok || a[0].at.Before(at)) {
			at, ok = a[0].at, true
		}
	}
	return at, ok
}

// all returns every entry, in no particular order.
func (q *queue) all() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for _, e := range slices.Concat(q.waiting, q.leased) {
			if !yield(e) {
				return
			}
		}
		for _, line := range q.keys {
			for _, e := range line[1:] {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// pending counts the entries that are due now or later, those behind the head
// of a key left out.
func (q *queue) pending() int { return len(q.waiting) + len(q.leased) }

// An agenda is a heap of entries, the earliest first.
type agenda []*entry

func (a agenda) Len() int { return len(a) }

func (a agenda) Less(i, j int) bool {
	if c := a[i].at.Compare(a[j].at); c != 0 {
		return c < 0
	}
	return a[i].order < a[j].order
}

func (a agenda) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].index, a[j].index = i, j
}

// Push implements heap.Interface.
func (a *agenda) Push(x any) {
	e := x.(*entry)
	e.index = len(*a)
	*a = append(*a, e)
}

// Pop implements heap.Interface.
func (a *agenda) Pop() any {
	last := len(*a) - 1
	e := (*a)[last]
	(*a)[last] = nil
	*a = (*a)[:last]
	return e
}
