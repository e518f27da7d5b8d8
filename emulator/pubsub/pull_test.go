package pubsub_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	client "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/google/go-cmp/cmp"

	"truecost.dev/emulator/pubsub"
	"truecost.dev/emulator/pubsub/pubsubtest"
)

func acknowledge(t *testing.T, c *client.Client, ackIDs ...string) {
	t.Helper()
	if err := c.SubscriptionAdminClient.Acknowledge(t.Context(), &pubsubpb.AcknowledgeRequest{Subscription: subName, AckIds: ackIDs}); err != nil {
		t.Fatal(err)
	}
}

func extend(t *testing.T, c *client.Client, seconds int32, ackIDs ...string) {
	t.Helper()
	if err := c.SubscriptionAdminClient.ModifyAckDeadline(t.Context(), &pubsubpb.ModifyAckDeadlineRequest{
		Subscription: subName, AckIds: ackIDs, AckDeadlineSeconds: seconds,
	}); err != nil {
		t.Fatal(err)
	}
}

func TestPull(t *testing.T) {
	t.Parallel()
	c := pubsubtest.Client(t)
	createTopics(t, c, topic)
	createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic})
	var ids []string
	for _, body := range []string{"a", "b", "c"} {
		ids = append(ids, publish(t, c, &client.Message{Data: []byte(body)}))
	}
	if !slices.IsSorted(ids) || slices.Compact(slices.Clone(ids))[2] != ids[2] {
		t.Errorf("message ids = %v, want them to increase", ids)
	}
	got := pull(t, c, subName, 2)
	got = append(got, pull(t, c, subName, 10)...)
	if want := []string{"a", "b", "c"}; !slices.Equal(bodies(got), want) {
		t.Errorf("pulled %q, want %q", bodies(got), want)
	}
	if got[0].DeliveryAttempt != 0 {
		t.Errorf("delivery attempt = %d, want none without a dead-letter policy", got[0].DeliveryAttempt)
	}
}

func TestPullWaitsForAMessage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, c := pubsubtest.Start(t, pubsub.Options{})
		createTopics(t, c, topic)
		createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic})
		if got := pull(t, c, subName, 1); len(got) != 0 {
			t.Errorf("pulled %v from an empty subscription", got)
		}
		var publishing sync.WaitGroup
		defer publishing.Wait()
		publishing.Go(func() {
			time.Sleep(5 * time.Second) // the clock of the bubble
			publish(t, c, &client.Message{Data: []byte("a")})
		})
		start := time.Now()
		if got := pull(t, c, subName, 1); len(got) != 1 || time.Since(start).Round(time.Second) != 5*time.Second {
			t.Errorf("pulled %v after %v, want one message after 5s", got, time.Since(start))
		}
	})
}

func TestLeases(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, c := pubsubtest.Start(t, pubsub.Options{})
		createTopics(t, c, topic)
		createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic, AckDeadlineSeconds: 10})
		publish(t, c, &client.Message{Data: []byte("a")})

		first := pull(t, c, subName, 1)[0].AckId
		start := time.Now()
		second := pull(t, c, subName, 1)[0].AckId // waits for the deadline
		if d := time.Since(start); d != 10*time.Second {
			t.Errorf("redelivered after %v, want the ack deadline of 10s", d)
		}
		acknowledge(t, c, first) // stale
		if m := s.Messages()[0]; first == second || m.Acks != 0 {
			t.Errorf("ack ids %q and %q, %d acks; want two ids, the stale one without effect", first, second, m.Acks)
		}

		extend(t, c, 15, second)
		start = time.Now()
		third := pull(t, c, subName, 1)[0].AckId
		if d := time.Since(start); d != 15*time.Second {
			t.Errorf("redelivered after %v, want the extended deadline of 15s", d)
		}

		extend(t, c, 0, third) // nack
		start = time.Now()
		fourth := pull(t, c, subName, 1)[0].AckId
		if d := time.Since(start); d != 0 {
			t.Errorf("redelivered %v after a nack, want at once", d)
		}

		acknowledge(t, c, fourth, fourth, "unknown")
		if err := s.Idle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if m := s.Messages()[0]; m.Deliveries != 4 || m.Acks != 1 {
			t.Errorf("deliveries = %d, acks = %d; want 4 and 1", m.Deliveries, m.Acks)
		}
	})
}

func TestNackBacksOffAndCountsAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, c := pubsubtest.Start(t, pubsub.Options{})
		createTopics(t, c, topic, deadName)
		createSubscription(t, c, &pubsubpb.Subscription{Name: deadSub, Topic: deadName})
		createSubscription(t, c, &pubsubpb.Subscription{
			Name: subName, Topic: topic, RetryPolicy: retryBetween(2*time.Second, 5*time.Second),
			DeadLetterPolicy: &pubsubpb.DeadLetterPolicy{DeadLetterTopic: deadName, MaxDeliveryAttempts: 5},
		})
		publish(t, c, &client.Message{Data: []byte("a")})
		var waits []time.Duration
		for attempt := int32(1); attempt <= 5; attempt++ {
			start := time.Now()
			m := pull(t, c, subName, 1)[0]
			waits = append(waits, time.Since(start))
			if m.DeliveryAttempt != attempt {
				t.Errorf("delivery attempt = %d, want %d", m.DeliveryAttempt, attempt)
			}
			extend(t, c, 0, m.AckId)
		}
		if want := []time.Duration{0, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second}; !slices.Equal(waits, want) {
			t.Errorf("waits = %v, want %v", waits, want)
		}
		if dead, rest := pull(t, c, deadSub, 10), pull(t, c, subName, 10); len(dead) != 1 || len(rest) != 0 {
			t.Errorf("%d dead letters and %d messages left, want 1 and 0", len(dead), len(rest))
		}
	})
}

// TestReceive has no bubble: the client leaves a goroutine of its own behind.
func TestReceive(t *testing.T) {
	t.Parallel()
	s, c := pubsubtest.Start(t, pubsub.Options{})
	createTopics(t, c, topic)
	createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic})
	const n = 500
	p := c.Publisher(topic)
	defer p.Stop()
	for i := range n {
		p.Publish(t.Context(), &client.Message{Data: fmt.Append(nil, i)})
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := make(chan string, 2*n)
	received := make(chan error, 1)
	go func() {
		received <- c.Subscriber(subName).Receive(ctx, func(_ context.Context, m *client.Message) {
			got <- string(m.Data)
			m.Ack()
		})
	}()
	seen := map[string]bool{}
	for range n {
		seen[<-got] = true
	}
	if err := s.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-received; err != nil {
		t.Errorf("Receive: %v", err)
	}
	if len(seen) != n || len(got) != 0 {
		t.Errorf("received %d messages and %d twice, want %d and 0", len(seen), len(got), n)
	}
}

func TestStreamingPull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, c := pubsubtest.Start(t, pubsub.Options{})
		createTopics(t, c, topic)
		createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic})
		for range 5 {
			publish(t, c, &client.Message{Data: []byte("a")})
		}
		stream, err := c.SubscriptionAdminClient.StreamingPull(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.Send(&pubsubpb.StreamingPullRequest{Subscription: subName, StreamAckDeadlineSeconds: 60, MaxOutstandingMessages: 3}); err != nil {
			t.Fatal(err)
		}
		first, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.Send(&pubsubpb.StreamingPullRequest{AckIds: []string{first.ReceivedMessages[0].AckId}}); err != nil {
			t.Fatal(err)
		}
		second, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if len(first.ReceivedMessages) != 3 || len(second.ReceivedMessages) != 1 {
			t.Errorf("received %d, then %d after one acknowledgement; want 3, then 1", len(first.ReceivedMessages), len(second.ReceivedMessages))
		}
		if err := stream.Send(&pubsubpb.StreamingPullRequest{}); err != nil { // a ping
			t.Fatal(err)
		}
		if pong, err := stream.Recv(); err != nil || len(pong.ReceivedMessages) != 0 {
			t.Errorf("answer to a ping = %v, %v; want an empty response", pong, err)
		}
		if err := stream.CloseSend(); err != nil {
			t.Fatal(err)
		}
		if last, err := stream.Recv(); !errors.Is(err, io.EOF) {
			t.Errorf("after CloseSend = %v, %v; want the end of the stream", last, err)
		}
	})
}

func TestOrderingKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, c := pubsubtest.Start(t, pubsub.Options{})
		createTopics(t, c, topic)
		createSubscription(t, c, &pubsubpb.Subscription{
			Name: subName, Topic: topic, EnableMessageOrdering: true, RetryPolicy: retryBetween(3*time.Second, 3*time.Second),
		})
		for _, m := range []string{"x1", "x2", "y1", "x3", "y2"} {
			publish(t, c, &client.Message{Data: []byte(m), OrderingKey: m[:1]})
		}
		var got []string
		refused := false
		for len(got) < 5 {
			for _, m := range pull(t, c, subName, 10) {
				if body := string(m.Message.Data); body == "x2" && !refused {
					refused = true
					extend(t, c, 0, m.AckId)
				} else {
					got = append(got, body)
					acknowledge(t, c, m.AckId)
				}
			}
		}
		if want := []string{"x1", "y1", "y2", "x2", "x3"}; !slices.Equal(got, want) {
			t.Errorf("order = %v, want %v: x waits for its backoff, y does not", got, want)
		}
		if err := s.Idle(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestFaults(t *testing.T) {
	t.Parallel()
	deliveries := func(t *testing.T, seed uint64) (order []string, s *pubsub.Server) {
		t.Helper()
		s, c := pubsubtest.Start(t, pubsub.Options{Faults: pubsub.Faults{Seed: seed, Copies: 3, Delay: time.Minute, LoseAcks: 0.2}})
		createTopics(t, c, topic)
		createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic})
		for m := range strings.SplitSeq("abcdefgh", "") {
			publish(t, c, &client.Message{Data: []byte(m)})
		}
		for list := pull(t, c, subName, 1); len(list) > 0; list = pull(t, c, subName, 1) {
			order = append(order, string(list[0].Message.Data))
			acknowledge(t, c, list[0].AckId)
		}
		return order, s
	}
	synctest.Test(t, func(t *testing.T) {
		one, s := deliveries(t, 1)
		again, _ := deliveries(t, 1)
		other, _ := deliveries(t, 2)
		if diff := cmp.Diff(one, again); diff != "" {
			t.Errorf("the same seed gave another order (-first +second):\n%s", diff)
		}
		if slices.Equal(one, other) || slices.IsSorted(one) {
			t.Errorf("seeds 1 and 2 gave %v and %v, want two shuffled orders", one, other)
		}
		lost := 0
		for _, m := range s.Messages() {
			if m.Acks != 3 {
				t.Errorf("message %s was acknowledged %d times, want 3", m.Data, m.Acks)
			}
			lost += m.Deliveries - m.Acks
		}
		if lost == 0 {
			t.Error("no acknowledgement was lost")
		}
	})
}

func TestClockStandsUntilItIsMoved(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	clock := pubsub.NewClock(start)
	_, c := pubsubtest.Start(t, pubsub.Options{Clock: clock})
	createTopics(t, c, topic)
	createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic, AckDeadlineSeconds: 600})
	publish(t, c, &client.Message{Data: []byte("a")})
	first := pull(t, c, subName, 1)
	if got := first[0].Message.PublishTime.AsTime(); !got.Equal(start) {
		t.Errorf("publish time = %v, want %v", got, start)
	}
	again := make(chan []*pubsubpb.ReceivedMessage)
	go func() {
		res, err := c.SubscriptionAdminClient.Pull(context.WithoutCancel(t.Context()), &pubsubpb.PullRequest{Subscription: subName, MaxMessages: 1})
		if err != nil {
			t.Error(err)
		}
		again <- res.GetReceivedMessages()
	}()
	clock.Advance(10 * time.Minute)
	if got := <-again; len(got) != 1 || got[0].AckId == first[0].AckId {
		t.Errorf("after the deadline = %v, want the message under a new ack id", got)
	}
}
