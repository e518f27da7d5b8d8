package pubsub_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"pgregory.net/rapid"

	"truecost.dev/emulator/pubsub"
)

// A twin is one of two servers that are treated the same.
type twin struct {
	server     *pubsub.Server
	conn       *grpc.ClientConn
	publisher  pubsubpb.PublisherClient
	subscriber pubsubpb.SubscriberClient
	held       map[string][]string // ack ids, by subscription
}

var twinSubs = []string{"projects/truecost/subscriptions/plain", "projects/truecost/subscriptions/ordered"}

func newTwin(rt *rapid.T, s *pubsub.Server) *twin {
	conn, err := s.Dial(context.Background())
	if err != nil {
		rt.Fatal(err)
	}
	return &twin{
		server: s, conn: conn, held: map[string][]string{},
		publisher: pubsubpb.NewPublisherClient(conn), subscriber: pubsubpb.NewSubscriberClient(conn),
	}
}

func openTwin(rt *rapid.T, dir string, compact int64) *twin {
	s, err := pubsub.Open(dir, pubsub.Options{Compact: compact})
	if err != nil {
		rt.Fatal(err)
	}
	return newTwin(rt, s)
}

func (x *twin) close() {
	_ = x.conn.Close() // what was asked is answered
	_ = x.server.Close()
}

func (x *twin) create(rt *rapid.T) {
	ctx := context.Background()
	if _, err := x.publisher.CreateTopic(ctx, &pubsubpb.Topic{Name: topic}); err != nil {
		rt.Fatal(err)
	}
	for i, name := range twinSubs {
		if _, err := x.subscriber.CreateSubscription(ctx, &pubsubpb.Subscription{
			Name: name, Topic: topic, EnableMessageOrdering: i == 1, AckDeadlineSeconds: 600,
		}); err != nil {
			rt.Fatal(err)
		}
	}
}

func (x *twin) publish(n int, key string) string {
	res, err := x.publisher.Publish(context.Background(), &pubsubpb.PublishRequest{
		Topic: topic, Messages: []*pubsubpb.PubsubMessage{{Data: fmt.Append(nil, n), OrderingKey: key}},
	})
	return fmt.Sprint(res.GetMessageIds(), err)
}

// pull pulls everything that is due, keeps so many of it, acknowledges one more
// and gives the rest back. It returns what was due.
func (x *twin) pull(sub string, keep int) string {
	ctx := context.Background()
	res, err := x.subscriber.Pull(ctx, &pubsubpb.PullRequest{
		Subscription: sub, MaxMessages: 1000, ReturnImmediately: true, //nolint:staticcheck // SA1019: nothing else pulls without waiting
	})
	list := res.GetReceivedMessages()
	slices.SortFunc(list, func(a, b *pubsubpb.ReceivedMessage) int {
		return cmp.Compare(a.Message.MessageId, b.Message.MessageId)
	})
	for i, m := range list {
		switch {
		case i < keep:
			x.held[sub] = append(x.held[sub], m.AckId)
		case i == keep:
			_, err = x.subscriber.Acknowledge(ctx, &pubsubpb.AcknowledgeRequest{Subscription: sub, AckIds: []string{m.AckId}})
		default:
			_, err = x.subscriber.ModifyAckDeadline(ctx, &pubsubpb.ModifyAckDeadlineRequest{Subscription: sub, AckIds: []string{m.AckId}})
		}
	}
	return fmt.Sprint(bodies(list), err)
}

// giveBack ends all leases.
func (x *twin) giveBack(rt *rapid.T) {
	for sub, ids := range x.held {
		if len(ids) == 0 {
			continue
		}
		if _, err := x.subscriber.ModifyAckDeadline(context.Background(), &pubsubpb.ModifyAckDeadlineRequest{Subscription: sub, AckIds: ids}); err != nil {
			rt.Fatal(err)
		}
		x.held[sub] = nil
	}
}

// drain acknowledges everything and returns how many messages there were, and
// those of each ordering key in their order.
func (x *twin) drain(sub string) string {
	byKey := map[string][]string{}
	for {
		res, err := x.subscriber.Pull(context.Background(), &pubsubpb.PullRequest{
			Subscription: sub, MaxMessages: 100, ReturnImmediately: true, //nolint:staticcheck // SA1019: as above
		})
		if err != nil {
			return err.Error()
		}
		if len(res.ReceivedMessages) == 0 {
			break
		}
		var ids []string
		for _, m := range res.ReceivedMessages {
			ids = append(ids, m.AckId)
			byKey[m.Message.OrderingKey] = append(byKey[m.Message.OrderingKey], string(m.Message.Data))
		}
		if _, err := x.subscriber.Acknowledge(context.Background(), &pubsubpb.AcknowledgeRequest{Subscription: sub, AckIds: ids}); err != nil {
			return err.Error()
		}
	}
	slices.Sort(byKey[""]) // without a key there is no order
	if !strings.HasSuffix(sub, "ordered") {
		slices.Sort(byKey["k"])
		slices.Sort(byKey["l"])
	}
	return fmt.Sprint(byKey)
}
