package hub_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// seen is what an event function is given of a push.
type seen struct {
	Spec, ID, Type, Source, Time, Content, Body string
}

func TestBarePushesReachTheFunctionAsEvents(t *testing.T) {
	t.Parallel()
	got := make(chan seen, 1)
	at := start(t, config(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		h := r.Header
		got <- seen{
			h.Get("Ce-Specversion"), h.Get("Ce-Id"), h.Get("Ce-Type"), h.Get("Ce-Source"), h.Get("Ce-Time"), h.Get("Content-Type"), string(body),
		}
		w.WriteHeader(http.StatusNoContent)
	}))).Addresses()
	const (
		both  = `{"message":{"data":"e30=","messageId":"7","message_id":"7","publishTime":"2026-05-04T01:02:03Z","publish_time":"2026-05-04T01:02:03Z"}}`
		snake = `{"message":{"message_id":"8","publish_time":"2026-05-04T01:02:03.5Z"}}`
		bare  = `{"message":{"messageId":"9"}}`
		typ   = "google.cloud.pubsub.topic.v1.messagePublished"
		topic = "//pubsub.googleapis.com/projects/truecost/topics/truecost-steps"
	)
	client := http.Client{Timeout: 10 * time.Second}
	tests := []struct {
		name, body string
		header     map[string]string
		status     int
		want       seen
	}{
		{"both spellings", both, nil, http.StatusNoContent, seen{"1.0", "7", typ, topic, "2026-05-04T01:02:03Z", "application/json", both}},
		{"the older spelling", snake, nil, http.StatusNoContent, seen{"1.0", "8", typ, topic, "2026-05-04T01:02:03.5Z", "application/json", snake}},
		{"no time", bare, nil, http.StatusNoContent, seen{"1.0", "9", typ, topic, "", "application/json", bare}},
		{"an event already", `{}`, map[string]string{"Ce-Specversion": "1.0", "Ce-Id": "a"}, http.StatusNoContent, seen{Spec: "1.0", ID: "a", Body: `{}`}},
		{
			"a structured event", `{}`,
			map[string]string{"Content-Type": "application/cloudevents+json; charset=utf-8"},
			http.StatusNoContent,
			seen{Content: "application/cloudevents+json; charset=utf-8", Body: `{}`},
		},
		{"no message", `{}`, nil, http.StatusBadRequest, seen{}},
		{"not JSON", `7 8`, nil, http.StatusBadRequest, seen{}},
		{"empty", ``, nil, http.StatusBadRequest, seen{}},
	}
	for _, tt := range tests { // one after the other: they share the function
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at.FunctionsURL()+"/pipeline_step", strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range tt.header {
			r.Header.Set(k, v)
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		var event seen
		if answer.StatusCode == http.StatusNoContent {
			event = <-got
		}
		if diff := cmp.Diff(tt.want, event); answer.StatusCode != tt.status || diff != "" {
			t.Errorf("%s: HTTP %d, want %d; the function saw (-want +got):\n%s", tt.name, answer.StatusCode, tt.status, diff)
		}
	}
}
