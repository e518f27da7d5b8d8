package agent

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
)

// draft is the dialect of JSON Schema in which agents say what they take and make.
const draft = "https://json-schema.org/draft/2020-12/schema"

// object is a JSON object of a schema; encoding sorts its members.
type object map[string]any

// schemaOf returns the JSON Schema of what a T is written as. Members may be
// added later, so a reader takes those it does not know.
func schemaOf[T any]() []byte {
	s := shape{defs: object{}}
	root := s.of(reflect.TypeFor[T]())
	root["$schema"], root["$defs"] = draft, s.defs
	return encoded(root)
}

func encoded(schema object) []byte {
	raw, err := json.Marshal(schema)
	if err != nil {
		panic("agent: encode a schema of strings: " + err.Error())
	}
	return raw
}

// written are the types that write themselves.
var written = map[reflect.Type]object{
	reflect.TypeFor[money.Cents]():     {"type": "number"},
	reflect.TypeFor[money.Rate]():      {"type": "number"},
	reflect.TypeFor[estimate.Date]():   {"type": "string", "format": "date"},
	reflect.TypeFor[time.Time]():       {"type": "string", "format": "date-time"},
	reflect.TypeFor[json.RawMessage](): {},
}

// shape collects the structs of a schema by their names.
type shape struct {
	defs object
}

func (s *shape) of(t reflect.Type) object {
	if w, ok := written[t]; ok {
		return w
	}
	switch t.Kind() { //nolint:exhaustive // the rest has no place in an output
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Pointer:
		return object{"anyOf": []object{s.of(t.Elem()), {"type": "null"}}}
	case reflect.Slice:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Array:
		return object{"type": "array", "items": s.of(t.Elem()), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		if _, known := s.defs[t.Name()]; !known {
			s.defs[t.Name()] = object{} // for a struct that has itself
			s.defs[t.Name()] = s.structure(t)
		}
		return object{"$ref": "#/$defs/" + t.Name()}
	}
	panic("agent: no schema of a " + t.String())
}

func (s *shape) structure(t reflect.Type) object {
	members, required := object{}, []string{}
	for _, f := range reflect.VisibleFields(t) { // those of embedded structs too
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "-" || name == "" {
			continue
		}
		if members[name] = s.of(f.Type); !strings.Contains(options, "omitempty") {
			required = append(required, name)
		}
	}
	return object{"type": "object", "properties": members, "required": required}
}
