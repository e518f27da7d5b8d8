package runner

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"truecost.dev/shared/fault"
)

// Canonical returns JSON as a store gives it back: members sorted, numbers as
// they are stored. Every instance then builds the same request from it, which a
// call that is taken over must be. It returns fault.Invalid for what is not JSON,
// or holds a number out of range.
func Canonical(raw json.RawMessage) (json.RawMessage, error) {
	v, err := Value(raw)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// Value decodes JSON into the kinds of values that a store keeps: whole numbers of
// 64 bits are int64, others float64. It returns fault.Invalid for what is not
// JSON, or holds a number out of range.
func Value(raw json.RawMessage) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "the input is not JSON")
	}
	return numbers(v)
}

func numbers(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") {
			if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
				return n, nil
			}
		}
		f, err := v.Float64()
		if err != nil {
			return nil, fault.Wrap(fault.Invalid, err, "%s is out of the range of a number", v)
		}
		return f, nil
	case map[string]any:
		for name, member := range v {
			if v[name], err = numbers(member); err != nil {
				return nil, err
			}
		}
	case []any:
		for i, element := range v {
			if v[i], err = numbers(element); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
