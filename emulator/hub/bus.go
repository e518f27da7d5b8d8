package hub

import (
	"context"
	"fmt"
	"path"
	"slices"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"truecost.dev/shared/host"
)

// DeadTopic is where messages go that no delivery got through.
const DeadTopic = "truecost-dead"

// A bus is the hub's side of Pub/Sub, embedded or not.
type bus struct {
	conn        *grpc.ClientConn
	topics      pubsubpb.PublisherClient
	subscribers pubsubpb.SubscriberClient
}

func newBus(conn *grpc.ClientConn) *bus {
	return &bus{conn: conn, topics: pubsubpb.NewPublisherClient(conn), subscribers: pubsubpb.NewSubscriberClient(conn)}
}

func topicName(project, id string) string { return "projects/" + project + "/topics/" + id }
func subName(project, id string) string   { return "projects/" + project + "/subscriptions/" + id }

// prepare creates what the functions need: dead-letter topics, each with a
// subscription that keeps its messages, and for each function that takes events
// its topic and a push subscription named as the function. What is there
// already, on disk or in a server of somebody else, is used, with the settings
// of now.
func (b *bus) prepare(ctx context.Context, at Addresses, functions []host.Function, c Config) error {
	events := slices.DeleteFunc(slices.Clone(functions), func(f host.Function) bool { return f.Kind != host.Event })
	dead := []string{DeadTopic}
	for _, f := range events {
		dead = append(dead, c.pushOf(f).DeadLetter)
	}
	slices.Sort(dead)
	dead = slices.Compact(dead)
	for _, d := range dead {
		if err := b.createTopic(ctx, at.Project, d); err != nil {
			return err
		}
		if err := b.subscribe(ctx, &pubsubpb.Subscription{
			Name: subName(at.Project, d), Topic: topicName(at.Project, d), AckDeadlineSeconds: 60,
		}); err != nil {
			return err
		}
	}
	for _, s := range c.Schedules {
		if err := b.createTopic(ctx, at.Project, s.Topic); err != nil {
			return err
		}
	}
	for _, f := range events {
		push := c.pushOf(f)
		if slices.Contains(dead, f.Topic) { // who handles dead letters must not feed them
			push.DeadLetter = ""
		}
		if err := b.createTopic(ctx, at.Project, f.Topic); err != nil {
			return err
		}
		if err := b.subscribe(ctx, trigger(at, f, push)); err != nil {
			return err
		}
	}
	return nil
}

// trigger returns the push subscription of a function.
func trigger(at Addresses, f host.Function, push host.Push) *pubsubpb.Subscription {
	s := &pubsubpb.Subscription{
		Name: subName(at.Project, f.Name), Topic: topicName(at.Project, f.Topic),
		PushConfig:         &pubsubpb.PushConfig{PushEndpoint: at.FunctionsURL() + "/" + f.Name},
		AckDeadlineSeconds: int32(push.Ack / time.Second),
		RetryPolicy:        &pubsubpb.RetryPolicy{MinimumBackoff: durationpb.New(push.Backoff[0]), MaximumBackoff: durationpb.New(push.Backoff[1])},
	}
	if push.DeadLetter != "" {
		s.DeadLetterPolicy = &pubsubpb.DeadLetterPolicy{DeadLetterTopic: topicName(at.Project, push.DeadLetter), MaxDeliveryAttempts: int32(push.Deliveries)}
	}
	return s
}

func (b *bus) createTopic(ctx context.Context, project, id string) error {
	_, err := b.topics.CreateTopic(ctx, &pubsubpb.Topic{Name: topicName(project, id)})
	if err != nil && status.Code(err) != codes.AlreadyExists {
		return fmt.Errorf("create topic %s: %w", id, err)
	}
	return nil
}

func (b *bus) subscribe(ctx context.Context, s *pubsubpb.Subscription) error {
	_, err := b.subscribers.CreateSubscription(ctx, s)
	if status.Code(err) == codes.AlreadyExists { // of an earlier process, with its ports and settings
		_, err = b.subscribers.UpdateSubscription(ctx, &pubsubpb.UpdateSubscriptionRequest{
			Subscription: s,
			UpdateMask:   &fieldmaskpb.FieldMask{Paths: []string{"push_config", "ack_deadline_seconds", "retry_policy", "dead_letter_policy"}},
		})
	}
	if err != nil {
		return fmt.Errorf("create subscription %s: %w", path.Base(s.Name), err)
	}
	return nil
}

// tick publishes a scheduler's message to a topic.
func (b *bus) tick(ctx context.Context, project, id string) error {
	_, err := b.topics.Publish(ctx, &pubsubpb.PublishRequest{
		Topic:    topicName(project, id),
		Messages: []*pubsubpb.PubsubMessage{{Attributes: map[string]string{"kind": "tick"}}},
	})
	if err != nil {
		return fmt.Errorf("publish a tick to %s: %w", id, err)
	}
	return nil
}

type topicView struct {
	Name          string
	Subscriptions []string
}

// list returns the topics of a project with their subscriptions, by id.
func (b *bus) list(ctx context.Context, project string) ([]topicView, error) {
	res, err := b.topics.ListTopics(ctx, &pubsubpb.ListTopicsRequest{Project: "projects/" + project})
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	var list []topicView
	for _, t := range res.Topics {
		subs, err := b.topics.ListTopicSubscriptions(ctx, &pubsubpb.ListTopicSubscriptionsRequest{Topic: t.Name})
		if err != nil {
			return nil, fmt.Errorf("list subscriptions of %s: %w", path.Base(t.Name), err)
		}
		v := topicView{Name: path.Base(t.Name)}
		for _, s := range subs.Subscriptions {
			v.Subscriptions = append(v.Subscriptions, path.Base(s))
		}
		list = append(list, v)
	}
	return list, nil
}
