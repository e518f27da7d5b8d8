package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Problem is one thing that is wrong with a document.
type Problem struct {
	Path    string `json:"path"` // answer.lines[0].qty; empty: the document itself
	Message string `json:"message"`
}

func (p Problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// problem is a Problem whose path can still be compared.
type problem struct {
	at     path
	wanted string
}

// problems lists what is wrong, in the order of the paths, each once.
func problems(doc any, failed *jsonschema.ValidationError) []Problem {
	found := gather(doc, failed, nil)
	slices.SortFunc(found, func(a, b problem) int {
		if c := a.at.compare(b.at); c != 0 {
			return c
		}
		return strings.Compare(a.wanted, b.wanted)
	})
	list := make([]Problem, len(found))
	for i, p := range found {
		list[i] = Problem{p.at.String(), p.wanted}
	}
	return slices.Compact(list)
}

// gather walks the validator's tree of reasons down to those that say something
// about the document, and appends them.
func gather(doc any, e *jsonschema.ValidationError, found []problem) []problem {
	at, value := locate(doc, e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf:
		return append(found, nearest(doc, at, value, e.Causes)...)
	case *kind.OneOf:
		if k.Subschemas == nil {
			return append(found, nearest(doc, at, value, e.Causes)...)
		}
		return append(found, problem{at, fmt.Sprintf("fits alternatives %d and %d of its schema, wanted exactly one", k.Subschemas[0]+1, k.Subschemas[1]+1)})
	case *kind.PropertyNames:
		return append(found, misnamed(at, value, k.Property))
	case *kind.Contains, *kind.MinContains:
	default:
		if len(e.Causes) > 0 {
			for _, cause := range e.Causes {
				found = gather(doc, cause, found)
			}
			return found
		}
	}
	return append(found, leaf(at, value, e.ErrorKind)...)
}

// nearest says why a value fits none of several alternatives. Where they differ
// in type alone, the types are wanted; otherwise the alternative that got
// furthest into the document speaks.
func nearest(doc any, at path, value any, branches []*jsonschema.ValidationError) []problem {
	var types []string
	var best []problem
	depth := -1
	for _, b := range branches {
		if t, ok := b.ErrorKind.(*kind.Type); ok && len(b.InstanceLocation) == len(at) {
			types = append(types, t.Want...)
			continue
		}
		reasons := gather(doc, b, nil)
		reached := len(at)
		for _, r := range reasons {
			reached = max(reached, len(r.at))
		}
		if reached > depth || reached == depth && len(reasons) < len(best) {
			best, depth = reasons, reached
		}
	}
	if best == nil {
		slices.Sort(types)
		return []problem{{at, wantedNot(strings.Join(slices.Compact(types), " or "), value)}}
	}
	return best
}

// misnamed reports a member whose name is wrong. The validator may lose the
// place of the object; without it the name must do.
func misnamed(at path, value any, name string) problem {
	if members, ok := value.(map[string]any); ok {
		if _, here := members[name]; here {
			return problem{at.member(name), "wanted a member of another name"}
		}
	}
	return problem{nil, fmt.Sprintf("wanted a member of another name than %s", quoted(name))}
}

// leaf says what one rule wanted.
func leaf(at path, value any, rule jsonschema.ErrorKind) []problem {
	switch k := rule.(type) {
	case *kind.Required:
		return each(at, k.Missing, "is missing")
	case *kind.DependentRequired:
		return each(at, k.Missing, "is missing, wanted with "+quoted(k.Prop))
	case *kind.Dependency:
		return each(at, k.Missing, "is missing, wanted with "+quoted(k.Prop))
	case *kind.AdditionalProperties:
		return each(at, k.Properties, "is not a member that is known here")
	case *kind.Type:
		return []problem{{at, wantedNot(strings.Join(k.Want, " or "), value)}}
	case *kind.Enum:
		return []problem{{at, wantedNot(oneOf(k.Want), value)}}
	case *kind.Const:
		return []problem{{at, wantedNot(show(k.Want), value)}}
	case *kind.Format:
		return []problem{{at, wantedNot("the format "+k.Want, value)}}
	case *kind.Pattern:
		return []problem{{at, wantedNot("a text like "+quoted(k.Want), value)}}
	default:
		return []problem{{at, limit(value, rule)}}
	}
}

// limit says what a rule about sizes and counts wanted.
func limit(value any, rule jsonschema.ErrorKind) string {
	switch k := rule.(type) {
	case *kind.Minimum:
		return wantedNot("at least "+number(k.Want), value)
	case *kind.Maximum:
		return wantedNot("at most "+number(k.Want), value)
	case *kind.ExclusiveMinimum:
		return wantedNot("more than "+number(k.Want), value)
	case *kind.ExclusiveMaximum:
		return wantedNot("less than "+number(k.Want), value)
	case *kind.MultipleOf:
		return wantedNot("a multiple of "+number(k.Want), value)
	case *kind.MinLength:
		return fmt.Sprintf("wanted at least %d characters, not %d", k.Want, k.Got)
	case *kind.MaxLength:
		return fmt.Sprintf("wanted at most %d characters, not %d", k.Want, k.Got)
	default:
		return count(rule)
	}
}

// count says what a rule about members or elements wanted.
func count(rule jsonschema.ErrorKind) string {
	switch k := rule.(type) {
	case *kind.MinItems:
		return fmt.Sprintf("wanted at least %d elements, not %d", k.Want, k.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("wanted at most %d elements, not %d", k.Want, k.Got)
	case *kind.AdditionalItems:
		return fmt.Sprintf("wanted %d elements fewer", k.Count)
	case *kind.MinProperties:
		return fmt.Sprintf("wanted at least %d members, not %d", k.Want, k.Got)
	case *kind.MaxProperties:
		return fmt.Sprintf("wanted at most %d members, not %d", k.Want, k.Got)
	case *kind.UniqueItems:
		return fmt.Sprintf("wanted elements that differ, and [%d] equals [%d]", k.Duplicates[1], k.Duplicates[0])
	case *kind.Contains:
		return "wanted an element of the kind its schema asks for, and none is"
	case *kind.MinContains:
		return fmt.Sprintf("wanted at least %d elements of the kind its schema asks for, not %d", k.Want, len(k.Got))
	case *kind.MaxContains:
		return fmt.Sprintf("wanted at most %d elements of the kind its schema asks for, not %d", k.Want, len(k.Got))
	case *kind.RefCycle:
		return "the schema refers to itself without end here"
	case *kind.FalseSchema:
		return "is not allowed here"
	default: // not
		return "is what its schema excludes"
	}
}

func each(at path, names []string, wanted string) []problem {
	all := make([]problem, len(names))
	for i, name := range names {
		all[i] = problem{at.member(name), wanted}
	}
	return all
}

func wantedNot(wanted string, value any) string { return "wanted " + wanted + ", not " + show(value) }

// show renders a value of a document: small ones as they are, large ones by type.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprint(v)
	case string:
		return quoted(v)
	case json.Number:
		if len(v) <= 40 {
			return v.String()
		}
		return "a number of " + fmt.Sprint(len(v)) + " digits"
	case []any:
		return "an array"
	default:
		return "an object"
	}
}

// oneOf lists the values of an enumeration.
func oneOf(values []any) string {
	const most = 12
	var shown []string
	for _, v := range values[:min(len(values), most)] {
		shown = append(shown, show(v))
	}
	list := strings.Join(shown, ", ")
	if len(values) > most {
		return fmt.Sprintf("one of %s and %d more", list, len(values)-most)
	}
	if len(values) == 1 {
		return list
	}
	return "one of " + list
}

// number renders a bound exactly where it has an end, else to 20 places.
func number(r *big.Rat) string {
	if r.IsInt() {
		return r.RatString()
	}
	places, exact := r.FloatPrec()
	if !exact || places > 20 {
		places = 20
	}
	return r.FloatString(places)
}
