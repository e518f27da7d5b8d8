package topic_test

import (
	"testing"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/api/option"

	emulator "truecost.dev/emulator/pubsub"
	"truecost.dev/shared/gcp/topic"
	"truecost.dev/shared/runner"
)

// BenchmarkPublish publishes the one message that follows a step.
func BenchmarkPublish(b *testing.B) {
	server := emulator.New(emulator.Options{})
	defer server.Close()
	conn, err := server.Dial(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	client, err := pubsub.NewClient(b.Context(), "truecost", option.WithGRPCConn(conn))
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	if _, err := client.TopicAdminClient.CreateTopic(b.Context(), &pubsubpb.Topic{Name: "projects/truecost/topics/steps"}); err != nil {
		b.Fatal(err)
	}
	bus := topic.New(client, "steps", "control")
	b.ReportAllocs()
	for b.Loop() {
		if err := bus.Publish(b.Context(), runner.Message{V: 1, Run: "est-1~1", Step: "scope.1.p", Rev: 17, Flow: "truecost", Agent: "scope"}); err != nil {
			b.Fatal(err)
		}
	}
}
