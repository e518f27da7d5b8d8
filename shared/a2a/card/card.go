package card

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// Options are what cards say of an agent beside what it is. URL is required.
type Options struct {
	URL string // absolute address of the agent, from configuration

	Provider      *sdk.AgentProvider
	Documentation string // address

	Modern   bool  // the card of A2A 1.0 has nothing of 0.3 in it
	Push     bool  // push configurations are taken
	Extended bool  // callers who say who they are get the extended card
	Auth     *Auth // nil: anybody may call
	Key      *Key  // signs the cards; nil: they have no signatures

	Limits Limits // what the extended card tells
}

// Auth is how callers say who they are.
type Auth struct {
	Schemes      sdk.NamedSecuritySchemes
	Requirements sdk.SecurityRequirementsOptions // empty: a caller may stay nameless
	Login        bool                            // the five-step protocol has a login
}

// Limits are what a caller should know before it sends. What is 0 is not told.
type Limits struct {
	BodyBytes int64         // of a request
	Deadline  time.Duration // of one turn
}

// Cards are the cards of one agent. They are safe for concurrent use.
type Cards struct {
	name, url       string
	modern, extends []byte
	mayBeNobody     bool
	files           map[string]file
}

// New makes the cards of an agent. It returns fault.Invalid when the address is
// not absolute, when a skill lacks what a card must say of it, and when a schema
// is no JSON.
func New(agent task.Agent, opt Options) (*Cards, error) {
	if err := check(agent, opt); err != nil {
		return nil, fmt.Errorf("cards of agent %s: %w", agent.Name, err)
	}
	opt.URL = strings.TrimSuffix(opt.URL, "/")
	c := &Cards{
		name: agent.Name, url: opt.URL, files: map[string]file{},
		mayBeNobody: opt.Auth == nil || len(opt.Auth.Requirements) == 0,
	}
	var early []byte
	for _, one := range []struct {
		make   func(task.Agent, Options) (any, error)
		signed []canonical
		into   *[]byte
	}{
		{publicCard, []canonical{modern, whole}, &c.modern},
		{extendedCard, []canonical{modern, whole}, &c.extends},
		{earlyCard, []canonical{whole}, &early},
	} {
		v, err := one.make(agent, opt)
		if err == nil {
			*one.into, err = encode(v, opt.Key, one.signed)
		}
		if err != nil {
			return nil, fmt.Errorf("cards of agent %s: %w", agent.Name, err)
		}
	}
	if !opt.Extended {
		c.extends = nil
	}
	c.files[Path], c.files[EarlyPath] = newFile(c.modern), newFile(early)
	if opt.Key != nil {
		c.files[KeysPath] = newFile(opt.Key.JWKS())
	}
	return c, nil
}

// Name returns whose cards they are, and URL the address of the agent.
func (c *Cards) Name() string { return c.name }

// URL returns the address of the agent, without a slash at its end.
func (c *Cards) URL() string { return c.url }

// Public returns the card of A2A 1.0 and 0.3.
func (c *Cards) Public() []byte { return slices.Clone(c.modern) }

// Extended returns the card for callers who say who they are, in the same form.
// It returns fault.Unknown to nobody where callers must say who they are, and
// fault.Conflict when there is no such card.
func (c *Cards) Extended(_ context.Context, who task.Caller) ([]byte, error) {
	switch {
	case c.extends == nil:
		return nil, fault.Wrap(fault.Conflict, sdk.ErrExtendedCardNotConfigured, "this agent has no extended card")
	case who.ID == "" && !c.mayBeNobody:
		return nil, fault.New(fault.Unknown, "the extended card is for callers who say who they are")
	}
	return slices.Clone(c.extends), nil
}

func check(agent task.Agent, opt Options) error {
	if u, err := url.Parse(opt.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return fault.New(fault.Invalid, "the address %q is not absolute", opt.URL)
	}
	if agent.Name == "" || agent.Description == "" || agent.Version == "" || len(agent.Skills) == 0 {
		return fault.New(fault.Invalid, "name, description, version and a skill are what a card must say")
	}
	for _, s := range agent.Skills {
		if err := checkSkill(s); err != nil {
			return err
		}
	}
	return nil
}

func checkSkill(s task.Skill) error {
	if s.ID == "" || s.Name == "" || s.Description == "" || len(s.Tags) == 0 {
		return fault.New(fault.Invalid, "skill %q: id, name, description and tags are what a card must say", s.ID)
	}
	for _, schema := range [][]byte{s.InputSchema, s.OutputSchema} {
		if schema != nil && !json.Valid(schema) {
			return fault.New(fault.Invalid, "skill %q: a schema is no JSON", s.ID)
		}
	}
	return nil
}

// encode writes a card and signs these forms of it if there is a key.
func encode(v any, key *Key, forms []canonical) ([]byte, error) {
	text, err := wire.Compact(v)
	if err != nil || key == nil {
		return text, err //nolint:wrapcheck // the caller says whose card it is
	}
	top, err := members(text)
	if err != nil {
		return nil, err
	}
	signatures := make([]sdk.AgentCardSignature, len(forms))
	for i, form := range forms {
		payload, err := form(top)
		if err != nil {
			return nil, err
		}
		if signatures[i], err = key.sign(payload); err != nil {
			return nil, err
		}
	}
	tail, err := wire.Compact(signatures)
	if err != nil {
		return nil, fmt.Errorf("encode the signatures: %w", err)
	}
	return slices.Concat(text[:len(text)-1], []byte(`,"signatures":`), tail, []byte("}")), nil
}

// shared is what all cards say in the same words.
type shared struct {
	Name               string             `json:"name"`
	Description        string             `json:"description"`
	Version            string             `json:"version"`
	Provider           *sdk.AgentProvider `json:"provider,omitempty"`
	DocumentationURL   string             `json:"documentationUrl,omitempty"`
	DefaultInputModes  []string           `json:"defaultInputModes"`
	DefaultOutputModes []string           `json:"defaultOutputModes"`
}

// interchange is the media type of agents that name none.
var interchange = []string{"application/json"}

func sharedOf(a task.Agent, opt Options) shared {
	s := shared{
		Name: a.Name, Description: a.Description, Version: a.Version, Provider: opt.Provider, DocumentationURL: opt.Documentation,
		DefaultInputModes: a.InputModes, DefaultOutputModes: a.OutputModes,
	}
	if len(a.InputModes) == 0 {
		s.DefaultInputModes = interchange
	}
	if len(a.OutputModes) == 0 {
		s.DefaultOutputModes = interchange
	}
	return s
}

// Short is the card of TrueCost's own dialect: what agent/card answers.
type Short struct {
	Name         string   `json:"name"`
	Description  string   `json:"description"`
	Version      string   `json:"version"`
	Capabilities []string `json:"capabilities"` // words a caller may search for
	trueCost
}

// trueCost are the members of the short card that no other card has.
type trueCost struct {
	InputModes  []string `json:"input_modes"`
	OutputModes []string `json:"output_modes"`
	Endpoint    string   `json:"endpoint"` // below the host that serves all agents
}

// ShortOf returns the short card of an agent.
func ShortOf(a task.Agent) Short {
	s := Short{Name: a.Name, Description: a.Description, Version: a.Version, Capabilities: []string{}, trueCost: trueCostOf(a)}
	for _, skill := range a.Skills {
		for _, tag := range skill.Tags {
			if !slices.Contains(s.Capabilities, tag) {
				s.Capabilities = append(s.Capabilities, tag)
			}
		}
	}
	return s
}

func trueCostOf(a task.Agent) trueCost {
	s := sharedOf(a, Options{})
	return trueCost{InputModes: modes(s.DefaultInputModes), OutputModes: modes(s.DefaultOutputModes), Endpoint: "/a2a/" + a.Name}
}

// modes writes media types in the dialect's words: json for application/json,
// text for text/plain.
func modes(media []string) []string {
	var words []string
	for _, m := range media {
		switch m {
		case "application/json":
			m = "json"
		case "text/plain":
			m = "text"
		}
		words = append(words, m)
	}
	return words
}
