package pubsub_test

import (
	"net"
	"net/http"
	"testing"
	"time"

	client "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/api/iterator"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"truecost.dev/emulator/pubsub"
	"truecost.dev/emulator/pubsub/pubsubtest"
)

func TestTopicCalls(t *testing.T) {
	t.Parallel()
	c := pubsubtest.Client(t)
	ctx, admin := t.Context(), c.TopicAdminClient
	createTopics(t, c, topic)
	createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic})

	change := &pubsubpb.Topic{Name: topic, Labels: map[string]string{"a": "b"}, MessageRetentionDuration: durationpb.New(time.Hour)}
	got, err := admin.UpdateTopic(ctx, &pubsubpb.UpdateTopicRequest{Topic: change, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"labels"}}})
	if err != nil || got.Labels["a"] != "b" || got.MessageRetentionDuration != nil {
		t.Errorf("UpdateTopic = %v, %v; want the masked field changed alone", got, err)
	}
	got, err = admin.GetTopic(ctx, &pubsubpb.GetTopicRequest{Topic: topic})
	if err != nil || got.Labels["a"] != "b" || got.State != pubsubpb.Topic_ACTIVE {
		t.Errorf("GetTopic = %v, %v; want the changed topic", got, err)
	}
	if _, err = admin.UpdateTopic(ctx, &pubsubpb.UpdateTopicRequest{Topic: change}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("UpdateTopic without a mask = %v, want INVALID_ARGUMENT", err)
	}

	if name, err := admin.ListTopicSubscriptions(ctx, &pubsubpb.ListTopicSubscriptionsRequest{Topic: topic}).Next(); err != nil || name != subName {
		t.Errorf("ListTopicSubscriptions = %q, %v; want %s", name, err, subName)
	}
	subs := c.SubscriptionAdminClient.ListSubscriptions(ctx, &pubsubpb.ListSubscriptionsRequest{Project: "projects/truecost"})
	if s, err := subs.Next(); err != nil || s.Name != subName {
		t.Errorf("ListSubscriptions = %v, %v; want %s", s, err, subName)
	}
	if s, err := subs.Next(); err != iterator.Done { //nolint:errorlint // the iterator's documented sentinel
		t.Errorf("ListSubscriptions goes on with %v, %v", s, err)
	}

	if err := admin.DeleteTopic(ctx, &pubsubpb.DeleteTopicRequest{Topic: topic}); err != nil {
		t.Fatal(err)
	}
	missing := map[string]error{}
	_, missing["GetTopic"] = admin.GetTopic(ctx, &pubsubpb.GetTopicRequest{Topic: topic})
	_, missing["UpdateTopic"] = admin.UpdateTopic(ctx, &pubsubpb.UpdateTopicRequest{Topic: change})
	_, missing["ListTopicSubscriptions"] = admin.ListTopicSubscriptions(ctx, &pubsubpb.ListTopicSubscriptionsRequest{Topic: topic}).Next()
	missing["DeleteTopic"] = admin.DeleteTopic(ctx, &pubsubpb.DeleteTopicRequest{Topic: topic})
	for call, err := range missing {
		if status.Code(err) != codes.NotFound {
			t.Errorf("%s of a deleted topic = %v, want NOT_FOUND", call, err)
		}
	}
}

func TestPushSubscriptionsCannotBePulled(t *testing.T) {
	t.Parallel()
	c := pubsubtest.Client(t)
	createTopics(t, c, topic)
	createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic, PushConfig: pushTo()})
	_, err := c.SubscriptionAdminClient.Pull(t.Context(), &pubsubpb.PullRequest{Subscription: subName, MaxMessages: 1})
	if status.Code(err) != codes.FailedPrecondition {
		t.Errorf("Pull = %v, want FAILED_PRECONDITION", err)
	}
}

// TestEmulatorHost is the way the world reaches the server: over a port that
// the environment names. It is not parallel for the environment's sake.
func TestEmulatorHost(t *testing.T) {
	s := pubsub.New(pubsub.Options{})
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Setenv("PUBSUB_EMULATOR_HOST", l.Addr().String())
	c, err := client.NewClient(t.Context(), pubsubtest.Project)
	if err != nil {
		t.Fatal(err)
	}
	createTopics(t, c, topic)
	createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic})
	publish(t, c, &client.Message{Data: []byte("a")})
	if got := pull(t, c, subName, 1); len(got) != 1 {
		t.Errorf("pulled %v, want the message", got)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve after Close = %v, want nil", err)
	}
}

// BenchmarkPush measures a message from Publish to its acknowledgement, with
// an endpoint that costs nothing.
func BenchmarkPush(b *testing.B) {
	e := &endpoint{answer: func(int, *http.Request) int { return http.StatusNoContent }}
	s, c := pubsubtest.Start(b, pubsub.Options{Transport: e})
	ctx := b.Context()
	if _, err := c.TopicAdminClient.CreateTopic(ctx, &pubsubpb.Topic{Name: topic}); err != nil {
		b.Fatal(err)
	}
	if _, err := c.SubscriptionAdminClient.CreateSubscription(ctx, &pubsubpb.Subscription{Name: subName, Topic: topic, PushConfig: pushTo()}); err != nil {
		b.Fatal(err)
	}
	p := c.Publisher(topic)
	defer p.Stop()
	p.PublishSettings.CountThreshold = 1
	for b.Loop() {
		if _, err := p.Publish(ctx, &client.Message{Data: []byte("a")}).Get(ctx); err != nil {
			b.Fatal(err)
		}
		if err := s.Idle(ctx); err != nil {
			b.Fatal(err)
		}
	}
}
