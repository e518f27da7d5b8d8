package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	client "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"truecost.dev/emulator/hub"
	"truecost.dev/emulator/pubsub"
	"truecost.dev/emulator/pubsub/pubsubtest"
	"truecost.dev/shared/a2a/card"
	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/host"
)

// echo answers with the path that a function sees.
func echo(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, name, " ", r.URL.Path) })
}

func table(step http.Handler) func(hub.Addresses) ([]host.Function, error) {
	return func(hub.Addresses) ([]host.Function, error) {
		return []host.Function{
			{Name: "a2a_location", Kind: host.Agent, Handler: echo("a2a_location")},
			{Name: "start_deep_pipeline", Kind: host.Callable, Handler: echo("start_deep_pipeline")},
			{Name: "pipeline_step", Kind: host.Event, Topic: "truecost-steps", Handler: step},
		}, nil
	}
}

func config(step http.Handler) hub.Config {
	return hub.Config{Project: "truecost", Region: "us-central1", Functions: table(step)}
}

func start(t *testing.T, c hub.Config) *hub.Hub {
	t.Helper()
	h, err := hub.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, h) })
	return h
}

func stop(t *testing.T, h *hub.Hub) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
	defer cancel()
	if err := h.Stop(ctx); err != nil {
		t.Errorf("Stop: %v", err)
	}
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

func publishStep(t *testing.T, address, data string) {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.NewClient(t.Context(), "truecost", option.WithGRPCConn(conn))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Publisher("truecost-steps").Publish(t.Context(), &client.Message{Data: []byte(data)}).Get(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestHealthNamesTheServices(t *testing.T) {
	t.Parallel()
	h := start(t, config(echo("step")))
	at := h.Addresses()
	status, body := get(t, "http://"+at.Inspector+"/healthz")
	var got map[string]any
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"status": "ok", "project": "truecost", "region": "us-central1",
		"services": map[string]any{
			"functions": at.Functions, "firestore": at.Firestore, "pubsub": at.PubSub, "hosting": at.Hosting, "inspector": at.Inspector,
		},
	}
	if diff := cmp.Diff(want, got); status != http.StatusOK || diff != "" {
		t.Errorf("/healthz = %d (-want +got):\n%s", status, diff)
	}
	for _, s := range h.Services() {
		if host, port, err := net.SplitHostPort(s.Address); err != nil || host != "127.0.0.1" || port == "0" {
			t.Errorf("%s listens on %s, want a port of the loopback interface", s.Name, s.Address)
		}
	}
}

func TestFunctionsSeeTheRestOfThePath(t *testing.T) {
	t.Parallel()
	at := start(t, config(echo("pipeline_step"))).Addresses()
	tests := []struct{ url, want string }{
		{at.FunctionsURL() + "/a2a_location", "a2a_location /"},
		{at.FunctionsURL() + "/a2a_location/", "a2a_location /"},
		{at.FunctionsURL() + "/a2a_location/.well-known/agent.json", "a2a_location /.well-known/agent.json"},
		{"http://" + at.Functions + "/a2a_location/.well-known/agent.json", "a2a_location /.well-known/agent.json"},
		{"http://" + at.Functions + "/start_deep_pipeline", "start_deep_pipeline /"},
		{"http://" + at.Functions + "/pipeline_step", "pipeline_step /"},
		{"http://" + at.Hosting + "/a2a/location", "a2a_location /"},
		{"http://" + at.Hosting + "/a2a/location/.well-known/agent.json", "a2a_location /.well-known/agent.json"},
		{"http://" + at.Hosting + "/a2a/a2a_location", "a2a_location /"},
	}
	for _, tt := range tests {
		if status, got := get(t, tt.url); status != http.StatusOK || got != tt.want {
			t.Errorf("GET %s = %d %q, want 200 %q", tt.url, status, got, tt.want)
		}
	}
	for _, url := range []string{
		"http://" + at.Functions + "/unknown", "http://" + at.Functions + "/other/us-central1/a2a_location",
		"http://" + at.Hosting + "/a2a/start_deep_pipeline", "http://" + at.Hosting + "/a2a/location_scorer",
	} {
		if status, _ := get(t, url); status != http.StatusNotFound {
			t.Errorf("GET %s = %d, want 404", url, status)
		}
	}
}

// The directory has the cards of all agents, as they are at the agents.
func TestDirectory(t *testing.T) {
	t.Parallel()
	cards, err := card.New(task.Agent{
		Name: "location", Description: "Finds what the place means.", Version: "1.0.0",
		Skills: []task.Skill{{AgentSkill: sdk.AgentSkill{ID: "location", Name: "Location", Description: "Finds it.", Tags: []string{"place"}}}},
	}, card.Options{URL: "https://agents.example/a2a_location"})
	if err != nil {
		t.Fatal(err)
	}
	c := config(echo("step"))
	table := c.Functions
	c.Functions = func(at hub.Addresses) ([]host.Function, error) {
		all, err := table(at)
		for i := range all {
			if all[i].Name == "a2a_location" {
				all[i].Cards = func() (*card.Cards, error) { return cards, nil }
			}
		}
		return all, err
	}
	at := start(t, c).Addresses()
	status, body := get(t, "http://"+at.Hosting+"/.well-known/agents.json")
	var got card.Directory
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK {
		t.Fatalf("directory = %d %s", status, body)
	}
	if len(got.Agents) != 1 || got.Agents[0].Name != "location" || string(got.Agents[0].Card) != string(cards.Public()) {
		t.Errorf("directory = %+v, want the one agent with its card", got)
	}
	if _, page := get(t, "http://"+at.Hosting+"/"); !strings.Contains(page, "Finds what the place means.") || !strings.Contains(page, `href="/.well-known/agents.json"`) {
		t.Errorf("the page says neither what the agent does nor where the directory is:\n%s", page)
	}
}

func TestPagesNameWhatRuns(t *testing.T) {
	t.Parallel()
	h := start(t, config(echo("step")))
	at := h.Addresses()
	publishStep(t, at.PubSub, "<b>hello</b>")
	if err := h.PubSub().Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		address string
		want    []string
	}{
		{at.Hosting, []string{"a2a_location", at.Functions, "http://" + at.Hosting + "/a2a/location/.well-known/agent.json"}},
		{at.Inspector, []string{"start_deep_pipeline", "truecost-steps", "truecost-dead", "pipeline_step", "&lt;b&gt;hello"}},
	}
	for _, tt := range tests {
		status, body := get(t, "http://"+tt.address+"/")
		if status != http.StatusOK {
			t.Errorf("GET %s = %d", tt.address, status)
		}
		for _, want := range tt.want {
			if !strings.Contains(body, want) {
				t.Errorf("page of %s lacks %q:\n%s", tt.address, want, body)
			}
		}
	}
}

func TestMessagesReachTheirFunction(t *testing.T) {
	t.Parallel()
	got := make(chan *http.Request, 1)
	h := start(t, config(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r
		w.WriteHeader(http.StatusNoContent)
	})))
	publishStep(t, h.Addresses().PubSub, "{}")
	r := <-got
	if typ, src := r.Header.Get("Ce-Type"), r.Header.Get("Ce-Source"); r.URL.Path != "/" ||
		typ != "google.cloud.pubsub.topic.v1.messagePublished" || src != "//pubsub.googleapis.com/projects/truecost/topics/truecost-steps" {
		t.Errorf("the function got %s with type %q of %q", r.URL.Path, typ, src)
	}
	if err := h.PubSub().Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestSubscriptionsAreThoseOfProduction(t *testing.T) {
	t.Parallel()
	server, c := pubsubtest.Start(t, pubsub.Options{})
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	conf := config(echo("step"))
	conf.PubSubHost = l.Addr().String()
	conf.Schedules = []hub.Schedule{{Topic: "truecost-sweep", Every: time.Hour}}
	for range 2 { // the second finds the topics of the first, and moves the push to its own port
		h, err := hub.Start(t.Context(), conf)
		if err != nil {
			t.Fatal(err)
		}
		if s := h.Services()[2]; h.PubSub() != nil || !s.External || s.Address != conf.PubSubHost {
			t.Errorf("Pub/Sub = %+v, want the server that was there", s)
		}
		s, err := c.SubscriptionAdminClient.GetSubscription(t.Context(), &pubsubpb.GetSubscriptionRequest{Subscription: "projects/truecost/subscriptions/pipeline_step"})
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(s.AckDeadlineSeconds, s.RetryPolicy.MinimumBackoff.Seconds, s.RetryPolicy.MaximumBackoff.Seconds,
			s.DeadLetterPolicy.MaxDeliveryAttempts, s.DeadLetterPolicy.DeadLetterTopic, s.PushConfig.PushEndpoint)
		want := fmt.Sprint(600, int64(10), int64(600), 20, "projects/truecost/topics/truecost-dead", h.Addresses().FunctionsURL()+"/pipeline_step")
		if got != want {
			t.Errorf("subscription = %s, want %s", got, want)
		}
		stop(t, h)
	}
	if _, err := c.TopicAdminClient.GetTopic(t.Context(), &pubsubpb.GetTopicRequest{Topic: "projects/truecost/topics/truecost-sweep"}); err != nil {
		t.Errorf("topic of the schedule: %v", err)
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestFunctionsSayHowTheyArePushedTo(t *testing.T) {
	t.Parallel()
	said := host.Push{Ack: 60 * time.Second, Backoff: [2]time.Duration{11 * time.Second, 61 * time.Second}, Deliveries: 7, DeadLetter: "lost"}
	tests := []struct {
		name       string
		hub        host.Push
		f          host.Function
		want, dead string
	}{
		{"its own", host.Push{}, host.Function{Topic: "control", Push: said}, "60 11 61 7", "projects/truecost/topics/lost"},
		{"the hub's backoff", host.Push{Backoff: [2]time.Duration{time.Second, 2 * time.Second}}, host.Function{Topic: "control", Push: said}, "60 1 2 7", "projects/truecost/topics/lost"},
		{"production's", host.Push{}, host.Function{Topic: "control"}, "600 10 600 20", "projects/truecost/topics/truecost-dead"},
		{"who handles dead letters", host.Push{}, host.Function{Topic: "lost", Push: said}, "60 11 61 0", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.f.Name, tt.f.Kind, tt.f.Handler = "event", host.Event, echo("event")
			c := config(nil)
			c.Push = tt.hub
			c.Functions = func(hub.Addresses) ([]host.Function, error) { return []host.Function{tt.f}, nil }
			s := subscription(t, start(t, c), "event")
			got := fmt.Sprint(s.AckDeadlineSeconds, s.RetryPolicy.MinimumBackoff.Seconds, s.RetryPolicy.MaximumBackoff.Seconds, s.DeadLetterPolicy.GetMaxDeliveryAttempts())
			if got != tt.want || s.DeadLetterPolicy.GetDeadLetterTopic() != tt.dead {
				t.Errorf("subscription = %s, dead letters to %q, want %s and %q", got, s.DeadLetterPolicy.GetDeadLetterTopic(), tt.want, tt.dead)
			}
		})
	}
}

// subscription returns one of the hub's subscriptions.
func subscription(t *testing.T, h *hub.Hub, name string) *pubsubpb.Subscription {
	t.Helper()
	conn, err := grpc.NewClient(h.Addresses().PubSub, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s, err := pubsubpb.NewSubscriberClient(conn).GetSubscription(t.Context(), &pubsubpb.GetSubscriptionRequest{Subscription: "projects/truecost/subscriptions/" + name})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSchedulesTick(t *testing.T) {
	t.Parallel()
	c := config(nil)
	ticks := make(chan struct{}, 100)
	c.Functions = func(hub.Addresses) ([]host.Function, error) {
		return []host.Function{{Name: "sweep", Kind: host.Event, Topic: "minute", Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			ticks <- struct{}{}
			w.WriteHeader(http.StatusNoContent)
		})}}, nil
	}
	c.Schedules, c.Tick = []hub.Schedule{{Topic: "minute", Every: time.Hour}}, time.Millisecond
	start(t, c)
	<-ticks
	<-ticks
}

func TestBusyPortsAreNamed(t *testing.T) {
	t.Parallel()
	first := start(t, config(echo("step"))).Addresses()
	c := config(echo("step"))
	port := func(address string) int {
		var p int
		if _, err := fmt.Sscanf(address, "127.0.0.1:%d", &p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	c.PortOffset = 1
	c.Ports.Functions, c.Ports.Inspector = port(first.Functions)-1, port(first.Inspector)-1
	_, err := hub.Start(t.Context(), c)
	if err == nil {
		t.Fatal("Start on busy ports succeeded")
	}
	for _, want := range []string{
		fmt.Sprintf("port %d for functions is in use: choose another with -functions-port", port(first.Functions)),
		fmt.Sprintf("port %d for inspector is in use: choose another with -inspector-port", port(first.Inspector)),
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want it to say %q", err, want)
		}
	}
}

func TestServersOfOthersMustAnswer(t *testing.T) {
	t.Parallel()
	const gone = "127.0.0.1:1" // nobody serves the port multiplexer
	c := config(echo("step"))
	c.FirestoreHost, c.PubSubHost = gone, gone
	_, err := hub.Start(t.Context(), c)
	if err == nil {
		t.Fatal("Start beside servers that are gone succeeded")
	}
	for _, want := range []string{
		"firestore, named by the environment, does not answer: dial tcp " + gone,
		"pubsub, named by the environment, does not answer: dial tcp " + gone,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want it to say %q", err, want)
		}
	}
}

func TestStartReportsTheTable(t *testing.T) {
	t.Parallel()
	c := config(nil)
	broken := errors.New("no table")
	c.Functions = func(hub.Addresses) ([]host.Function, error) { return nil, broken }
	if _, err := hub.Start(t.Context(), c); !errors.Is(err, broken) {
		t.Errorf("Start = %v, want %v", err, broken)
	}
}

// TestStop is not parallel: it counts goroutines.
func TestStop(t *testing.T) {
	before := runtime.NumGoroutine()
	entered, release := make(chan struct{}), make(chan struct{})
	h, err := hub.Start(t.Context(), config(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-release
		w.WriteHeader(http.StatusNoContent)
	})))
	if err != nil {
		t.Fatal(err)
	}
	publishStep(t, h.Addresses().PubSub, "{}")
	<-entered
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop(t, h)
	}()
	close(release)
	<-stopped
	if m := h.PubSub().Messages()[0]; m.Acks != 1 {
		t.Errorf("the message under way was acknowledged %d times, want once: it finishes before the end", m.Acks)
	}
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > before {
		buf := make([]byte, 1<<20)
		t.Errorf("%d goroutines are left, %d were there before:\n%s", n, before, buf[:runtime.Stack(buf, true)])
	}
}

func TestStopIsBounded(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	h, err := hub.Start(t.Context(), config(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(entered)
		<-release
	})))
	if err != nil {
		t.Fatal(err)
	}
	publishStep(t, h.Addresses().PubSub, "{}")
	<-entered
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Stop(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("Stop = %v, want the end of its context", err)
	}
}
