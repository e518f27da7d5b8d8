package card

import (
	"encoding/json"
	"fmt"
	"net/http"

	"truecost.dev/shared/a2a/wire"
)

// DirectoryPath is where a host of many agents lists them.
const DirectoryPath = "/.well-known/agents.json"

// Entry is one agent of a directory.
type Entry struct {
	Name string          `json:"name"`
	URL  string          `json:"url"`      // of the agent
	At   string          `json:"card_url"` // of its card
	Card json.RawMessage `json:"card"`     // as it is there, signatures included
}

// Directory lists agents: {"agents":[…]}.
type Directory struct {
	Agents []Entry `json:"agents"`
}

// NewDirectory returns the handler of a directory: GET and HEAD, with an ETag.
func NewDirectory(cards ...*Cards) (http.Handler, error) {
	d := Directory{Agents: []Entry{}}
	for _, c := range cards {
		d.Agents = append(d.Agents, Entry{Name: c.name, URL: c.url, At: c.url + Path, Card: c.modern})
	}
	body, err := wire.Compact(d)
	if err != nil {
		return nil, fmt.Errorf("write a directory of agents: %w", err)
	}
	return newFile(body), nil
}
