package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"truecost.dev/shared/fault"
	"truecost.dev/shared/gcp/cloudlog"
)

const binary = `{"message":{"data":"eyJ2IjoxfQ==","attributes":{"kind":"step"},"messageId":"7"},"subscription":"projects/p/subscriptions/s","deliveryAttempt":3}`

func push(t *testing.T, handle func(context.Context, Delivery) error, body string, headers map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	f := Trigger{Name: "pipeline_step", Topic: "steps", Handle: handle}.Function(slog.New(slog.DiscardHandler))
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	for k, v := range headers {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	f.Handler.ServeHTTP(w, r)
	return w
}

var cloudEvent = map[string]string{
	"Content-Type": "application/json", "Ce-Specversion": "1.0", "Ce-Id": "7",
	"Ce-Type": "google.cloud.pubsub.topic.v1.messagePublished", "Ce-Source": "//pubsub.googleapis.com/projects/p/topics/t",
}

func TestEventFunction(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
		want int
	}{
		{"done", nil, http.StatusNoContent},
		{"a message nobody can handle is acknowledged", fault.New(fault.Invalid, "no run"), http.StatusNoContent},
		{"the store is away", fault.New(fault.Unavailable, "away"), http.StatusServiceUnavailable},
		{"a defect", errors.New("100%d secret"), http.StatusServiceUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got Delivery
			w := push(t, func(_ context.Context, d Delivery) error { got = d; return tt.err }, binary, cloudEvent)
			if w.Code != tt.want {
				t.Errorf("answer = %d %s, want %d", w.Code, w.Body, tt.want)
			}
			if string(got.Data) != `{"v":1}` || got.ID != "7" || got.Attempt != 3 || got.Attributes["kind"] != "step" {
				t.Errorf("delivery = %+v", got)
			}
			if strings.Contains(w.Body.String(), "secret") {
				t.Errorf("the answer gives the cause away: %s", w.Body)
			}
		})
	}
}

func TestEventFunctionRefusesWhatIsNoEvent(t *testing.T) {
	t.Parallel()
	called := func(context.Context, Delivery) error { t.Error("the handler was called"); return nil }
	if w := push(t, called, binary, map[string]string{"Content-Type": "application/json"}); w.Code != http.StatusBadRequest {
		t.Errorf("bare push = %d, want 400", w.Code)
	}
	if w := push(t, called, "not json", cloudEvent); w.Code != http.StatusNoContent {
		t.Errorf("an envelope that cannot be read = %d, want 204: it would come for ever", w.Code)
	}
	big := `{"message":{"data":"` + strings.Repeat("A", maxEvent) + `"}}`
	if w := push(t, called, big, cloudEvent); w.Code != http.StatusBadRequest {
		t.Errorf("an oversized event = %d, want 400", w.Code)
	}
}

// Cloud Logging reads the text of an entry from its member message, which no
// attribute may take.
func TestEventKeepsTheTextOfItsLog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	trigger := Trigger{Name: "pipeline_step", Topic: "steps", Handle: func(context.Context, Delivery) error {
		return fault.New(fault.Unavailable, "the store is away")
	}}
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(binary))
	for k, v := range cloudEvent {
		r.Header.Set(k, v)
	}
	trigger.Function(cloudlog.New(&out)).Handler.ServeHTTP(httptest.NewRecorder(), r)
	var line struct {
		Message   string `json:"message"`
		MessageID string `json:"messageId"`
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.Message != "event" || line.MessageID != "7" {
		t.Errorf("log = %s, %v, want message event of messageId 7", &out, err)
	}
}

func TestPanicIsContained(t *testing.T) {
	t.Parallel()
	w := push(t, func(context.Context, Delivery) error { panic("secret") }, binary, cloudEvent)
	if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("answer = %d %s", w.Code, w.Body)
	}
}
