package hub

import (
	"context"
	"fmt"
	"path"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

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

// prepare creates what the functions need: the dead-letter topic with a
// subscription that keeps its messages, and for each function that takes
// events its topic and a push subscription named as the function. What is
// there already, in a server of somebody else, is used.
func (b *bus) prepare(ctx context.Context, at Addresses, functions []host.Function, schedules []Schedule, push Push) error {
	if err := b.createTopic(ctx, at.Project, DeadTopic); err != nil {
		return err
	}
	if err := b.subscribe(ctx, &pubsubpb.Subscription{
		Name: subName(at.Project, DeadTopic), Topic: topicName(at.Project, DeadTopic), AckDeadlineSeconds: 60,
	}); err != nil {
		return err
	}
	for _, s := range schedules {
		if err := b.createTopic(ctx, at.Project, s.Topic); err != nil {
			return err
		}
	}
	for _, f := range functions {
		if f.Kind != host.Event {
			continue
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
func trigger(at Addresses, f host.Function, push Push) *pubsubpb.Subscription {
	s := &pubsubpb.Subscription{
		Name: subName(at.Project, f.Name), Topic: topicName(at.Project, f.Topic),
		PushConfig:         &pubsubpb.PushConfig{PushEndpoint: at.FunctionsURL() + "/" + f.Name},
		AckDeadlineSeconds: int32(push.AckDeadline / time.Second),
		RetryPolicy:        &pubsubpb.RetryPolicy{MinimumBackoff: durationpb.New(push.MinBackoff), MaximumBackoff: durationpb.New(push.MaxBackoff)},
	}
	if f.Topic != DeadTopic { // who handles dead letters must not feed them
		s.DeadLetterPolicy = &pubsubpb.DeadLetterPolicy{DeadLetterTopic: topicName(at.Project, DeadTopic), MaxDeliveryAttempts: int32(push.Attempts)}
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
	if status.Code(err) == codes.AlreadyExists { // of an earlier process, with its ports
		_, err = b.subscribers.ModifyPushConfig(ctx, &pubsubpb.ModifyPushConfigRequest{Subscription: s.Name, PushConfig: s.PushConfig})
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
