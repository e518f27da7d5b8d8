package pubsub

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/protobuf/proto"
)

// A restorer rebuilds a broker from the records of its journal.
type restorer struct {
	*broker
	backlog map[uint64]*entry // what is not settled, by number
}

// restore applies one record.
func (r *restorer) restore(b []byte) error {
	list, err := elements(b)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := r.apply(e); err != nil {
			return fmt.Errorf("field %d: %w", e.field, err)
		}
	}
	return nil
}

func (r *restorer) apply(e element) error {
	switch e.field {
	case topicField:
		t := &pubsubpb.Topic{}
		if err := proto.Unmarshal(e.bytes, t); err != nil {
			return err
		}
		r.topics[t.Name] = t
		return checkName(t.Name, "topics")
	case topicDeletedField:
		delete(r.topics, string(e.bytes))
		return nil
	case subscriptionField:
		return r.subscription(e.bytes)
	case subscriptionDeletedField:
		delete(r.subs, string(e.bytes))
		maps.DeleteFunc(r.backlog, func(_ uint64, x *entry) bool { return x.subscription == string(e.bytes) })
		return nil
	case publishedField:
		return r.published(e.bytes)
	case countersField:
		n, err := numbers(e.bytes, 3)
		if err != nil {
			return err
		}
		r.lastID, r.entries, r.leases = max(r.lastID, n[0]), max(r.entries, n[1]), max(r.leases, n[2])
		return nil
	case leasedField, waitingField, settledField:
		return r.moved(e)
	default:
		return errors.New("no such change is known")
	}
}

func (r *restorer) subscription(b []byte) error {
	config := &pubsubpb.Subscription{}
	if err := proto.Unmarshal(b, config); err != nil {
		return err
	}
	if err := checkName(config.Name, "subscriptions"); err != nil {
		return err
	}
	if s := r.subs[config.Name]; s != nil {
		s.config = config
		return nil
	}
	r.subs[config.Name] = &subscription{config: config, queue: newQueue(config.EnableMessageOrdering)}
	return nil
}

func (r *restorer) published(b []byte) error {
	list, err := elements(b)
	if err != nil {
		return err
	}
	p := &record{message: &pubsubpb.PubsubMessage{}}
	for _, e := range list {
		switch e.field {
		case 1:
			p.topic = string(e.bytes)
		case 2:
			if err := proto.Unmarshal(e.bytes, p.message); err != nil {
				return err
			}
		default:
			if err := r.entry(p, e.bytes); err != nil {
				return err
			}
		}
	}
	id, err := strconv.ParseUint(p.message.MessageId, 10, 64)
	r.lastID = max(r.lastID, id)
	return err
}

func (r *restorer) entry(p *record, b []byte) error {
	list, err := elements(b)
	if err != nil {
		return err
	}
	e := &entry{record: p}
	for _, x := range list {
		switch x.field {
		case 1:
			e.number = x.number
		case 2:
			e.subscription = string(x.bytes)
		case 3:
			e.order = x.number
		case 4:
			e.at = time.Unix(0, int64(x.number))
		case 5:
			e.attempt = int(x.number)
		default:
			return fmt.Errorf("an entry has no field %d", x.field)
		}
	}
	if r.subs[e.subscription] == nil {
		return fmt.Errorf("there is no subscription %q", e.subscription)
	}
	r.entries = max(r.entries, e.number)
	r.backlog[e.number] = e
	return nil
}

func (r *restorer) moved(x element) error {
	n, err := numbers(x.bytes, 2)
	if err != nil {
		return err
	}
	e := r.backlog[n[0]]
	if e == nil {
		return fmt.Errorf("there is no entry %d", n[0])
	}
	switch x.field {
	case leasedField: // the lease ends with the process: the entry is due as before
		e.attempt++
		r.leases = max(r.leases, n[1])
	case waitingField:
		e.at = time.Unix(0, int64(n[1]))
	default:
		delete(r.backlog, e.number)
	}
	return nil
}

// finish puts what is not settled into the queues, in the order of publishing.
func (r *restorer) finish() {
	seen := map[*record]bool{}
	for _, number := range slices.Sorted(maps.Keys(r.backlog)) {
		e := r.backlog[number]
		e.record.deliveries += e.attempt
		r.subs[e.subscription].queue.add(e)
		if !seen[e.record] {
			seen[e.record] = true
			r.remember(e.record)
		}
	}
	slices.SortStableFunc(r.log, func(a, b *record) int { return cmp.Compare(a.message.MessageId, b.message.MessageId) })
}
