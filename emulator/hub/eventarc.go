package hub

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"truecost.dev/shared/host"
)

// maxPush bounds a push: a message of 10 MB in base64, with its envelope.
const maxPush = 16 << 20

// eventarc stands between a topic and an event function, as the cloud's
// triggers do: the bare push of a Pub/Sub server that is not ours reaches the
// function as a CloudEvent in binary mode. Our own server pushes such events
// already; they pass.
func eventarc(project string, f host.Function) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || isCloudEvent(r.Header) {
			f.Handler.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPush))
		var push struct {
			Message struct {
				ID        string `json:"messageId"`
				IDSnake   string `json:"message_id"`
				Time      string `json:"publishTime"`
				TimeSnake string `json:"publish_time"`
			} `json:"message"`
		}
		if err == nil {
			err = json.Unmarshal(body, &push)
		}
		m := push.Message
		if m.ID == "" {
			m.ID = m.IDSnake
		}
		if err != nil || m.ID == "" {
			http.Error(w, "wanted a CloudEvent or a Pub/Sub push", http.StatusBadRequest)
			return
		}
		if m.Time == "" {
			m.Time = m.TimeSnake
		}
		event := r.Clone(r.Context())
		event.Body, event.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		event.Header.Set("Content-Type", "application/json")
		event.Header.Set("Ce-Specversion", "1.0")
		event.Header.Set("Ce-Id", m.ID)
		event.Header.Set("Ce-Type", "google.cloud.pubsub.topic.v1.messagePublished")
		event.Header.Set("Ce-Source", "//pubsub.googleapis.com/"+topicName(project, f.Topic))
		if m.Time != "" {
			event.Header.Set("Ce-Time", m.Time)
		}
		f.Handler.ServeHTTP(w, event)
	})
}

// isCloudEvent reports whether a request is a CloudEvent in binary or structured
// mode.
func isCloudEvent(h http.Header) bool {
	return h.Get("Ce-Specversion") != "" || strings.HasPrefix(h.Get("Content-Type"), "application/cloudevents")
}
