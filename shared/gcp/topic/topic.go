// Package topic publishes messages to Pub/Sub through the official client.
//
//	calls of agents, minutes each ──▶ topic of steps
//	wake, expand, join, shard     ──▶ topic of control
//	tasks of agents, minutes each ──▶ topic of work
//
// They are apart since a push subscription slows down as a whole by what takes
// long or is refused.
package topic

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"golang.org/x/sync/errgroup"

	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// More messages than crowd, as an expansion sends, share requests of perCrowd.
const (
	crowd    = 20
	perCrowd = 100
	atOnce   = 20 // requests
)

// Bus publishes the messages of runs. It asks the service directly: a
// pubsub.Publisher passes every message through the goroutines that gather
// batches, and there is nothing to gather.
type Bus struct {
	client         *pubsub.Client
	steps, control string // full names
}

var _ runner.Bus = (*Bus)(nil)

// New returns a bus on the topics with these ids. The client stays the caller's
// to close.
func New(client *pubsub.Client, steps, control string) *Bus {
	return &Bus{client, client.Publisher(steps).String(), client.Publisher(control).String()}
}

// Publish implements runner.Bus. It returns when the service has every message:
// after the answer of a function the CPU may be taken away. fault.Unavailable
// when it has not, for whatever reason.
func (b *Bus) Publish(ctx context.Context, messages ...runner.Message) error {
	requests, err := b.requests(messages)
	if err != nil || len(requests) == 0 {
		return err
	}
	var rest errgroup.Group
	rest.SetLimit(atOnce)
	for _, q := range requests[1:] {
		rest.Go(func() error { return b.send(ctx, q) })
	}
	err = b.send(ctx, requests[0]) // mostly the only one
	return cmp.Or(err, rest.Wait())
}

func (b *Bus) send(ctx context.Context, q *pubsubpb.PublishRequest) error {
	if _, err := b.client.TopicAdminClient.Publish(ctx, q); err != nil {
		return fault.Wrap(fault.Unavailable, err, "publish %d messages to %s", len(q.Messages), q.Topic)
	}
	return nil
}

// requests puts each message into a request of its own, or those of a crowd
// together by their topics.
func (b *Bus) requests(messages []runner.Message) ([]*pubsubpb.PublishRequest, error) {
	most := 1
	if len(messages) > crowd {
		most = perCrowd
	}
	var list []*pubsubpb.PublishRequest
	filling := map[string]*pubsubpb.PublishRequest{}
	for _, m := range messages {
		data, err := json.Marshal(m)
		if err != nil {
			return nil, fmt.Errorf("encode message for %s: %w", m.Run, err)
		}
		to := b.to(m.Kind())
		q := filling[to]
		if q == nil || len(q.Messages) == most {
			q = &pubsubpb.PublishRequest{Topic: to}
			filling[to] = q
			list = append(list, q)
		}
		q.Messages = append(q.Messages, &pubsubpb.PubsubMessage{Data: data, Attributes: m.Attributes()})
	}
	return list, nil
}

func (b *Bus) to(kind string) string {
	switch kind {
	case runner.KindStep, runner.KindChunk:
		return b.steps
	default:
		return b.control
	}
}
