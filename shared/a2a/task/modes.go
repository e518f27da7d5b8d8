package task

import (
	"slices"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/fault"
)

var jsonOnly = []string{"application/json"}

// modes refuses parts of a media type that the agent does not take, and callers
// that can read nothing of what it makes.
func (a Agent) modes(s Send) error {
	in, out := a.InputModes, a.OutputModes
	if in == nil {
		in = jsonOnly
	}
	if out == nil {
		out = jsonOnly
	}
	for i, p := range s.Message.Parts {
		if p.MediaType != "" && !slices.ContainsFunc(in, fits(p.MediaType)) {
			return fault.Wrap(fault.Invalid, sdk.ErrUnsupportedContentType,
				"params.message.parts[%d].mediaType: want one of %s", i, strings.Join(in, ", "))
		}
	}
	if len(s.Modes) > 0 && !slices.ContainsFunc(s.Modes, func(m string) bool { return slices.ContainsFunc(out, fits(m)) }) {
		return fault.Wrap(fault.Invalid, sdk.ErrUnsupportedContentType,
			"params.configuration.acceptedOutputModes: want one of %s", strings.Join(out, ", "))
	}
	return nil
}

// fits reports whether two media types have something in common: parameters do
// not count, and * stands for anything in either.
func fits(a string) func(b string) bool {
	return func(b string) bool {
		at, as := halves(a)
		bt, bs := halves(b)
		same := func(x, y string) bool { return x == y || x == "*" || y == "*" }
		return same(at, bt) && same(as, bs)
	}
}

// halves splits text/plain; charset=utf-8 into text and plain.
func halves(media string) (kind, sub string) {
	media, _, _ = strings.Cut(media, ";")
	kind, sub, _ = strings.Cut(strings.ToLower(strings.TrimSpace(media)), "/")
	return kind, sub
}
