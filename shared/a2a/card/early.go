package card

import (
	"encoding/json"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/wire"
)

// earlyDocument is the card at the path of A2A 0.2: its members, those of the
// five-step protocol and those of TrueCost's dialect. The names that two of them
// have mean the same in both.
type earlyDocument struct {
	ID string `json:"id"`
	shared
	Capabilities    earlyCapabilities `json:"capabilities"`
	Skills          []earlySkill      `json:"skills"`
	SecuritySchemes map[string]any    `json:"securitySchemes,omitempty"`
	early03
	Endpoints map[string]string `json:"endpoints"` // below url
	trueCost
}

// earlyCapabilities are those of A2A 0.2, then those of the five-step protocol.
type earlyCapabilities struct {
	Streaming         bool `json:"streaming"`
	PushNotifications bool `json:"pushNotifications"`

	Async            bool      `json:"async"`
	Updates          string    `json:"updates"`
	StreamingUpdates string    `json:"streaming_updates"`
	AuthRequired     bool      `json:"auth_required"`
	AuthInfo         *authInfo `json:"auth_info,omitempty"`
}

type authInfo struct {
	Type          string   `json:"type"`
	TokenLocation string   `json:"token_location"`
	Endpoints     []string `json:"endpoints_requiring_auth"`
	Login         string   `json:"login_endpoint,omitempty"`
}

// earlySkill is a skill of A2A 0.2 and of the five-step protocol.
type earlySkill struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Tags        []string        `json:"tags"`
	Examples    []string        `json:"examples,omitempty"`
	InputModes  []string        `json:"inputModes,omitempty"`
	OutputModes []string        `json:"outputModes,omitempty"`
	Input       string          `json:"input_description"`
	Output      string          `json:"output_artefact_description"`
	InputShape  json.RawMessage `json:"input_schema,omitempty"`
	OutputShape json.RawMessage `json:"output_schema,omitempty"`
}

// v02 is the last version that was read at this path.
const v02 = "0.2.6"

func earlyCard(a task.Agent, opt Options) (any, error) {
	d := earlyDocument{
		ID: a.Name, shared: sharedOf(a, opt), early03: early03Of(opt, v02), trueCost: trueCostOf(a),
		Capabilities: earlyCapabilities{Streaming: true, PushNotifications: opt.Push, Async: true, Updates: "sse", StreamingUpdates: "sse"},
		Endpoints: map[string]string{
			"agent_card": EarlyPath, "submit_task": wire.FiveStepSubmit, "task_updates": wire.FiveStepUpdates,
			"task_status": wire.FiveStepStatus, "cancel_task": wire.FiveStepCancel,
		},
	}
	for _, s := range a.Skills {
		one := earlySkill{
			ID: s.ID, Name: s.Name, Description: s.Description, Tags: s.Tags,
			Examples: s.Examples[:min(publicExamples, len(s.Examples))], InputModes: s.InputModes, OutputModes: s.OutputModes,
			Input: s.Input, Output: s.Output, InputShape: s.InputSchema, OutputShape: s.OutputSchema,
		}
		if one.Input == "" {
			one.Input = "parts of " + strings.Join(d.DefaultInputModes, ", ")
		}
		if one.Output == "" {
			one.Output = "parts of " + strings.Join(d.DefaultOutputModes, ", ")
		}
		d.Skills = append(d.Skills, one)
	}
	if opt.Auth == nil {
		return d, nil
	}
	var err error
	if d.SecuritySchemes, err = schemes(opt.Auth.Schemes, true); err != nil {
		return nil, err
	}
	if opt.Auth.Login {
		d.Endpoints["login"] = wire.FiveStepLogin
	}
	if bearer(opt.Auth) {
		d.Capabilities.AuthRequired = len(opt.Auth.Requirements) > 0
		d.Capabilities.AuthInfo = &authInfo{
			Type: "Bearer", TokenLocation: "AuthorizationHeader", Login: d.Endpoints["login"],
			Endpoints: []string{"submit_task", "task_updates", "task_status", "cancel_task"},
		}
	}
	return d, nil
}

// bearer reports whether a token in the Authorization header is a way in, the
// only one that the five-step protocol knows.
func bearer(auth *Auth) bool {
	for _, s := range auth.Schemes {
		switch s := s.(type) {
		case sdk.HTTPAuthSecurityScheme:
			if strings.EqualFold(s.Scheme, "bearer") {
				return true
			}
		case sdk.OpenIDConnectSecurityScheme, sdk.OAuth2SecurityScheme:
			return true
		}
	}
	return false
}
