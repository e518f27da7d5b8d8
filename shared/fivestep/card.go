package fivestep

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"truecost.dev/shared/fault"
)

// Specialist is an agent that was discovered. It is safe for concurrent use.
type Specialist struct {
	Card

	client  *Client
	http    *http.Client
	session session

	submit, updates, status, cancel, login string // addresses; {task_id} stands for the id
}

// Card is what a specialist says of itself.
type Card struct {
	ID          string  `json:"id"`
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Version     string  `json:"version"`
	URL         string  `json:"url"`
	Skills      []Skill `json:"skills"`

	Endpoints struct {
		Login   string `json:"login"`
		Submit  string `json:"submit_task"`
		Updates string `json:"task_updates"`
		Status  string `json:"task_status"`
		Cancel  string `json:"cancel_task"`
	} `json:"endpoints"`
	Capabilities struct {
		AuthRequired bool `json:"auth_required"`
		AuthInfo     struct {
			Login string `json:"login_endpoint"`
		} `json:"auth_info"`
	} `json:"capabilities"`
}

// Skill is one thing a specialist can be asked for.
type Skill struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Input       string          `json:"input_description"`
	Output      string          `json:"output_artefact_description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// cardPath is where a card is, below the address of a specialist.
const cardPath = "/.well-known/agent.json"

// taskSlot is where the id of a task goes in a path.
const taskSlot = "{task_id}"

// Discover reads the card of the specialist at an address and finds the skill in
// it. It returns fault.NotFound when the specialist does not have the skill,
// fault.Invalid when there is no card, or none that can be used, and
// fault.Unavailable when nobody answers; it tries again within its ten seconds.
func (c *Client) Discover(ctx context.Context, address, skill string) (*Specialist, error) {
	base, err := url.Parse(strings.TrimSuffix(strings.TrimRight(address, "/"), cardPath))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.User != nil || base.RawQuery != "" {
		return nil, fault.New(fault.Invalid, "%q is not the http or https address of a specialist", address)
	}
	s := &Specialist{client: c, http: c.http()}
	s.session.token = c.Token
	ctx, stop := context.WithTimeoutCause(ctx, discoverTime, fault.New(fault.Unavailable, "%s shows no card in time", base))
	defer stop()
	answer, err := s.retry(ctx, ask{method: http.MethodGet, address: base.String() + cardPath, open: true})
	switch {
	case err != nil && fault.KindOf(err) == fault.NotFound:
		return nil, fault.Wrap(fault.Invalid, err, "there is no specialist at %s: it shows no card", base)
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(answer, &s.Card); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the card of %s cannot be read", base)
	}
	if err := s.locate(base); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(s.Skills, func(k Skill) bool { return k.ID == skill }) {
		return nil, fault.New(fault.NotFound, "%s has no skill %q, but %s", base, skill, strings.Join(s.skills(), ", "))
	}
	return s, nil
}

// skills lists the ids of the skills.
func (s *Specialist) skills() []string {
	ids := make([]string, len(s.Skills))
	for i, k := range s.Skills {
		ids[i] = k.ID
	}
	return ids
}

// locate finds the addresses that the card tells. They are below the card's own
// url where that is at the place the card was read from, else below that place:
// behind a proxy a specialist may not know where it is. None may be elsewhere.
func (s *Specialist) locate(base *url.URL) error {
	if own, err := url.Parse(strings.TrimRight(s.URL, "/")); err == nil && own.Scheme == base.Scheme && own.Host == base.Host {
		base = own
	}
	e := s.Endpoints
	if e.Login == "" {
		e.Login = s.Capabilities.AuthInfo.Login
	}
	for _, at := range []struct {
		name, path string
		into       *string
		needed     bool
		task       bool
	}{
		{"submit_task", e.Submit, &s.submit, true, false},
		{"task_updates", e.Updates, &s.updates, true, true},
		{"task_status", e.Status, &s.status, false, true},
		{"cancel_task", e.Cancel, &s.cancel, false, true},
		{"login", e.Login, &s.login, false, false},
	} {
		if at.path == "" && !at.needed {
			continue
		}
		whole := at.path
		if strings.HasPrefix(whole, "/") {
			whole = base.Scheme + "://" + base.Host + strings.TrimRight(base.EscapedPath(), "/") + whole
		}
		u, err := url.Parse(strings.Replace(whole, taskSlot, "id", 1))
		if err != nil || u.Scheme != base.Scheme || u.Host != base.Host || u.User != nil || at.task != strings.Contains(whole, taskSlot) {
			return fault.New(fault.Invalid, "the card of %s cannot be used: its endpoint %s is %q", base, at.name, at.path)
		}
		*at.into = whole
	}
	return nil
}

// of puts the id of a task into an address.
func of(address, id string) string {
	return strings.Replace(address, taskSlot, url.PathEscape(id), 1)
}
