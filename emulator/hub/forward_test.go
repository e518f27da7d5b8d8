package hub_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"truecost.dev/emulator/hub"
	"truecost.dev/shared/host"
)

// engine is another process that serves functions: it answers with its name and
// the path.
func engine(t *testing.T, name string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, name, r.URL.Path) }))
	t.Cleanup(s.Close)
	return s
}

func TestForwardGoesRound(t *testing.T) {
	t.Parallel()
	one, two := engine(t, "one"), engine(t, "two")
	c := config(http.NotFoundHandler())
	c.Forward = []string{one.URL, two.URL}
	at := start(t, c).Addresses()
	tests := []struct{ url, want string }{
		{at.FunctionsURL() + "/a2a_location", "one/a2a_location"},
		{at.FunctionsURL() + "/start_deep_pipeline", "two/start_deep_pipeline"},
		{at.FunctionsURL() + "/a2a_location/.well-known/agent.json", "one/a2a_location/.well-known/agent.json"},
		{"http://" + at.Hosting + "/a2a/location/.well-known/agent.json", "two/a2a_location/.well-known/agent.json"},
	}
	for _, tt := range tests {
		if status, got := get(t, tt.url); status != http.StatusOK || got != tt.want {
			t.Errorf("GET %s = %d %q, want 200 %q", tt.url, status, got, tt.want)
		}
	}
}

// TestPushesGoRoundTheDead has one process that is gone: what would have been
// its messages come again, at the other.
func TestPushesGoRoundTheDead(t *testing.T) {
	t.Parallel()
	got := make(chan string, 10)
	alive := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.URL.Path + " " + r.Header.Get("Ce-Type") + " " + string(body)
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(alive.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	c := config(http.NotFoundHandler())
	c.Forward = []string{gone.URL, alive.URL}
	c.Push = host.Push{Backoff: [2]time.Duration{time.Millisecond, time.Millisecond}}
	h := start(t, c)
	for _, data := range []string{"a", "b"} {
		publishStep(t, h.Addresses().PubSub, data)
		push := <-got
		if !strings.HasPrefix(push, "/pipeline_step google.cloud.pubsub.topic.v1.messagePublished {") {
			t.Errorf("push = %s, want a CloudEvent for /pipeline_step", push)
		}
	}
	if err := h.PubSub().Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	deliveries := 0
	for _, m := range h.PubSub().Messages() {
		deliveries += m.Deliveries
	}
	if deliveries != 4 || len(got) > 0 {
		t.Errorf("%d deliveries, %d more pushes, want 4 of which 2 failed", deliveries, len(got))
	}
}

func TestDataOutlivesTheHub(t *testing.T) {
	t.Parallel()
	refused := make(chan struct{}, 100)
	c := config(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		refused <- struct{}{}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	dir := t.TempDir() + "/data"
	c.Data = dir
	c.Push.Backoff = [2]time.Duration{time.Hour / 6, time.Hour / 6}
	first, err := hub.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	publishStep(t, first.Addresses().PubSub, "later")
	<-refused
	if _, err := hub.Start(t.Context(), c); err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("a second hub on the same data = %v, want it refused", err)
	}
	stop(t, first)

	got := make(chan string, 1)
	c = config(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- string(body)
		w.WriteHeader(http.StatusNoContent)
	}))
	c.Data = dir
	second := start(t, c)
	publishStep(t, second.Addresses().PubSub, "new")
	if body := <-got; !strings.Contains(body, `"data":"bmV3"`) {
		t.Errorf("the first push is %s, want the new message: the other backs off", body)
	}
	m := second.PubSub().Messages()
	if len(m) != 2 || string(m[0].Data) != "later" || m[0].Deliveries != 1 {
		t.Errorf("messages = %+v, want the one of before, delivered once, and the new one", m)
	}
}
