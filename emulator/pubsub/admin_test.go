package pubsub_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	client "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/api/iterator"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"truecost.dev/emulator/pubsub"
	"truecost.dev/emulator/pubsub/pubsubtest"
)

type refusal struct {
	name string
	call func(*testing.T, *client.Client) error
	want codes.Code
}

// laxities are the refusals of the service, or of this server, that the
// official emulator does not know.
var laxities = []string{
	"ack deadline 9 s", "filter", "exactly once", "over 10 MB",
	"101 attributes", "attribute key of 257 bytes", "attribute value of 1025 bytes", "ordering key of 1025 bytes",
}

// refusals are calls on a project that has topic alone, with the codes of the
// service.
func refusals() []refusal {
	sub := func(change func(*pubsubpb.Subscription)) func(*testing.T, *client.Client) error {
		return func(t *testing.T, c *client.Client) error {
			s := &pubsubpb.Subscription{Name: subName, Topic: topic}
			change(s)
			_, err := c.SubscriptionAdminClient.CreateSubscription(t.Context(), s)
			return err
		}
	}
	newTopic := func(name string) func(*testing.T, *client.Client) error {
		return func(t *testing.T, c *client.Client) error {
			_, err := c.TopicAdminClient.CreateTopic(t.Context(), &pubsubpb.Topic{Name: name})
			return err
		}
	}
	send := func(to string, list ...*pubsubpb.PubsubMessage) func(*testing.T, *client.Client) error {
		return func(t *testing.T, c *client.Client) error {
			_, err := c.TopicAdminClient.Publish(t.Context(), &pubsubpb.PublishRequest{Topic: to, Messages: list})
			return err
		}
	}
	attributes := func(n, key, value int) *pubsubpb.PubsubMessage {
		m := &pubsubpb.PubsubMessage{Attributes: map[string]string{}}
		for i := range n {
			m.Attributes[fmt.Sprintf("%0*d", key, i)] = strings.Repeat("v", value)
		}
		return m
	}
	data := func(n int) *pubsubpb.PubsubMessage { return &pubsubpb.PubsubMessage{Data: make([]byte, n)} }
	return []refusal{
		{"topic twice", newTopic(topic), codes.AlreadyExists},
		{"topic id too short", newTopic("projects/p/topics/ab"), codes.InvalidArgument},
		{"topic id of the service", newTopic("projects/p/topics/googol"), codes.InvalidArgument},
		{"topic id begins with a digit", newTopic("projects/p/topics/1abc"), codes.InvalidArgument},
		{"topic id as long as allowed", newTopic("projects/p/topics/" + strings.Repeat("a", 255)), codes.OK},
		{"topic named as a subscription", newTopic("projects/p/subscriptions/abc"), codes.InvalidArgument},

		{"subscription of no topic", sub(func(s *pubsubpb.Subscription) { s.Topic += "x" }), codes.NotFound},
		{"ack deadline 9 s", sub(func(s *pubsubpb.Subscription) { s.AckDeadlineSeconds = 9 }), codes.InvalidArgument},
		{"ack deadline 601 s", sub(func(s *pubsubpb.Subscription) { s.AckDeadlineSeconds = 601 }), codes.InvalidArgument},
		{"backoff over 600 s", sub(func(s *pubsubpb.Subscription) { s.RetryPolicy = retryBetween(0, 601*time.Second) }), codes.InvalidArgument},
		{"backoff upside down", sub(func(s *pubsubpb.Subscription) { s.RetryPolicy = retryBetween(20*time.Second, 10*time.Second) }), codes.InvalidArgument},
		{"push endpoint without host", sub(func(s *pubsubpb.Subscription) { s.PushConfig = &pubsubpb.PushConfig{PushEndpoint: "/step"} }), codes.InvalidArgument},
		{"dead letter after 4", sub(func(s *pubsubpb.Subscription) {
			s.DeadLetterPolicy = &pubsubpb.DeadLetterPolicy{DeadLetterTopic: topic, MaxDeliveryAttempts: 4}
		}), codes.OutOfRange},
		{"dead letter after 101", sub(func(s *pubsubpb.Subscription) {
			s.DeadLetterPolicy = &pubsubpb.DeadLetterPolicy{DeadLetterTopic: topic, MaxDeliveryAttempts: 101}
		}), codes.OutOfRange},
		{"dead letter to no topic", sub(func(s *pubsubpb.Subscription) {
			s.DeadLetterPolicy = &pubsubpb.DeadLetterPolicy{DeadLetterTopic: deadName}
		}), codes.NotFound},
		{"filter", sub(func(s *pubsubpb.Subscription) { s.Filter = `attributes:a` }), codes.Unimplemented},
		{"exactly once", sub(func(s *pubsubpb.Subscription) { s.EnableExactlyOnceDelivery = true }), codes.Unimplemented},

		{"publish to no topic", send(deadName, data(1)), codes.NotFound},
		{"publish nothing", send(topic), codes.InvalidArgument},
		{"empty message", send(topic, data(0)), codes.InvalidArgument},
		{"1000 messages", send(topic, slices.Repeat([]*pubsubpb.PubsubMessage{data(1)}, 1000)...), codes.OK},
		{"1001 messages", send(topic, slices.Repeat([]*pubsubpb.PubsubMessage{data(1)}, 1001)...), codes.InvalidArgument},
		{"over 10 MB", send(topic, data(10_000_000)), codes.InvalidArgument},
		{"nearly 10 MB", send(topic, data(9_999_000)), codes.OK},
		{"100 attributes, as large as allowed", send(topic, attributes(100, 256, 1024)), codes.OK},
		{"101 attributes", send(topic, attributes(101, 3, 1)), codes.InvalidArgument},
		{"attribute key of 257 bytes", send(topic, attributes(1, 257, 1)), codes.InvalidArgument},
		{"attribute value of 1025 bytes", send(topic, attributes(1, 1, 1025)), codes.InvalidArgument},
		{"ordering key of 1025 bytes", send(topic, &pubsubpb.PubsubMessage{Data: []byte("a"), OrderingKey: strings.Repeat("k", 1025)}), codes.InvalidArgument},
	}
}

func TestSubscriptionCalls(t *testing.T) {
	t.Parallel()
	c := pubsubtest.Client(t)
	ctx, admin := t.Context(), c.SubscriptionAdminClient
	createTopics(t, c, topic)
	createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic})

	got, err := admin.GetSubscription(ctx, &pubsubpb.GetSubscriptionRequest{Subscription: subName})
	if err != nil || got.AckDeadlineSeconds != 10 {
		t.Errorf("GetSubscription = %v, %v; want the default deadline of 10 s", got, err)
	}
	change := &pubsubpb.Subscription{Name: subName, AckDeadlineSeconds: 30, RetryPolicy: retryBetween(time.Second, time.Minute)}
	got, err = admin.UpdateSubscription(ctx, &pubsubpb.UpdateSubscriptionRequest{
		Subscription: change, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"ack_deadline_seconds"}},
	})
	if err != nil || got.AckDeadlineSeconds != 30 || got.RetryPolicy != nil {
		t.Errorf("UpdateSubscription = %v, %v; want the masked field changed alone", got, err)
	}
	for _, path := range []string{"topic", "enable_message_ordering", "nonsense"} {
		_, err = admin.UpdateSubscription(ctx, &pubsubpb.UpdateSubscriptionRequest{
			Subscription: change, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{path}},
		})
		if status.Code(err) != codes.InvalidArgument {
			t.Errorf("update of %s = %v, want INVALID_ARGUMENT", path, err)
		}
	}
	if err := c.TopicAdminClient.DeleteTopic(ctx, &pubsubpb.DeleteTopicRequest{Topic: topic}); err != nil {
		t.Fatal(err)
	}
	got, err = admin.GetSubscription(ctx, &pubsubpb.GetSubscriptionRequest{Subscription: subName})
	if err != nil || got.Topic != "_deleted-topic_" {
		t.Errorf("GetSubscription after DeleteTopic = %v, %v; want topic _deleted-topic_", got, err)
	}
	if err := admin.DeleteSubscription(ctx, &pubsubpb.DeleteSubscriptionRequest{Subscription: subName}); err != nil {
		t.Fatal(err)
	}
	_, err = admin.Pull(ctx, &pubsubpb.PullRequest{Subscription: subName, MaxMessages: 1})
	if status.Code(err) != codes.NotFound {
		t.Errorf("Pull from a deleted subscription = %v, want NOT_FOUND", err)
	}
}

func TestListsComeInPages(t *testing.T) {
	t.Parallel()
	c := pubsubtest.Client(t)
	var want []string
	for i := range 7 {
		want = append(want, fmt.Sprintf("%s-%d", topic, i))
	}
	createTopics(t, c, append([]string{"projects/other/topics/abc"}, want...)...)
	it := c.TopicAdminClient.ListTopics(t.Context(), &pubsubpb.ListTopicsRequest{Project: "projects/truecost", PageSize: 3})
	var got []string
	for topic, err := it.Next(); err != iterator.Done; topic, err = it.Next() { //nolint:errorlint // the iterator's documented sentinel
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, topic.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("ListTopics = %v, want %v", got, want)
	}
}

func TestAbsentMethodsSaySo(t *testing.T) {
	t.Parallel()
	c := pubsubtest.Client(t)
	_, err := c.SubscriptionAdminClient.Seek(t.Context(), &pubsubpb.SeekRequest{Subscription: subName})
	if status.Code(err) != codes.Unimplemented || !strings.Contains(err.Error(), "Seek") {
		t.Errorf("Seek = %v, want UNIMPLEMENTED by name", err)
	}
}

func TestFailAnswersInsteadOfTheCall(t *testing.T) {
	t.Parallel()
	_, c := pubsubtest.Start(t, pubsub.Options{Fail: func(method string) error {
		if method == pubsubpb.Publisher_Publish_FullMethodName {
			return status.Error(codes.PermissionDenied, "no")
		}
		return nil
	}})
	createTopics(t, c, topic)
	_, err := c.Publisher(topic).Publish(t.Context(), &client.Message{Data: []byte("a")}).Get(t.Context())
	if status.Code(err) != codes.PermissionDenied {
		t.Errorf("Publish = %v, want the injected error", err)
	}
}
