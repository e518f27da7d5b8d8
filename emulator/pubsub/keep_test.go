package pubsub_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	client "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/option"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"pgregory.net/rapid"

	"truecost.dev/emulator/journal"
	"truecost.dev/emulator/pubsub"
)

// opened returns a server on a directory and a client of it. Both end with the
// test.
func opened(t *testing.T, dir string, o pubsub.Options) (*pubsub.Server, *client.Client) {
	t.Helper()
	s, err := pubsub.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // the test may have closed it
	conn, err := s.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.NewClient(t.Context(), "truecost", option.WithGRPCConn(conn))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // the connection may be closed by the server already
	return s, c
}

// killed returns a copy of a directory: what another process finds when the one
// that has it open is killed.
func killed(t *testing.T, dir string) string {
	t.Helper()
	after := filepath.Join(t.TempDir(), "after")
	if err := os.CopyFS(after, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return after
}

func TestMessagesComeBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, c := opened(t, dir, pubsub.Options{})
	createTopics(t, c, topic)
	createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic})
	var last string
	for _, data := range []string{"a", "b", "c"} {
		last = publish(t, c, &client.Message{Data: []byte(data), Attributes: map[string]string{"kind": data}})
	}
	first := pull(t, c, subName, 2)
	acknowledge(t, c, first[0].AckId)

	s, c := opened(t, killed(t, dir), pubsub.Options{})
	if got := s.Messages(); len(got) != 2 || string(got[0].Data) != "b" || got[0].Deliveries != 1 || got[1].Attributes["kind"] != "c" {
		t.Errorf("Messages = %+v, want b, delivered once, and c", got)
	}
	again := pull(t, c, subName, 10)
	if diff := cmp.Diff([]string{"b", "c"}, bodies(again)); diff != "" {
		t.Errorf("pulled after the kill (-want +got):\n%s", diff)
	}
	if got, want := again[0].Message.PublishTime.AsTime(), first[1].Message.PublishTime.AsTime(); !got.Equal(want) {
		t.Errorf("publish time = %v, want %v", got, want)
	}
	acknowledge(t, c, first[1].AckId) // of a lease that ended with the process
	extend(t, c, 0, again[0].AckId, again[1].AckId)
	if got := bodies(pull(t, c, subName, 10)); len(got) != 2 {
		t.Errorf("an ack id from before the kill settled something: %q are left, want both", got)
	}
	if id := publish(t, c, &client.Message{Data: []byte("d")}); id <= last {
		t.Errorf("message id after the kill = %s, want more than %s", id, last)
	}
}

func TestSettingsComeBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, c := opened(t, dir, pubsub.Options{Compact: 1}) // a snapshot with each change, if none is under way
	createTopics(t, c, topic, deadName, topic+"-gone")
	createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic, EnableMessageOrdering: true})
	createSubscription(t, c, &pubsubpb.Subscription{Name: subName + "-gone", Topic: topic})
	createSubscription(t, c, &pubsubpb.Subscription{Name: subName + "-orphan", Topic: topic + "-gone"})
	if _, err := c.SubscriptionAdminClient.UpdateSubscription(t.Context(), &pubsubpb.UpdateSubscriptionRequest{
		Subscription: &pubsubpb.Subscription{
			Name: subName, AckDeadlineSeconds: 77, DeadLetterPolicy: &pubsubpb.DeadLetterPolicy{DeadLetterTopic: deadName, MaxDeliveryAttempts: 20},
		},
		UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"ack_deadline_seconds", "dead_letter_policy"}},
	}); err != nil {
		t.Fatal(err)
	}
	publish(t, c, &client.Message{Data: []byte("x")})
	if err := c.TopicAdminClient.DeleteTopic(t.Context(), &pubsubpb.DeleteTopicRequest{Topic: topic + "-gone"}); err != nil {
		t.Fatal(err)
	}
	if err := c.SubscriptionAdminClient.DeleteSubscription(t.Context(), &pubsubpb.DeleteSubscriptionRequest{Subscription: subName + "-gone"}); err != nil {
		t.Fatal(err)
	}
	want := settings(t, c)
	if strings.Count(want, "\n") != 4 || !strings.Contains(want, "_deleted-topic_") {
		t.Fatalf("before the restart there are:\n%s", want)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, c = opened(t, dir, pubsub.Options{})
	if diff := cmp.Diff(want, settings(t, c)); diff != "" {
		t.Errorf("topics and subscriptions (-before +after):\n%s", diff)
	}
	if got := bodies(pull(t, c, subName, 10)); !slices.Equal(got, []string{"x"}) {
		t.Errorf("pulled %q, want x", got)
	}
}

// settings lists the topics and subscriptions, one a line.
func settings(t *testing.T, c *client.Client) string {
	t.Helper()
	var b strings.Builder
	line := func(m proto.Message) {
		text, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%q\n", text)
	}
	topics := c.TopicAdminClient.ListTopics(t.Context(), &pubsubpb.ListTopicsRequest{Project: "projects/truecost"})
	for x, err := range topics.All() {
		if err != nil {
			t.Fatal(err)
		}
		line(x)
	}
	subs := c.SubscriptionAdminClient.ListSubscriptions(t.Context(), &pubsubpb.ListSubscriptionsRequest{Project: "projects/truecost"})
	for x, err := range subs.All() {
		if err != nil {
			t.Fatal(err)
		}
		line(x)
	}
	return b.String()
}

// TestDeliveriesCountOn kills the server between the deliveries of a message:
// after five of them in all, and not later, it is a dead letter, once.
func TestDeliveriesCountOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, c := opened(t, dir, pubsub.Options{})
	createTopics(t, c, topic, deadName)
	createSubscription(t, c, &pubsubpb.Subscription{Name: deadSub, Topic: deadName})
	createSubscription(t, c, &pubsubpb.Subscription{
		Name: subName, Topic: topic, DeadLetterPolicy: &pubsubpb.DeadLetterPolicy{DeadLetterTopic: deadName, MaxDeliveryAttempts: 5},
	})
	publish(t, c, &client.Message{Data: []byte("poison")})
	for n := range int32(5) {
		got := pull(t, c, subName, 10)
		if len(got) != 1 || got[0].DeliveryAttempt != n+1 {
			t.Fatalf("delivery %d = %v", n+1, got)
		}
		if n%2 == 0 {
			extend(t, c, 0, got[0].AckId)
		}
		if n < 4 {
			dir = killed(t, dir)
			_, c = opened(t, dir, pubsub.Options{})
		}
	}
	_, c = opened(t, killed(t, dir), pubsub.Options{})
	dead := pull(t, c, deadSub, 10)
	if len(dead) != 1 || dead[0].Message.Attributes["CloudPubSubDeadLetterSourceDeliveryCount"] != "5" {
		t.Errorf("dead letters = %v, want one after 5 deliveries", dead)
	}
}

func TestOrderAndBackoffComeBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		_, c := opened(t, dir, pubsub.Options{})
		createTopics(t, c, topic)
		createSubscription(t, c, &pubsubpb.Subscription{
			Name: subName, Topic: topic, EnableMessageOrdering: true, RetryPolicy: retryBetween(10*time.Second, 10*time.Second),
		})
		for _, data := range []string{"1", "2", "3"} {
			publish(t, c, &client.Message{Data: []byte(data), OrderingKey: "run"})
		}
		extend(t, c, 0, pull(t, c, subName, 10)[0].AckId)
		failed := time.Now()
		_, c = opened(t, killed(t, dir), pubsub.Options{})
		var got []string
		for range 3 {
			for _, m := range pull(t, c, subName, 10) {
				got = append(got, string(m.Message.Data))
				acknowledge(t, c, m.AckId)
			}
		}
		if want := []string{"1", "2", "3"}; !slices.Equal(got, want) {
			t.Errorf("pulled after the kill: %q, want %q", got, want)
		}
		if waited := time.Since(failed).Round(time.Second); waited != 10*time.Second {
			t.Errorf("the message that failed came after %v, want the 10s of its backoff", waited)
		}
	})
}

func TestPushWaitsForResume(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		refused := &endpoint{answer: func(int, *http.Request) int { return http.StatusServiceUnavailable }}
		s, c := opened(t, dir, pubsub.Options{Transport: refused})
		s.Resume()
		createTopics(t, c, topic)
		createSubscription(t, c, &pubsubpb.Subscription{Name: subName, Topic: topic, PushConfig: pushTo(), RetryPolicy: retryBetween(time.Second, time.Second)})
		publish(t, c, &client.Message{Data: []byte("x")})
		synctest.Wait()
		if n := len(refused.got()); n != 1 {
			t.Fatalf("pushes before the kill = %d, want 1", n)
		}
		e := &endpoint{answer: func(int, *http.Request) int { return http.StatusNoContent }}
		after := killed(t, dir)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s, c = opened(t, after, pubsub.Options{Transport: e})
		time.Sleep(time.Minute)
		if n := len(e.got()); n != 0 {
			t.Fatalf("%d pushes before Resume", n)
		}
		moved := &pubsubpb.PushConfig{PushEndpoint: "http://functions.test/moved"}
		if err := c.SubscriptionAdminClient.ModifyPushConfig(t.Context(), &pubsubpb.ModifyPushConfigRequest{Subscription: subName, PushConfig: moved}); err != nil {
			t.Fatal(err)
		}
		s.Resume()
		if err := s.Idle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(e.got()); n != 1 {
			t.Errorf("pushes after Resume = %d, want 1", n)
		}
	})
}

func TestWhatCannotBeKeptIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, c := opened(t, dir, pubsub.Options{})
	createTopics(t, c, topic)
	if _, err := pubsub.Open(dir, pubsub.Options{}); err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("a second Open = %v, want it refused", err)
	}
	j, err := journal.Open(filepath.Join(dir, "other"), journal.Options{Kind: "pubsub"}, func([]byte) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Append([]byte("\x7a\x01x")), j.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := pubsub.Open(filepath.Join(dir, "other"), pubsub.Options{}); err == nil || !strings.Contains(err.Error(), "is damaged at byte") {
		t.Errorf("Open of a record with field 15 = %v, want damage", err)
	}
	pubsub.BreakJournal(s)
	_, err = c.TopicAdminClient.CreateTopic(t.Context(), &pubsubpb.Topic{Name: deadName})
	if status.Code(err) != codes.Internal {
		t.Errorf("CreateTopic without a journal = %v, want Internal", err)
	}
	conn, err := s.Dial(t.Context()) // without the official client, which would try again
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = pubsubpb.NewPublisherClient(conn).Publish(t.Context(), &pubsubpb.PublishRequest{
		Topic: topic, Messages: []*pubsubpb.PubsubMessage{{Data: []byte("x")}},
	})
	if status.Code(err) != codes.Internal {
		t.Errorf("Publish without a journal = %v, want Internal", err)
	}
}

// TestDiskEqualsMemory does the same to a server on disk, which is opened again
// at random points, and to one in memory, whose leases are given back instead.
func TestDiskEqualsMemory(t *testing.T) {
	t.Parallel()
	base, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(base, strconv.Itoa(n))
		compact := rapid.Int64Range(1, 2000).Draw(rt, "compact")
		memory, disk := newTwin(rt, pubsub.New(pubsub.Options{})), openTwin(rt, dir, compact)
		defer func() { memory.close(); disk.close() }()
		for _, x := range []*twin{memory, disk} {
			x.create(rt)
		}
		both := func(act func(*twin) string) {
			if want, got := act(memory), act(disk); got != want {
				rt.Fatalf("on disk: %s, want %s as in memory", got, want)
			}
		}
		published := 0
		rt.Repeat(map[string]func(*rapid.T){
			"publish": func(rt *rapid.T) {
				published++
				key := rapid.SampledFrom([]string{"", "k", "l"}).Draw(rt, "key")
				both(func(x *twin) string { return x.publish(published, key) })
			},
			"pull": func(rt *rapid.T) {
				sub := rapid.SampledFrom(twinSubs).Draw(rt, "subscription")
				keep := rapid.IntRange(0, 3).Draw(rt, "keep")
				both(func(x *twin) string { return x.pull(sub, keep) })
			},
			"restart": func(rt *rapid.T) {
				memory.giveBack(rt)
				disk.close()
				disk = openTwin(rt, dir, compact)
			},
		})
		memory.giveBack(rt)
		disk.giveBack(rt)
		for _, sub := range twinSubs {
			both(func(x *twin) string { return x.drain(sub) })
		}
	})
}
