package topic_test

import (
	"strings"
	"testing"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"truecost.dev/emulator/pubsub"
	"truecost.dev/emulator/pubsub/pubsubtest"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/gcp/topic"
)

// A message of the queue says what to do with which task, and nothing else.
func TestWork(t *testing.T) {
	t.Parallel()
	server, client := pubsubtest.Start(t, pubsub.Options{})
	name := "projects/" + pubsubtest.Project + "/topics/work"
	if _, err := client.TopicAdminClient.CreateTopic(t.Context(), &pubsubpb.Topic{Name: name}); err != nil {
		t.Fatal(err)
	}
	queue := topic.NewWork(client, "work")
	ref := task.Ref{Agent: "cost", ID: "0b5b7a52-3f0c-5c51-9b43-6a5c8a5e8d10"}
	for _, publish := range []func() error{
		func() error { return queue.Work(t.Context(), ref) },
		func() error { return queue.Tell(t.Context(), ref) },
	} {
		if err := publish(); err != nil {
			t.Fatal(err)
		}
	}
	messages := server.Messages()
	if len(messages) != 2 {
		t.Fatalf("%d messages came, want 2", len(messages))
	}
	for i, do := range []string{"work", "tell"} {
		m := messages[i]
		want := `{"do":"` + do + `","agent":"cost","task":"0b5b7a52-3f0c-5c51-9b43-6a5c8a5e8d10"}`
		if string(m.Data) != want || m.Attributes["kind"] != do || m.Attributes["agent"] != "cost" || len(m.Attributes) != 2 || m.Topic != name {
			t.Errorf("message %s with %v on %s, want %s", m.Data, m.Attributes, m.Topic, want)
		}
	}
}

// Whatever kept a job away, another try may bring it.
func TestWorkThatIsNotTaken(t *testing.T) {
	t.Parallel()
	_, client := pubsubtest.Start(t, pubsub.Options{Fail: func(method string) error {
		if strings.HasSuffix(method, "/Publish") {
			return status.Error(codes.PermissionDenied, "no")
		}
		return nil
	}})
	if err := topic.NewWork(client, "work").Work(t.Context(), task.Ref{Agent: "cost", ID: "t"}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("Work() = %v, want kind unavailable", err)
	}
}
