package pubsub_test

import (
	"bytes"
	"fmt"
	"testing"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"

	"truecost.dev/emulator/journal"
	"truecost.dev/emulator/pubsub"
)

// recorded returns the records of the journal of a server that was used.
func recorded(f *testing.F) [][]byte {
	f.Helper()
	dir := f.TempDir()
	s, err := pubsub.Open(dir, pubsub.Options{})
	if err != nil {
		f.Fatal(err)
	}
	conn, err := s.Dial(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	publisher, subscriber := pubsubpb.NewPublisherClient(conn), pubsubpb.NewSubscriberClient(conn)
	_, err = publisher.CreateTopic(f.Context(), &pubsubpb.Topic{Name: topic})
	if err == nil {
		_, err = subscriber.CreateSubscription(f.Context(), &pubsubpb.Subscription{Name: subName, Topic: topic})
	}
	if err == nil {
		_, err = publisher.Publish(f.Context(), &pubsubpb.PublishRequest{Topic: topic, Messages: []*pubsubpb.PubsubMessage{{Data: []byte("a")}, {Data: []byte("b")}}})
	}
	if err == nil {
		_, err = subscriber.Pull(f.Context(), &pubsubpb.PullRequest{Subscription: subName, MaxMessages: 1})
	}
	if err != nil {
		f.Fatal(err)
	}
	if err := s.Close(); err != nil {
		f.Fatal(err)
	}
	var records [][]byte
	j, err := journal.Open(dir, journal.Options{Kind: "pubsub"}, func(b []byte) error {
		records = append(records, b)
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
	_ = j.Close() // nothing was written
	return records
}

// FuzzRecord reads any bytes as a record: it never panics, and the snapshot of
// what it accepts is a record that leads to the same.
func FuzzRecord(f *testing.F) {
	all := bytes.Join(recorded(f), nil)
	if len(all) == 0 {
		f.Fatal("nothing was recorded")
	}
	if _, err := pubsub.Restore(all); err != nil {
		f.Fatalf("Restore of what was recorded: %v", err)
	}
	f.Add(all)
	f.Add(protowire.AppendTag(nil, 7, protowire.BytesType))
	f.Fuzz(func(t *testing.T, in []byte) {
		first, err := pubsub.Restore(in)
		if err != nil {
			return
		}
		second, err := pubsub.Restore(first)
		if err != nil || !bytes.Equal(first, second) {
			t.Errorf("Restore(Restore(%q)) = %q, %v, want %q", in, second, err, first)
		}
	})
}

// BenchmarkPublish is one message at a time on the wire, with a subscription
// that keeps it; BenchmarkPublishOnDisk the same on a server that outlives the
// process.
func BenchmarkPublish(b *testing.B) { benchmarkPublish(b, pubsub.New(pubsub.Options{})) }

func BenchmarkPublishOnDisk(b *testing.B) {
	s, err := pubsub.Open(b.TempDir(), pubsub.Options{})
	if err != nil {
		b.Fatal(err)
	}
	benchmarkPublish(b, s)
}

func benchmarkPublish(b *testing.B, s *pubsub.Server) {
	b.Helper()
	defer s.Close()
	conn, err := s.Dial(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	p := pubsubpb.NewPublisherClient(conn)
	if err := prepare(b, p, conn); err != nil {
		b.Fatal(err)
	}
	for n := 0; b.Loop(); n++ {
		if _, err := p.Publish(b.Context(), &pubsubpb.PublishRequest{
			Topic: topic, Messages: []*pubsubpb.PubsubMessage{{Data: fmt.Appendf(nil, `{"v":1,"run":"est-123~1","step":"scope.1.p","rev":%d}`, n)}},
		}); err != nil {
			b.Fatal(err)
		}
	}
}

func prepare(b *testing.B, p pubsubpb.PublisherClient, conn *grpc.ClientConn) error {
	b.Helper()
	if _, err := p.CreateTopic(b.Context(), &pubsubpb.Topic{Name: topic}); err != nil {
		return err
	}
	_, err := pubsubpb.NewSubscriberClient(conn).CreateSubscription(b.Context(), &pubsubpb.Subscription{Name: subName, Topic: topic})
	return err
}
