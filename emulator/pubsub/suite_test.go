package pubsub_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	client "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"truecost.dev/emulator/pubsub"
	"truecost.dev/emulator/pubsub/pubsubtest"
)

// The suite is what this server and the official emulator must both do. It
// runs on ours always, in memory and on disk, and on the official one where that
// is installed.
var suite = []struct {
	name string
	run  func(*testing.T, *client.Client)
}{
	{"leases", suiteLeases},
	{"dead letters", suiteDeadLetters},
	{"ordering", suiteOrdering},
	{"push", suitePush},
	{"deleted topic", suiteDeletedTopic},
}

func TestSuite(t *testing.T) {
	t.Parallel()
	t.Run("ours", func(t *testing.T) {
		t.Parallel()
		for _, tt := range suite {
			t.Run(tt.name, func(t *testing.T) { tt.run(t, pubsubtest.Client(t)) })
		}
	})
	t.Run("on disk", func(t *testing.T) {
		t.Parallel()
		for _, tt := range suite {
			t.Run(tt.name, func(t *testing.T) {
				s, c := opened(t, t.TempDir(), pubsub.Options{})
				s.Resume()
				tt.run(t, c)
			})
		}
	})
	t.Run("official", func(t *testing.T) {
		t.Parallel()
		c := official(t)
		t.Run("refusals", func(t *testing.T) { officialRefusals(t, c) })
		for _, tt := range suite {
			wipe(t, c)
			t.Run(tt.name, func(t *testing.T) { tt.run(t, c) })
		}
	})
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, tt := range refusals() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := pubsubtest.Client(t)
			createTopics(t, c, topic)
			if err := tt.call(t, c); status.Code(err) != tt.want {
				t.Errorf("code = %v (%v), want %v", status.Code(err), err, tt.want)
			}
		})
	}
}

func officialRefusals(t *testing.T, c *client.Client) {
	createTopics(t, c, topic)
	for _, tt := range refusals() {
		if slices.Contains(laxities, tt.name) {
			continue
		}
		if err := tt.call(t, c); status.Code(err) != tt.want {
			t.Errorf("%s: code = %v (%v), want %v", tt.name, status.Code(err), err, tt.want)
		}
	}
}

func suiteLeases(t *testing.T, c *client.Client) {
	createTopics(t, c, topic)
	createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic})
	first := publish(t, c, &client.Message{Data: []byte("a")})
	one := pullOne(t, c, subName)
	extend(t, c, 0, one.AckId)
	two := pullOne(t, c, subName)
	if one.AckId == two.AckId || one.Message.MessageId != first || two.Message.MessageId != first || two.DeliveryAttempt != 0 {
		t.Errorf("deliveries = %v and %v, want message %s under two ack ids, no attempt", one, two, first)
	}
	extend(t, c, 60, two.AckId)
	acknowledge(t, c, two.AckId)
	acknowledge(t, c, two.AckId)
	second := publish(t, c, &client.Message{Data: []byte("b")})
	if len(second) < len(first) || len(second) == len(first) && second <= first {
		t.Errorf("ids %s and %s do not increase", first, second)
	}
	if m := pullOne(t, c, subName); m.Message.MessageId != second {
		t.Errorf("pulled %v, want the second message", m)
	}
}

// pullOne pulls until there is a message, for a while.
func pullOne(t *testing.T, c *client.Client, sub string) *pubsubpb.ReceivedMessage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		res, err := c.SubscriptionAdminClient.Pull(ctx, &pubsubpb.PullRequest{Subscription: sub, MaxMessages: 1})
		if err != nil {
			t.Fatalf("no message of %s: %v", sub, err)
		}
		if len(res.ReceivedMessages) > 0 {
			return res.ReceivedMessages[0]
		}
	}
}

func suiteDeadLetters(t *testing.T, c *client.Client) {
	createTopics(t, c, topic, deadName)
	createSubscription(t, c, &pubsubpb.Subscription{Name: deadSub, Topic: deadName})
	createSubscription(t, c, &pubsubpb.Subscription{
		Name: subName, Topic: topic, DeadLetterPolicy: &pubsubpb.DeadLetterPolicy{DeadLetterTopic: deadName, MaxDeliveryAttempts: 5},
	})
	id := publish(t, c, &client.Message{Data: []byte("a"), Attributes: map[string]string{"k": "v"}})
	for attempt := int32(1); attempt <= 5; attempt++ {
		m := pullOne(t, c, subName)
		if m.DeliveryAttempt != attempt {
			t.Errorf("delivery attempt = %d, want %d", m.DeliveryAttempt, attempt)
		}
		extend(t, c, 0, m.AckId)
	}
	//nolint:staticcheck // SA1019: the official emulator moves a dead letter when its subscription is looked at
	if _, err := c.SubscriptionAdminClient.Pull(t.Context(), &pubsubpb.PullRequest{Subscription: subName, MaxMessages: 1, ReturnImmediately: true}); err != nil {
		t.Fatal(err)
	}
	dead := pullOne(t, c, deadSub).Message
	want := []string{
		"CloudPubSubDeadLetterSourceDeliveryCount", "CloudPubSubDeadLetterSourceSubscription",
		"CloudPubSubDeadLetterSourceSubscriptionProject", "CloudPubSubDeadLetterSourceTopicPublishTime", "k",
	}
	if got := slices.Sorted(maps.Keys(dead.Attributes)); !slices.Equal(got, want) || dead.MessageId == id || string(dead.Data) != "a" {
		t.Errorf("dead letter = %v, want data a, a new id and attributes %v", dead, want)
	}
	if s, n := dead.Attributes["CloudPubSubDeadLetterSourceSubscription"], dead.Attributes["CloudPubSubDeadLetterSourceDeliveryCount"]; s != "steps-push" || n != "5" {
		t.Errorf("dead letter of %q after %s deliveries, want steps-push and 5", s, n)
	}
}

func suiteOrdering(t *testing.T, c *client.Client) {
	createTopics(t, c, topic)
	createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic, EnableMessageOrdering: true})
	want := []string{"1", "2", "3", "4"}
	for _, body := range want {
		publish(t, c, &client.Message{Data: []byte(body), OrderingKey: "k"})
	}
	var got []string
	for len(got) < len(want) { // a nack is left out: the official emulator lets the rest of the key pass
		m := pullOne(t, c, subName)
		got = append(got, string(m.Message.Data))
		acknowledge(t, c, m.AckId)
	}
	if !slices.Equal(got, want) {
		t.Errorf("order = %v, want %v", got, want)
	}
}

// suitePush compares the members of the body that both send; ours adds the
// headers of a CloudEvent and what only production has.
func suitePush(t *testing.T, c *client.Client) {
	type push struct {
		contentType string
		body        map[string]any
	}
	pushes := make(chan push, 10)
	refuse := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		p := push{contentType: r.Header.Get("Content-Type")}
		if err := json.Unmarshal(raw, &p.body); err != nil {
			t.Errorf("body %s: %v", raw, err)
		}
		pushes <- p
		if refuse {
			refuse = false
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	createTopics(t, c, topic)
	createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic, PushConfig: &pubsubpb.PushConfig{PushEndpoint: server.URL + "/step"}})
	id := publish(t, c, &client.Message{Data: []byte(`{"v":1}`), Attributes: map[string]string{"kind": "step"}})
	var first, second push
	for _, p := range []*push{&first, &second} {
		select {
		case *p = <-pushes:
		case <-time.After(20 * time.Second):
			t.Fatal("no push")
		}
	}
	if diff := cmp.Diff(first, second, cmp.AllowUnexported(push{})); diff != "" {
		t.Errorf("the redelivery differs (-first +second):\n%s", diff)
	}
	message, _ := first.body["message"].(map[string]any)
	for _, name := range []string{"publishTime", "publish_time"} {
		if at, _ := message[name].(string); !strings.HasSuffix(at, "Z") {
			t.Errorf("%s = %q, want a time in UTC", name, at)
		}
		delete(message, name)
	}
	want := map[string]any{
		"message":      map[string]any{"data": "eyJ2IjoxfQ==", "attributes": map[string]any{"kind": "step"}, "messageId": id, "message_id": id},
		"subscription": subName,
	}
	if diff := cmp.Diff(want, first.body); diff != "" || !strings.HasPrefix(first.contentType, "application/json") {
		t.Errorf("content type %q, body (-want +got):\n%s", first.contentType, diff)
	}
}

func suiteDeletedTopic(t *testing.T, c *client.Client) {
	createTopics(t, c, topic)
	createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic})
	if err := c.TopicAdminClient.DeleteTopic(t.Context(), &pubsubpb.DeleteTopicRequest{Topic: topic}); err != nil {
		t.Fatal(err)
	}
	s, err := c.SubscriptionAdminClient.GetSubscription(t.Context(), &pubsubpb.GetSubscriptionRequest{Subscription: subName})
	if err != nil || s.Topic != "_deleted-topic_" {
		t.Errorf("GetSubscription = %v, %v; want topic _deleted-topic_", s, err)
	}
	_, err = c.TopicAdminClient.Publish(t.Context(), &pubsubpb.PublishRequest{Topic: topic, Messages: []*pubsubpb.PubsubMessage{{Data: []byte("a")}}})
	if status.Code(err) != codes.NotFound {
		t.Errorf("Publish to a deleted topic = %v, want NOT_FOUND", err)
	}
}
