package pubsub_test

import (
	"context"
	"testing"
	"time"

	client "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"truecost.dev/emulator/pubsub/pubsubtest"
	emulator "truecost.dev/internal/official"
)

// official starts the official emulator and returns a client of it. It skips
// the test where the emulator is not installed.
func official(t *testing.T) *client.Client {
	t.Helper()
	conn, err := grpc.NewClient(emulator.PubSub.Start(t), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.NewClient(t.Context(), pubsubtest.Project, option.WithGRPCConn(conn))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	ready, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := pubsubpb.NewPublisherClient(conn).ListTopics(ready, &pubsubpb.ListTopicsRequest{Project: "projects/truecost"}, grpc.WaitForReady(true)); err != nil {
		t.Fatalf("the official emulator did not answer: %v", err)
	}
	return c
}

// wipe deletes what the test before left.
func wipe(t *testing.T, c *client.Client) {
	t.Helper()
	ctx, project := t.Context(), "projects/"+pubsubtest.Project
	subs := c.SubscriptionAdminClient.ListSubscriptions(ctx, &pubsubpb.ListSubscriptionsRequest{Project: project})
	for s, err := subs.Next(); err != iterator.Done; s, err = subs.Next() { //nolint:errorlint // the iterator's documented sentinel
		if err == nil {
			err = c.SubscriptionAdminClient.DeleteSubscription(ctx, &pubsubpb.DeleteSubscriptionRequest{Subscription: s.Name})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	topics := c.TopicAdminClient.ListTopics(ctx, &pubsubpb.ListTopicsRequest{Project: project})
	for s, err := topics.Next(); err != iterator.Done; s, err = topics.Next() { //nolint:errorlint // the iterator's documented sentinel
		if err == nil {
			err = c.TopicAdminClient.DeleteTopic(ctx, &pubsubpb.DeleteTopicRequest{Topic: s.Name})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
