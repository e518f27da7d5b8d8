package card

import "maps"

// form is what A2A 1.0 knows of a value: of an object its members, of an array
// its elements.
type form struct {
	members  map[string]form
	each     *form // of an object whose names are free
	implicit bool  // without presence: false counts as absent
}

var (
	anything = form{}
	presence = form{implicit: true}
)

// object of members with any value, and of some with a form of their own.
func of(special map[string]form, plain ...string) form {
	f := form{members: map[string]form{}}
	maps.Copy(f.members, special)
	for _, name := range plain {
		f.members[name] = anything
	}
	return f
}

func mapOf(f form) form { return form{each: &f} }

// cardForm is the message AgentCard of A2A 1.0 without its signatures.
var cardForm = of(map[string]form{
	"supportedInterfaces": of(nil, "url", "protocolBinding", "tenant", "protocolVersion"),
	"provider":            of(nil, "url", "organization"),
	"capabilities": of(map[string]form{
		"extensions": of(map[string]form{"required": presence}, "uri", "description", "params"),
	}, "streaming", "pushNotifications", "extendedAgentCard"),
	"securitySchemes":      mapOf(schemeForm),
	"securityRequirements": requirementForm,
	"skills": of(map[string]form{"securityRequirements": requirementForm},
		"id", "name", "description", "tags", "examples", "inputModes", "outputModes"),
}, "name", "description", "version", "documentationUrl", "iconUrl", "defaultInputModes", "defaultOutputModes")

var requirementForm = of(map[string]form{"schemes": mapOf(of(nil, "list"))})

var schemeForm = of(map[string]form{
	"apiKeySecurityScheme":        of(nil, "description", "location", "name"),
	"httpAuthSecurityScheme":      of(nil, "description", "scheme", "bearerFormat"),
	"openIdConnectSecurityScheme": of(nil, "description", "openIdConnectUrl"),
	"mtlsSecurityScheme":          of(nil, "description"),
	"oauth2SecurityScheme": of(map[string]form{"flows": of(map[string]form{
		"authorizationCode": of(map[string]form{"pkceRequired": presence}, "authorizationUrl", "tokenUrl", "refreshUrl", "scopes"),
		"clientCredentials": of(nil, "tokenUrl", "refreshUrl", "scopes"),
		"implicit":          of(nil, "authorizationUrl", "refreshUrl", "scopes"),
		"password":          of(nil, "tokenUrl", "refreshUrl", "scopes"),
		"deviceCode":        of(nil, "deviceAuthorizationUrl", "tokenUrl", "refreshUrl", "scopes"),
	})}, "description", "oauth2MetadataUrl"),
})

// keep returns what is known of v and not empty; ok is false when nothing is.
func (f form) keep(v any) (kept any, ok bool) {
	switch v := v.(type) {
	case []any:
		list := []any{}
		for _, e := range v {
			if e, ok := f.keep(e); ok {
				list = append(list, e)
			}
		}
		return list, len(list) > 0
	case map[string]any:
		if f.members == nil && f.each == nil {
			return solid(v)
		}
		members := map[string]any{}
		for name, m := range v {
			known, ok := f.members[name]
			if f.each != nil {
				known, ok = *f.each, true
			}
			if ok {
				if m, ok := known.keep(m); ok {
					members[name] = m
				}
			}
		}
		return members, len(members) > 0
	}
	if f.implicit && v == false {
		return nil, false
	}
	return solid(v)
}
