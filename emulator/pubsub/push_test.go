package pubsub_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	client "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/google/go-cmp/cmp"

	"truecost.dev/emulator/pubsub"
	"truecost.dev/emulator/pubsub/pubsubtest"
)

// The bubble of each test also proves that Close leaves no goroutine behind:
// synctest.Test does not return while one is there.

func TestPushIsABinaryCloudEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{answer: func(int, *http.Request) int { return http.StatusNoContent }}
		s, c := pubsubtest.Start(t, pubsub.Options{Transport: e})
		createTopics(t, c, topic, deadName)
		createSubscription(t, c, &pubsubpb.Subscription{
			Name: subName, Topic: topic, PushConfig: pushTo(), EnableMessageOrdering: true,
			DeadLetterPolicy: &pubsubpb.DeadLetterPolicy{DeadLetterTopic: deadName},
		})
		id := publish(t, c, &client.Message{Data: []byte(`{"v":1}`), Attributes: map[string]string{"kind": "step"}, OrderingKey: "run"})
		if err := s.Idle(t.Context()); err != nil {
			t.Fatal(err)
		}
		calls := e.got()
		if len(calls) != 1 {
			t.Fatalf("pushes = %d, want 1", len(calls))
		}
		at := "2000-01-01T00:00:00.01Z" // a bubble starts at 2000; the client collects a batch for 10 ms
		header := http.Header{
			"Content-Type": {"application/json"}, "Ce-Specversion": {"1.0"}, "Ce-Id": {id},
			"Ce-Type":   {"google.cloud.pubsub.topic.v1.messagePublished"},
			"Ce-Source": {"//pubsub.googleapis.com/" + topic}, "Ce-Time": {at},
		}
		if diff := cmp.Diff(header, calls[0].header); diff != "" {
			t.Errorf("header (-want +got):\n%s", diff)
		}
		body := `{"message":{"data":"eyJ2IjoxfQ==","attributes":{"kind":"step"},"messageId":"` + id + `","message_id":"` + id +
			`","publishTime":"` + at + `","publish_time":"` + at + `","orderingKey":"run"},"subscription":"` + subName + `","deliveryAttempt":1}`
		if diff := cmp.Diff(body, calls[0].body); diff != "" {
			t.Errorf("body (-want +got):\n%s", diff)
		}
	})
}

func TestPushLeavesOutWhatIsNotSet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{answer: func(int, *http.Request) int { return http.StatusOK }}
		s, c := pubsubtest.Start(t, pubsub.Options{Transport: e})
		createTopics(t, c, topic)
		createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic, PushConfig: pushTo()})
		publish(t, c, &client.Message{Attributes: map[string]string{"only": "this"}})
		if err := s.Idle(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Message         map[string]any `json:"message"`
			DeliveryAttempt *int           `json:"deliveryAttempt"`
		}
		if err := json.Unmarshal([]byte(e.got()[0].body), &got); err != nil {
			t.Fatal(err)
		}
		if _, ok := got.Message["orderingKey"]; ok || got.Message["data"] != "" || got.DeliveryAttempt != nil {
			t.Errorf("body = %s, want data \"\", no orderingKey and no deliveryAttempt", e.got()[0].body)
		}
	})
}

func TestPushBacksOffUntilItIsAccepted(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		policy *pubsubpb.RetryPolicy
		want   []int // seconds between the deliveries
	}{
		{"as production's triggers", retryBetween(10*time.Second, 600*time.Second), []int{10, 20, 40, 80, 160, 320, 600, 600}},
		{"capped early", retryBetween(10*time.Second, 15*time.Second), []int{10, 15, 15, 15, 15, 15, 15, 15}},
		{"no policy: the pace of a push", nil, []int{0, 0, 0, 0, 1, 3, 6, 12}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := &endpoint{answer: func(n int, _ *http.Request) int {
					if n <= 8 {
						return http.StatusInternalServerError
					}
					return http.StatusNoContent
				}}
				s, c := pubsubtest.Start(t, pubsub.Options{Transport: e})
				createTopics(t, c, topic)
				createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic, PushConfig: pushTo(), RetryPolicy: tt.policy})
				publish(t, c, &client.Message{Data: []byte("a")})
				if err := s.Idle(t.Context()); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, e.gaps()); diff != "" {
					t.Errorf("seconds between deliveries (-want +got):\n%s", diff)
				}
				if m := s.Messages()[0]; m.Deliveries != 9 || m.Acks != 1 {
					t.Errorf("Messages()[0] has %d deliveries and %d acks, want 9 and 1", m.Deliveries, m.Acks)
				}
			})
		})
	}
}

func TestPushEndsAtTheAckDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{answer: func(n int, r *http.Request) int {
			if n == 1 {
				<-r.Context().Done() // a handler that hangs
			}
			return http.StatusOK
		}}
		s, c := pubsubtest.Start(t, pubsub.Options{Transport: e})
		createTopics(t, c, topic)
		createSubscription(t, c, &pubsubpb.Subscription{
			Name: subName, Topic: topic, PushConfig: pushTo(), AckDeadlineSeconds: 60, RetryPolicy: retryBetween(10*time.Second, 10*time.Second),
		})
		publish(t, c, &client.Message{Data: []byte("a")})
		if err := s.Idle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int{70}, e.gaps()); diff != "" {
			t.Errorf("seconds between deliveries (-want +got):\n%s", diff)
		}
	})
}

func TestPushWindowGrowsWithSuccess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{answer: func(int, *http.Request) int {
			time.Sleep(time.Minute) // the clock of the bubble
			return http.StatusOK
		}}
		s, c := pubsubtest.Start(t, pubsub.Options{Transport: e})
		createTopics(t, c, topic)
		createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic, PushConfig: pushTo(), AckDeadlineSeconds: 600})
		p := c.Publisher(topic)
		defer p.Stop()
		for range 100 {
			p.Publish(t.Context(), &client.Message{Data: []byte("a")})
		}
		p.Flush()
		if err := s.Idle(t.Context()); err != nil {
			t.Fatal(err)
		}
		rounds := map[int]int{} // minute -> pushes that began in it
		start := e.got()[0].at
		for _, c := range e.got() {
			rounds[int(c.at.Sub(start).Minutes())]++
		}
		if diff := cmp.Diff(map[int]int{0: 8, 1: 16, 2: 32, 3: 44}, rounds); diff != "" {
			t.Errorf("pushes per minute (-want +got):\n%s", diff)
		}
	})
}

func TestRedirectIsNoAcknowledgement(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		statuses := []int{http.StatusMovedPermanently, http.StatusPartialContent, http.StatusTooManyRequests, http.StatusAccepted}
		e := &endpoint{answer: func(n int, _ *http.Request) int { return statuses[n-1] }}
		s, c := pubsubtest.Start(t, pubsub.Options{Transport: e})
		createTopics(t, c, topic)
		createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic, PushConfig: pushTo()})
		publish(t, c, &client.Message{Data: []byte("a")})
		if err := s.Idle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := len(e.got()); got != len(statuses) {
			t.Errorf("pushes = %d, want %d", got, len(statuses))
		}
	})
}

func TestDeadLetterAfterTheLastAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{answer: func(int, *http.Request) int { return http.StatusServiceUnavailable }}
		s, c := pubsubtest.Start(t, pubsub.Options{Transport: e})
		createTopics(t, c, topic, deadName)
		createSubscription(t, c, &pubsubpb.Subscription{Name: deadSub, Topic: deadName})
		createSubscription(t, c, &pubsubpb.Subscription{
			Name: subName, Topic: topic, PushConfig: pushTo(), RetryPolicy: retryBetween(time.Second, time.Second),
			DeadLetterPolicy: &pubsubpb.DeadLetterPolicy{DeadLetterTopic: deadName, MaxDeliveryAttempts: 6},
		})
		id := publish(t, c, &client.Message{Data: []byte("a"), Attributes: map[string]string{"k": "v"}})
		if err := s.Idle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := len(e.got()); got != 6 {
			t.Errorf("deliveries = %d, want 6", got)
		}
		dead := pull(t, c, deadSub, 10)
		if len(dead) != 1 {
			t.Fatalf("dead letters = %v, want one", dead)
		}
		want := map[string]string{
			"k": "v",
			"CloudPubSubDeadLetterSourceSubscription":        "steps-push",
			"CloudPubSubDeadLetterSourceSubscriptionProject": "truecost",
			"CloudPubSubDeadLetterSourceDeliveryCount":       "6",
			"CloudPubSubDeadLetterSourceTopicPublishTime":    "2000-01-01T00:00:00.01Z",
		}
		if diff := cmp.Diff(want, dead[0].Message.Attributes); diff != "" {
			t.Errorf("attributes (-want +got):\n%s", diff)
		}
		if dead[0].Message.MessageId <= id || string(dead[0].Message.Data) != "a" {
			t.Errorf("dead letter = %s %q, want a later id than %s and the same data", dead[0].Message.MessageId, dead[0].Message.Data, id)
		}
	})
}

func TestModifyPushConfigMovesTheMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{answer: func(int, *http.Request) int { return http.StatusOK }}
		s, c := pubsubtest.Start(t, pubsub.Options{Transport: e})
		createTopics(t, c, topic)
		createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic})
		publish(t, c, &client.Message{Data: []byte("a")})
		modify := func(to *pubsubpb.PushConfig) {
			t.Helper()
			if err := c.SubscriptionAdminClient.ModifyPushConfig(t.Context(), &pubsubpb.ModifyPushConfigRequest{Subscription: subName, PushConfig: to}); err != nil {
				t.Fatal(err)
			}
		}
		modify(pushTo())
		if err := s.Idle(t.Context()); err != nil {
			t.Fatal(err)
		}
		modify(&pubsubpb.PushConfig{})
		publish(t, c, &client.Message{Data: []byte("b")})
		if got := bodies(pull(t, c, subName, 10)); len(e.got()) != 1 || !slices.Equal(got, []string{"b"}) {
			t.Errorf("pushed %d, pulled %q; want 1 and [b]", len(e.got()), got)
		}
	})
}

func TestDrainWaitsForThePushesUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{answer: func(int, *http.Request) int {
			time.Sleep(5 * time.Second) // the clock of the bubble
			return http.StatusOK
		}}
		s, c := pubsubtest.Start(t, pubsub.Options{Transport: e})
		createTopics(t, c, topic)
		createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic, PushConfig: pushTo()})
		publish(t, c, &client.Message{Data: []byte("a")})
		synctest.Wait()
		if err := s.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		publish(t, c, &client.Message{Data: []byte("b")}) // goes on, but is not delivered
		synctest.Wait()
		if m := s.Messages(); len(m) != 2 || m[0].Acks != 1 || m[1].Deliveries != 0 {
			t.Errorf("messages after Drain = %+v, want the first acknowledged, the second not delivered", m)
		}
	})
}

func TestDrainIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{answer: func(_ int, r *http.Request) int {
			<-r.Context().Done() // a handler that hangs
			return http.StatusOK
		}}
		s, c := pubsubtest.Start(t, pubsub.Options{Transport: e})
		createTopics(t, c, topic)
		createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic, PushConfig: pushTo(), AckDeadlineSeconds: 600})
		publish(t, c, &client.Message{Data: []byte("a")})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if err := s.Drain(ctx); err == nil || time.Since(start) != time.Second {
			t.Errorf("Drain = %v after %v, want an error after 1s", err, time.Since(start))
		}
	})
}
