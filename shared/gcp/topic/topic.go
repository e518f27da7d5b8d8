// Package topic publishes messages to Pub/Sub through the official client.
package topic

import (
	"context"
	"encoding/json"
	"fmt"

	"cloud.google.com/go/pubsub/v2"

	"truecost.dev/shared/fault"
	"truecost.dev/shared/runner"
)

// Steps publishes the messages of runs to one topic.
type Steps struct {
	publisher *pubsub.Publisher
}

var _ runner.Bus = (*Steps)(nil)

// NewSteps returns a bus on the topic with the given id. The client stays the
// caller's to close.
func NewSteps(client *pubsub.Client, id string) *Steps {
	p := client.Publisher(id)
	// A step is published by itself and waited for: batching would only add its
	// delay to every step.
	p.PublishSettings.CountThreshold = 1
	return &Steps{p}
}

// Publish implements runner.Bus. It returns when the service has every message:
// after the answer of a function the CPU may be taken away.
func (s *Steps) Publish(ctx context.Context, messages ...runner.Message) error {
	results := make([]*pubsub.PublishResult, len(messages))
	for i, m := range messages {
		data, err := json.Marshal(m)
		if err != nil {
			return fmt.Errorf("encode message for %s: %w", m.Run, err)
		}
		results[i] = s.publisher.Publish(ctx, &pubsub.Message{Data: data, Attributes: m.Attributes()})
	}
	for i, r := range results {
		if _, err := r.Get(ctx); err != nil {
			return fault.Wrap(fault.Unavailable, err, "publish %s of %s", messages[i].Step, messages[i].Run)
		}
	}
	return nil
}
