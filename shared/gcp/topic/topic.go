// Package topic publishes messages to Pub/Sub through the official client.
//
//	calls of agents, minutes each ──▶ topic of steps
//	wake, expand, join, shard     ──▶ topic of control
//
// They are apart since a push subscription slows down as a whole by what takes
// long or is refused.
package topic

import (
	"context"
	"encoding/json"
	"fmt"

	"cloud.google.com/go/pubsub/v2"

	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// More messages than crowd, as an expansion sends, share requests of so many;
// the last of them wait a few milliseconds for company.
const (
	crowd     = 20
	perCrowd  = 100
	bytesEach = 1 << 20
)

// Bus publishes the messages of runs.
type Bus struct {
	steps, control publisher
}

var _ runner.Bus = (*Bus)(nil)

// publisher publishes to one topic. A message is sent by itself and waited for:
// batching would only add its delay to every step.
type publisher struct {
	single, batched *pubsub.Publisher
}

// New returns a bus on the topics with these ids. The client stays the caller's
// to close.
func New(client *pubsub.Client, steps, control string) *Bus {
	return &Bus{newPublisher(client, steps), newPublisher(client, control)}
}

func newPublisher(client *pubsub.Client, id string) publisher {
	p := publisher{client.Publisher(id), client.Publisher(id)}
	p.single.PublishSettings.CountThreshold = 1
	p.batched.PublishSettings.CountThreshold = perCrowd
	p.batched.PublishSettings.ByteThreshold = bytesEach
	return p
}

// Publish implements runner.Bus. It returns when the service has every message:
// after the answer of a function the CPU may be taken away. fault.Unavailable
// when it has not, for whatever reason.
func (b *Bus) Publish(ctx context.Context, messages ...runner.Message) error {
	results := make([]*pubsub.PublishResult, len(messages))
	for i, m := range messages {
		data, err := json.Marshal(m)
		if err != nil {
			return fmt.Errorf("encode message for %s: %w", m.Run, err)
		}
		to := b.to(m.Kind())
		p := to.single
		if len(messages) > crowd {
			p = to.batched
		}
		results[i] = p.Publish(ctx, &pubsub.Message{Data: data, Attributes: m.Attributes()})
	}
	for i, r := range results {
		if _, err := r.Get(ctx); err != nil {
			return fault.Wrap(fault.Unavailable, err, "publish %s of %s", messages[i].Step, messages[i].Run)
		}
	}
	return nil
}

func (b *Bus) to(kind string) *publisher {
	switch kind {
	case runner.KindStep, runner.KindChunk:
		return &b.steps
	default:
		return &b.control
	}
}
