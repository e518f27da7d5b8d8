package pubsub

import (
	"context"
	"maps"
	"slices"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
)

// A publisher serves google.pubsub.v1.Publisher.
type publisher struct {
	pubsubpb.UnimplementedPublisherServer
	*broker
}

// CreateTopic creates a topic, once.
func (p *publisher) CreateTopic(_ context.Context, t *pubsubpb.Topic) (_ *pubsubpb.Topic, err error) {
	if err := checkTopic(t); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.unlock(&err)
	if p.topics[t.Name] != nil {
		return nil, exists(t.Name)
	}
	kept := proto.CloneOf(t)
	kept.State = pubsubpb.Topic_ACTIVE
	p.topics[t.Name] = kept
	p.scribe.message(topicField, kept)
	return proto.CloneOf(kept), nil
}

func exists(name string) error {
	return status.Errorf(codes.AlreadyExists, "Resource already exists in the project (resource=%s).", name)
}

// GetTopic returns a topic.
func (p *publisher) GetTopic(_ context.Context, req *pubsubpb.GetTopicRequest) (*pubsubpb.Topic, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.topics[req.Topic]
	if t == nil {
		return nil, notFound(req.Topic)
	}
	return proto.CloneOf(t), nil
}

// UpdateTopic changes the masked fields of a topic.
func (p *publisher) UpdateTopic(_ context.Context, req *pubsubpb.UpdateTopicRequest) (_ *pubsubpb.Topic, err error) {
	p.mu.Lock()
	defer p.unlock(&err)
	name := req.GetTopic().GetName()
	old := p.topics[name]
	if old == nil {
		return nil, notFound(name)
	}
	t := proto.CloneOf(old)
	if err := merge(t, req.Topic, req.UpdateMask.GetPaths(), topicFields); err != nil {
		return nil, err
	}
	if err := checkTopic(t); err != nil {
		return nil, err
	}
	p.topics[name] = t
	p.scribe.message(topicField, t)
	return proto.CloneOf(t), nil
}

// DeleteTopic deletes a topic. Its subscriptions stay, with their backlog.
func (p *publisher) DeleteTopic(_ context.Context, req *pubsubpb.DeleteTopicRequest) (_ *emptypb.Empty, err error) {
	p.mu.Lock()
	defer p.unlock(&err)
	if p.topics[req.Topic] == nil {
		return nil, notFound(req.Topic)
	}
	delete(p.topics, req.Topic)
	p.scribe.name(topicDeletedField, req.Topic)
	for _, s := range p.subs {
		if s.config.Topic == req.Topic {
			s.config = proto.CloneOf(s.config)
			s.config.Topic = deletedTopic
			p.scribe.message(subscriptionField, s.config)
		}
	}
	return &emptypb.Empty{}, nil
}

// ListTopics lists the topics of a project by name.
func (p *publisher) ListTopics(_ context.Context, req *pubsubpb.ListTopicsRequest) (*pubsubpb.ListTopicsResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	names, next, err := page(names(p.topics, req.Project), req.PageSize, req.PageToken)
	if err != nil {
		return nil, err
	}
	res := &pubsubpb.ListTopicsResponse{NextPageToken: next}
	for _, n := range names {
		res.Topics = append(res.Topics, proto.CloneOf(p.topics[n]))
	}
	return res, nil
}

// ListTopicSubscriptions lists the names of the subscriptions of a topic.
func (p *publisher) ListTopicSubscriptions(_ context.Context, req *pubsubpb.ListTopicSubscriptionsRequest) (*pubsubpb.ListTopicSubscriptionsResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.topics[req.Topic] == nil {
		return nil, notFound(req.Topic)
	}
	all := slices.DeleteFunc(slices.Sorted(maps.Keys(p.subs)), func(n string) bool { return p.subs[n].config.Topic != req.Topic })
	names, next, err := page(all, req.PageSize, req.PageToken)
	if err != nil {
		return nil, err
	}
	return &pubsubpb.ListTopicSubscriptionsResponse{Subscriptions: names, NextPageToken: next}, nil
}

// Publish puts messages on a topic, in order and all or none.
func (p *publisher) Publish(_ context.Context, req *pubsubpb.PublishRequest) (_ *pubsubpb.PublishResponse, err error) {
	if err := checkPublish(req); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.unlock(&err)
	if p.topics[req.Topic] == nil {
		return nil, notFound(req.Topic)
	}
	res := &pubsubpb.PublishResponse{}
	for _, m := range req.Messages {
		res.MessageIds = append(res.MessageIds, p.publish(req.Topic, m))
	}
	return res, nil
}
