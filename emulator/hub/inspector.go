package hub

import (
	"context"
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"slices"

	"truecost.dev/emulator/pubsub"
)

// recentMessages is how many messages the inspector shows.
const recentMessages = 100

//go:embed inspector.html
var inspectorText string

var inspectorPage = template.Must(template.New("inspector").Parse(inspectorText))

// A Service is one line of what runs.
type Service struct {
	Name     string
	Address  string // host:port
	External bool   // served by somebody else
}

type health struct {
	Status   string            `json:"status"`
	Services map[string]string `json:"services"` // host:port by name
	Project  string            `json:"project"`
	Region   string            `json:"region"`
}

type inspectorView struct {
	tableView
	Topics      []topicView
	TopicsError string
	Embedded    bool // the messages are known
	Messages    []pubsub.Message
}

// inspector serves /healthz and a page that only reads.
func (h *Hub) inspector() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		body := health{Status: "ok", Services: map[string]string{}, Project: h.at.Project, Region: h.at.Region}
		for _, s := range h.services {
			body.Services[s.Name] = s.Address
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(body) // the reader may be gone
	})
	mux.Handle("GET /{$}", page(inspectorPage, func(r *http.Request) any { return h.inspect(r.Context()) }))
	return mux
}

func (h *Hub) inspect(ctx context.Context) inspectorView {
	v := inspectorView{tableView: h.view(), Embedded: h.pubsub != nil}
	topics, err := h.bus.list(ctx, h.at.Project)
	if err != nil {
		v.TopicsError = err.Error()
	}
	v.Topics = topics
	if h.pubsub != nil {
		v.Messages = h.pubsub.Messages()
		v.Messages = slices.Clone(v.Messages[max(0, len(v.Messages)-recentMessages):])
		slices.Reverse(v.Messages)
	}
	return v
}
