package topic

import (
	"context"
	"encoding/json"
	"fmt"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// Work is the queue of agents' tasks: each message names a task and what to do
// with it. It is apart from the topics of runs, for the same reason as those are
// apart from each other.
type Work struct {
	client *pubsub.Client
	topic  string // full name
}

var _ task.Queue = (*Work)(nil)

// NewWork returns a queue on the topic with this id. The client stays the
// caller's to close.
func NewWork(client *pubsub.Client, topic string) *Work {
	return &Work{client, client.Publisher(topic).String()}
}

// Work implements task.Queue.
func (w *Work) Work(ctx context.Context, ref task.Ref) error { return w.publish(ctx, task.DoWork, ref) }

// Tell implements task.Queue.
func (w *Work) Tell(ctx context.Context, ref task.Ref) error { return w.publish(ctx, task.DoTell, ref) }

// publish returns when the service has the message; fault.Unavailable when it
// has not.
func (w *Work) publish(ctx context.Context, do string, ref task.Ref) error {
	data, err := json.Marshal(task.Job{Do: do, Ref: ref})
	if err != nil {
		return fmt.Errorf("encode a job for task %s: %w", ref.ID, err)
	}
	_, err = w.client.TopicAdminClient.Publish(ctx, &pubsubpb.PublishRequest{
		Topic:    w.topic,
		Messages: []*pubsubpb.PubsubMessage{{Data: data, Attributes: map[string]string{"kind": do, "agent": ref.Agent}}},
	})
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "publish a job to %s", w.topic)
	}
	return nil
}
