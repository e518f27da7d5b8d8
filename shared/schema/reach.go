package schema

import (
	"cmp"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Where a walk through the schemas stands with one of them.
const (
	under = iota + 1 // the walk is below it, on the same value
	done
)

// walker visits every rule that a schema reaches.
type walker struct {
	visits *counter
	at     map[*jsonschema.Schema]int
	loops  []string // places of schemas that lead to themselves on the same value
}

// prepare makes every rule below root count its visits. It returns the place of
// one that leads back to itself without going deeper into the document, or "".
func prepare(root *jsonschema.Schema, visits *counter) string {
	w := &walker{visits: visits, at: map[*jsonschema.Schema]int{}}
	for next := []*jsonschema.Schema{root}; len(next) > 0; next = next[1:] {
		if w.at[next[0]] == 0 {
			next = append(next, w.same(next[0])...)
		}
	}
	if len(w.loops) == 0 {
		return ""
	}
	return slices.MinFunc(w.loops, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
}

// same walks the rules that look at the same value as s, and returns those that
// look at its members and elements.
func (w *walker) same(s *jsonschema.Schema) []*jsonschema.Schema {
	w.at[s] = under
	s.Extensions = append(s.Extensions, w.visits)
	below := deeper(s)
	for _, next := range beside(s) {
		switch w.at[next] {
		case under:
			w.loops = append(w.loops, s.Location)
		case done:
		default:
			below = append(below, w.same(next)...)
		}
	}
	w.at[s] = done
	return below
}

// beside lists the rules that s applies to the value it is applied to.
func beside(s *jsonschema.Schema) []*jsonschema.Schema {
	all := slices.Concat(s.AllOf, s.AnyOf, s.OneOf, []*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else})
	if s.DynamicRef != nil {
		all = append(all, s.DynamicRef.Ref)
	}
	for _, rule := range s.DependentSchemas {
		all = append(all, rule)
	}
	for _, rule := range s.Dependencies {
		all = append(all, one(rule))
	}
	return present(all)
}

// deeper lists the rules that s applies to members and elements.
func deeper(s *jsonschema.Schema) []*jsonschema.Schema {
	all := slices.Concat(s.PrefixItems, []*jsonschema.Schema{
		s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema,
		one(s.AdditionalProperties), one(s.AdditionalItems), one(s.Items),
	})
	for _, rule := range s.Properties {
		all = append(all, rule)
	}
	for _, rule := range s.PatternProperties {
		all = append(all, rule)
	}
	if list, ok := s.Items.([]*jsonschema.Schema); ok {
		all = append(all, list...)
	}
	return present(all)
}

func one(rule any) *jsonschema.Schema {
	s, _ := rule.(*jsonschema.Schema)
	return s
}

// present drops what is not there and sorts the rest, so that a walk is the same
// each time.
func present(all []*jsonschema.Schema) []*jsonschema.Schema {
	all = slices.DeleteFunc(all, func(s *jsonschema.Schema) bool { return s == nil })
	slices.SortFunc(all, func(a, b *jsonschema.Schema) int { return cmp.Compare(a.Location, b.Location) })
	return all
}
