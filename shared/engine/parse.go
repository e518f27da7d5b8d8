package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"truecost.dev/shared/fault"
)

// durations are the members of a flow that may be written as texts ("90s").
var durations = map[string]bool{"budget": true, "timeout": true, "base": true, "cap": true, "expires": true, "overdue": true}

// opaque members hold JSON of another language, which is left as it is.
var opaque = map[string]bool{"schema": true, "value": true, "inputs": true}

// Parse reads a flow from JSON. Durations are texts such as "90s" or "1h30m", or
// numbers of nanoseconds, as a stored flow has them. Members it does not know
// are refused. It returns fault.Invalid; what the flow says is for Check.
func Parse(data []byte) (*Flow, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "a flow is a JSON object: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fault.New(fault.Invalid, "a flow is one JSON object, and something follows it")
	}
	if err := nanoseconds("", v); err != nil {
		return nil, err
	}
	plain, err := json.Marshal(v)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encode the flow")
	}
	strict := json.NewDecoder(bytes.NewReader(plain))
	strict.DisallowUnknownFields()
	var f Flow
	if err := strict.Decode(&f); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "%v", err)
	}
	return &f, nil
}

// nanoseconds replaces durations that are texts, everywhere below v.
func nanoseconds(path string, v any) error {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at := path + "." + name
			if path == "" {
				at = name
			}
			text, isText := v[name].(string)
			switch {
			case durations[name] && isText:
				d, err := time.ParseDuration(text)
				if err != nil {
					return fault.New(fault.Invalid, "%s: %q is not a duration such as 90s or 1h30m", at, text)
				}
				v[name] = int64(d)
			case !opaque[name]:
				if err := nanoseconds(at, v[name]); err != nil {
					return err
				}
			}
		}
	case []any:
		for i, element := range v {
			if err := nanoseconds(fmt.Sprintf("%s[%d]", path, i), element); err != nil {
				return err
			}
		}
	}
	return nil
}
