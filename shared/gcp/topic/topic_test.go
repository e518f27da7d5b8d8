package topic_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"truecost.dev/emulator/pubsub"
	"truecost.dev/emulator/pubsub/pubsubtest"
	"truecost.dev/shared/engine"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/gcp/topic"
	"truecost.dev/shared/runner"
)

// world is a bus on a server of its own, which counts publish requests.
type world struct {
	server   *pubsub.Server
	bus      *topic.Bus
	requests atomic.Int64
	broken   atomic.Bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{}
	server, client := pubsubtest.Start(t, pubsub.Options{Fail: func(method string) error {
		if !strings.HasSuffix(method, "/Publish") {
			return nil
		}
		w.requests.Add(1)
		if w.broken.Load() {
			return status.Error(codes.PermissionDenied, "no")
		}
		return nil
	}})
	for _, id := range []string{"steps", "control"} {
		name := "projects/" + pubsubtest.Project + "/topics/" + id
		if _, err := client.TopicAdminClient.CreateTopic(t.Context(), &pubsubpb.Topic{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	w.server, w.bus = server, topic.New(client, "steps", "control")
	return w
}

func message(step engine.StepID) runner.Message {
	return runner.Message{V: 1, Run: "est-1~1", Step: step, Rev: 7, Flow: "truecost", Agent: "cost"}
}

func TestTwoTopics(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	want := map[string]string{
		"cost.0.p": "steps", "cost.0.s": "steps", "cost.0.c": "steps", "cost.0.p.1": "steps", "cost.0.k12": "steps",
		"cost.0.x": "control", "cost.0.d3": "control", "cost.0.j": "control", "": "control",
	}
	var messages []runner.Message
	for _, step := range slices.Sorted(maps.Keys(want)) {
		messages = append(messages, message(engine.StepID(step)))
	}
	if err := w.bus.Publish(t.Context(), messages...); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, m := range w.server.Messages() {
		decoded, err := runner.DecodeMessage(m.Data)
		if err != nil {
			t.Fatal(err)
		}
		if decoded.Run != "est-1~1" || decoded.Rev != 7 || m.Attributes["kind"] != decoded.Kind() || m.Attributes["agent"] != "cost" {
			t.Errorf("message %s with %v, want what was published", m.Data, m.Attributes)
		}
		got[string(decoded.Step)] = m.Topic[strings.LastIndex(m.Topic, "/")+1:]
	}
	if !maps.Equal(got, want) {
		t.Errorf("topics by step = %v, want %v", got, want)
	}
	if n := w.requests.Load(); n != int64(len(want)) {
		t.Errorf("%d requests for %d messages, want one each", n, len(want))
	}
}

// An expansion shares requests, of both topics.
func TestCrowd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var messages []runner.Message
	for i := range 150 {
		messages = append(messages, message(engine.StepRef{Node: "cost", Role: engine.RoleChunk, Index: i}.ID()))
	}
	messages = append(messages, message(""))
	if err := w.bus.Publish(t.Context(), messages...); err != nil {
		t.Fatal(err)
	}
	if n := len(w.server.Messages()); n != len(messages) {
		t.Errorf("%d messages came, want %d", n, len(messages))
	}
	if n := w.requests.Load(); n >= 20 {
		t.Errorf("%d requests for %d messages, want few", n, len(messages))
	}
}

func TestNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.bus.Publish(t.Context()); err != nil || w.requests.Load() != 0 {
		t.Errorf("Publish of nothing = %v with %d requests", err, w.requests.Load())
	}
}

// Whatever kept a message away, another try may bring it.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 30} {
		t.Run(fmt.Sprintf("%d messages", n), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			messages := slices.Repeat([]runner.Message{message("cost.0.p")}, n)
			canceled, cancel := context.WithCancel(t.Context())
			cancel()
			if err := w.bus.Publish(canceled, messages...); fault.KindOf(err) != fault.Unavailable {
				t.Errorf("Publish when canceled = %v, want unavailable", err)
			}
			w.broken.Store(true)
			if err := w.bus.Publish(t.Context(), messages...); fault.KindOf(err) != fault.Unavailable {
				t.Errorf("Publish to a broken service = %v, want unavailable", err)
			}
		})
	}
}
