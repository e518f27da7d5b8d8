package schema

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"truecost.dev/shared/fault"
)

// explain turns a refusal of the compiler into the words of the schema.
func explain(doc any, err error) error {
	if e, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if failed, ok := errors.AsType[*jsonschema.ValidationError](e.Err); ok {
			return fault.New(fault.Invalid, "%s", Summary(problems(doc, failed)))
		}
	}
	if e, ok := errors.AsType[*jsonschema.InvalidRegexError](err); ok {
		return fault.New(fault.Invalid, "%s%s is not a pattern that is understood here: %s", prefix(doc, e.URL), quoted(e.Regex), reason(e.Err))
	}
	if e, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return fault.New(fault.Invalid, "%sit refers to %s, and a schema refers to nothing outside itself", referrer(doc, e.URL), quoted(e.URL))
	}
	if e, ok := errors.AsType[*jsonschema.JSONPointerNotFoundError](err); ok {
		return dangling(doc, e.URL)
	}
	if e, ok := errors.AsType[*jsonschema.AnchorNotFoundError](err); ok {
		return dangling(doc, e.Reference)
	}
	if e, ok := errors.AsType[*jsonschema.InvalidJsonPointerError](err); ok {
		return dangling(doc, e.URL)
	}
	if e, ok := errors.AsType[*jsonschema.ParseURLError](err); ok {
		return fault.New(fault.Invalid, "%s%s is not an address", referrer(doc, e.URL), quoted(e.URL))
	}
	if e, ok := errors.AsType[*jsonschema.DuplicateIDError](err); ok {
		return fault.New(fault.Invalid, "the $id %s is there twice", quoted(e.ID))
	}
	if e, ok := errors.AsType[*jsonschema.DuplicateAnchorError](err); ok {
		return fault.New(fault.Invalid, "the anchor %s is there twice", quoted(e.Anchor))
	}
	return fault.Wrap(fault.Invalid, err, "wanted a JSON Schema of a published draft; its $schema, $id or $anchor is not understood")
}

func dangling(doc any, address string) error {
	_, fragment, _ := strings.Cut(address, "#")
	if plain, err := url.PathUnescape(fragment); err == nil {
		fragment = plain
	}
	return fault.New(fault.Invalid, "%sthere is no %s in the schema", referrer(doc, "#"+fragment), quoted("#"+fragment))
}

// reason is what a pattern's parser says, without the pattern, which stands
// before it already.
func reason(err error) string {
	text := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	text, _, _ = strings.Cut(text, ":")
	return text
}

// prefix is the path of an address within the schema, ready to stand before a
// sentence.
func prefix(doc any, address string) string {
	_, fragment, _ := strings.Cut(address, "#")
	plain, err := url.PathUnescape(fragment)
	if err != nil || plain == "" {
		return ""
	}
	tokens := strings.Split(plain, "/")[1:]
	for i, t := range tokens {
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(t)
	}
	at, _ := locate(doc, tokens)
	return at.prefix()
}

// referrer finds the member of the schema that refers to an address: the
// compiler names the address alone.
func referrer(doc any, address string) string {
	var found []path
	find(doc, nil, func(at path, ref string) {
		base, fragment, _ := strings.Cut(ref, "#")
		if plain, err := url.PathUnescape(fragment); err == nil {
			fragment = plain
		}
		sameAddress := base != "" && strings.HasSuffix(strings.TrimSuffix(address, "#"), strings.TrimPrefix(base, "."))
		if ref == address || sameAddress || base == "" && "#"+fragment == address {
			found = append(found, at)
		}
	})
	if len(found) == 0 {
		return ""
	}
	return slices.MinFunc(found, path.compare).prefix()
}

// find calls back for every reference in the schema.
func find(v any, at path, each func(at path, ref string)) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			ref, ok := member.(string)
			if ok && slices.Contains([]string{"$ref", "$dynamicRef", "$recursiveRef", "$schema", "$id"}, name) {
				each(at.member(name), ref)
			}
			find(member, at.member(name), each)
		}
	case []any:
		for i, element := range v {
			find(element, append(slices.Clone(at), step{index: i, element: true}), each)
		}
	}
}
