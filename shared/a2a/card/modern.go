package card

import (
	"encoding/json"
	"math"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// document is the card of A2A 1.0, with 0.3 in the same object.
type document struct {
	shared
	Capabilities         sdk.AgentCapabilities `json:"capabilities"`
	Skills               []skill               `json:"skills"`
	SupportedInterfaces  []sdk.AgentInterface  `json:"supportedInterfaces"`
	SecuritySchemes      map[string]any        `json:"securitySchemes,omitempty"`
	SecurityRequirements []requirement         `json:"securityRequirements,omitempty"`
	early03
}

// early03 are the members of A2A 0.3 that 1.0 does not have.
type early03 struct {
	ProtocolVersion      string          `json:"protocolVersion,omitempty"`
	URL                  string          `json:"url,omitempty"`
	PreferredTransport   string          `json:"preferredTransport,omitempty"`
	AdditionalInterfaces []transport     `json:"additionalInterfaces,omitempty"`
	Security             []earlyRequired `json:"security,omitempty"`
	SupportsExtended     bool            `json:"supportsAuthenticatedExtendedCard,omitempty"`
}

type transport struct {
	URL       string `json:"url"`
	Transport string `json:"transport"`
}

// skill is one skill as A2A 1.0 and 0.3 read it.
type skill struct {
	sdk.AgentSkill
	SecurityRequirements []requirement   `json:"securityRequirements,omitempty"`
	Security             []earlyRequired `json:"security,omitempty"`
}

// Versions as they are on the wire.
const (
	v10 = "1.0"
	v03 = "0.3"
)

// publicExamples is how many examples of a skill everybody sees.
const publicExamples = 1

func publicCard(a task.Agent, opt Options) (any, error) { return modernCard(a, opt, publicExamples) }

func modernCard(a task.Agent, opt Options, examples int) (document, error) {
	d := document{
		shared: sharedOf(a, opt),
		Capabilities: sdk.AgentCapabilities{
			Streaming: true, PushNotifications: opt.Push, ExtendedAgentCard: opt.Extended,
		},
		SupportedInterfaces: []sdk.AgentInterface{
			{URL: opt.URL, ProtocolBinding: sdk.TransportProtocolJSONRPC, ProtocolVersion: v10},
			{URL: opt.URL, ProtocolBinding: sdk.TransportProtocolHTTPJSON, ProtocolVersion: v10},
		},
	}
	for _, s := range a.Skills {
		one := skill{AgentSkill: s.AgentSkill, SecurityRequirements: requirements(s.SecurityRequirements)}
		one.Examples = one.Examples[:min(examples, len(one.Examples))]
		if !opt.Modern {
			one.Security = earlySecurity(s.SecurityRequirements)
		}
		d.Skills = append(d.Skills, one)
	}
	if !opt.Modern {
		d.early03 = early03Of(opt, v03)
		d.SupportedInterfaces = append(d.SupportedInterfaces,
			sdk.AgentInterface{URL: opt.URL, ProtocolBinding: sdk.TransportProtocolJSONRPC, ProtocolVersion: v03},
			sdk.AgentInterface{URL: opt.URL, ProtocolBinding: sdk.TransportProtocolHTTPJSON, ProtocolVersion: v03},
		)
	}
	if opt.Auth != nil {
		var err error
		if d.SecuritySchemes, err = schemes(opt.Auth.Schemes, !opt.Modern); err != nil {
			return d, err
		}
		d.SecurityRequirements = requirements(opt.Auth.Requirements)
	}
	return d, nil
}

func early03Of(opt Options, version string) early03 {
	e := early03{
		ProtocolVersion: version, URL: opt.URL, PreferredTransport: string(sdk.TransportProtocolJSONRPC),
		AdditionalInterfaces: []transport{
			{URL: opt.URL, Transport: string(sdk.TransportProtocolJSONRPC)},
			{URL: opt.URL, Transport: string(sdk.TransportProtocolHTTPJSON)},
		},
		SupportsExtended: opt.Extended,
	}
	if opt.Auth != nil {
		e.Security = earlySecurity(opt.Auth.Requirements)
	}
	return e
}

// Extensions that only tell something: nobody needs to ask for them.
const (
	SkillsExtension = "https://truecost.dev/a2a/skills/v1"
	LimitsExtension = "https://truecost.dev/a2a/limits/v1"
)

// extendedCard is the public card with all examples, and with what goes in and
// out of each skill and the limits as extensions.
func extendedCard(a task.Agent, opt Options) (any, error) {
	d, err := modernCard(a, opt, math.MaxInt)
	if err != nil {
		return nil, err
	}
	var skills []any
	for _, s := range a.Skills {
		one := map[string]any{"id": s.ID}
		for name, text := range map[string]string{"input": s.Input, "output": s.Output} {
			if text != "" {
				one[name] = text
			}
		}
		for name, schema := range map[string][]byte{"inputSchema": s.InputSchema, "outputSchema": s.OutputSchema} {
			if schema != nil {
				one[name] = json.RawMessage(schema)
			}
		}
		skills = append(skills, one)
	}
	d.Capabilities.Extensions = []sdk.AgentExtension{
		{URI: SkillsExtension, Description: "What goes into each skill and what comes out, in words and as JSON Schema.", Params: map[string]any{"skills": skills}},
		{URI: LimitsExtension, Description: "What one message and one task may take.", Params: opt.Limits.params()},
	}
	return d, nil
}

// params tells the limits. Those that are the protocol's hold for every agent.
func (l Limits) params() map[string]any {
	p := map[string]any{"parts": maxParts, "nesting": maxNesting, "historyMessages": maxHistory, "pushConfigurations": task.MaxHooks}
	if l.BodyBytes > 0 {
		p["bodyBytes"] = l.BodyBytes
	}
	if l.Deadline > 0 {
		p["deadlineSeconds"] = l.Deadline.Seconds()
	}
	return p
}

const (
	maxParts   = 64  // of a message
	maxHistory = 200 // messages of a task
)

// requirement is one way to be let in, in A2A 1.0: all its schemes together.
type requirement struct {
	Schemes map[sdk.SecuritySchemeName]scopes `json:"schemes"`
}

type scopes struct {
	List []string `json:"list"`
}

// earlyRequired is the same in A2A 0.3.
type earlyRequired map[sdk.SecuritySchemeName][]string

func requirements(options sdk.SecurityRequirementsOptions) []requirement {
	var all []requirement
	for _, o := range options {
		r := requirement{Schemes: map[sdk.SecuritySchemeName]scopes{}}
		for name, list := range o {
			r.Schemes[name] = scopes{List: append([]string{}, list...)}
		}
		all = append(all, r)
	}
	return all
}

func earlySecurity(options sdk.SecurityRequirementsOptions) []earlyRequired {
	var all []earlyRequired
	for _, o := range options {
		r := earlyRequired{}
		for name, list := range o {
			r[name] = append([]string{}, list...)
		}
		all = append(all, r)
	}
	return all
}

// openAPI says which type a scheme of A2A 1.0 is in 0.3, which has the scheme's
// members beside the type.
var openAPI = map[string]string{
	"apiKeySecurityScheme": "apiKey", "httpAuthSecurityScheme": "http", "openIdConnectSecurityScheme": "openIdConnect",
	"mtlsSecurityScheme": "mutualTLS", "oauth2SecurityScheme": "oauth2",
}

// schemes are the security schemes of A2A 1.0, with 0.3 in the same objects.
func schemes(named sdk.NamedSecuritySchemes, early bool) (map[string]any, error) {
	raw, err := json.Marshal(named)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "a security scheme cannot be written")
	}
	var all map[string]map[string]map[string]any
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "a security scheme cannot be written")
	}
	out := map[string]any{}
	for name, one := range all {
		both := map[string]any{}
		for kind, body := range one {
			both[kind] = body
			if !early {
				continue
			}
			for member, v := range body {
				if kind == "apiKeySecurityScheme" && member == "location" {
					member = "in"
				}
				both[member] = v
			}
			both["type"] = openAPI[kind]
		}
		out[name] = both
	}
	return out, nil
}
