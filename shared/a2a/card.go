package a2a

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
)

// shortCard is what agent/card answers: the card of the dialect.
type shortCard struct {
	Name         string   `json:"name"`
	Description  string   `json:"description"`
	Version      string   `json:"version"`
	Capabilities []string `json:"capabilities"`
	InputModes   []string `json:"input_modes"`
	OutputModes  []string `json:"output_modes"`
	Endpoint     string   `json:"endpoint"`
}

func shortCardOf(a Agent) shortCard {
	return shortCard{
		Name: a.Name, Description: a.Description, Version: a.Version, Capabilities: words(a.Skills),
		InputModes: []string{"json"}, OutputModes: []string{"json"}, Endpoint: "/a2a/" + a.Name,
	}
}

// wellKnown is the card at /.well-known/agent.json: that of A2A 0.2, with those
// members of the dialect's card whose names do not collide. Only what works is
// declared.
type wellKnown struct {
	Name               string       `json:"name"`
	Description        string       `json:"description"`
	Version            string       `json:"version"`
	URL                string       `json:"url,omitempty"`
	Capabilities       capabilities `json:"capabilities"`
	DefaultInputModes  []string     `json:"defaultInputModes"`
	DefaultOutputModes []string     `json:"defaultOutputModes"`
	Skills             []skill      `json:"skills"`
	InputModes         []string     `json:"input_modes"`
	OutputModes        []string     `json:"output_modes"`
	Endpoint           string       `json:"endpoint"`
}

type capabilities struct {
	Streaming              bool `json:"streaming"`
	PushNotifications      bool `json:"pushNotifications"`
	StateTransitionHistory bool `json:"stateTransitionHistory"`
}

type skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
}

// cardFile is a card as it is served: bytes and their tag.
type cardFile struct {
	body []byte
	etag string
}

func newCardFile(a Agent, url string) cardFile {
	media := []string{"application/json"}
	body, err := json.Marshal(wellKnown{
		Name: a.Name, Description: a.Description, Version: a.Version, URL: url,
		DefaultInputModes: media, DefaultOutputModes: media,
		Skills:     []skill{{ID: a.Name, Name: strings.ReplaceAll(a.Name, "_", " "), Description: a.Description, Tags: words(a.Skills)}},
		InputModes: []string{"json"}, OutputModes: []string{"json"}, Endpoint: "/a2a/" + a.Name,
	})
	if err != nil {
		panic("a2a: encode a card of strings: " + err.Error())
	}
	sum := sha256.Sum256(body)
	return cardFile{body: body, etag: `"` + hex.EncodeToString(sum[:16]) + `"`}
}

func (c cardFile) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=300")
	w.Header().Set("ETag", c.etag)
	for tag := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == c.etag || tag == "*" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(c.body) // the caller has gone if this fails
}

// words returns a list that is never null on the wire.
func words(list []string) []string { return append([]string{}, list...) }
