package front

import (
	"mime"
	"slices"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/fault"
)

// fit refuses a message with parts that the agent does not read, and a caller
// who reads nothing that the agent makes. A part that does not say its type is
// for the agent to judge.
func fit(a task.Agent, s task.Send) error {
	if s.Message == nil {
		return nil
	}
	for i, p := range s.Message.Parts {
		if p.MediaType != "" && !slices.ContainsFunc(modes(a.InputModes), func(m string) bool { return meets(m, p.MediaType) }) {
			return fault.Wrap(fault.Invalid, sdk.ErrUnsupportedContentType,
				"params.message.parts[%d].mediaType: this agent reads %s", i, strings.Join(modes(a.InputModes), ", "))
		}
	}
	made := modes(a.OutputModes)
	if len(s.Modes) > 0 && !slices.ContainsFunc(s.Modes, func(wanted string) bool {
		return slices.ContainsFunc(made, func(m string) bool { return meets(wanted, m) || meets(m, wanted) })
	}) {
		return fault.Wrap(fault.Invalid, sdk.ErrUnsupportedContentType,
			"params.configuration.acceptedOutputModes: this agent writes %s", strings.Join(made, ", "))
	}
	return nil
}

// modes returns the media types of an agent that names some, or the usual one.
func modes(list []string) []string {
	if list == nil {
		return []string{"application/json"}
	}
	return list
}

// meets reports whether a media type fits a pattern such as text/*. Parameters
// do not count.
func meets(pattern, media string) bool {
	p, _, err := mime.ParseMediaType(pattern)
	if err != nil {
		return false
	}
	m, _, err := mime.ParseMediaType(media)
	if err != nil {
		return false
	}
	if kind, ok := strings.CutSuffix(p, "/*"); ok {
		return kind == "*" || strings.HasPrefix(m, kind+"/")
	}
	return p == m
}
