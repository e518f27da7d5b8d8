package pubsub_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	client "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/protobuf/types/known/durationpb"
)

const (
	topic    = "projects/truecost/topics/steps"
	deadName = "projects/truecost/topics/dead"
	subName  = "projects/truecost/subscriptions/steps-push"
	deadSub  = "projects/truecost/subscriptions/dead-pull"
)

// An endpoint is a push endpoint without a socket: a RoundTripper that serves
// each push by calling answer and keeps what it got.
type endpoint struct {
	answer func(n int, r *http.Request) int // status for the nth push, from 1

	mu    sync.Mutex // guards calls
	calls []call
}

type call struct {
	at     time.Time
	header http.Header
	body   string
}

func (e *endpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.calls = append(e.calls, call{at: time.Now(), header: r.Header, body: string(body)})
	n := len(e.calls)
	e.mu.Unlock()
	status := e.answer(n, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	rec := httptest.NewRecorder()
	rec.WriteHeader(status)
	return rec.Result(), nil
}

func (e *endpoint) got() []call {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.calls
}

// gaps returns the times between the calls, in whole seconds.
func (e *endpoint) gaps() []int {
	var gaps []int
	calls := e.got()
	for i := 1; i < len(calls); i++ {
		gaps = append(gaps, int(calls[i].at.Sub(calls[i-1].at).Seconds()))
	}
	return gaps
}

func createTopics(t *testing.T, c *client.Client, names ...string) {
	t.Helper()
	for _, n := range names {
		if _, err := c.TopicAdminClient.CreateTopic(t.Context(), &pubsubpb.Topic{Name: n}); err != nil {
			t.Fatal(err)
		}
	}
}

func createSubscription(t *testing.T, c *client.Client, s *pubsubpb.Subscription) {
	t.Helper()
	if _, err := c.SubscriptionAdminClient.CreateSubscription(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

func pushTo() *pubsubpb.PushConfig {
	return &pubsubpb.PushConfig{PushEndpoint: "http://functions.test/step"}
}

func retryBetween(low, high time.Duration) *pubsubpb.RetryPolicy {
	return &pubsubpb.RetryPolicy{MinimumBackoff: durationpb.New(low), MaximumBackoff: durationpb.New(high)}
}

func publish(t *testing.T, c *client.Client, m *client.Message) string {
	t.Helper()
	p := c.Publisher(topic)
	defer p.Stop()
	p.EnableMessageOrdering = m.OrderingKey != ""
	id, err := p.Publish(t.Context(), m).Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// pull pulls what is due now.
func pull(t *testing.T, c *client.Client, sub string, n int32) []*pubsubpb.ReceivedMessage {
	t.Helper()
	res, err := c.SubscriptionAdminClient.Pull(t.Context(), &pubsubpb.PullRequest{Subscription: sub, MaxMessages: n})
	if err != nil {
		t.Fatal(err)
	}
	return res.ReceivedMessages
}

func bodies(list []*pubsubpb.ReceivedMessage) []string {
	var out []string
	for _, m := range list {
		out = append(out, string(m.Message.Data))
	}
	return out
}
