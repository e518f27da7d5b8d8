package intake

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/fault"
)

// Context reads what an agent was given: the clarification and the outputs of
// the agents before it, under their names in either spelling
// (clarification_output, clarificationOutput, location_output, …). An input
// that is itself a ClarificationOutput is taken as that.
//
// A part that is absent or null stays nil; an empty input gives an empty
// context. An estimateID of "" is replaced by that of the clarification. now is
// for stamps. Malformed JSON, a part of the wrong shape or an invalid
// clarification is fault.Invalid and names the first path.
func Context(estimateID string, input json.RawMessage, now time.Time) (estimate.Context, error) {
	c := estimate.Context{EstimateID: estimateID, Now: now}
	if len(bytes.TrimSpace(input)) == 0 {
		return c, nil
	}
	if depth(input) > maxContextDepth {
		return c, fault.New(fault.Invalid, "input: nested deeper than %d levels", maxContextDepth)
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(input, &parts); err != nil {
		return c, shape("input", err)
	}
	clarification := part(parts, "clarification_output", "clarificationOutput")
	if clarification == nil && (parts["projectBrief"] != nil || parts["csiScope"] != nil) {
		clarification = input
	}
	if clarification != nil {
		parsed, report := Parse(clarification)
		if err := report.Err(); err != nil {
			return c, invalid(report, err)
		}
		c.Clarification = &parsed
		if c.EstimateID == "" {
			c.EstimateID = parsed.EstimateID
		}
	}
	return c, errors.Join(
		decode(parts, &c.Location, "location_output", "locationOutput"),
		decode(parts, &c.Scope, "scope_output", "scopeOutput"),
		decode(parts, &c.Cost, "cost_output", "costOutput"),
		decode(parts, &c.Risk, "risk_output", "riskOutput"),
		decode(parts, &c.Timeline, "timeline_output", "timelineOutput"),
	)
}

// maxContextDepth leaves room for the members that wrap a clarification.
const maxContextDepth = MaxDepth + 4

func invalid(report Report, err error) error {
	e := fault.New(fault.Invalid, "%s", err.Error())
	e.Details = map[string]any{"errors": report.Errors}
	return e
}

// part returns the member under the first name that is there and not null.
func part(parts map[string]json.RawMessage, names ...string) json.RawMessage {
	for _, name := range names {
		if p := bytes.TrimSpace(parts[name]); len(p) > 0 && !bytes.Equal(p, []byte("null")) {
			return p
		}
	}
	return nil
}

func decode[T any](parts map[string]json.RawMessage, into **T, names ...string) error {
	raw := part(parts, names...)
	if raw == nil {
		return nil
	}
	*into = new(T)
	if err := json.Unmarshal(raw, *into); err != nil {
		return shape(names[0], err)
	}
	return nil
}

// shape turns an error of decoding JSON into one that names the path.
func shape(path string, err error) error {
	if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if typed.Field != "" {
			path += "." + typed.Field
		}
		return fault.Wrap(fault.Invalid, err, "%s: is a JSON %s", path, typed.Value)
	}
	return fault.Wrap(fault.Invalid, err, "%s: %s", path, err.Error())
}
