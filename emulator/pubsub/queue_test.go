package pubsub

import (
	"strconv"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"pgregory.net/rapid"
)

// Whatever happens to its entries, a queue hands out each until it is removed,
// never two of a key at once, and a key's in the order they came.
func TestQueueProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := newQueue(true)
		now := time.Unix(0, 0)
		var added, removed int
		lastOf := map[string]uint64{} // removed last, by key
		out := map[string]*entry{}    // leased, by ack id
		leases := 0
		lease := func() *entry {
			leases++
			e := q.lease(now, strconv.Itoa(leases), now.Add(time.Minute))
			if e == nil {
				return nil
			}
			for _, o := range out {
				if q.key(o) != "" && q.key(o) == q.key(e) {
					t.Fatalf("two entries of key %q are out", q.key(e))
				}
			}
			out[e.ackID] = e
			return e
		}
		remove := func(e *entry) {
			delete(out, e.ackID)
			q.remove(e)
			removed++
			if key := q.key(e); key != "" {
				if e.order < lastOf[key] {
					t.Fatalf("entry %d of key %q after entry %d", e.order, key, lastOf[key])
				}
				lastOf[key] = e.order
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				added++
				key := rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "key")
				wait := time.Duration(rapid.IntRange(0, 90).Draw(t, "wait")) * time.Second
				q.add(&entry{order: uint64(added), at: now.Add(wait), record: &record{message: &pubsubpb.PubsubMessage{OrderingKey: key}}})
			},
			"pass time": func(t *rapid.T) { now = now.Add(time.Duration(rapid.IntRange(1, 60).Draw(t, "seconds")) * time.Second) },
			"lease":     func(*rapid.T) { lease() },
			"settle": func(t *rapid.T) {
				e := lease()
				if e == nil {
					return
				}
				if rapid.Bool().Draw(t, "acknowledge") {
					remove(e)
				} else {
					delete(out, e.ackID)
					q.retry(e, now.Add(10*time.Second))
				}
			},
			"expire": func(*rapid.T) {
				for e := q.expired(now); e != nil; e = q.expired(now) {
					delete(out, e.ackID)
					q.retry(e, now)
				}
			},
			"": func(t *rapid.T) {
				if len(q.leases) != len(out) || len(q.leased) != len(out) {
					t.Fatalf("%d leases by id, %d by deadline, want %d", len(q.leases), len(q.leased), len(out))
				}
			},
		})
		for _, e := range out {
			remove(e)
		}
		for now = now.Add(time.Hour); ; {
			e := lease()
			if e == nil {
				break
			}
			remove(e)
		}
		if removed != added || q.pending() != 0 || len(q.keys) != 0 {
			t.Fatalf("added %d, removed %d, pending %d, keys left %d", added, removed, q.pending(), len(q.keys))
		}
	})
}
