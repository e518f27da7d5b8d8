package pubsub

import (
	"context"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
)

// A subscriber serves google.pubsub.v1.Subscriber.
type subscriber struct {
	pubsubpb.UnimplementedSubscriberServer
	*broker
	server *Server
}

// find returns a subscription; the lock is held.
func (s *subscriber) find(name string) (*subscription, error) {
	if sub := s.subs[name]; sub != nil {
		return sub, nil
	}
	return nil, notFound(name)
}

// CreateSubscription creates a subscription, once. It receives what is
// published from now on.
func (s *subscriber) CreateSubscription(_ context.Context, req *pubsubpb.Subscription) (_ *pubsubpb.Subscription, err error) {
	config := proto.CloneOf(req)
	if err := completeSubscription(config); err != nil {
		return nil, err
	}
	if config.MessageRetentionDuration == nil {
		config.MessageRetentionDuration = durationpb.New(defaultRetention)
	}
	config.State = pubsubpb.Subscription_ACTIVE
	s.mu.Lock()
	defer s.unlock(&err)
	if s.subs[config.Name] != nil {
		return nil, exists(config.Name)
	}
	if s.topics[config.Topic] == nil {
		return nil, notFound(config.Topic)
	}
	if err := s.checkDeadLetterTopic(config); err != nil {
		return nil, err
	}
	sub := &subscription{config: config, queue: newQueue(config.EnableMessageOrdering)}
	s.subs[config.Name] = sub
	s.scribe.message(subscriptionField, config)
	s.server.repush(sub)
	return proto.CloneOf(config), nil
}

func (s *subscriber) checkDeadLetterTopic(c *pubsubpb.Subscription) error {
	if p := c.DeadLetterPolicy; p != nil && s.topics[p.DeadLetterTopic] == nil {
		return notFound(p.DeadLetterTopic)
	}
	return nil
}

// GetSubscription returns a subscription.
func (s *subscriber) GetSubscription(_ context.Context, req *pubsubpb.GetSubscriptionRequest) (*pubsubpb.Subscription, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub, err := s.find(req.Subscription)
	if err != nil {
		return nil, err
	}
	return proto.CloneOf(sub.config), nil
}

// UpdateSubscription changes the masked fields of a subscription. Leases that
// are out keep their deadlines.
func (s *subscriber) UpdateSubscription(_ context.Context, req *pubsubpb.UpdateSubscriptionRequest) (_ *pubsubpb.Subscription, err error) {
	s.mu.Lock()
	defer s.unlock(&err)
	sub, err := s.find(req.GetSubscription().GetName())
	if err != nil {
		return nil, err
	}
	if err := s.update(sub, req.Subscription, req.UpdateMask.GetPaths()); err != nil {
		return nil, err
	}
	return proto.CloneOf(sub.config), nil
}

// ModifyPushConfig changes where a subscription pushes to; an empty endpoint
// makes it a pull subscription.
func (s *subscriber) ModifyPushConfig(_ context.Context, req *pubsubpb.ModifyPushConfigRequest) (_ *emptypb.Empty, err error) {
	s.mu.Lock()
	defer s.unlock(&err)
	sub, err := s.find(req.Subscription)
	if err != nil {
		return nil, err
	}
	change := &pubsubpb.Subscription{PushConfig: req.PushConfig}
	if err := s.update(sub, change, []string{"push_config"}); err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

func (s *subscriber) update(sub *subscription, change *pubsubpb.Subscription, paths []string) error {
	config := proto.CloneOf(sub.config)
	if err := merge(config, change, paths, subscriptionFields); err != nil {
		return err
	}
	if err := completeSubscription(config); err != nil {
		return err
	}
	if err := s.checkDeadLetterTopic(config); err != nil {
		return err
	}
	repush := !proto.Equal(config.PushConfig, sub.config.PushConfig)
	sub.config = config
	s.scribe.message(subscriptionField, config)
	if repush {
		s.server.repush(sub)
	}
	return nil
}

// ListSubscriptions lists the subscriptions of a project by name.
func (s *subscriber) ListSubscriptions(_ context.Context, req *pubsubpb.ListSubscriptionsRequest) (*pubsubpb.ListSubscriptionsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names, next, err := page(names(s.subs, req.Project), req.PageSize, req.PageToken)
	if err != nil {
		return nil, err
	}
	res := &pubsubpb.ListSubscriptionsResponse{NextPageToken: next}
	for _, n := range names {
		res.Subscriptions = append(res.Subscriptions, proto.CloneOf(s.subs[n].config))
	}
	return res, nil
}

// DeleteSubscription deletes a subscription with its backlog.
func (s *subscriber) DeleteSubscription(_ context.Context, req *pubsubpb.DeleteSubscriptionRequest) (_ *emptypb.Empty, err error) {
	s.mu.Lock()
	defer s.unlock(&err)
	sub, err := s.find(req.Subscription)
	if err != nil {
		return nil, err
	}
	s.drop(sub)
	return &emptypb.Empty{}, nil
}
