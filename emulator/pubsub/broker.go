package pubsub

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

const (
	// firstID makes ids as long as those of the service, so that they increase
	// as text as well as as numbers.
	firstID = 1_000_000_000_000_000

	// keptRecords bounds what Messages can list.
	keptRecords = 20_000

	// deletedTopic is what a subscription names when its topic is gone.
	deletedTopic = "_deleted-topic_"
)

// A broker is the state of a server: all of it, under one lock. No lock is
// held over I/O.
type broker struct {
	clock  *Clock
	faults Faults

	mu      sync.Mutex // guards everything below, and what it points to
	lastID  uint64
	leases  uint64
	entries uint64
	topics  map[string]*pubsubpb.Topic
	subs    map[string]*subscription
	log     []*record
	moved   signal // something left a queue
	halted  bool   // no more leases
	held    bool   // no pushes yet
	scribe  scribe
}

// A subscription is its settings and its queue.
type subscription struct {
	config  *pubsubpb.Subscription // replaced, never changed
	queue   *queue
	changed signal  // there may be something to lease, or a reason not to
	pusher  *pusher // who may lease from a push subscription; nil for pull
}

func (s *subscription) ackDeadline() time.Duration {
	return time.Duration(s.config.AckDeadlineSeconds) * time.Second
}

// nap returns what h has to wait for. A full holder waits for a settlement
// alone.
func (s *subscription) nap(h *holder) nap {
	n := nap{changed: s.changed.wait()}
	if at, ok := s.queue.next(); ok && !h.full() {
		n.until = at
	}
	return n
}

// A signal wakes everyone who waits for it. The broker's mutex guards it.
type signal struct{ ch chan struct{} }

func (s *signal) wait() <-chan struct{} {
	if s.ch == nil {
		s.ch = make(chan struct{})
	}
	return s.ch
}

func (s *signal) fire() {
	if s.ch != nil {
		close(s.ch)
		s.ch = nil
	}
}

// A holder is a subscriber that takes leases, with its flow control. A limit of
// 0 is no limit. The broker's mutex guards it.
type holder struct {
	deadline              time.Duration // of a lease; 0 is the subscription's own
	messages, maxMessages int           // leased and not settled
	bytes, maxBytes       int
}

func (h *holder) full() bool {
	return h.maxMessages > 0 && h.messages >= h.maxMessages || h.maxBytes > 0 && h.bytes >= h.maxBytes
}

func (h *holder) count(e *entry, sign int) {
	h.messages += sign
	h.bytes += sign * proto.Size(e.record.message)
}

func newBroker(clock *Clock, faults Faults) *broker {
	return &broker{
		clock: clock, faults: faults, lastID: firstID,
		topics: map[string]*pubsubpb.Topic{}, subs: map[string]*subscription{},
	}
}

// publish puts one message on a topic that is there and returns its id.
func (b *broker) publish(topic string, m *pubsubpb.PubsubMessage) string {
	b.lastID++
	now := b.clock.Now()
	m.MessageId = strconv.FormatUint(b.lastID, 10)
	m.PublishTime = timestamppb.New(now.Truncate(time.Millisecond))
	r := &record{topic: topic, message: m}
	b.remember(r)
	var entries []entry
	for _, name := range slices.Sorted(maps.Keys(b.subs)) {
		s := b.subs[name]
		if s.config.Topic != topic {
			continue
		}
		for _, copied := range b.faults.schedule(name, m.MessageId, b.lastID) {
			b.entries++
			e := entry{number: b.entries, subscription: name, record: r, order: copied.order, at: now.Add(copied.wait)}
			entries = append(entries, e)
			s.queue.add(&e)
		}
		s.changed.fire()
	}
	if len(entries) > 0 {
		b.scribe.published(r, entries)
	} else { // nobody will see the message, but its id is taken
		b.scribe.numbers(countersField, b.lastID)
	}
	return m.MessageId
}

func (b *broker) remember(r *record) {
	b.log = append(b.log, r)
	if len(b.log) >= 2*keptRecords {
		b.log = slices.Clone(b.log[len(b.log)-keptRecords:])
	}
}

// lease hands out the next message of s that is due to h, or nil.
func (b *broker) lease(s *subscription, h *holder) *entry {
	now := b.clock.Now()
	for e := s.queue.expired(now); e != nil; e = s.queue.expired(now) {
		b.fail(s, e)
	}
	if h.full() {
		return nil
	}
	deadline := h.deadline
	if deadline == 0 {
		deadline = s.ackDeadline()
	}
	b.leases++
	e := s.queue.lease(now, fmt.Sprintf("%s:%d", s.config.Name, b.leases), now.Add(deadline))
	if e == nil {
		return nil
	}
	b.scribe.numbers(leasedField, e.number, b.leases)
	e.record.deliveries++
	e.holder = h
	h.count(e, 1)
	return e
}

// acknowledge settles a lease. A stale ack id is ignored.
func (b *broker) acknowledge(s *subscription, ackID string) {
	e := s.queue.leases[ackID]
	switch {
	case e == nil:
	case !e.at.After(b.clock.Now()), b.faults.losesAck(s.config.Name, e.record.message.MessageId, ackID):
		b.fail(s, e)
	default:
		e.record.acks++
		b.settle(s, e)
	}
}

// postpone sets the deadline of a lease to d from now; 0 is a nack.
func (b *broker) postpone(s *subscription, ackID string, d time.Duration) {
	now := b.clock.Now()
	e := s.queue.leases[ackID]
	switch {
	case e == nil:
	case d <= 0 || !e.at.After(now):
		b.fail(s, e)
	default:
		s.queue.extend(e, now.Add(d))
		s.changed.fire()
	}
}

// settle takes an entry out of its queue for good.
func (b *broker) settle(s *subscription, e *entry) {
	e.holder.count(e, -1)
	s.queue.remove(e)
	b.scribe.numbers(settledField, e.number)
	s.changed.fire()
	b.moved.fire()
}

// fail ends a delivery that was not acknowledged: the message goes to the
// dead-letter topic after its last attempt and waits for the next otherwise.
// A dead-letter topic that was deleted keeps the message where it is.
func (b *broker) fail(s *subscription, e *entry) {
	if p := s.config.DeadLetterPolicy; p != nil && e.attempt >= int(p.MaxDeliveryAttempts) && b.topics[p.DeadLetterTopic] != nil {
		b.publish(p.DeadLetterTopic, deadLetter(s.config.Name, e))
		b.settle(s, e)
		return
	}
	e.holder.count(e, -1)
	s.queue.retry(e, b.clock.Now().Add(backoff(s.config, e.attempt)))
	b.scribe.numbers(waitingField, e.number, uint64(e.at.UnixNano()))
	s.changed.fire()
	b.moved.fire()
}

// backoff returns how long a message waits after its nth delivery failed.
func backoff(c *pubsubpb.Subscription, n int) time.Duration {
	var low, high time.Duration
	switch {
	case c.RetryPolicy != nil:
		low, high = backoffOf(c.RetryPolicy)
	case c.PushConfig.GetPushEndpoint() != "":
		low, high = pushMinBackoff, pushMaxBackoff
	}
	wait := low
	for i := 1; i < n && 0 < wait && wait < high; i++ {
		wait *= 2
	}
	return min(wait, high)
}

// halt ends all leasing: pulls in progress answer, pushers stop.
func (b *broker) halt() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.haltLocked()
}

func (b *broker) haltLocked() {
	b.halted = true
	for _, s := range b.subs {
		s.changed.fire()
	}
}

// drop forgets a subscription and wakes whoever waits for its messages.
func (b *broker) drop(s *subscription) {
	delete(b.subs, s.config.Name)
	b.scribe.name(subscriptionDeletedField, s.config.Name)
	s.pusher = nil
	s.changed.fire()
	b.moved.fire()
}

// idle tells whether nothing is in motion: no message of a push subscription
// is undelivered, and no pulled message is unsettled.
func (b *broker) idle() bool {
	for _, s := range b.subs {
		if s.config.PushConfig.GetPushEndpoint() != "" && s.queue.pending() > 0 || len(s.queue.leased) > 0 {
			return false
		}
	}
	return true
}
